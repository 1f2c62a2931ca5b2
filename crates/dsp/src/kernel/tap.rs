//! [`DelayRing`]: a ring in the line of a [`Memory`], read between frames; [`DelayLoop`]: one of a fixed length.

use super::{FRAMES, Memory};
use crate::sample::copy_samples;
use crate::whole::{below, wrapped};

/// A ring of samples in a memory's line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DelayRing {
    /// First sample in the line.
    pub(crate) first: usize,
    /// Length, a power of two: the longest delay is three frames shorter.
    pub(crate) length: usize,
}

/// A loop of samples in a memory's line: what is written comes back after as many frames as it has. Reads and writes of a frame
/// are at one place, so they touch less memory than those of a ring that is longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DelayLoop {
    /// First sample in the line.
    pub(crate) first: usize,
    /// At least 1.
    pub(crate) length: usize,
}

impl DelayLoop {
    /// Places of `frames` frames from `at` on, no more than the length: those up to the end, and those from the begin on.
    #[inline(always)]
    fn places(self, at: u64, frames: usize) -> (usize, usize) {
        let from = (at % self.length as u64) as usize;
        (self.first + from, frames.min(self.length - from))
    }

    /// Copies the samples that were written as many frames before the frames from `at` on.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read_run(self, memory: &Memory, at: u64, to: &mut [f32]) {
        let (from, count) = self.places(at, to.len());
        let (head, rest) = to.split_at_mut(count);
        copy_samples(memory.samples(from..from + head.len()), head);
        copy_samples(memory.samples(self.first..self.first + rest.len()), rest);
    }

    /// Writes the samples of the frames from `at` on, each from [`line_sample`](super::line_sample).
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write_run(self, memory: &mut Memory, at: u64, from: &[f32]) {
        let (to, count) = self.places(at, from.len());
        let (head, rest) = from.split_at(count);
        memory.write_samples(to, head);
        memory.write_samples(self.first, rest);
    }
}

/// A delay in whole frames, and the share of the older one of two samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitDelay {
    pub(crate) whole: usize,
    pub(crate) share: f64,
}

impl DelayRing {
    /// A ring for delays of up to `frames` frames, behind `first` others.
    pub(crate) fn new(first: usize, frames: f64) -> Self {
        Self {
            first,
            length: (frames as usize + 4).next_power_of_two(),
        }
    }

    /// Index behind the last sample in the line.
    pub(crate) fn end(self) -> usize {
        self.first + self.length
    }

    /// Writes the sample of frame `at`.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write(self, memory: &mut Memory, at: u64, x: f64) {
        memory.write(self.first + (at as usize & (self.length - 1)), x);
    }

    /// The sample that was written `delay` frames before frame `at`, which may be less than the length.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read(self, memory: &Memory, at: u64, delay: usize) -> f64 {
        let mask = self.length - 1;
        let index = (at as usize).wrapping_sub(delay) & mask;
        memory.read(self.first + index)
    }

    /// Copies the samples that were written `delay` frames before the frames from `at` on: less than the length.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read_run(self, memory: &Memory, at: u64, delay: usize, to: &mut [f32]) {
        let from = (at as usize).wrapping_sub(delay) & (self.length - 1);
        let ring = memory.samples(self.first..self.end());
        let (head, rest) = to.split_at_mut(to.len().min(self.length - from));
        copy_samples(&ring[from..from + head.len()], head);
        copy_samples(&ring[..rest.len()], rest);
    }

    /// Writes the samples of the frames from `at` on, each from [`line_sample`](super::line_sample).
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn write_run(self, memory: &mut Memory, at: u64, from: &[f32]) {
        let to = at as usize & (self.length - 1);
        let (head, rest) = from.split_at(from.len().min(self.length - to));
        memory.write_samples(self.first + to, head);
        memory.write_samples(self.first, rest);
    }

    /// The value `delay` frames before frame `at` on a straight line between two samples. Never larger than what was
    /// written: for loops.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read_linear(self, memory: &Memory, at: u64, delay: f64) -> f64 {
        self.read_tap(memory, at, self.tap(delay))
    }

    /// The two samples between which a delay lies: for a delay that seldom changes.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn tap(self, delay: f64) -> SplitDelay {
        let delay = delay.clamp(0.0, (self.length - 3) as f64);
        let whole = delay as usize;
        let share = delay - whole as f64;
        SplitDelay { whole, share }
    }

    /// As [`read_linear`](Self::read_linear), for a delay that [`tap`](Self::tap) has taken apart.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read_tap(
        self,
        memory: &Memory,
        at: u64,
        SplitDelay { whole, share }: SplitDelay,
    ) -> f64 {
        let (newer, older) = (
            self.read(memory, at, whole),
            self.read(memory, at, whole + 1),
        );
        newer + (older - newer) * share
    }

    /// The value `delay` frames before frame `at`, of the cubic through four samples (Lagrange). `delay` is at least 1.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn read_cubic(self, memory: &Memory, at: u64, delay: f64) -> f64 {
        let delay = delay.clamp(1.0, (self.length - 3) as f64);
        let whole = delay as usize;
        let d = delay - whole as f64;
        cubic(
            [0, 1, 2, 3].map(|i| self.read(memory, at, whole + i - 1)),
            d,
        )
    }
}

impl DelayRing {
    /// Adds to the first `count` of `to` the values of the frames from `at` on at their delays, as [`read_cubic`](Self::read_cubic)
    /// gives them.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn add_cubic(
        self,
        memory: &Memory,
        at: u64,
        delays: &[f64; FRAMES],
        to: &mut [f64; FRAMES],
        count: usize,
    ) {
        let ring = memory.samples(self.first..self.end());
        let mask = self.length - 1;
        let (mut wholes, mut parts) = ([0u32; FRAMES], [0.0; FRAMES]);
        for ((whole, part), delay) in wholes.iter_mut().zip(&mut parts).zip(delays) {
            let delay = delay.clamp(1.0, (self.length - 3) as f64);
            *whole = wrapped(delay);
            *part = 1.0 - (delay - below(delay));
        }
        let mut rows = [[0f32; 4]; FRAMES];
        for ((row, whole), at) in rows.iter_mut().zip(wholes).zip(at..).take(count) {
            // The oldest of the four; the others follow it.
            let oldest = (at as usize).wrapping_sub(whole as usize + 2) & mask;
            row_of(ring, oldest, mask, row);
        }
        add_cubics(&rows, &parts, to);
    }
}

/// Four samples of a ring from `first` on.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn row_of(ring: &[f32], first: usize, mask: usize, to: &mut [f32; 4]) {
    match ring.get(first..first + 4) {
        Some(row) => to.copy_from_slice(row),
        None => {
            for (i, to) in to.iter_mut().enumerate() {
                *to = ring[(first + i) & mask];
            }
        }
    }
}

/// Adds the cubics through four samples each, between the second and the third.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn add_cubics(rows: &[[f32; 4]; FRAMES], parts: &[f64; FRAMES], to: &mut [f64; FRAMES]) {
    for ((y, [a, b, c, d]), part) in to.iter_mut().zip(rows).zip(parts) {
        let samples = [f64::from(*a), f64::from(*b), f64::from(*c), f64::from(*d)];
        *y += cubic(samples, *part);
    }
}

/// The cubic through four samples (Lagrange), at `d` from 0 to 1 between the second and the third.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn cubic(y: [f64; 4], d: f64) -> f64 {
    let (a, b, c) = (d + 1.0, d - 1.0, d - 2.0);
    const SIXTH: f64 = 1.0 / 6.0;
    -d * b * c * SIXTH * y[0] + a * b * c * 0.5 * y[1] - a * d * c * 0.5 * y[2]
        + a * d * b * SIXTH * y[3]
}
