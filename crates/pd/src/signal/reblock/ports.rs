//! [`InletBuffer`] and [`OutletBuffer`]: between blocks outside and blocks inside (`g_io.c`, `d_resample.c`).

use super::settings::Reblocking;
use crate::state::{Held, held, held_arrays};

/// Method of upsampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Upsampling {
    /// Each sample repeated.
    Hold,
    /// Lines between samples; a sample late.
    Linear,
    /// Zeros between samples.
    Pad,
}

impl Upsampling {
    /// From the argument of `inlet~` or `outlet~`.
    pub(in super::super) fn of(word: Option<&str>) -> Self {
        match word {
            Some("lin" | "linear") => Self::Linear,
            Some("pad") => Self::Pad,
            _ => Self::Hold,
        }
    }
}

/// Changes the rate of blocks. Downsampling keeps every n-th sample.
#[derive(Debug)]
struct Resampler {
    method: Upsampling,
    /// Last sample of the block before.
    last: f32,
}

impl Resampler {
    fn process(&mut self, from: &[f32], to: &mut [f32]) {
        if from.len() >= to.len() {
            let step = from.len() / to.len();
            for (to, x) in to.iter_mut().zip(from.iter().step_by(step)) {
                *to = *x;
            }
            return;
        }
        let up = to.len() / from.len();
        match self.method {
            Upsampling::Hold => {
                for (run, x) in to.chunks_exact_mut(up).zip(from) {
                    run.fill(*x);
                }
            }
            Upsampling::Pad => {
                for (run, x) in to.chunks_exact_mut(up).zip(from) {
                    run.fill(0.0);
                    run[0] = *x;
                }
            }
            Upsampling::Linear => self.lines(from, to, up),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "Pd's signals are floats"
    )]
    fn lines(&mut self, from: &[f32], to: &mut [f32], up: usize) {
        for (run, next) in to.chunks_exact_mut(up).zip(from) {
            for (at, to) in run.iter_mut().enumerate() {
                // Pd takes the fraction of the place in the block; for powers of two it is exact.
                let fraction = (at + 1) as f32 / up as f32;
                let rest = (1.0 - f64::from(fraction)) * f64::from(self.last);
                *to = (f64::from(fraction * next) + rest) as f32;
            }
            self.last = *next;
        }
    }
}

/// Samples on their way into blocks of another length: the newest are at the end.
#[derive(Debug)]
pub(super) struct InletBuffer {
    samples: Vec<f32>,
    resampled: Vec<f32>,
    /// Where the next block from outside goes.
    fill: usize,
    /// Where the next block inside begins.
    read: usize,
    hop: usize,
    resampler: Resampler,
}

impl Held for InletBuffer {
    held!(samples, fill, read, resampler; not resampled, hop; check |it| it.is_sound());
}

impl Held for OutletBuffer {
    held!(samples, write, read, resampler; not resampled, hop; check |it| it.is_sound());
}

impl Held for Resampler {
    held!(last; not method);
}

held_arrays!(InletBuffer, OutletBuffer);

impl InletBuffer {
    /// Returns true if its places are those of blocks.
    fn is_sound(&self) -> bool {
        let len = self.samples.len();
        self.fill <= len && self.read < len
    }

    pub(super) fn new(method: Upsampling) -> Self {
        Self {
            samples: Vec::new(),
            resampled: Vec::new(),
            fill: 0,
            read: 0,
            hop: 0,
            resampler: Resampler { method, last: 0.0 },
        }
    }

    /// Adjusts it to blocks that begin at block `tick` of the patch.
    pub(super) fn prepare(&mut self, to: &Reblocking, tick: usize) {
        let len = to.outer_frames.max(to.format.vector);
        if self.samples.len() != len {
            self.samples = vec![0.0; len];
        }
        self.resampled = vec![0.0; to.outer_frames];
        self.align(to, tick);
    }

    /// Begins anew with the block `tick` of the patch.
    ///
    /// Real-time: hot.
    pub(super) fn align(&mut self, to: &Reblocking, tick: usize) {
        let len = self.samples.len();
        // Filled to its end just when the block inside is due.
        let phase = tick.wrapping_sub(1) & (to.period - 1);
        self.hop = (to.period * to.outer_frames).min(len);
        self.fill = len - self.hop + phase * to.outer_frames;
        self.read = 0;
    }

    /// Takes in a block from outside.
    pub(super) fn write(&mut self, from: &[f32]) {
        let len = self.samples.len();
        if self.fill >= len {
            self.samples.copy_within(self.hop.., 0);
            self.fill = len - self.hop;
        }
        let end = self.fill + self.resampled.len();
        let Some(to) = self.samples.get_mut(self.fill..end) else {
            return;
        };
        if from.len() == to.len() {
            to.copy_from_slice(from);
        } else {
            self.resampler.process(from, to);
        }
        self.fill = end;
    }

    /// Gives a block inside, and moves on by `vector` frames.
    pub(super) fn read(&mut self, to: &mut [f32], vector: usize) {
        // A place from a state may leave too little for the block; those of blocks never do.
        self.read = self.read.min(self.samples.len() - to.len());
        to.copy_from_slice(&self.samples[self.read..self.read + to.len()]);
        self.read += vector;
        if self.read >= self.samples.len() {
            self.read = 0;
        }
    }
}

/// Samples on their way out of blocks of another length: blocks that overlap are summed.
#[derive(Debug)]
pub(super) struct OutletBuffer {
    samples: Vec<f32>,
    resampled: Vec<f32>,
    /// Where the next block inside begins.
    write: usize,
    /// Where the next block for outside begins.
    read: usize,
    hop: usize,
    resampler: Resampler,
}

impl OutletBuffer {
    /// Returns true if its places are those of blocks.
    fn is_sound(&self) -> bool {
        let (len, block) = (self.samples.len(), self.resampled.len());
        self.write < len && self.read <= len - block
    }

    pub(super) fn new(method: Upsampling) -> Self {
        Self {
            samples: Vec::new(),
            resampled: Vec::new(),
            write: 0,
            read: 0,
            hop: 0,
            resampler: Resampler { method, last: 0.0 },
        }
    }

    /// Adjusts it to blocks that begin at block `tick` of the patch.
    pub(super) fn prepare(&mut self, to: &Reblocking, tick: usize) {
        let outer = to.outer_frames;
        let len = outer.max(to.format.vector);
        if self.samples.len() != len {
            self.samples = vec![0.0; len];
        }
        self.resampled = vec![0.0; outer];
        self.align(to, tick);
    }

    /// Begins anew with the block `tick` of the patch.
    ///
    /// Real-time: hot.
    pub(super) fn align(&mut self, to: &Reblocking, tick: usize) {
        let (outer, len) = (to.outer_frames, self.samples.len());
        let big_period = (to.format.vector / outer).max(1);
        let phase = (tick + to.period - 1) & (big_period - 1) & to.period.wrapping_neg();
        self.write = outer * phase % len;
        self.read = outer * (tick & (big_period - 1));
        self.hop = match to.period {
            1 if to.frequency > 1 => outer / to.frequency,
            period => period * outer,
        };
    }

    /// Adds blocks from inside, several where they follow each other without an overlap.
    pub(super) fn add(&mut self, from: &[f32], blocks: usize) {
        let (begin, end) = from.split_at(from.len().min(self.samples.len() - self.write));
        let begins = self.samples[self.write..].iter_mut().zip(begin);
        begins.for_each(|(to, x)| *to += x);
        let ends = self.samples.iter_mut().zip(end);
        ends.for_each(|(to, x)| *to += x);
        self.write += self.hop * blocks;
        if self.write >= self.samples.len() {
            self.write = 0;
        }
    }

    /// Takes out a block for outside.
    pub(super) fn take(&mut self, to: &mut [f32]) {
        let end = self.read + self.resampled.len();
        let from = &mut self.samples[self.read..end];
        if from.len() == to.len() {
            to.copy_from_slice(from);
        } else {
            self.resampler.process(from, to);
        }
        from.fill(0.0);
        self.read = if end >= self.samples.len() { 0 } else { end };
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::BlockSettings;
    use super::*;
    use crate::signal::RowFormat;

    fn resampled(method: Upsampling, from: &[f32], len: usize) -> Vec<f32> {
        let mut to = vec![9.0; len];
        Resampler { method, last: 0.0 }.process(from, &mut to);
        to
    }

    #[test]
    fn upsampling_holds_pads_or_draws_lines() {
        let from = [1.0, 3.0];
        assert_eq!(resampled(Upsampling::Hold, &from, 4), [1.0, 1.0, 3.0, 3.0]);
        assert_eq!(resampled(Upsampling::Pad, &from, 4), [1.0, 0.0, 3.0, 0.0]);
        assert_eq!(
            resampled(Upsampling::Linear, &from, 4),
            [0.5, 1.0, 2.0, 3.0]
        );
        assert_eq!(resampled(Upsampling::Hold, &from, 1), [1.0]);
    }

    #[test]
    fn a_signal_comes_through_every_block_length_unchanged() {
        for frames in [1.0_f32, 16.0, 64.0, 256.0, 2048.0] {
            let settings = BlockSettings::new(frames, 1.0, 1.0);
            let to = settings.within(RowFormat::outermost(48_000.0), true);
            let mut inlet = InletBuffer::new(Upsampling::Hold);
            let mut outlet = OutletBuffer::new(Upsampling::Hold);
            inlet.prepare(&to, 0);
            outlet.prepare(&to, 0);
            let mut found = Vec::new();
            let signal: Vec<f32> = (0..8192_u16).map(f32::from).collect();
            let mut block = vec![0.0; to.format.frames];
            for (tick, from) in signal.chunks_exact(64).enumerate() {
                inlet.write(from);
                if tick % to.period == 0 {
                    for _ in 0..to.frequency {
                        inlet.read(&mut block, to.format.vector);
                        outlet.add(&block, 1);
                    }
                }
                let mut taken = [0.0; 64];
                outlet.take(&mut taken);
                found.extend_from_slice(&taken);
            }
            let delay = to.format.vector.saturating_sub(64);
            assert_eq!(found[delay..], signal[..8192 - delay], "{frames}");
        }
    }
}
