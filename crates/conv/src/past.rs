//! The last spectra of an input, and their products with the spectra of an impulse response.

use crate::ahead::{MOST, Sums};
use crate::ir_set::Spectra;
use fft::{Kernels, Packing};
use std::ops::Range;

/// So many inputs are multiplied at once.
const AT_ONCE: usize = 8;
/// So many filters these need.
const FILTERS: usize = AT_ONCE + MOST - 1;

/// A part of the last spectra of an input.
pub(crate) struct Past<'a> {
    pub(crate) spectra: &'a [f32],
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
                self.add(of, ir.full(self.floats), |sums, inputs, filters| {
                    kernels.multiply_add_ahead(sums, inputs, filters, packing);
                });
            }
            Spectra::Half(ir) => self.add(of, ir, |sums, inputs, filters| {
                kernels.multiply_add_ahead_half(sums, inputs, filters, packing);
            }),
        }
    }

    fn add<T>(
        &self,
        of: &mut Sums<'_>,
        ir: &[T],
        add: impl Fn(&mut [&mut [f32]], &[&[f32]], &[&[T]]),
    ) {
        let partitions = ir.len() / self.floats;
        let inputs = of.inputs.min(partitions);
        for age in (0..inputs).step_by(AT_ONCE) {
            let mut heard: [&[f32]; AT_ONCE] = [&[]; AT_ONCE];
            let mut filters: [&[T]; FILTERS] = [&[]; FILTERS];
            let some = AT_ONCE.min(inputs - age);
            let with = (some + of.outputs - 1).min(partitions - age);
            for (heard, age) in heard[..some].iter_mut().zip(age..) {
                *heard = self.spectrum(age);
            }
            for (filter, partition) in filters[..with].iter_mut().zip(age..) {
                *filter = &ir[partition * self.floats..][self.part.clone()];
            }
            add(&mut of.sums[..of.outputs], &heard[..some], &filters[..with]);
        }
    }

    /// The spectrum of `age` periods ago.
    pub(crate) fn spectrum(&self, age: usize) -> &'p [f32] {
        let count = self.spectra.len() / self.floats;
        let place = match self.newest.checked_sub(age) {
            Some(place) => place,
            None => self.newest + count - age,
        };
        &self.spectra[place * self.floats..][self.part.clone()]
    }
}
