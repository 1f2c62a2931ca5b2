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
/// Up to so many go into one pass.
const FEW: usize = 32;

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
        let sum = match self.shape.fft.has_in_place_inverse() {
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
        };
        let wires = self.wires[first..end].iter();
        let irs = wires.zip(self.irs.of(first..end));
        let irs = || {
            irs.clone()
                .filter_map(|(wire, ir)| Some((wire.input, ir.as_deref()?)))
        };
        let turn = self.nested.turn(output, self.period, part.clone());
        let (mut own, mut pairs) = (Products::new(), Products::new());
        for (input, ir) in irs() {
            row(&self.past, input).third(&mut own, ir);
            row(&self.pairs, input).pairs(&mut pairs, ir);
        }
        let kernels = self.shape.kernels;
        let packing = (part.start == 0).then_some(self.shape.packing);
        if let (Some(before), Some(own), Some(pairs)) = (turn.before, own.all(), pairs.all()) {
            let plus = nested::plus(self.period);
            kernels.nested_convolution((turn.result, sum), (own, pairs), before, plus, packing);
            return;
        }
        // One after the other: there are too many, or not all is there.
        turn.result.fill(0.0);
        for (input, ir) in irs() {
            let mut own = Sum::of(turn.result, kernels, packing);
            row(&self.past, input).third(&mut own, ir);
            own.end();
        }
        let is_whole = turn.begin(sum, self.period, kernels);
        for (input, ir) in irs() {
            if is_whole {
                let mut pairs = Sum::of(sum, kernels, packing);
                row(&self.pairs, input).pairs(&mut pairs, ir);
                pairs.end();
            } else {
                let past = row(&self.past, input).past;
                past.multiply(&mut Sums::one(sum), ir, kernels, packing);
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

/// Spectra of an input in a period.
struct Row<'a> {
    past: Past<'a>,
    phase: usize,
}

impl<'a> Row<'a> {
    /// The newest and every third before, times this phase's third of the partitions.
    fn third(&self, to: &mut impl Take<'a>, ir: &'a Spectra) {
        let filters = ir.full(self.past.floats).chunks_exact(self.past.floats);
        self.give(to, filters.skip(self.phase).step_by(ROUND));
    }

    /// Pairs, times those of this phase.
    fn pairs(&self, to: &mut impl Take<'a>, ir: &'a Spectra) {
        let filters = ir.pairs(self.past.floats, self.phase);
        self.give(to, filters.chunks_exact(self.past.floats));
    }

    fn give(&self, to: &mut impl Take<'a>, filters: impl Iterator<Item = &'a [f32]>) {
        for (n, filter) in filters.enumerate() {
            let part = self.past.part.clone();
            let heard = self.past.spectrum(ROUND * n, part.clone());
            to.take((heard, &filter[part]));
        }
    }
}

/// A spectrum and what it is multiplied by.
type Product<'a> = (&'a [f32], &'a [f32]);

/// What takes products.
trait Take<'a> {
    fn take(&mut self, product: Product<'a>);
}

/// All products of a sum, as long as they are few.
struct Products<'a> {
    few: [Product<'a>; FEW],
    many: usize,
}

impl<'a> Products<'a> {
    fn new() -> Self {
        Self {
            few: [(&[], &[]); FEW],
            many: 0,
        }
    }

    /// All; nothing where they are too many.
    fn all(&self) -> Option<&[Product<'a>]> {
        self.few.get(..self.many)
    }
}

impl<'a> Take<'a> for Products<'a> {
    fn take(&mut self, product: Product<'a>) {
        if let Some(place) = self.few.get_mut(self.many) {
            *place = product;
        }
        self.many += 1;
    }
}

/// A sum to which products are added, some at once.
struct Sum<'a, 's> {
    sum: &'s mut [f32],
    kernels: Kernels,
    packing: Option<Packing>,
    some: [Product<'a>; AT_ONCE],
    many: usize,
}

impl<'s> Sum<'_, 's> {
    fn of(sum: &'s mut [f32], kernels: Kernels, packing: Option<Packing>) -> Self {
        Self {
            sum,
            kernels,
            packing,
            some: [(&[], &[]); AT_ONCE],
            many: 0,
        }
    }

    /// Adds what is left.
    fn end(&mut self) {
        let some = &self.some[..std::mem::take(&mut self.many)];
        self.kernels
            .multiply_add_blocks(self.sum, some, self.packing);
    }
}

impl<'a> Take<'a> for Sum<'a, '_> {
    fn take(&mut self, product: Product<'a>) {
        self.some[self.many] = product;
        self.many += 1;
        if self.many == AT_ONCE {
            self.end();
        }
    }
}
