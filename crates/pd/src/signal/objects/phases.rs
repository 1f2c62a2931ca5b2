//! Phases as Pd adds them up, and its table of a cosine (`d_osc.c`).
//!
//! Phases are doubles to which 3·2¹⁹ is added, so that the lower half of their bits is the fraction: that bounds the resolution to
//! 2⁻³², and the sound depends on it.

use crate::constants::PI;
use crate::signal::loops::{RUN, each_in_turn};
use std::sync::LazyLock;

/// Offset of a phase.
pub(super) const UNIT: f64 = 1_572_864.0;
/// Points of the cosine table.
const POINTS: usize = 512;

/// Points that the C library under Pd rounds to the float beside the nearest one; true where that is larger.
const ROUNDED_OTHERWISE: [(usize, bool); 5] = [
    (89, false),
    (97, true),
    (155, true),
    (427, false),
    (428, false),
];

/// One period of a cosine and one point more, as Pd computes it: the phase is summed up in floats, and pi is 3.14159.
static COSINE: LazyLock<CosineTable> = LazyLock::new(|| {
    let step = narrow(2.0 * PI / 512.0);
    let mut phase = 0.0_f32;
    let mut points = [0.0; POINTS + 1];
    for point in &mut points {
        *point = narrow(libm::cos(f64::from(phase)));
        phase += step;
    }
    for (at, up) in ROUNDED_OTHERWISE {
        let bits = points[at].to_bits();
        points[at] = f32::from_bits(if up { bits + 1 } else { bits - 1 });
    }
    CosineTable(std::array::from_fn(|at| {
        [points[at], (points[at + 1] - points[at]) * PER_BIT]
    }))
});

/// The table of `osc~`, `cos~` and `vcf~`, read between its points by a line: each point, and the way to the next one for each unit of a
/// fraction's bits. A power of two only moves the exponent, so the sound is the same.
pub(super) struct CosineTable([[f32; 2]; POINTS]);

impl CosineTable {
    /// The table of this process.
    pub(super) fn get() -> &'static Self {
        &COSINE
    }

    /// The cosine at the bits of a phase in points of the table, to which [`UNIT`] was added. What lies above them is left out.
    #[inline(always)]
    pub(super) fn cosine(&self, bits: u64) -> f32 {
        self.between((bits >> 32) as usize, rounded(bits))
    }

    /// The cosine, and the sine: the cosine a quarter of a period before.
    #[inline(always)]
    pub(super) fn cosine_and_sine(&self, phase: f64) -> (f32, f32) {
        let (point, part) = (whole(phase), rounded(phase.to_bits()));
        let before = point.wrapping_sub(POINTS / 4);
        (self.between(point, part), self.between(before, part))
    }

    #[inline(always)]
    fn between(&self, point: usize, part: f32) -> f32 {
        let [value, way] = self.0[point & (POINTS - 1)];
        value + part * way
    }
}

/// Phases of a run: each with `frequency * step` more than the one before, from `phase` on. Gives the next phase.
#[inline(always)]
pub(super) fn add_up(
    phases: &mut [f64; RUN],
    mut phase: f64,
    frequencies: &[f32; RUN],
    step: f32,
) -> f64 {
    for (to, frequency) in phases.iter_mut().zip(frequencies) {
        *to = f64::from(frequency * step);
    }
    each_in_turn(phases, |step| {
        let now = phase;
        phase += step;
        now
    });
    phase
}

/// The fractions of phases to which [`UNIT`] was added.
#[expect(clippy::cast_precision_loss, reason = "halves have few bits")]
#[inline(always)]
pub(super) fn fractions(phases: &[f64; RUN], to: &mut [f32; RUN]) {
    for (to, phase) in to.iter_mut().zip(phases) {
        let bits = lower(phase.to_bits());
        // Both halves are floats as they are, and the sum is rounded once: as `fraction` is, but in vectors.
        let [high, low] = [bits >> 16, bits & 0xffff].map(|half| half.cast_signed() as f32);
        *to = high * (1.0 / 65_536.0) + low * PER_BIT;
    }
}

/// 2⁻³².
const PER_BIT: f32 = 1.0 / 4_294_967_296.0;

/// The fraction of a phase, in its bits, as a float that is rounded once.
#[expect(clippy::cast_precision_loss, reason = "Pd's signals are floats")]
#[inline(always)]
fn rounded(bits: u64) -> f32 {
    i64::from(lower(bits)) as f32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half is asked for"
)]
#[inline(always)]
fn lower(bits: u64) -> u32 {
    bits as u32
}

/// The whole part of a phase to which [`UNIT`] was added: its low bits count.
#[inline(always)]
pub(super) fn whole(phase: f64) -> usize {
    (phase.to_bits() >> 32) as usize
}

/// The fraction of a phase to which [`UNIT`] was added.
#[inline(always)]
pub(super) fn fraction(phase: f64) -> f32 {
    // Rounded once, as if it had been taken from a double: a power of two only moves the exponent.
    rounded(phase.to_bits()) * PER_BIT
}

/// `unit`, with the fraction of `phase`: the lower half of its bits.
#[inline(always)]
pub(super) fn with_fraction(phase: f64, unit: f64) -> f64 {
    f64::from_bits((unit.to_bits() & !0xffff_ffff) | (phase.to_bits() & 0xffff_ffff))
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
#[inline(always)]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Keeps the phase's fraction and drops whole numbers.
pub(super) fn wrapped(phase: f64, unit: f64) -> f64 {
    with_fraction(phase, unit) - unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_that_of_the_double_rounded_once() {
        for bits in [
            0_u64,
            1,
            0x8000_0000,
            0x7fff_ff80,
            0xffff_ff7f,
            0xffff_ff80,
            0xffff_ffff,
        ] {
            let phase = f64::from_bits(UNIT.to_bits() + (77 << 32) + bits);
            let expected = narrow(with_fraction(phase, UNIT) - UNIT);
            assert_eq!(fraction(phase).to_bits(), expected.to_bits(), "{bits:x}");
            assert_eq!(whole(phase) & 511, 77);
            let mut all = [0.0; RUN];
            fractions(&[phase; RUN], &mut all);
            assert!(
                all.iter().all(|one| one.to_bits() == expected.to_bits()),
                "{bits:x}"
            );
        }
    }
}
