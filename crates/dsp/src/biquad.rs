//! `biquad`: a second-order filter of one of seven shapes.
//!
//! One input, one output, as wide as `channels` says. Coefficients after Robert Bristow-Johnson's "Cookbook formulae
//! for audio EQ biquad filter coefficients"; transposed direct form II. `gain_db` is for peak and shelves.

use crate::filter::{Coefs, FREQ, Filter, Knobs, Recipe, State};
use crate::knob::{Knob, channels, choice};
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor};
use std::f64::consts::TAU;

const MODES: &[&str] = &[
    "lowpass",
    "highpass",
    "bandpass",
    "notch",
    "peak",
    "lowshelf",
    "highshelf",
];

/// Resonance, for this filter and the state-variable one.
pub(crate) const Q: Knob = Knob {
    index: 1,
    name: "q",
    unit: "",
    least: 0.05,
    most: 100.0,
    default: std::f64::consts::FRAC_1_SQRT_2,
    doc: "Resonance: how narrow it is; 0.707 is flat.",
};

const GAIN_DB: Knob = Knob {
    index: 2,
    name: "gain_db",
    unit: "dB",
    least: -60.0,
    most: 40.0,
    default: 0.0,
    doc: "How far a peak or shelf lifts; below 0 it cuts.",
};

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Biquad::KNOBS.iter().map(Knob::param).collect();
    params.push(choice("mode", MODES, "The shape of its response."));
    params.push(channels());
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params,
        typical_ns: 250,
        ..Kind::new("biquad", "A second-order filter of one of seven shapes.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let mode = creation.choice("mode")?;
    Filter::make(creation, Biquad(mode))
}

/// The index of its mode.
#[derive(Clone)]
struct Biquad(usize);

impl Recipe<1> for Biquad {
    const KNOBS: &'static [Knob] = &[FREQ, Q, GAIN_DB];

    fn coefs(&self, [freq, q, gain_db]: Knobs) -> Coefs {
        let (sin, cos) = libm::sincos(TAU * freq);
        let alpha = sin / (2.0 * q);
        let a = libm::exp10(gain_db / 40.0);
        let root = 2.0 * libm::sqrt(a) * alpha;
        let plain = (1.0 + alpha, -2.0 * cos, 1.0 - alpha);
        let ([b0, b1, b2], (a0, a1, a2)) = match self.0 {
            0 => ([(1.0 - cos) / 2.0, 1.0 - cos, (1.0 - cos) / 2.0], plain),
            1 => ([(1.0 + cos) / 2.0, -1.0 - cos, (1.0 + cos) / 2.0], plain),
            2 => ([alpha, 0.0, -alpha], plain),
            3 => ([1.0, -2.0 * cos, 1.0], plain),
            4 => (
                [1.0 + alpha * a, -2.0 * cos, 1.0 - alpha * a],
                (1.0 + alpha / a, -2.0 * cos, 1.0 - alpha / a),
            ),
            5 => shelf(a, cos, root),
            _ => {
                // The high shelf is the low one of the mirrored spectrum.
                let ([b0, b1, b2], (a0, a1, a2)) = shelf(a, -cos, root);
                ([b0, -b1, b2], (a0, -a1, a2))
            }
        };
        [b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0]
    }

    #[inline(always)]
    fn tick(&self, [b0, b1, b2, a1, a2]: &Coefs, [s1, s2]: &mut State, x: f64) -> [f64; 1] {
        let y = b0 * x + *s1;
        *s1 = (b1 * x + *s2) - a1 * y;
        *s2 = b2 * x - a2 * y;
        [y]
    }

    fn radius(&self, [_, _, _, a1, a2]: &Coefs) -> f64 {
        radius(*a1, *a2)
    }
}

/// The low shelf, not yet divided by its first denominator.
fn shelf(a: f64, cos: f64, root: f64) -> ([f64; 3], (f64, f64, f64)) {
    let (up, down) = (a + 1.0, a - 1.0);
    (
        [
            a * (up - down * cos + root),
            2.0 * a * (down - up * cos),
            a * (up - down * cos - root),
        ],
        (
            up + down * cos + root,
            -2.0 * (down + up * cos),
            up + down * cos - root,
        ),
    )
}

/// The largest magnitude of a root of z² + a1 z + a2.
pub(crate) fn radius(a1: f64, a2: f64) -> f64 {
    let inner = a1 * a1 - 4.0 * a2;
    if inner < 0.0 {
        libm::sqrt(a2)
    } else {
        (a1.abs() + libm::sqrt(inner)) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The magnitude in dB at `at` cycles a frame, from the impulse response.
    fn measured(mode: usize, knobs: Knobs, at: f64) -> f64 {
        let filter = Biquad(mode);
        let coefs = filter.coefs(knobs);
        let mut state = [0.0; 2];
        let (mut re, mut im) = (0.0, 0.0);
        for i in 0..200_000 {
            let x = if i == 0 { 1.0 } else { 0.0 };
            let [y] = filter.tick(&coefs, &mut state, x);
            let (sin, cos) = libm::sincos(TAU * at * f64::from(i));
            re += y * cos;
            im -= y * sin;
        }
        10.0 * libm::log10(re * re + im * im)
    }

    /// What the analogue filter gives, at the frequency that the bilinear transform puts there.
    fn truth(mode: usize, [freq, q, gain_db]: Knobs, at: f64) -> f64 {
        let tan = |f: f64| libm::tan(TAU / 2.0 * f);
        let w = tan(at) / tan(freq);
        let a = libm::exp10(gain_db / 40.0);
        let root = libm::sqrt(a);
        // Numerator and denominator as s² s 1, at s = iw.
        let (n, d) = match mode {
            0 => ([0.0, 0.0, 1.0], [1.0, 1.0 / q, 1.0]),
            1 => ([1.0, 0.0, 0.0], [1.0, 1.0 / q, 1.0]),
            2 => ([0.0, 1.0 / q, 0.0], [1.0, 1.0 / q, 1.0]),
            3 => ([1.0, 0.0, 1.0], [1.0, 1.0 / q, 1.0]),
            4 => ([1.0, a / q, 1.0], [1.0, 1.0 / (a * q), 1.0]),
            5 => ([a, a * root / q, a * a], [a, root / q, 1.0]),
            _ => ([a * a, a * root / q, a], [1.0, root / q, a]),
        };
        let square = |[s2, s1, s0]: [f64; 3]| {
            let (re, im) = (s0 - s2 * w * w, s1 * w);
            re * re + im * im
        };
        10.0 * libm::log10(square(n) / square(d))
    }

    #[test]
    fn the_response_is_the_analogue_one() {
        for (mode, name) in MODES.iter().enumerate() {
            for knobs in [[0.02, 0.707, 6.0], [0.1, 5.0, -12.0], [0.3, 0.3, 20.0]] {
                for at in [0.001, 0.015, 0.05, 0.12, 0.2, 0.33, 0.45] {
                    let (have, want) = (measured(mode, knobs, at), truth(mode, knobs, at));
                    let near = (have - want).abs() < 1e-6 || want < -200.0;
                    assert!(near, "{name} {knobs:?} at {at}: {have} {want}");
                }
            }
        }
    }
}
