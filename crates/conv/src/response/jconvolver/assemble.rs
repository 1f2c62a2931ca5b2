//! Commands to a configuration. Each command is used as far as it is valid; each error has its place.

use super::command::{ConfigCommand, Located, Pair, Response, Statement};
use super::hilbert::hilbert;
use super::pairs::{Pairs, Part};
use super::sources::Sources;
use super::{Config, PortName};
use crate::response::ir::{IrLimit, IrReason};
use graph::{Diagnostic, SourceSpan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::SampleRate;

/// Advice where `/convolver/new` is missing.
const NEW: &str = "/convolver/new INPUTS OUTPUTS PARTITION MAXSIZE";

/// Configuration so far.
pub(super) struct Assembler<'a> {
    /// Folder of the configuration, and the current folder for sound files.
    home: &'a Path,
    folder: PathBuf,
    sources: Sources,
    new: Option<New>,
    /// True once the missing `/convolver/new` has been reported.
    is_new_reported: bool,
    pairs: Pairs,
    /// Errors and warnings so far.
    pub(super) found: Vec<Diagnostic>,
}

/// Arguments of `/convolver/new`.
struct New {
    place: SourceSpan,
    inputs: Vec<PortName>,
    outputs: Vec<PortName>,
    partition: usize,
    max_frames: usize,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(home: &'a Path, rate: SampleRate, limit: &IrLimit) -> Self {
        Self {
            home,
            folder: home.to_path_buf(),
            sources: Sources::new(rate, limit),
            new: None,
            is_new_reported: false,
            pairs: Pairs::default(),
            found: Vec::new(),
        }
    }

    /// Runs a command, or reports why it cannot be run.
    pub(super) fn run(&mut self, statement: Statement) {
        let Statement { place, command } = statement;
        match command {
            ConfigCommand::Cd(folder) => self.folder = self.home.join(folder.text),
            ConfigCommand::New {
                inputs,
                outputs,
                partition,
                max_frames,
            } => self.begin(New {
                place,
                inputs: vec![PortName::default(); inputs],
                outputs: vec![PortName::default(); outputs],
                partition,
                max_frames,
            }),
            _ if self.new.is_none() => {
                if !std::mem::replace(&mut self.is_new_reported, true) {
                    let wrong = Diagnostic::error(place, "`/convolver/new` must come before this");
                    self.found.push(wrong.help(NEW));
                }
            }
            // `None` means that the error has been reported.
            command => drop(self.run_declared(command, place)),
        }
    }

    /// Notes a `/convolver/new` with an error, which has been reported.
    pub(super) fn note_invalid_new(&mut self) {
        self.is_new_reported = true;
    }

    fn begin(&mut self, new: New) {
        match &self.new {
            None => self.new = Some(new),
            Some(first) => {
                let wrong = Diagnostic::error(new.place, "there is a second `/convolver/new`");
                self.found
                    .push(wrong.related(first.place, "the first one is here"));
            }
        }
    }

    /// Runs a command that needs a declared convolver; `None` if it has an error, which is reported.
    fn run_declared(&mut self, command: ConfigCommand, place: SourceSpan) -> Option<()> {
        match command {
            ConfigCommand::Cd(_) | ConfigCommand::New { .. } => None,
            ConfigCommand::Name {
                is_input,
                channel,
                name,
            } => {
                let channel = self.channel(is_input, channel)?;
                self.ports(is_input)?[channel] = name;
                Some(())
            }
            ConfigCommand::Impulse {
                pair,
                gain,
                delay,
                response,
            } => {
                let pair = self.pair(pair);
                let response = self.response(&response, delay, place);
                let (ir, begin) = self.report(response)?;
                let part = Part {
                    ir,
                    gain,
                    delay: begin,
                };
                let added = self.add(pair?, part, (place, delay.place));
                self.report(added)
            }
            ConfigCommand::Copy { pair, from } => {
                let (pair, from) = (self.pair(pair), self.pair(from));
                let copied = self.pairs.copy(pair?, from?, place);
                self.report(copied.map_err(|why| Diagnostic::error(place, why)))
            }
        }
    }

    fn report<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|wrong| self.found.push(wrong)).ok()
    }

    fn ports(&mut self, is_input: bool) -> Option<&mut Vec<PortName>> {
        let new = self.new.as_mut()?;
        Some(match is_input {
            true => &mut new.inputs,
            false => &mut new.outputs,
        })
    }

    /// A response, and the frame at which it begins so that `delay` is kept.
    fn response(
        &mut self,
        response: &Response,
        delay: Located,
        place: SourceSpan,
    ) -> Result<(Arc<[f32]>, usize), Diagnostic> {
        match response {
            Response::Dirac => Ok((Arc::from([1.0]), delay.value)),
            Response::File(part) => {
                let ir = self.sources.part(&self.folder, part, &mut self.found)?;
                Ok((ir, delay.value))
            }
            Response::Hilbert(length) => {
                let half = length / 2;
                let begin = delay.value.checked_sub(half).ok_or_else(|| {
                    let at = delay.value;
                    let message = format!("half of {length} frames do not fit before frame {at}");
                    let wrong = Diagnostic::error(delay.place, message);
                    wrong.help(format!("the delay is {half} or more"))
                })?;
                self.sources.charge(*length, place)?;
                Ok((hilbert(*length).into(), begin))
            }
        }
    }

    /// Index of a channel; `None` if it is not declared, which is reported.
    fn channel(&mut self, is_input: bool, Located { value, place }: Located) -> Option<usize> {
        let what = if is_input { "input" } else { "output" };
        let count = self.ports(is_input)?.len();
        if (1..=count).contains(&value) {
            return Some(value - 1);
        }
        let message = format!("there is no {what} {value}: {count} are declared");
        let wrong = Diagnostic::error(place, message);
        let declared = self.new.as_ref()?.place;
        self.found
            .push(wrong.related(declared, "they are declared here"));
        None
    }

    fn pair(&mut self, (input, output): Pair) -> Option<(usize, usize)> {
        let (input, output) = (self.channel(true, input), self.channel(false, output));
        Some((input?, output?))
    }

    /// Adds a response between a pair of channels, cut to the maximum length.
    fn add(
        &mut self,
        pair: (usize, usize),
        mut part: Part,
        (place, delay): (SourceSpan, SourceSpan),
    ) -> Result<(), Diagnostic> {
        let max = self.new.as_ref().map_or(0, |new| new.max_frames);
        let Some(room) = max.checked_sub(part.delay).filter(|room| *room > 0) else {
            let message = format!("the convolver holds {max} frames: this has no effect");
            let wrong = Diagnostic::error(delay, message);
            return Err(wrong.help("raise the maximum length at `/convolver/new`, or delay less"));
        };
        // The silence before it needs memory too.
        let frames = (part.delay + part.ir.len().min(room)) as u64;
        let max = self.sources.limit().frames;
        if frames > max {
            let reason = IrReason::TooLong { frames, max };
            return Err(Diagnostic::error(delay, format!("this {reason}")));
        }
        self.sources.charge(part.delay, delay)?;
        if part.ir.len() > room {
            let (needs, over) = (part.delay + part.ir.len(), part.ir.len() - room);
            let message = format!("the convolver holds {max} frames: the last {over} are cut");
            let help = format!("a maximum length of {needs} at `/convolver/new` keeps them");
            self.found
                .push(Diagnostic::warning(place, message).help(help));
            self.sources.charge(room, place)?;
            part.ir = part.ir[..room].into();
        }
        self.pairs.add(pair, part).map_err(|first| {
            let message = "this pair is a copy: nothing can be added to it";
            let wrong = Diagnostic::error(place, message).related(first, "it is copied here");
            wrong.help("add it to what is copied, or read the file for both")
        })
    }

    /// Ends the configuration: all responses as paths, if there is no error, and what was found.
    pub(super) fn end(mut self) -> (Option<Config>, Vec<Diagnostic>) {
        let config = self.config();
        let has_error = self.found.iter().any(Diagnostic::is_error);
        (config.filter(|_| !has_error), self.found)
    }

    fn config(&mut self) -> Option<Config> {
        let Some(new) = self.new.take() else {
            if !self.is_new_reported {
                let wrong = Diagnostic::error(SourceSpan::NONE, "there is no `/convolver/new`");
                self.found.push(wrong.help(NEW));
            }
            return None;
        };
        let has_error = self.found.iter().any(Diagnostic::is_error);
        if has_error || self.pairs.is_empty() {
            let wrong = Diagnostic::error(new.place, "the output would be silent: no impulse");
            let help = "/impulse/read INPUT OUTPUT GAIN DELAY OFFSET LENGTH CHANNEL FILE";
            self.found.extend((!has_error).then(|| wrong.help(help)));
            return None;
        }
        let files = self.sources.names();
        let ends = (new.inputs.len(), new.outputs.len());
        let (limit, found) = (self.sources.limit(), &mut self.found);
        let paths = std::mem::take(&mut self.pairs).paths(ends, new.place, limit, found)?;
        Some(Config {
            paths,
            min_partition_size: new.partition,
            max_frames: new.max_frames,
            inputs: new.inputs,
            outputs: new.outputs,
            files,
        })
    }
}
