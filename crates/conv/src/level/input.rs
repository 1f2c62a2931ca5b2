//! The last two periods of sound of all inputs of a line.

use super::spec::FdlSpec;
use fft::AlignedBuffer;
use std::ops::Range;

/// One period of sound of all inputs, one input behind the other.
struct Period {
    sound: AlignedBuffer,
    /// Frames at the beginning that count as silence, whatever the memory holds.
    silent: usize,
}

/// The period before and the newest one.
pub(super) struct InputBuffers {
    before: Period,
    newest: Period,
}

impl InputBuffers {
    /// Two periods of silence for `inputs` inputs.
    ///
    /// Real-time: setup.
    pub(super) fn new(spec: &FdlSpec, inputs: usize) -> Self {
        let period = || Period {
            sound: AlignedBuffer::new(inputs * spec.input_stride()),
            silent: 0,
        };
        Self {
            before: period(),
            newest: period(),
        }
    }

    /// Floats in memory.
    pub(super) fn len(&self) -> usize {
        self.before.sound.len() + self.newest.sound.len()
    }

    /// Takes a period from `sound` and leaves memory for the next one there. The first `silent` frames count as silence,
    /// and so does the period before if periods were lost in between.
    ///
    /// Real-time: hot.
    pub(super) fn push(
        &mut self,
        sound: &mut AlignedBuffer,
        silent: usize,
        has_gap: bool,
        size: usize,
    ) {
        std::mem::swap(&mut self.before, &mut self.newest);
        std::mem::swap(&mut self.newest.sound, sound);
        self.newest.silent = silent;
        if has_gap {
            self.before.silent = size;
        }
    }

    /// Copies blocks of an input to the same blocks of the transform's window: the period before, then the newest.
    ///
    /// Real-time: hot.
    pub(super) fn copy_blocks(
        &self,
        spec: &FdlSpec,
        input: usize,
        blocks: Range<usize>,
        window: &mut [f32],
    ) {
        let len = spec.period_len();
        let (from, to) = (
            blocks.start * spec.block_len(),
            blocks.end * spec.block_len(),
        );
        let first = input * spec.input_stride();
        for (at, period) in [(0, &self.before), (len, &self.newest)] {
            let (from, to) = (from.clamp(at, at + len), to.clamp(at, at + len));
            let window = &mut window[from..to];
            let (from, to) = (from - at, to - at);
            window.copy_from_slice(&period.sound[first + from..first + to]);
            let silent = (period.silent * spec.width).clamp(from, to) - from;
            window[..silent].fill(0.0);
        }
    }
}
