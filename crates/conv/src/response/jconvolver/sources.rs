//! Sound files of a configuration, each opened once, and the parts of them that it uses, within a limit of memory.

use super::command::Located;
use super::words::Word;
use crate::response::ir::{Ir, IrLimit, LoadNote, LoadedIr};
use graph::{Diagnostic, SourceSpan, error_chain};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
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

    /// Part of a file's channel, at the convolver's rate. The file is in `folder`.
    pub(super) fn part(
        &mut self,
        folder: &Path,
        part: &FilePart,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Arc<[f32]>, Diagnostic> {
        let path = folder.join(&part.file.text);
        let (ir, from) = match self.file(&path, part.file.place, found) {
            File::Good { ir, from } => (ir, from),
            File::Bad(why) => return Err(Diagnostic::error(part.file.place, why)),
        };
        let range = part.range(&path, &ir, from, found)?;
        let (channel, first, frames) = range;
        let whole = &ir.channels()[channel];
        if frames == whole.len() {
            return Ok(whole.clone());
        }
        let key = (path, range);
        if let Some(part) = self.parts.get(&key) {
            return Ok(part.clone());
        }
        self.charge(frames, part.file.place)?;
        let part: Arc<[f32]> = whole[first..first + frames].into();
        self.parts.insert(key, part.clone());
        Ok(part)
    }

    /// Opens a file once; its memory is subtracted from the limit.
    fn file(&mut self, path: &Path, place: SourceSpan, found: &mut Vec<Diagnostic>) -> File {
        if let Some(file) = self.files.get(path) {
            return file.clone();
        }
        let file = match Ir::load(path, self.rate, &self.limit) {
            Ok(LoadedIr { ir, notes, .. }) => {
                // Its length was checked before; the few frames that resampling adds are let through.
                let samples = ir.frames() * ir.channels().len();
                if self.limit.charge(samples).is_err() {
                    self.limit.samples = 0;
                }
                let mut from = self.rate;
                for note in &notes {
                    if let LoadNote::Resampled { from: rate, .. } = note {
                        from = *rate;
                    }
                    found.push(Diagnostic::warning(place, note.to_string()));
                }
                File::Good { ir, from }
            }
            Err(error) => File::Bad(error_chain(&error)),
        };
        self.files.insert(path.to_path_buf(), file.clone());
        file
    }

    /// Subtracts `samples` from the limit; an error at `place` if it is exceeded.
    pub(super) fn charge(&mut self, samples: usize, place: SourceSpan) -> Result<(), Diagnostic> {
        let charged = self.limit.charge(samples);
        charged.map_err(|reason| Diagnostic::error(place, format!("this {reason}")))
    }
}

/// Arguments of `/impulse/read` that concern the file.
#[derive(Debug, PartialEq)]
pub(super) struct FilePart {
    pub(super) file: Word,
    pub(super) channel: Located,
    pub(super) offset: Located,
    pub(super) length: Located,
}

impl FilePart {
    /// Channel and range of frames. OFFSET and LENGTH count frames at the file's own rate `from`.
    fn range(
        &self,
        path: &Path,
        ir: &Ir,
        from: SampleRate,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Range, Diagnostic> {
        let (channels, frames) = (ir.channels().len(), ir.frames());
        let (name, channel) = (path.display(), self.channel.value);
        if channel > channels {
            let message = format!("{name} has no channel {channel}: it has {channels}");
            return Err(Diagnostic::error(self.channel.place, message));
        }
        let at_rate =
            |n: usize| (n as u64 * u64::from(ir.rate().hz()) / u64::from(from.hz())) as usize;
        let first = at_rate(self.offset.value);
        if first >= frames {
            let message = format!("{name} ends before frame {}", self.offset.value);
            return Err(Diagnostic::error(self.offset.place, message));
        }
        let asked = match self.length.value {
            0 => frames - first,
            length => at_rate(length).max(1),
        };
        if asked > frames - first {
            let message = format!("{name} has fewer frames than that: the rest is silence");
            found.push(Diagnostic::warning(self.length.place, message));
        }
        Ok((channel - 1, first, asked.min(frames - first)))
    }
}
