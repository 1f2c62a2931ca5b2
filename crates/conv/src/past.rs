//! The last spectra of an input, and their products with the spectra of an impulse response.

use crate::ahead::{MOST, Sums};
use crate::ir_set::Spectra;
use fft::{Kernels, Packing};
use std::ops::Range;

/// So many inputs are multiplied at once.
const AT_ONCE: usize = 8;
/// So many filters these need.
const FILTERS: usize = AT_ONCE + MOST - 1;
/// What stands for spectra that are forgotten, a stretch at a time: a whole number of blocks.
static SILENCE: [f32; SPAN] = [0.0; SPAN];
/// How long such a stretch is at most.
pub(crate) const SPAN: usize = 1024;

/// Reads what stands for silence, so that it is in memory when it is needed.
///
/// Real-time: setup.
pub(crate) fn touch() {
    std::hint::black_box(SILENCE.iter().sum::<f32>());
}

/// A part of the last spectra of an input.
pub(crate) struct Past<'a> {
    pub(crate) spectra: &'a [f32],
    /// In which era each was written; those of another than this count as silence.
    pub(crate) written: (&'a [u32], u32),
    /// Whether none is forgotten.
    pub(crate) is_whole: bool,
    /// The place of the newest spectrum.
    pub(crate) newest: usize,
    /// How long a spectrum is.
    pub(crate) floats: usize,
    pub(crate) part: Range<usize>,
}

impl<'p> Past<'p> {
    /// Adds to all sums what they take.
    ///
    /// Real-time: hot.
    pub(crate) fn multiply(
        &self,
        of: &mut Sums<'_>,
        ir: &Spectra,
        kernels: Kernels,
        packing: Option<Packing>,
    ) {
        match ir {
            Spectra::Full(_) | Spectra::Nested(..) => {
                self.add(
                    of,
                    ir.full(self.floats),
                    |sums, inputs, filters, is_first| {
                        let packing = packing.filter(|_| is_first);
                        kernels.multiply_add_outputs(sums, inputs, filters, packing);
                    },
                );
            }
            Spectra::Half(ir) => self.add(of, ir, |sums, inputs, filters, is_first| {
                let packing = packing.filter(|_| is_first);
                kernels.multiply_add_outputs_f16(sums, inputs, filters, packing);
            }),
        }
    }

    fn add<T>(
        &self,
        of: &mut Sums<'_>,
        ir: &[T],
        add: impl Fn(&mut [&mut [f32]], &[&[f32]], &[&[T]], bool),
    ) {
        let partitions = ir.len() / self.floats;
        let inputs = of.inputs.min(partitions);
        // Silence comes in short stretches.
        let step = match self.is_whole {
            true => self.part.len().max(1),
            false => SILENCE.len(),
        };
        for from in (0..self.part.len()).step_by(step) {
            let span = from..self.part.len().min(from + step);
            let mut sums = of.sums.each_mut().map(|sum| match sum.is_empty() {
                true => &mut [][..],
                false => &mut sum[span.clone()],
            });
            let part = self.part.start + span.start..self.part.start + span.end;
            for age in (0..inputs).step_by(AT_ONCE) {
                let mut heard: [&[f32]; AT_ONCE] = [&[]; AT_ONCE];
                let mut filters: [&[T]; FILTERS] = [&[]; FILTERS];
                let some = AT_ONCE.min(inputs - age);
                let with = (some + of.outputs - 1).min(partitions - age);
                for (heard, age) in heard[..some].iter_mut().zip(age..) {
                    *heard = self.spectrum(age, part.clone());
                }
                for (filter, partition) in filters[..with].iter_mut().zip(age..) {
                    *filter = &ir[partition * self.floats..][part.clone()];
                }
                let sums = &mut sums[..of.outputs];
                add(sums, &heard[..some], &filters[..with], from == 0);
            }
        }
    }

    /// A part of the spectrum of `age` periods ago; no longer than [`SILENCE`], where that is forgotten.
    ///
    /// Real-time: hot.
    pub(crate) fn spectrum(&self, age: usize, part: Range<usize>) -> &'p [f32] {
        match self.is_known(age) {
            true => &self.spectra[self.place(age) * self.floats..][part],
            false => &SILENCE[..part.len()],
        }
    }

    /// Whether that is not forgotten.
    fn is_known(&self, age: usize) -> bool {
        let (written, era) = self.written;
        written[self.place(age)] == era
    }

    fn place(&self, age: usize) -> usize {
        match self.newest.checked_sub(age) {
            Some(place) => place,
            None => self.newest + self.written.0.len() - age,
        }
    }
}
