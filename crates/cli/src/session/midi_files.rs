//! MIDI files of a session: what in them is not played.

use crate::session::load::LoadedSession;
use divisi::graph::{Diagnostic, Node};
use divisi::midi::MidiFile;

/// The kind of node that plays a MIDI file.
pub(crate) const MIDI_FILE: &str = "midi_file";

/// Reads every MIDI file that is played. Returns a note for content that no node can have, and a warning where a node
/// sends nothing. A file that cannot be read is left to its node, which refuses it.
pub(crate) fn not_played(loaded: &LoadedSession) -> Vec<Diagnostic> {
    let files = loaded.named_files(false);
    let files = files.filter(|(node, _)| node.effective_kind() == MIDI_FILE);
    let mut found = Vec::new();
    for (node, path) in files {
        let Ok(file) = MidiFile::open(&path) else {
            continue;
        };
        let (name, path) = (&node.name, path.display());
        for (what, count) in &file.not_played {
            let message =
                format!("`{name}`: {path} has content that is not played: {what} ({count})");
            found.push(Diagnostic::note(node.span, message));
        }
        if file.messages(selected(node, "track"), selected(node, "channel")) == 0 {
            let message = format!("`{name}`: {path} has no message on this track and channel");
            let warning = Diagnostic::warning(node.span, message);
            found.push(warning.help(contents(&file)));
        }
    }
    found
}

/// A number that counts from 1, as an index; `None` for all.
fn selected(node: &Node, key: &str) -> Option<usize> {
    (node.number(key).unwrap_or(0.0) as usize).checked_sub(1)
}

/// The tracks that have messages, each with its name.
fn contents(file: &MidiFile) -> String {
    let tracks = (0..file.tracks.len()).filter(|track| file.messages(Some(*track), None) > 0);
    let tracks: Vec<String> = tracks
        .map(|track| match &file.tracks[track].name {
            name if name.is_empty() => format!("{}", track + 1),
            name => format!("{} ({name})", track + 1),
        })
        .collect();
    match tracks.is_empty() {
        true => "the whole file has none".into(),
        false => format!("tracks with messages: {}", tracks.join(", ")),
    }
}
