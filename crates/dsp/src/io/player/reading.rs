//! Frames of a `player` from its file.

use super::{Player, SampleSource};
use processor::Block;
use std::ops::Range;

impl Player {
    /// Writes the file's frames from `from` on. Returns false if some came late.
    pub(super) fn read_samples(
        &mut self,
        block: &mut Block<'_>,
        to: Range<usize>,
        from: u64,
    ) -> bool {
        let may_wait = block.time_for_late_results().is_none();
        let mut output = block.output(0);
        match &mut self.feed {
            SampleSource::Nothing => false,
            SampleSource::Held(sound) => {
                let width = sound.channels().count();
                for c in 0..self.channels {
                    let out = &mut output.channel(c)[to.clone()];
                    match file_channel(c, width) {
                        Some(k) => {
                            let frames = &sound.channel(k)[from as usize..][..out.len()];
                            self.factor.scale(0, frames, out);
                        }
                        None => out.fill(0.0),
                    }
                }
                true
            }
            SampleSource::Streamed(reader) => {
                let width = reader.width();
                if may_wait {
                    reader.wait(to.len());
                }
                let frames = reader.take(to.len());
                for c in 0..self.channels {
                    let out = &mut output.channel(c)[to.clone()];
                    out.fill(0.0);
                    if let Some(k) = file_channel(c, width) {
                        let frames = frames.iter().skip(k).step_by(width);
                        out.iter_mut()
                            .zip(frames)
                            .for_each(|(to, from)| *to = *from);
                        let mut factor = self.factor;
                        factor.apply(out);
                    }
                }
                frames.len() == to.len() * width
            }
        }
    }

    /// Applies the fades to the range `to`, which holds the file's frames from `from` on.
    pub(super) fn apply_fades(&self, block: &mut Block<'_>, to: Range<usize>, from: u64) {
        if self.timeline.is_unfaded(from, to.len() as u64) {
            return;
        }
        let mut output = block.output(0);
        for c in 0..self.channels {
            for (sample, frame) in output.channel(c)[to.clone()].iter_mut().zip(from..) {
                *sample = *sample * self.timeline.level(frame) + 0.0;
            }
        }
    }
}

/// The channel of a file of `width` channels that plays on channel `c`; `None` is silence.
fn file_channel(c: usize, width: usize) -> Option<usize> {
    match width {
        1 => Some(0),
        _ => (c < width).then_some(c),
    }
}
