//! The input spectra of the last periods, and their products with filter spectra.
//!
//! Each input has a ring of as many spectra as the level has partitions. Forgetting spectra only raises a count: each place carries
//! the *era* in which it was written, and a spectrum of another era counts as zeros, with the bits that zeros would give.
//! So forgetting takes no time, whatever the size.
//!
//! ```text
//!   count = 4       newest
//!                     ▼
//!   spectra   │ X2 │ X3 │ X0 │ X1 │       age 0 is X3, age 1 is X2, age 2 is X1
//!   written   │  2 │  2 │  1 │  1 │       era = 2: ages 2 and 3 are silence
//! ```

use super::filters::FilterSpectra;
use super::lookahead::{MAX_PERIODS, PeriodSums};
use fft::{AlignedBuffer, Kernels, Packing};
use std::ops::Range;

/// Inputs that are multiplied in one pass.
const AT_ONCE: usize = 8;
/// Filters that one pass needs.
const FILTERS: usize = AT_ONCE + MAX_PERIODS - 1;
/// Zeros in place of spectra that are forgotten: a whole number of blocks.
static SILENCE: [f32; 1024] = [0.0; 1024];

/// Input spectra of the last periods of all inputs of a line.
pub(super) struct SpectrumHistory {
    spectra: AlignedBuffer,
    /// Era in which each place was written; 0 means never.
    written: Box<[u32]>,
    era: u32,
    /// Periods since a spectrum was last forgotten.
    periods_since_loss: usize,
    /// Place of the newest spectrum in each ring.
    newest: usize,
    /// Spectra of each input.
    count: usize,
    /// Floats of a spectrum.
    len: usize,
}

impl SpectrumHistory {
    /// `count` spectra of silence, of `len` floats each, for each input.
    ///
    /// Real-time: setup.
    pub(super) fn new(inputs: usize, count: usize, len: usize) -> Self {
        // The zeros must be in memory when a callback needs them.
        std::hint::black_box(SILENCE.iter().sum::<f32>());
        Self {
            spectra: AlignedBuffer::new(inputs * count * len),
            written: vec![1; inputs * count].into(),
            era: 1,
            periods_since_loss: usize::MAX,
            newest: 0,
            count,
            len,
        }
    }

    /// Floats in memory.
    pub(super) fn len(&self) -> usize {
        self.spectra.len()
    }

    /// Begins a period; the `gap` periods before it count as silence. Returns true if that forgets all spectra.
    ///
    /// Real-time: hot.
    pub(super) fn advance(&mut self, gap: usize) -> bool {
        let is_all = gap > 0 && gap >= self.count - 1;
        self.periods_since_loss = match gap {
            0 => self.periods_since_loss.saturating_add(1),
            _ => 0,
        };
        match is_all {
            true => self.forget_all(),
            false => self.forget_next(gap),
        }
        self.newest = (self.newest + 1 + gap % self.count) % self.count;
        is_all
    }

    /// Forgets all spectra.
    fn forget_all(&mut self) {
        self.era = self.era.wrapping_add(1);
        if self.era == 0 {
            // After 2^32 eras: what was written in the first one must not come back.
            self.written.fill(0);
            self.era = 1;
        }
    }

    /// Forgets the places of the next `gap` spectra.
    fn forget_next(&mut self, gap: usize) {
        for ring in self.written.chunks_exact_mut(self.count) {
            for place in self.newest + 1..=self.newest + gap {
                ring[place % self.count] = 0;
            }
        }
    }

    /// Memory of an input's newest spectrum, which counts as written from now on.
    ///
    /// Real-time: hot.
    pub(super) fn newest_mut(&mut self, input: usize) -> &mut [f32] {
        let place = input * self.count + self.newest;
        self.written[place] = self.era;
        &mut self.spectra[place * self.len..][..self.len]
    }

    /// Floats `part` of all spectra of an input.
    ///
    /// Real-time: hot.
    pub(super) fn input(&self, input: usize, part: Range<usize>) -> InputSpectra<'_> {
        let first = input * self.count;
        InputSpectra {
            spectra: &self.spectra[first * self.len..][..self.count * self.len],
            written: &self.written[first..][..self.count],
            era: self.era,
            is_complete: self.periods_since_loss >= self.count,
            newest: self.newest,
            len: self.len,
            part,
        }
    }
}

/// A part of the last spectra of one input.
pub(super) struct InputSpectra<'a> {
    spectra: &'a [f32],
    written: &'a [u32],
    era: u32,
    /// True if no spectrum is forgotten.
    is_complete: bool,
    newest: usize,
    len: usize,
    part: Range<usize>,
}

impl<'p> InputSpectra<'p> {
    /// Adds the products with `filter` to the sums of this period and of later ones.
    ///
    /// Real-time: hot.
    pub(super) fn multiply(
        &self,
        sums: &mut PeriodSums<'_>,
        filter: &FilterSpectra,
        kernels: Kernels,
        packing: Option<Packing>,
    ) {
        let packing = |is_first| packing.filter(|_| is_first);
        match filter {
            FilterSpectra::Full(filter) => {
                self.add_products(sums, filter, |sums, inputs, filters, is_first| {
                    kernels.multiply_add_outputs(sums, inputs, filters, packing(is_first));
                });
            }
            FilterSpectra::Half(filter) => {
                self.add_products(sums, filter, |sums, inputs, filters, is_first| {
                    kernels.multiply_add_outputs_f16(sums, inputs, filters, packing(is_first));
                });
            }
        }
    }

    fn add_products<T>(
        &self,
        of: &mut PeriodSums<'_>,
        filter: &[T],
        add: impl Fn(&mut [&mut [f32]], &[&[f32]], &[&[T]], bool),
    ) {
        let partitions = filter.len() / self.len;
        let inputs = of.inputs.min(partitions);
        // Silence is short, so what may need it goes in short stretches.
        let step = match self.is_complete {
            true => self.part.len().max(1),
            false => SILENCE.len(),
        };
        for from in (0..self.part.len()).step_by(step) {
            let stretch = from..self.part.len().min(from + step);
            let mut sums = of.sums.each_mut().map(|sum| match sum.is_empty() {
                true => &mut [][..],
                false => &mut sum[stretch.clone()],
            });
            let part = self.part.start + stretch.start..self.part.start + stretch.end;
            for age in (0..inputs).step_by(AT_ONCE) {
                let mut spectra: [&[f32]; AT_ONCE] = [&[]; AT_ONCE];
                let mut filters: [&[T]; FILTERS] = [&[]; FILTERS];
                let some = AT_ONCE.min(inputs - age);
                let with = (some + of.outputs - 1).min(partitions - age);
                for (spectrum, age) in spectra[..some].iter_mut().zip(age..) {
                    *spectrum = self.spectrum(age, part.clone());
                }
                for (to, partition) in filters[..with].iter_mut().zip(age..) {
                    *to = &filter[partition * self.len..][part.clone()];
                }
                let sums = &mut sums[..of.outputs];
                add(sums, &spectra[..some], &filters[..with], from == 0);
            }
        }
    }

    /// A part of the spectrum of `age` periods ago; at most as long as [`SILENCE`] where spectra may be forgotten.
    fn spectrum(&self, age: usize, part: Range<usize>) -> &'p [f32] {
        let place = match self.newest.checked_sub(age) {
            Some(place) => place,
            None => self.newest + self.written.len() - age,
        };
        match self.written[place] == self.era {
            true => &self.spectra[place * self.len..][part],
            false => &SILENCE[..part.len()],
        }
    }
}
