//! Sound files of a configuration, each opened once, and the parts of them that it uses, within a limit of memory.

use super::command::At;
use crate::response::ir::{Ir, IrLimit, LoadNote};
use graph::{Diagnostic, SourceSpan};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use units::SampleRate;

/// Opened files, and the memory that is left.
pub(super) struct Sources {
    rate: SampleRate,
    limit: IrLimit,
    files: HashMap<PathBuf, File>,
    parts: HashMap<(PathBuf, Range), Arc<[f32]>>,
}

/// A file that was opened, or the reason why it cannot be used.
#[derive(Clone)]
enum File {
    Good { ir: Ir, from: SampleRate },
    Bad(String),
}

/// Channel, first frame and number of frames.
type Range = (usize, usize, usize);

impl Sources {
    pub(super) fn new(rate: SampleRate, limit: &IrLimit) -> Self {
        Self {
            rate,
            limit: *limit,
            files: HashMap::new(),
            parts: HashMap::new(),
        }
    }

    /// Memory that is left.
    pub(super) fn limit(&mut self) -> &mut IrLimit {
        &mut self.limit
    }

    /// Files that were named, in order.
    pub(super) fn names(&self) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = self.files.keys().cloned().collect();
        names.sort();
        names
    }

    /// Part of a file's channel, at the convolver's rate.
    pub(super) fn part(
        &mut self,
        source: Source,
        found: &mut Vec<Diagnostic>,
    ) -> Option<Arc<[f32]>> {
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

    /// Opens a file once; its memory is subtracted from the limit.
    fn file(&mut self, source: &Source, found: &mut Vec<Diagnostic>) -> File {
        if let Some(file) = self.files.get(&source.path) {
            return file.clone();
        }
        let file = match Ir::load(&source.path, self.rate, &self.limit) {
            Ok(loaded) => {
                let samples = loaded.ir.frames() * loaded.ir.channels().len();
                // Its length was checked before; the few frames that resampling adds are let through.
                if self.limit.charge("", samples).is_err() {
                    self.limit.samples = 0;
                }
                let mut from = self.rate;
                for note in &loaded.notes {
                    if let LoadNote::Resampled { from: rate, .. } = note {
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

    /// Subtracts `samples` from the limit, or reports that it is exceeded.
    pub(super) fn charge(
        &mut self,
        samples: usize,
        place: SourceSpan,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let taken = self.limit.charge("this", samples);
        taken
            .map_err(|error| found.push(Diagnostic::error(place, error.to_string())))
            .ok()
    }
}

/// Arguments of `/impulse/read` that concern the file.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) place: SourceSpan,
    pub(super) channel: At<u32>,
    pub(super) offset: At<u32>,
    pub(super) length: At<u32>,
}

impl Source {
    /// Channel and range of frames. OFFSET and LENGTH count frames at the file's own rate `from`.
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

/// An error with its sources, in one line.
pub(super) fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let words: Vec<String> = causes.map(ToString::to_string).collect();
    words.join(": ")
}
