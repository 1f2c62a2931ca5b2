//! The formula of a driven parameter, over a range of frames.
//!
//! ```text
//! p = clamp((start + adds) × times × 2^(octaves + decibels × log2(10) / 20))
//! ```
//!
//! Each frame takes the same operations in the same order, one loop for each input, so that the loops run in vectors and a
//! range has the bits of its single frames. Where one input drives a base that stands still, one loop does it all. A result that
//! is not a number counts as 0.

use crate::exp2;
use graph::Law;
use rt::vectors::{WideWork, widest};

/// Source that drives a parameter in a range of frames.
#[derive(Clone, Copy)]
pub(super) enum DriveSignal<'a> {
    /// The same in every frame.
    Constant(f32),
    /// One value a frame.
    Signal(&'a [f32]),
}

impl<'a> DriveSignal<'a> {
    /// The value in one frame, as a source of that frame.
    pub(super) fn at(self, frame: usize) -> Self {
        match self {
            Self::Constant(_) => self,
            Self::Signal(values) => Self::Constant(values[frame]),
        }
    }

    /// The frames of a range.
    pub(super) fn range(self, range: std::ops::Range<usize>) -> Self {
        match self {
            Self::Constant(_) => self,
            Self::Signal(values) => Self::Signal(&values[range]),
        }
    }

    /// `to` = `change`(`to`, value × `amount`), frame by frame.
    #[inline(always)]
    fn apply(self, amount: f32, to: &mut [f32], change: impl Fn(f32, f32) -> f32) {
        match self {
            Self::Constant(value) => {
                let x = value * amount;
                to.iter_mut().for_each(|y| *y = change(*y, x));
            }
            Self::Signal(values) => {
                for (y, x) in to.iter_mut().zip(values) {
                    *y = change(*y, x * amount);
                }
            }
        }
    }
}

/// One input of a driven parameter: law, factor and source. Octaves and dB are both exponents of two.
#[derive(Clone, Copy)]
pub(super) struct DriveInput<'a> {
    pub(super) law: Law,
    pub(super) amount: f32,
    pub(super) source: DriveSignal<'a>,
}

/// The range of a parameter.
#[derive(Clone, Copy)]
pub(super) struct ParamLimits {
    pub(super) min: f32,
    pub(super) max: f32,
}

impl ParamLimits {
    /// `value` held within the range; 0 in place of what is not a number.
    #[inline(always)]
    pub(super) fn hold(self, value: f32) -> f32 {
        let value = if value.is_nan() { 0.0 } else { value };
        let value = if value < self.min { self.min } else { value };
        if value > self.max { self.max } else { value }
    }
}

/// `values`, which hold the base, become the values of the parameter. `exponents` is as long, and overwritten.
///
/// Real-time: hot.
pub(super) fn evaluate<'a>(
    inputs: impl Iterator<Item = DriveInput<'a>> + Clone,
    range: ParamLimits,
    values: &mut [f32],
    exponents: &mut [f32],
) {
    widest(Evaluation {
        inputs,
        range,
        values,
        exponents,
    });
}

struct Evaluation<'v, I> {
    inputs: I,
    range: ParamLimits,
    values: &'v mut [f32],
    exponents: &'v mut [f32],
}

impl<'a, I: Iterator<Item = DriveInput<'a>> + Clone> WideWork for Evaluation<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            inputs,
            range,
            values,
            exponents,
        } = self;
        // Which laws there are, as bits: most parameters have one, and a pass through the inputs takes time.
        let bit = |law: Law| 1_u8 << law as u8;
        let laws = (inputs.clone()).fold(0, |laws, input| laws | bit(input.law));
        let of = |law: Law| {
            let count = if laws & bit(law) == 0 { 0 } else { usize::MAX };
            inputs
                .clone()
                .take(count)
                .filter(move |input| input.law == law)
        };
        for input in of(Law::Set) {
            input.source.apply(input.amount, values, |_, x| x);
        }
        for input in of(Law::Add) {
            input.source.apply(input.amount, values, |y, x| y + x);
        }
        for input in of(Law::Times) {
            input.source.apply(input.amount, values, |y, x| y * x);
        }
        let exponential = bit(Law::Octaves) | bit(Law::Decibels);
        if laws & exponential != 0 {
            exponents.fill(0.0);
            for input in inputs.filter(|input| bit(input.law) & exponential != 0) {
                input.source.apply(input.amount, exponents, |y, x| y + x);
            }
            for (y, e) in values.iter_mut().zip(exponents) {
                *y *= exp2(*e);
            }
        }
        for y in values.iter_mut() {
            *y = range.hold(*y);
        }
    }
}

/// As [`evaluate`], for one input and a base that stands still.
///
/// Real-time: hot.
pub(super) fn evaluate_one(
    base: f32,
    input: DriveInput<'_>,
    range: ParamLimits,
    values: &mut [f32],
) {
    widest(SingleEvaluation {
        base,
        input,
        range,
        values,
    });
}

struct SingleEvaluation<'a, 'v> {
    base: f32,
    input: DriveInput<'a>,
    range: ParamLimits,
    values: &'v mut [f32],
}

impl WideWork for SingleEvaluation<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (base, range) = (self.base, self.range);
        let DriveInput {
            law,
            amount,
            source,
        } = self.input;
        let values = self.values;
        match law {
            Law::Set => source.apply(amount, values, |_, x| range.hold(x)),
            Law::Add => source.apply(amount, values, |_, x| range.hold(base + x)),
            Law::Times => source.apply(amount, values, |_, x| range.hold(base * x)),
            Law::Octaves | Law::Decibels => {
                source.apply(amount, values, |_, x| range.hold(base * exp2(0.0 + x)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ParamLimits = ParamLimits {
        min: -1e9,
        max: 1e9,
    };

    fn input(law: Law, amount: f32, values: &[f32]) -> DriveInput<'_> {
        let source = DriveSignal::Signal(values);
        DriveInput {
            law,
            amount,
            source,
        }
    }

    #[test]
    fn what_is_set_takes_the_place_of_the_base() {
        let m = [7.0, -1.0];
        let inputs = [input(Law::Add, 1.0, &m), input(Law::Set, 2.0, &m)];
        let (mut values, mut exponents) = ([100.0; 2], [0.0; 2]);
        evaluate(inputs.into_iter(), ALL, &mut values, &mut exponents);
        assert_eq!(values, [21.0, -3.0]);
    }

    #[test]
    fn it_adds_then_multiplies_then_raises() {
        let (m, gate) = ([0.5, -1.0, 0.0], [1.0, 0.5, 0.0]);
        let inputs = [
            input(Law::Octaves, 2.0, &m),
            input(Law::Times, 2.0, &gate),
            input(Law::Add, 10.0, &m),
            input(Law::Octaves, 1.0, &gate),
        ];
        let (mut values, mut exponents) = ([100.0; 3], [0.0; 3]);
        evaluate(inputs.into_iter(), ALL, &mut values, &mut exponents);
        let root = std::f32::consts::SQRT_2;
        let expected = [105.0 * 2.0 * 4.0, 90.0 * root / 4.0, 0.0];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-3, "{values:?}");
        }
    }

    #[test]
    fn a_range_has_the_bits_of_its_frames() {
        let m: Vec<f32> = (0..100)
            .map(|i| (i * 7919 % 101) as f32 / 37.0 - 1.3)
            .collect();
        let inputs = [input(Law::Octaves, 0.7, &m), input(Law::Add, 3.3, &m)];
        let (mut values, mut exponents) = (vec![440.0; 100], vec![0.0; 100]);
        evaluate(inputs.into_iter(), ALL, &mut values, &mut exponents);
        for (frame, value) in values.iter().enumerate() {
            let single = inputs.map(|input| DriveInput {
                source: input.source.at(frame),
                ..input
            });
            let (mut one, mut room) = ([440.0], [0.0]);
            evaluate(single.into_iter(), ALL, &mut one, &mut room);
            assert_eq!(one[0].to_bits(), value.to_bits());
        }
    }

    #[test]
    fn one_input_on_a_base_has_the_bits_of_several() {
        let m: Vec<f32> = (0..70)
            .map(|i| (i * 7919 % 101) as f32 / 37.0 - 1.3)
            .chain([f32::NAN, f32::INFINITY, -0.0, 0.0])
            .collect();
        let range = ParamLimits {
            min: -20.0,
            max: 700.0,
        };
        let laws = [Law::Set, Law::Add, Law::Times, Law::Octaves, Law::Decibels];
        for law in laws {
            for source in [DriveSignal::Signal(&m), DriveSignal::Constant(0.3)] {
                let one = DriveInput {
                    source,
                    ..input(law, 0.7, &m)
                };
                let mut values = vec![440.0; m.len()];
                let mut exponents = values.clone();
                evaluate([one].into_iter(), range, &mut values, &mut exponents);
                let mut single = vec![0.0; m.len()];
                evaluate_one(440.0, one, range, &mut single);
                let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&values), bits(&single), "{law:?}");
            }
        }
    }

    #[test]
    fn the_result_is_held_within_the_range() {
        let range = ParamLimits {
            min: 1.0,
            max: 20.0,
        };
        let m = [-1e30, 1e30, f32::INFINITY, f32::NAN];
        let (mut values, mut exponents) = ([5.0; 4], [0.0; 4]);
        let inputs = [input(Law::Add, 1.0, &m)];
        evaluate(inputs.into_iter(), range, &mut values, &mut exponents);
        assert_eq!(values, [1.0, 20.0, 20.0, 1.0]);
    }
}
