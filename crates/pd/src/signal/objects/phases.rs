//! Phases as Pd adds them up (`d_osc.c`).
//!
//! Phases are doubles to which 3·2¹⁹ is added, so that the lower half of their bits is the fraction: that bounds the resolution to
//! 2⁻³², and the sound depends on it.

use crate::signal::loops::{RUN, each_in_turn};
use rt::vectors::{WideWork, widest};

/// Offset of a phase.
pub(super) const UNIT: f64 = 1_572_864.0;
/// Phases of a run, in the bits of doubles to which [`UNIT`] was added.
pub(super) type PhaseRun = [u64; RUN];

/// Phases of a run: each with `frequency * step` more than the one before, from `phase` on. Gives the next phase.
///
/// Pd adds up doubles, near [`UNIT`] whole numbers of 2⁻³². A sum of them is rounded as the step alone is, so whole numbers are added
/// up here, which takes a cycle and not four. Where a step lies in the middle between two, or leads too far, doubles are.
#[inline(always)]
pub(super) fn add_up(
    phases: &mut PhaseRun,
    phase: f64,
    frequencies: &[f32; RUN],
    step: f32,
) -> f64 {
    if !is_near(phase) || !whole_steps(phases, frequencies, step) {
        return add_up_doubles(phases, phase, frequencies, step);
    }
    let mut bits = phase.to_bits();
    each_in_turn(phases, |step| {
        let now = bits;
        bits = bits.wrapping_add(step);
        now
    });
    f64::from_bits(bits)
}

/// The step of `frequency * step` in units of 2⁻³², if a run of such steps from `phase` on may be added up as whole numbers.
#[inline(always)]
pub(super) fn whole_step(phase: f64, frequency: f32, step: f32) -> Option<u64> {
    let step = f64::from(frequency * step);
    let moved = UNIT + step;
    let whole = moved.to_bits().wrapping_sub(UNIT.to_bits());
    let is_short = whole.wrapping_add(FAR) < 2 * FAR;
    let misses_less = (step - (moved - UNIT)).abs() < 0.5 / UNITS;
    (is_near(phase) && is_short && misses_less).then_some(whole)
}

/// The phase behind a run of whole steps.
#[inline(always)]
pub(super) fn behind(phase: f64, whole_step: u64) -> f64 {
    let moved = whole_step.wrapping_mul(RUN as u64);
    f64::from_bits(phase.to_bits().wrapping_add(moved))
}

/// Phases of a run from `phase` on, each a [`whole_step`] behind the one before. Gives the next phase.
#[inline(always)]
pub(super) fn even_phases(phases: &mut PhaseRun, phase: f64, step: u64) -> f64 {
    let mut bits = phase.to_bits();
    for to in phases {
        *to = bits;
        bits = bits.wrapping_add(step);
    }
    behind(phase, step)
}

#[inline(never)]
fn add_up_doubles(
    phases: &mut PhaseRun,
    mut phase: f64,
    frequencies: &[f32; RUN],
    step: f32,
) -> f64 {
    for (to, frequency) in phases.iter_mut().zip(frequencies) {
        *to = phase.to_bits();
        phase += f64::from(frequency * step);
    }
    phase
}

/// A step that leads far, in units of 2⁻³². A run of them stays among the doubles that are 2⁻³² apart.
const FAR: u64 = 4096 << 32;

/// Returns true if a run of steps that do not lead far stays among the doubles that are 2⁻³² apart.
#[inline(always)]
fn is_near(phase: f64) -> bool {
    const REACH: u64 = FAR * RUN as u64;
    let moved = phase.to_bits().wrapping_sub(UNIT.to_bits());
    moved.wrapping_add(REACH) < 2 * REACH
}

/// Steps of `frequency * step` in units of 2⁻³², rounded. Returns false if one leads far, or lies in the middle between two.
#[inline(always)]
fn whole_steps(steps: &mut PhaseRun, frequencies: &[f32; RUN], step: f32) -> bool {
    widest(WholeSteps(steps, frequencies, step))
}

/// The loop of [`whole_steps`].
struct WholeSteps<'r>(&'r mut PhaseRun, &'r [f32; RUN], f32);

impl WideWork for WholeSteps<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (mut far, mut missed) = ([0; 4], [0.0; 4]);
        let (fours, _) = self.0.as_chunks_mut::<4>();
        let (frequencies, _) = self.1.as_chunks::<4>();
        for (to, frequencies) in fours.iter_mut().zip(frequencies) {
            for (at, to) in to.iter_mut().enumerate() {
                let step = f64::from(frequencies[at] * self.2);
                let moved = UNIT + step;
                *to = moved.to_bits().wrapping_sub(UNIT.to_bits());
                // Those from -FAR up to FAR have no bit at or above that of 2 * FAR, and what is no number has some.
                far[at] |= to.wrapping_add(FAR);
                let miss = (step - (moved - UNIT)).abs();
                missed[at] = if miss > missed[at] { miss } else { missed[at] };
            }
        }
        far.iter().all(|far| *far < 2 * FAR) && missed.iter().all(|miss| *miss < 0.5 / UNITS)
    }
}

/// The fractions of phases to which [`UNIT`] was added.
pub(super) fn fractions(phases: &PhaseRun, to: &mut [f32; RUN]) {
    widest(Fractions(phases, to));
}

/// The loop of [`fractions`].
struct Fractions<'r>(&'r PhaseRun, &'r mut [f32; RUN]);

impl WideWork for Fractions<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (fours, _) = self.1.as_chunks_mut::<4>();
        let (phases, _) = self.0.as_chunks::<4>();
        for (to, phases) in fours.iter_mut().zip(phases) {
            *to = phases.map(|bits| rounded(bits) * PER_BIT);
        }
    }
}

/// The fractions of phases from `phase` on, each a [`whole_step`] behind the one before. Gives the next phase.
pub(super) fn even_fractions(phase: f64, step: u64, to: &mut [f32; RUN]) -> f64 {
    widest(EvenFractions((phase.to_bits(), step), to));
    behind(phase, step)
}

/// The loop of [`even_fractions`].
struct EvenFractions<'r>((u64, u64), &'r mut [f32; RUN]);

impl WideWork for EvenFractions<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut bits, step) = self.0;
        for to in self.1 {
            *to = rounded(bits) * PER_BIT;
            bits = bits.wrapping_add(step);
        }
    }
}

/// Units of a fraction in its bits: 2³².
const UNITS: f64 = 4_294_967_296.0;
/// Worth of one of them.
pub(super) const PER_BIT: f32 = 1.0 / 4_294_967_296.0;

/// The fraction of a phase, in its bits, as a float that is rounded once.
#[expect(clippy::cast_precision_loss, reason = "Pd's signals are floats")]
#[inline(always)]
pub(super) fn rounded(bits: u64) -> f32 {
    lower(bits) as f32
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

/// Keeps the phase's fraction and drops whole numbers.
pub(super) fn wrapped(phase: f64, unit: f64) -> f64 {
    with_fraction(phase, unit) - unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow(x: f64) -> f32 {
        x as f32
    }

    /// Phases that are added up in doubles.
    fn slowly(phase: f64, frequencies: &[f32; RUN], step: f32) -> (PhaseRun, u64) {
        let mut phases = [0; RUN];
        let next = add_up_doubles(&mut phases, phase, frequencies, step);
        (phases, next.to_bits())
    }

    #[test]
    fn whole_numbers_add_up_to_what_doubles_do() {
        let mut state = 5_u32;
        let mut random = || {
            state = state.wrapping_mul(435_898_247).wrapping_add(382_842_987);
            (state >> 8) as f32 / 16_777_216.0
        };
        let tie = 2_f32.powi(-33);
        for size in [
            0.0,
            -0.0,
            1e-30,
            tie,
            3.0 * tie,
            1e-6,
            0.01,
            440.0,
            -440.0,
            1e5,
            1e9,
            f32::NAN,
            f32::INFINITY,
        ] {
            for start in [0.0, 0.3, 511.99, 5000.0, -1e7, 1e12] {
                let phase = UNIT + start;
                let mixed = std::array::from_fn(|_| size * random());
                for (frequencies, step) in
                    [([size; RUN], 1.0), (mixed, 1.0), (mixed, 512.0 / 44_100.0)]
                {
                    let (expected, expected_next) = slowly(phase, &frequencies, step);
                    let mut found = [0; RUN];
                    let next = add_up(&mut found, phase, &frequencies, step);
                    assert_eq!(
                        (found, next.to_bits()),
                        (expected, expected_next),
                        "{size} {start}"
                    );
                }
                let (expected, expected_next) = slowly(phase, &[size; RUN], 0.5);
                if let Some(step) = whole_step(phase, size, 0.5) {
                    let mut found = [0.0; RUN];
                    let next = even_fractions(phase, step, &mut found);
                    let expected = expected.map(|bits| fraction(f64::from_bits(bits)));
                    assert_eq!((found, next.to_bits()), (expected, expected_next));
                }
            }
        }
    }

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
            fractions(&[phase.to_bits(); RUN], &mut all);
            assert!(
                all.iter().all(|one| one.to_bits() == expected.to_bits()),
                "{bits:x}"
            );
        }
    }
}
