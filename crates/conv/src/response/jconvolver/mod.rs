//! jconvolver's configuration files: text and sound files to [`Paths`].
//!
//! Takes the bytes of a file and its folder, gives a [`Config`] *and* all diagnostics with their places: reading never stops
//! half-way and never panics, and one bad line costs only itself.
//! May: open the sound files that are named, allocate within an [`IrLimit`]. May not: run on an audio thread, use `unsafe`.
//!
//! | line | means |
//! |---|---|
//! | `# ...` | a comment |
//! | `/cd FOLDER` | folder of the sound files from now on; at first the configuration's own folder, to which FOLDER is relative |
//! | `/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE [DENSITY]` | must come first and once |
//! | `/input/name N NAME [PORT]`, `/output/name ...` | name of a channel, and the port that it is connected to |
//! | `/impulse/read INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE` | LENGTH frames (0: all) of a file's channel, from frame OFFSET, GAIN times as loud (no dB), after DELAY frames of silence |
//! | `/impulse/dirac INPUT OUTPUT GAIN DELAY` | one sample |
//! | `/impulse/hilbert INPUT OUTPUT GAIN DELAY LENGTH` | 90 degrees at all frequencies, around frame DELAY |
//! | `/impulse/copy INPUT OUTPUT FROM-INPUT FROM-OUTPUT` | the same responses as between those two, with those added later; memory is shared |
//!
//! Inputs, outputs and channels count from 1. Several responses for one pair are added. A name may stand in
//! single or double quotes; outside single ones a `\` takes the character behind it as it is.
//!
//! Where jconvolver ignores a line and prints a message, this reader reports an error: a missing file or channel, an offset behind
//! the end, a Hilbert response that begins before frame 0, an impulse behind MAXSIZE. As in jconvolver, a response longer than
//! MAXSIZE is cut, with a warning. Unlike jconvolver, a file at another rate is resampled, with a warning; OFFSET and LENGTH count
//! the file's own frames.

mod assemble;
mod command;
mod hilbert;
mod pairs;
mod sources;
mod words;

#[cfg(test)]
mod tests;

use crate::response::ir::{IrLimit, Paths};
use graph::{Diagnostic, SourceSpan};
use std::path::{Path, PathBuf};
use units::SampleRate;

/// A configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Responses between inputs and outputs.
    pub paths: Paths,
    /// Smallest partition that it asks for: a power of two.
    pub min_partition_size: usize,
    /// Longest response in frames; longer ones have been cut.
    pub max_frames: usize,
    /// Name of each input.
    pub inputs: Vec<PortName>,
    /// Name of each output.
    pub outputs: Vec<PortName>,
    /// Sound files that it names.
    pub files: Vec<PathBuf>,
}

/// Name of a channel, if the file gives one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortName {
    /// Its name.
    pub name: Option<String>,
    /// The port that it is connected to.
    pub connect: Option<String>,
}

/// Result of reading a configuration.
#[derive(Clone, Debug)]
pub struct ParsedConfig {
    /// The configuration; `None` if there is an error.
    pub config: Option<Config>,
    /// All errors and warnings, by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Numbers of inputs and outputs that a configuration declares; `None` if it declares none. Opens no file.
pub fn declared_channels(bytes: impl AsRef<[u8]>) -> Option<(usize, usize)> {
    let mut lines = (1..).zip(bytes.as_ref().split(|byte| *byte == b'\n'));
    lines.find_map(|(line, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        let mut words = words::Words::new(text.trim_end_matches('\r'), line);
        match command::parse(&mut words, &mut Vec::new())?.command {
            command::ConfigCommand::New {
                inputs, outputs, ..
            } => Some((inputs, outputs)),
            _ => None,
        }
    })
}

/// The sound files that a configuration in `folder` names, whether they are there or not. Opens none.
///
/// Real-time: setup.
pub fn named_files(bytes: impl AsRef<[u8]>, folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut here) = (Vec::new(), folder.to_path_buf());
    for (line, bytes) in (1..).zip(bytes.as_ref().split(|byte| *byte == b'\n')) {
        let text = String::from_utf8_lossy(bytes);
        let mut words = words::Words::new(text.trim_end_matches('\r'), line);
        let parsed = command::parse(&mut words, &mut Vec::new());
        match parsed.map(|statement| statement.command) {
            Some(command::ConfigCommand::Cd(to)) => here = folder.join(to.text),
            Some(command::ConfigCommand::Impulse {
                response: command::Response::File(part),
                ..
            }) => files.push(here.join(part.file.text)),
            _ => {}
        }
    }
    files
}

/// Reads a configuration in `folder`, and the sound files that it names, for a convolver at `rate`.
///
/// Real-time: waits, on the disk.
pub fn read(
    bytes: impl AsRef<[u8]>,
    folder: &Path,
    rate: SampleRate,
    limit: &IrLimit,
) -> ParsedConfig {
    let mut assembler = assemble::Assembler::new(folder, rate, limit);
    for (line, bytes) in (1..).zip(bytes.as_ref().split(|byte| *byte == b'\n')) {
        let text = String::from_utf8_lossy(bytes);
        let mut words = words::Words::new(text.trim_end_matches('\r'), line);
        if let Some(statement) = command::parse(&mut words, &mut assembler.found) {
            if text.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(bytes).is_err() {
                let not_utf8 = Diagnostic::error(SourceSpan::new(line, 1, 1), "this is not UTF-8");
                let not_utf8 = not_utf8.help("save the file as UTF-8 text");
                assembler.found.push(not_utf8);
                continue;
            }
            assembler.run(statement);
        } else if text.trim_start().starts_with("/convolver/new") {
            assembler.note_invalid_new();
        }
    }
    let (config, mut diagnostics) = assembler.end();
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.line, diagnostic.span.column));
    ParsedConfig {
        config,
        diagnostics,
    }
}
