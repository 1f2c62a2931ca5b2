//! [`LowPasses`]: the losses of eight lines, side by side: none waits for its own frame before.

use super::{LINES, ReverbValues, Row};
use crate::filters::lanes::{Eight, LANES, Number};
use crate::kernel::{FRAMES, Memory, Samples};

/// The low-passes of eight lines while no parameter moves.
#[derive(Clone, Copy)]
pub(super) struct LowPasses {
    first: usize,
    gains: Eight,
    poles: Eight,
    states: Eight,
}

impl LowPasses {
    /// Those of the lines from `first` on.
    #[inline(always)]
    pub(super) fn new(values: &ReverbValues, memory: &Memory, first: usize) -> Self {
        let mut them = [Eight::of(0.0); 3];
        let [gains, poles, states] = &mut them;
        for k in 0..LANES {
            [gains.0[k], poles.0[k]] = values.losses[first + k];
            states.0[k] = memory.numbers[first + k];
        }
        let [gains, poles, states] = them;
        Self {
            first,
            gains,
            poles,
            states,
        }
    }

    /// Keeps the states.
    #[inline(always)]
    pub(super) fn store(self, memory: &mut Memory) {
        memory.numbers[self.first..self.first + LANES].copy_from_slice(&self.states.0);
    }

    /// Runs all of them over `count` frames, a multiple of the lanes.
    #[inline(always)]
    pub(super) fn run(
        all: &mut [Self; LINES / LANES],
        heard: &[Samples; LINES],
        heads: &mut [Row; LINES],
        count: usize,
    ) {
        // Values by themselves, or the compiler would keep each state in memory.
        let [mut first, mut second] = *all;
        let (heard, _) = heard.as_chunks::<LANES>();
        let (heads, _) = heads.as_chunks_mut::<LANES>();
        for at in (0..count.min(FRAMES)).step_by(LANES) {
            first.run_eight(&heard[0], &mut heads[0], at);
            second.run_eight(&heard[1], &mut heads[1], at);
        }
        *all = [first, second];
    }

    /// Runs them over the eight frames from `at` on.
    #[inline(always)]
    fn run_eight(&mut self, heard: &[Samples; LANES], heads: &mut [Row; LANES], at: usize) {
        let part = |line: usize| -> [f32; LANES] {
            let frames = &heard[line][at..at + LANES];
            frames.try_into().expect("as many as lanes")
        };
        let [a, b, c, d] = [part(0), part(1), part(2), part(3)];
        let [e, f, g, h] = [part(4), part(5), part(6), part(7)];
        let mut rows = [Eight::of(0.0); LANES];
        for (i, row) in rows.iter_mut().enumerate() {
            let x = [a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]].map(f64::from);
            self.states = self.gains * Eight(x) + self.poles * self.states;
            *row = self.states;
        }
        let [a, b, c, d, e, f, g, h] = rows.map(|row| row.0);
        for (k, line) in heads.iter_mut().enumerate() {
            let frames = [a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]];
            line[at..at + LANES].copy_from_slice(&frames);
        }
    }
}
