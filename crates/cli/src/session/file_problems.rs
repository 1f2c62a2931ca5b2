//! Problems with sound and MIDI files: found by `check`, reported after a run.

use crate::failure::Failure;
use crate::output::messages;
use crate::session::load::{LoadedSession, sounds_of};
use crate::session::midi_files::MIDI_FILE;
use divisi::graph::Diagnostic;
use divisi::media;
use divisi::midi::MidiFile;
use divisi::prelude::Engine;

/// Refuses to begin where a recorder's file cannot be written.
pub(crate) fn check_recordings(engine: &Engine) -> Result<(), Failure> {
    let mut problems = engine.file_problems().into_iter();
    match problems.find(|(_, problem)| problem.is_loss()) {
        Some((node, problem)) => {
            let message = format!("`{node}`: {}", problem.message());
            Err(Failure::failed(message))
        }
        None => Ok(()),
    }
}

/// Completes the files of all nodes and prints what went wrong with them. Lost recordings are a failure, and damaged files
/// are one if `is_strict`. The engine's callback must be dropped before.
pub(crate) fn end_files(engine: &mut Engine, is_strict: bool) -> Result<(), Failure> {
    engine.end_files();
    let mut lost = Vec::new();
    let mut damaged = 0;
    for (node, problem) in engine.file_problems() {
        let message = format!("`{node}`: {}", problem.message());
        match problem.is_loss() {
            true => lost.push(message),
            false => {
                messages::print_note(&message);
                damaged += usize::from(problem.is_damage());
            }
        }
    }
    match lost.is_empty() {
        true => check_damage(damaged, is_strict),
        false => Err(Failure::failed(lost.join("; "))),
    }
}

/// With `--strict` damaged files are a failure.
pub(crate) fn check_damage(files: usize, is_strict: bool) -> Result<(), Failure> {
    match files {
        1.. if is_strict => Err(Failure::failed(format!(
            "damaged files: {files} (--strict)"
        ))),
        _ => Ok(()),
    }
}

/// Reads every sound and MIDI file that the session's nodes name, the samples of instruments among them, and returns a warning for each damaged one. A file that cannot be
/// opened is left to its node, which refuses it.
pub(crate) fn damaged_files(loaded: &LoadedSession) -> Vec<Diagnostic> {
    let files = loaded.named_files(false);
    let files = files.flat_map(|(node, path)| {
        let named = sounds_of(node, &path).into_iter().chain([path]);
        named.map(move |path| (node, path))
    });
    let found = files.filter_map(|(node, path)| {
        let what = match node.effective_kind() {
            MIDI_FILE => MidiFile::open(&path).ok()?.damage,
            _ => media::find_damage(&path).ok()?,
        }?;
        let (name, path) = (&node.name, path.display());
        let message = format!("`{name}`: {path} is damaged: {what}");
        let warning = Diagnostic::warning(node.span, message);
        Some(warning.help("what is missing is silent; make the file again"))
    });
    found.collect()
}
