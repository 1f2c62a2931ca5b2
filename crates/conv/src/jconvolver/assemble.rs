//! Commands to paths: which file, which channel, what is added and what is shared.

use super::command::{At, Command, Pair, Said};
use super::hilbert::hilbert;
use super::{Config, PortName};
use crate::ir::{Ir, IrError, Limit, Note, Paths};
use graph::{Diagnostic, Place};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::SampleRate;

/// What has been said so far.
pub(super) struct Assembler<'a> {
    /// Where the configuration lies, and where files are looked for now.
    home: &'a Path,
    folder: PathBuf,
    rate: SampleRate,
    /// What may still be taken.
    limit: Limit,
    new: Option<New>,
    /// Whether it has been said that it is missing.
    is_missed: bool,
    files: HashMap<PathBuf, File>,
    parts: HashMap<(PathBuf, Range), Arc<[f32]>>,
    pairs: BTreeMap<(usize, usize), Between>,
}

/// What `/convolver/new` said.
struct New {
    place: Place,
    inputs: Vec<PortName>,
    outputs: Vec<PortName>,
    partition: usize,
    most_frames: usize,
}

/// A file that was opened, or why it cannot be used.
#[derive(Clone)]
enum File {
    Good { ir: Ir, from: SampleRate },
    Bad(String),
}

/// Channel, first frame and number of frames.
type Range = (usize, usize, usize);

/// What is between an input and an output.
enum Between {
    Sum(Vec<Part>),
    Copy { of: (usize, usize), place: Place },
}

struct Part {
    ir: Arc<[f32]>,
    gain: f32,
    delay: usize,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(home: &'a Path, rate: SampleRate, limit: &Limit) -> Self {
        Self {
            home,
            folder: home.to_path_buf(),
            rate,
            limit: *limit,
            new: None,
            is_missed: false,
            files: HashMap::new(),
            parts: HashMap::new(),
            pairs: BTreeMap::new(),
        }
    }

    /// One more command.
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
        // What is wrong has been said by whoever gave `None`.
        let _ = self.impulse(said, found);
    }

    /// There was a `/convolver/new`, and something was wrong with it.
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
            found.push(wrong.also(first.place, "the first one is here"));
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

    /// A command that needs a convolver; `None` where something is wrong.
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
                let ir = self.part(source, found);
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
        place: Place,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let Some(delay) = at.is.checked_sub(length / 2) else {
            let message = format!("half of {length} frames do not fit before frame {}", at.is);
            let wrong = Diagnostic::error(at.place, message);
            found.push(wrong.help(format!("the delay is {} or more", length / 2)));
            return None;
        };
        self.charge(length, place, found)?;
        let ir = hilbert(length).into();
        self.add(pair, Part { ir, gain, delay }, (place, at.place), found)
    }

    /// The index of a channel, where it was declared.
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
        found.push(wrong.also(new.place, "they are declared here"));
        None
    }

    fn pair(&self, (input, output): Pair, found: &mut Vec<Diagnostic>) -> Option<(usize, usize)> {
        let input = self.channel(true, input, found);
        let output = self.channel(false, output, found);
        Some((input?, output?))
    }

    /// Adds one response between a pair, cut to what the convolver holds.
    fn add(
        &mut self,
        pair: (usize, usize),
        mut part: Part,
        (place, delay): (Place, Place),
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let holds = self.new.as_ref()?.most_frames;
        let Some(room) = holds.checked_sub(part.delay).filter(|room| *room > 0) else {
            let message = format!("the convolver holds {holds} frames: nothing is heard of this");
            let wrong = Diagnostic::error(delay, message);
            found.push(wrong.help("raise the maximum length at `/convolver/new`, or delay less"));
            return None;
        };
        // The silence before it is memory too.
        let (frames, most) = (
            (part.delay + part.ir.len().min(room)) as u64,
            self.limit.frames,
        );
        if frames > most {
            let name = "this".into();
            let error = IrError::TooLong { name, frames, most };
            found.push(Diagnostic::error(delay, error.to_string()));
            return None;
        }
        self.charge(part.delay, delay, found)?;
        if part.ir.len() > room {
            let (needs, over) = (part.delay + part.ir.len(), part.ir.len() - room);
            let message = format!("the convolver holds {holds} frames: the last {over} are cut");
            let cut = Diagnostic::warning(place, message);
            found.push(cut.help(format!(
                "a maximum length of {needs} at `/convolver/new` keeps them"
            )));
            self.charge(room, place, found)?;
            part.ir = part.ir[..room].into();
        }
        match self
            .pairs
            .entry(pair)
            .or_insert_with(|| Between::Sum(Vec::new()))
        {
            Between::Sum(parts) => parts.push(part),
            Between::Copy { place: first, .. } => {
                let message = "this pair is a copy: nothing can be added to it";
                let wrong = Diagnostic::error(place, message).also(*first, "it is copied here");
                found.push(wrong.help("add it to what is copied, or read the file for both"));
                return None;
            }
        }
        Some(())
    }

    fn copy(
        &mut self,
        (pair, of): ((usize, usize), (usize, usize)),
        place: Place,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let (input, output) = (of.0 + 1, of.1 + 1);
        let wrong = if pair == of {
            "a pair cannot be a copy of itself".into()
        } else if self.pairs.contains_key(&pair) {
            "there is something between this pair already: a copy would replace it".into()
        } else if !self.pairs.contains_key(&of) {
            format!("there is nothing yet between input {input} and output {output} to copy")
        } else {
            self.pairs.insert(pair, Between::Copy { of, place });
            return Some(());
        };
        found.push(Diagnostic::error(place, wrong));
        None
    }

    /// The asked part of a file's channel, at the convolver's rate.
    fn part(&mut self, source: Source, found: &mut Vec<Diagnostic>) -> Option<Arc<[f32]>> {
        let (ir, from) = match self.file(&source, found) {
            File::Good { ir, from } => (ir, from),
            File::Bad(why) => {
                found.push(Diagnostic::error(source.place, why));
                return None;
            }
        };
        let range = source.range(&ir, from, found)?;
        let (channel, first, frames) = range;
        let whole = &ir.channels()[channel];
        if frames == whole.len() {
            return Some(whole.clone());
        }
        let key = (source.path, range);
        if let Some(part) = self.parts.get(&key) {
            return Some(part.clone());
        }
        self.charge(frames, source.place, found)?;
        let part: Arc<[f32]> = whole[first..first + frames].into();
        self.parts.insert(key, part.clone());
        Some(part)
    }

    /// The file, opened once; what it takes is taken from the limit.
    fn file(&mut self, source: &Source, found: &mut Vec<Diagnostic>) -> File {
        if let Some(file) = self.files.get(&source.path) {
            return file.clone();
        }
        let file = match Ir::load(&source.path, self.rate, &self.limit) {
            Ok(loaded) => {
                let samples = loaded.ir.frames() * loaded.ir.channels().len();
                // It was held against the limit before; what resampling adds at its ends is let through, once.
                if self.limit.charge("", samples).is_err() {
                    self.limit.samples = 0;
                }
                let mut from = self.rate;
                for note in &loaded.notes {
                    if let Note::Resampled { from: rate, .. } = note {
                        from = *rate;
                    }
                    found.push(Diagnostic::warning(source.place, note.to_string()));
                }
                File::Good {
                    ir: loaded.ir,
                    from,
                }
            }
            Err(error) => File::Bad(in_full(&error)),
        };
        self.files.insert(source.path.clone(), file.clone());
        file
    }

    /// Takes `samples` of what may be taken, or says that there is no more.
    fn charge(&mut self, samples: usize, place: Place, found: &mut Vec<Diagnostic>) -> Option<()> {
        let taken = self.limit.charge("this", samples);
        taken
            .map_err(|error| found.push(Diagnostic::error(place, error.to_string())))
            .ok()
    }

    /// Everything that was said, as paths.
    pub(super) fn end(mut self, found: &mut Vec<Diagnostic>) -> Option<Config> {
        let Some(new) = self.new.take() else {
            if !self.is_missed {
                let wrong = Diagnostic::error(Place::NOWHERE, "there is no `/convolver/new`");
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
        let mut files: Vec<PathBuf> = self.files.keys().cloned().collect();
        files.sort();
        let paths = self.paths(&new, found)?;
        Some(Config {
            paths,
            partition: new.partition,
            most_frames: new.most_frames,
            inputs: new.inputs,
            outputs: new.outputs,
            files,
        })
    }

    fn paths(mut self, new: &New, found: &mut Vec<Diagnostic>) -> Option<Paths> {
        let mut paths = Paths::new(new.inputs.len(), new.outputs.len());
        let mut sums: BTreeMap<(usize, usize), Part> = BTreeMap::new();
        let mut copies = Vec::new();
        for (pair, between) in std::mem::take(&mut self.pairs) {
            match between {
                Between::Sum(parts) => {
                    let sum = self.sum(parts).map_err(|error| {
                        found.push(Diagnostic::error(new.place, in_full(&error)));
                    });
                    sums.insert(pair, sum.ok()?);
                }
                Between::Copy { of, .. } => copies.push((pair, of)),
            }
        }
        let links: BTreeMap<_, _> = copies.iter().copied().collect();
        // A copy is only ever made of what is there already, so that this ends.
        let origin = |mut pair| {
            while let Some(of) = links.get(&pair) {
                pair = *of;
            }
            pair
        };
        let all = sums
            .keys()
            .copied()
            .chain(copies.iter().map(|(pair, _)| *pair));
        let mut all: Vec<(usize, usize)> = all.collect();
        all.sort_unstable_by_key(|(input, output)| (*output, *input));
        for pair in all {
            let Part { ir, gain, delay } = sums.get(&origin(pair))?;
            let path = crate::Path {
                gain: *gain,
                ..crate::Path::new(pair.0, pair.1, ir.clone())
            };
            if let Err(error) = paths.add(path, *delay) {
                found.push(Diagnostic::error(new.place, error.to_string()));
            }
        }
        Some(paths)
    }

    /// What is between one pair, as one response; a lone part keeps its memory.
    fn sum(&mut self, mut parts: Vec<Part>) -> Result<Part, IrError> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let end = |part: &Part| part.delay + part.ir.len();
        let begin = parts.iter().map(|part| part.delay).min().unwrap_or(0);
        let frames = parts.iter().map(end).max().unwrap_or(0) - begin;
        let name = "the sum of what is read for one pair";
        self.limit.check(name, frames as u64, 1)?;
        self.limit.charge(name, frames)?;
        let mut sum = vec![0.0; frames];
        for part in &parts {
            let to = sum[part.delay - begin..].iter_mut();
            for (to, sample) in to.zip(part.ir.iter()) {
                *to += sample * part.gain;
            }
        }
        Ok(Part {
            ir: sum.into(),
            gain: 1.0,
            delay: begin,
        })
    }
}

/// What `/impulse/read` wants of a file.
struct Source {
    path: PathBuf,
    place: Place,
    channel: At<u32>,
    offset: At<u32>,
    length: At<u32>,
}

impl Source {
    /// Which part of it that is; OFFSET and LENGTH count the file's own frames, of which there were `from` a second.
    fn range(&self, ir: &Ir, from: SampleRate, found: &mut Vec<Diagnostic>) -> Option<Range> {
        let (channels, frames) = (ir.channels().len(), ir.frames());
        let name = self.path.display();
        let channel = self.channel.is as usize;
        if channel > channels {
            let message = format!("{name} has no channel {channel}: it has {channels}");
            found.push(Diagnostic::error(self.channel.place, message));
            return None;
        }
        let here =
            |n: u32| (u64::from(n) * u64::from(ir.rate().hz()) / u64::from(from.hz())) as usize;
        let first = here(self.offset.is);
        if first >= frames {
            let message = format!("{name} ends before frame {}", self.offset.is);
            found.push(Diagnostic::error(self.offset.place, message));
            return None;
        }
        let asked = match self.length.is {
            0 => frames - first,
            length => here(length).max(1),
        };
        if asked > frames - first {
            let message = format!("{name} has fewer frames than that: the rest is silence");
            found.push(Diagnostic::warning(self.length.place, message));
        }
        Some((channel - 1, first, asked.min(frames - first)))
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

/// An error with what caused it.
fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let words: Vec<String> = causes.map(ToString::to_string).collect();
    words.join(": ")
}
