//! jconvolver's configuration files, read as they are: text and sound files to [`Paths`].
//!
//! Takes the bytes of a file and the folder it lies in, gives a [`Config`] *and* everything that is wrong, each with its
//! place: reading never fails half-way and never panics, and one bad line costs only itself.
//! May: open the sound files that are named, allocate within a [`IrLimit`]. May not: run on an audio thread, use `unsafe`.
//!
//! | line | means |
//! |---|---|
//! | `# ...` | nothing; nor does an empty line |
//! | `/cd FOLDER` | sound files are looked for there, from now on; at first in the configuration's own folder, from which a relative FOLDER counts too |
//! | `/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE [DENSITY]` | must come first and once |
//! | `/input/name N NAME [PORT]`, `/output/name ...` | what a channel is called, and what it is connected to |
//! | `/impulse/read INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE` | LENGTH frames (0: all) of a file's channel, from frame OFFSET, GAIN times as loud (no dB), after DELAY frames of silence |
//! | `/impulse/dirac INPUT OUTPUT GAIN DELAY` | one sample |
//! | `/impulse/hilbert INPUT OUTPUT GAIN DELAY LENGTH` | 90 degrees at all frequencies, around frame DELAY |
//! | `/impulse/copy INPUT OUTPUT FROM-INPUT FROM-OUTPUT` | the same as between those two, later additions included; the memory is shared |
//!
//! Inputs, outputs and channels count from 1. What is read several times for one pair is added. A name may stand in
//! single or double quotes; outside single ones a `\` takes the character behind it as it is.
//!
//! Where the program drops something with a word on its terminal, this reader is stricter: a missing file or channel, an
//! offset behind the end, a Hilbert response that begins before frame 0 and an impulse behind MAXSIZE are errors. As
//! there, what is longer than MAXSIZE is cut, with a warning. Otherwise than there, a file at another rate is resampled,
//! with a warning; its OFFSET and LENGTH count its own frames.

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

/// What a configuration says.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is heard where.
    pub paths: Paths,
    /// The smallest partition that it asks for: a power of two.
    pub min_partition_size: usize,
    /// How long a response may be; longer ones have been cut.
    pub max_frames: usize,
    /// One an input, from the first.
    pub inputs: Vec<PortName>,
    /// One an output.
    pub outputs: Vec<PortName>,
    /// The sound files that it names.
    pub files: Vec<PathBuf>,
}

/// What a channel is called, where the file says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortName {
    /// Its name.
    pub name: Option<String>,
    /// The port that it is connected to.
    pub connect: Option<String>,
}

/// What came of a text.
#[derive(Clone, Debug)]
pub struct ParsedConfig {
    /// What it says; `None` where something in it is an error.
    pub config: Option<Config>,
    /// Everything that is wrong or worth a word, by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a configuration, and the sound files that it names, for a convolver at `rate`. `folder` is where it lies.
///
/// Real-time: waits, on the disk.
pub fn read(
    bytes: impl AsRef<[u8]>,
    folder: &Path,
    rate: SampleRate,
    limit: &IrLimit,
) -> ParsedConfig {
    let mut found = Vec::new();
    let mut assembler = assemble::Assembler::new(folder, rate, limit);
    for (line, bytes) in (1..).zip(bytes.as_ref().split(|byte| *byte == b'\n')) {
        let text = String::from_utf8_lossy(bytes);
        let mut words = words::Words::new(text.trim_end_matches('\r'), line);
        if let Some(said) = command::parse(&mut words, &mut found) {
            if text.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(bytes).is_err() {
                let not_utf8 = Diagnostic::error(SourceSpan::new(line, 1, 1), "this is not UTF-8");
                found.push(not_utf8.help("save the file as UTF-8 text"));
                continue;
            }
            assembler.take(said, &mut found);
        } else if text.trim_start().starts_with("/convolver/new") {
            assembler.meant_to_begin();
        }
    }
    let config = assembler.end(&mut found);
    found.sort_by_key(|diagnostic| (diagnostic.span.line, diagnostic.span.column));
    ParsedConfig {
        config: config.filter(|_| !found.iter().any(Diagnostic::is_error)),
        diagnostics: found,
    }
}
