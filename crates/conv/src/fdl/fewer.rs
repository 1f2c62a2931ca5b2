//! What a delay line does where its products are nested.

use super::Fdl;
use crate::ahead::Sums;
use crate::ir_set::Spectra;
use crate::nested::{self, ROUND};
use crate::past::{Past, SPAN};
use fft::{Kernels, Packing};
use std::ops::Range;

/// So many products are added up at once.
const AT_ONCE: usize = 8;

impl Fdl {
    /// After `gap` periods of silence, or in a fade, results are not what they should be.
    ///
    /// Real-time: hot.
    pub(super) fn begin_nested(&mut self, gap: usize, is_all: bool) {
        if is_all {
            self.nested.forget(self.period);
        } else if gap > 0 {
            // Pairs of before are wrong too, until all have been made anew.
            self.nested.lose(self.period + self.shape.count as u64);
        }
        if self.fade.is_some() {
            self.nested.lose(self.period + 1);
        }
    }

    /// Adds up floats `part` of two spectra of an input.
    ///
    /// Real-time: hot.
    pub(super) fn pair(&mut self, input: usize, part: Range<usize>) {
        let (a, b) = nested::pair(self.period);
        let (count, floats) = (self.shape.count, self.shape.floats());
        let first = input * count;
        let newest = (first + self.newest) * floats;
        for part in spans(part) {
            let to = &mut self.pairs[newest + part.start..newest + part.end];
            let past = Past {
                spectra: &self.past[first * floats..][..count * floats],
                written: (&self.written[first..][..count], self.era),
                is_whole: false,
                newest: self.newest,
                floats,
                part: part.clone(),
            };
            let (a, b) = (past.spectrum(a, part.clone()), past.spectrum(b, part));
            self.shape.kernels.add(to, a, b);
        }
    }

    /// Floats `part` of an output's spectrum.
    ///
    /// Real-time: hot.
    pub(super) fn multiply_nested(&mut self, output: usize, part: Range<usize>) {
        spans(part).for_each(|span| self.multiply_span(output, span));
    }

    fn multiply_span(&mut self, output: usize, part: Range<usize>) {
        let (first, end) = self.ends[output];
        let (count, floats) = (self.shape.count, self.shape.floats());
        let sum = match self.shape.fft.is_in_place() {
            true => &mut self.window[part.clone()],
            false => &mut self.sum[part.clone()],
        };
        let row = |all, input: usize| Row {
            past: Past {
                spectra: within(all, input * count * floats, count * floats),
                written: (&self.written[input * count..][..count], self.era),
                is_whole: self.since >= count,
                newest: self.newest,
                floats,
                part: part.clone(),
            },
            phase: nested::phase(self.period),
            kernels: self.shape.kernels,
            packing: (part.start == 0).then_some(self.shape.packing),
        };
        let wires = self.wires[first..end].iter();
        let irs = wires.zip(self.irs.of(first..end));
        let irs = || {
            irs.clone()
                .filter_map(|(wire, ir)| Some((wire.input, ir.as_deref()?)))
        };
        let turn = self.nested.turn(output, self.period, part.clone());
        for (input, ir) in irs() {
            row(&self.past, input).third(turn.result, ir);
        }
        let is_whole = turn.begin(sum, self.period, self.shape.kernels);
        for (input, ir) in irs() {
            match is_whole {
                true => row(&self.pairs, input).pairs(sum, ir),
                false => row(&self.past, input).all(sum, ir),
            }
        }
    }
}

/// `part` in short stretches.
fn spans(part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = part.end;
    part.step_by(SPAN)
        .map(move |from| from..end.min(from + SPAN))
}

fn within(all: &[f32], from: usize, len: usize) -> &[f32] {
    &all[from..from + len]
}

/// Spectra of an input in a period, and how they are multiplied.
struct Row<'a> {
    past: Past<'a>,
    phase: usize,
    kernels: Kernels,
    packing: Option<Packing>,
}

impl Row<'_> {
    /// The newest and every third before, times this phase's third of the partitions.
    fn third(&self, sum: &mut [f32], ir: &Spectra) {
        let filters = ir.full(self.past.floats).chunks_exact(self.past.floats);
        self.add(sum, filters.skip(self.phase).step_by(ROUND));
    }

    /// Pairs, times those of this phase.
    fn pairs(&self, sum: &mut [f32], ir: &Spectra) {
        let filters = ir.pairs(self.past.floats, self.phase);
        self.add(sum, filters.chunks_exact(self.past.floats));
    }

    fn add<'f>(&self, sum: &mut [f32], filters: impl Iterator<Item = &'f [f32]>) {
        let mut pairs: [(&[f32], &[f32]); AT_ONCE] = [(&[], &[]); AT_ONCE];
        let mut some = 0;
        for (n, filter) in filters.enumerate() {
            let part = self.past.part.clone();
            let heard = self.past.spectrum(ROUND * n, part.clone());
            pairs[some] = (heard, &filter[part]);
            some += 1;
            if some == AT_ONCE {
                self.kernels.multiply_add_within(sum, &pairs, self.packing);
                some = 0;
            }
        }
        self.kernels
            .multiply_add_within(sum, &pairs[..some], self.packing);
    }

    /// All there are, times all partitions.
    fn all(&self, sum: &mut [f32], ir: &Spectra) {
        self.past
            .multiply(&mut Sums::one(sum), ir, self.kernels, self.packing);
    }
}
