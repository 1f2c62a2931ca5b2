//! Commands to a configuration. Each command is used as far as it is valid; each error has its place.

use super::command::{At, Command, Pair, Said};
use super::hilbert::hilbert;
use super::pairs::{Pairs, Part};
use super::sources::{Source, Sources};
use super::{Config, PortName};
use crate::response::ir::{IrError, IrLimit};
use graph::{Diagnostic, SourceSpan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::SampleRate;

/// Configuration so far.
pub(super) struct Assembler<'a> {
    /// Folder of the configuration, and the current folder for sound files.
    home: &'a Path,
    folder: PathBuf,
    sources: Sources,
    new: Option<New>,
    /// True once the missing `/convolver/new` has been reported.
    is_missed: bool,
    pairs: Pairs,
}

/// Arguments of `/convolver/new`.
struct New {
    place: SourceSpan,
    inputs: Vec<PortName>,
    outputs: Vec<PortName>,
    partition: usize,
    most_frames: usize,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(home: &'a Path, rate: SampleRate, limit: &IrLimit) -> Self {
        Self {
            home,
            folder: home.to_path_buf(),
            sources: Sources::new(rate, limit),
            new: None,
            is_missed: false,
            pairs: Pairs::default(),
        }
    }

    /// Adds a command.
    pub(super) fn take(&mut self, said: Said, found: &mut Vec<Diagnostic>) {
        let place = said.place;
        if let Command::Cd(folder) = said.command {
            self.folder = self.home.join(folder.text);
            return;
        }
        if let Command::New { .. } = said.command {
            self.begin(said, found);
            return;
        }
        if self.new.is_none() {
            if !std::mem::replace(&mut self.is_missed, true) {
                let wrong = Diagnostic::error(place, "`/convolver/new` must come before this");
                found.push(wrong.help("/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE"));
            }
            return;
        }
        // `None` means that the error has been reported.
        let _ = self.impulse(said, found);
    }

    /// Notes a `/convolver/new` with an error.
    pub(super) fn meant_to_begin(&mut self) {
        self.is_missed = true;
    }

    fn begin(&mut self, said: Said, found: &mut Vec<Diagnostic>) {
        let Command::New {
            inputs,
            outputs,
            partition,
            most_frames,
        } = said.command
        else {
            return;
        };
        if let Some(first) = &self.new {
            let wrong = Diagnostic::error(said.place, "there is a second `/convolver/new`");
            found.push(wrong.related(first.place, "the first one is here"));
            return;
        }
        self.new = Some(New {
            place: said.place,
            inputs: vec![PortName::default(); inputs as usize],
            outputs: vec![PortName::default(); outputs as usize],
            partition: partition as usize,
            most_frames: most_frames as usize,
        });
    }

    /// Runs a command that needs a convolver; `None` if it has an error.
    fn impulse(&mut self, said: Said, found: &mut Vec<Diagnostic>) -> Option<()> {
        let place = said.place;
        match said.command {
            Command::Cd(_) | Command::New { .. } => None,
            Command::Name {
                is_input,
                channel,
                name,
                connect,
            } => {
                let at = self.channel(is_input, channel, found)?;
                let name = Some(name);
                self.name(is_input, at, PortName { name, connect })
            }
            Command::Read {
                pair,
                gain,
                delay,
                offset,
                length,
                channel,
                file,
            } => {
                let pair = self.pair(pair, found);
                let source = Source {
                    path: self.folder.join(&file.text),
                    place: file.place,
                    channel,
                    offset,
                    length,
                };
                let ir = self.sources.part(source, found);
                let (pair, ir, delay) = (pair?, ir?, delay.map_usize());
                self.add(
                    pair,
                    Part {
                        ir,
                        gain,
                        delay: delay.is,
                    },
                    (place, delay.place),
                    found,
                )
            }
            Command::Dirac { pair, gain, delay } => {
                let (pair, delay) = (self.pair(pair, found)?, delay.map_usize());
                let ir = Arc::from([1.0]);
                self.add(
                    pair,
                    Part {
                        ir,
                        gain,
                        delay: delay.is,
                    },
                    (place, delay.place),
                    found,
                )
            }
            Command::Hilbert {
                pair,
                gain,
                delay,
                length,
            } => {
                let pair = self.pair(pair, found)?;
                let times = (delay.map_usize(), length.is as usize);
                self.hilbert(pair, gain, times, place, found)
            }
            Command::Copy { pair, from } => {
                let (pair, from) = (self.pair(pair, found), self.pair(from, found));
                self.copy((pair?, from?), place, found)
            }
        }
    }

    fn name(&mut self, is_input: bool, at: usize, name: PortName) -> Option<()> {
        let new = self.new.as_mut()?;
        let ports = match is_input {
            true => &mut new.inputs,
            false => &mut new.outputs,
        };
        ports[at] = name;
        Some(())
    }

    /// Adds a Hilbert transform of `length` frames, whose middle comes after a delay.
    fn hilbert(
        &mut self,
        pair: (usize, usize),
        gain: f32,
        (at, length): (At<usize>, usize),
        place: SourceSpan,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let Some(delay) = at.is.checked_sub(length / 2) else {
            let message = format!("half of {length} frames do not fit before frame {}", at.is);
            let wrong = Diagnostic::error(at.place, message);
            found.push(wrong.help(format!("the delay is {} or more", length / 2)));
            return None;
        };
        self.sources.charge(length, place, found)?;
        let ir = hilbert(length).into();
        self.add(pair, Part { ir, gain, delay }, (place, at.place), found)
    }

    /// Index of a channel; `None` if it is not declared.
    fn channel(
        &self,
        is_input: bool,
        number: At<u32>,
        found: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let new = self.new.as_ref()?;
        let (what, has) = match is_input {
            true => ("input", new.inputs.len()),
            false => ("output", new.outputs.len()),
        };
        let at = number.is as usize;
        if (1..=has).contains(&at) {
            return Some(at - 1);
        }
        let message = format!("there is no {what} {at}: {has} are declared");
        let wrong = Diagnostic::error(number.place, message);
        found.push(wrong.related(new.place, "they are declared here"));
        None
    }

    fn pair(&self, (input, output): Pair, found: &mut Vec<Diagnostic>) -> Option<(usize, usize)> {
        let input = self.channel(true, input, found);
        let output = self.channel(false, output, found);
        Some((input?, output?))
    }

    /// Adds a response between a pair of channels, cut to the maximum length.
    fn add(
        &mut self,
        pair: (usize, usize),
        mut part: Part,
        (place, delay): (SourceSpan, SourceSpan),
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let holds = self.new.as_ref()?.most_frames;
        let Some(room) = holds.checked_sub(part.delay).filter(|room| *room > 0) else {
            let message = format!("the convolver holds {holds} frames: nothing is heard of this");
            let wrong = Diagnostic::error(delay, message);
            found.push(wrong.help("raise the maximum length at `/convolver/new`, or delay less"));
            return None;
        };
        // The silence before it needs memory too.
        let (frames, most) = (
            (part.delay + part.ir.len().min(room)) as u64,
            self.sources.limit().frames,
        );
        if frames > most {
            let name = "this".into();
            let error = IrError::TooLong { name, frames, most };
            found.push(Diagnostic::error(delay, error.to_string()));
            return None;
        }
        self.sources.charge(part.delay, delay, found)?;
        if part.ir.len() > room {
            let (needs, over) = (part.delay + part.ir.len(), part.ir.len() - room);
            let message = format!("the convolver holds {holds} frames: the last {over} are cut");
            let cut = Diagnostic::warning(place, message);
            found.push(cut.help(format!(
                "a maximum length of {needs} at `/convolver/new` keeps them"
            )));
            self.sources.charge(room, place, found)?;
            part.ir = part.ir[..room].into();
        }
        let added = self.pairs.add(pair, part);
        added
            .map_err(|first| {
                let message = "this pair is a copy: nothing can be added to it";
                let wrong = Diagnostic::error(place, message).related(first, "it is copied here");
                found.push(wrong.help("add it to what is copied, or read the file for both"));
            })
            .ok()
    }

    fn copy(
        &mut self,
        (pair, of): ((usize, usize), (usize, usize)),
        place: SourceSpan,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let copied = self.pairs.copy(pair, of, place);
        copied
            .map_err(|wrong| found.push(Diagnostic::error(place, wrong)))
            .ok()
    }

    /// Ends the configuration: all responses as paths.
    pub(super) fn end(mut self, found: &mut Vec<Diagnostic>) -> Option<Config> {
        let Some(new) = self.new.take() else {
            if !self.is_missed {
                let wrong = Diagnostic::error(SourceSpan::NONE, "there is no `/convolver/new`");
                found.push(wrong.help("/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE"));
            }
            return None;
        };
        if self.pairs.is_empty() && !found.iter().any(Diagnostic::is_error) {
            let wrong = Diagnostic::error(new.place, "nothing would be heard: there is no impulse");
            found.push(
                wrong.help("/impulse/read INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE"),
            );
        }
        if found.iter().any(Diagnostic::is_error) {
            return None;
        }
        let files = self.sources.names();
        let ends = (new.inputs.len(), new.outputs.len());
        let limit = self.sources.limit();
        let paths = std::mem::take(&mut self.pairs).paths(ends, new.place, limit, found)?;
        Some(Config {
            paths,
            min_partition_size: new.partition,
            max_frames: new.most_frames,
            inputs: new.inputs,
            outputs: new.outputs,
            files,
        })
    }
}

impl At<u32> {
    fn map_usize(self) -> At<usize> {
        At {
            is: self.is as usize,
            place: self.place,
        }
    }
}
