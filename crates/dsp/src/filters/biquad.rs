//! `biquad`: a second-order filter with one of seven responses.
//!
//! ```text
//! H(z) = (b0 + b1 z⁻¹ + b2 z⁻²) / (1 + a1 z⁻¹ + a2 z⁻²)
//! y  = b0 x + s1          transposed direct form II:
//! s1 = b1 x + s2 - a1 y   two states, and small rounding errors
//! s2 = b2 x - a2 y        while coefficients change
//! ```
//!
//! The coefficients are those of Robert Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter coefficients"
//! (W3C, *Audio EQ Cookbook*), here with ω₀ = 2π `freq` / rate, α = sin ω₀ / 2Q and A = 10^(`gain_db` / 40). The high shelf is
//! computed as the low shelf of the mirrored spectrum: z becomes -z.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `q` 0.05 to 100, `gain_db` -60 to 40 dB for peak and shelves, `mode` |
//! | latency | none |
//! | tail | until the slower pole has decayed, see `kernel.rs` |
//! | driven | `freq`, `q` and `gain_db` at audio rate |

use crate::filters::driven::{CoefficientFrames, DrivenKernel, FRAMES, ParamFrames, half_angle};
use crate::filters::groups::Transition;
use crate::filters::kernel::{
    CoefficientArray, FREQ, Filter, FilterKernel, FilterParams, coefficients,
};
use crate::filters::lanes::Number;
use crate::param::{ParamSpec, channels};
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, exp2};
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

/// Resonance, of this filter and of the state-variable filter.
pub(crate) const Q: ParamSpec =
    ParamSpec::new(1, "q", (0.05, 100.0), std::f64::consts::FRAC_1_SQRT_2)
        .doc("Resonance: how narrow it is; 0.707 is flat.")
        .audio_rate();

const GAIN_DB: ParamSpec = ParamSpec::new(2, "gain_db", (-60.0, 40.0), 0.0)
    .unit("dB")
    .doc("How far a peak or shelf lifts; below 0 it cuts.")
    .audio_rate();

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Biquad::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(Param::choice("mode", MODES).doc("The shape of its response."));
    params.push(channels());
    Kind {
        params,
        typical_ns: 250,
        ..Kind::effect("biquad", "A second-order filter of one of seven shapes.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let mode = creation.choice("mode")?;
    Filter::make(creation, Biquad(mode))
}

/// A biquad, with the index of its response in [`MODES`].
#[derive(Clone)]
struct Biquad(usize);

coefficients! {
    /// Coefficients of the transfer function, divided by a0.
    BiquadCoefficients { b0, b1, b2, a1, a2, }
}

impl FilterKernel<1> for Biquad {
    type Coefficients = BiquadCoefficients;

    const PARAMS: &'static [ParamSpec] = &[FREQ, Q, GAIN_DB];

    fn coefficients(&self, params: FilterParams) -> BiquadCoefficients {
        let FilterParams { freq, q, gain_db } = params;
        let (sin, cos) = libm::sincos(TAU * freq);
        let a = libm::exp10(gain_db / 40.0);
        let alpha = sin / (2.0 * q);
        let design = Design {
            cos,
            one_minus_cos: 1.0 - cos,
            alpha,
            a,
            root: 2.0 * libm::sqrt(a) * alpha,
        };
        let ([b0, b1, b2], (a0, a1, a2)) = response(self.0, design);
        BiquadCoefficients {
            b0: b0 / a0,
            b1: b1 / a0,
            b2: b2 / a0,
            a1: a1 / a0,
            a2: a2 / a0,
        }
    }

    // y is taken apart into what the state and what the input gives.
    #[inline(always)]
    fn transition(&self, c: &BiquadCoefficients) -> Transition {
        let BiquadCoefficients { b0, b1, b2, a1, a2 } = c;
        Transition {
            matrix: [[-a1, 1.0], [-a2, 0.0]],
            input: [b1 - a1 * b0, b2 - a2 * b0],
        }
    }

    #[inline(always)]
    fn outputs<T: Number>(&self, c: &BiquadCoefficients, [s1, _]: [T; 2], x: T) -> [T; 1] {
        [T::of(c.b0) * x + s1]
    }

    fn pole_radius(&self, c: &BiquadCoefficients) -> f64 {
        largest_root(c.a1, c.a2)
    }
}

/// The cookbook's quantities.
#[derive(Clone, Copy)]
struct Design {
    cos: f64,
    /// 1 - cos ω₀, which loses all its digits at low frequencies if it is computed from the cosine in single precision.
    one_minus_cos: f64,
    alpha: f64,
    a: f64,
    /// 2 √A α.
    root: f64,
}

/// Numerator and denominator of a response: (b0, b1, b2) and (a0, a1, a2).
#[inline(always)]
fn response(mode: usize, design: Design) -> ([f64; 3], (f64, f64, f64)) {
    let Design {
        cos,
        one_minus_cos,
        alpha,
        a,
        root,
    } = design;
    let plain = (1.0 + alpha, -2.0 * cos, 1.0 - alpha);
    match mode {
        0 => (
            [one_minus_cos / 2.0, one_minus_cos, one_minus_cos / 2.0],
            plain,
        ),
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
    }
}

/// The coefficients of `response`, frame by frame.
#[inline(always)]
fn fill(
    to: &mut CoefficientFrames,
    params: &ParamFrames,
    response: impl Fn(Design) -> ([f64; 3], (f64, f64, f64)),
) {
    let angle = half_angle(&params.freq);
    let [to_b0, to_b1, to_b2, to_a1, to_a2] = to;
    for i in 0..FRAMES {
        let (half_sin, half_cos) = (f64::from(angle.sin[i]), f64::from(angle.cos[i]));
        let one_minus_cos = 2.0 * half_sin * half_sin;
        let alpha = half_sin * half_cos / f64::from(params.q[i]);
        let a = f64::from(exp2(params.gain_db[i] * OCTAVES_PER_DB));
        let ([b0, b1, b2], (a0, a1, a2)) = response(Design {
            cos: 1.0 - one_minus_cos,
            one_minus_cos,
            alpha,
            a,
            root: 2.0 * a.sqrt() * alpha,
        });
        let scale = 1.0 / a0;
        (to_b0[i], to_b1[i], to_b2[i]) = (b0 * scale, b1 * scale, b2 * scale);
        (to_a1[i], to_a2[i]) = (a1 * scale, a2 * scale);
    }
}

/// log2(10) / 40.
const OCTAVES_PER_DB: f32 = 0.083_048_2;

/// The cookbook's low shelf as (b0, b1, b2) and (a0, a1, a2); `root` is 2 √A α.
#[inline(always)]
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

/// Largest magnitude of a root of z² + a1 z + a2.
pub(crate) fn largest_root(a1: f64, a2: f64) -> f64 {
    let inner = a1 * a1 - 4.0 * a2;
    if inner < 0.0 {
        libm::sqrt(a2)
    } else {
        (a1.abs() + libm::sqrt(inner)) / 2.0
    }
}

impl DrivenKernel<1> for Biquad {
    #[inline(always)]
    fn driven_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames) {
        // One loop for each response, so that each runs in vectors.
        match self.0 {
            0 => fill(to, params, |it| response(0, it)),
            1 => fill(to, params, |it| response(1, it)),
            2 => fill(to, params, |it| response(2, it)),
            3 => fill(to, params, |it| response(3, it)),
            4 => fill(to, params, |it| response(4, it)),
            5 => fill(to, params, |it| response(5, it)),
            _ => fill(to, params, |it| response(6, it)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::driven::agrees;

    #[test]
    fn driven_coefficients_are_those_of_a_filter_that_stands_still() {
        (0..MODES.len()).for_each(|mode| agrees(&Biquad(mode)));
    }

    /// Magnitude in dB at `at` cycles per frame, from the impulse response.
    fn measured(mode: usize, params: FilterParams, at: f64) -> f64 {
        let filter = Biquad(mode);
        let coefficients = filter.coefficients(params);
        let mut state = [0.0; 2];
        let (mut re, mut im) = (0.0, 0.0);
        for i in 0..200_000 {
            let x = if i == 0 { 1.0 } else { 0.0 };
            let [y] = filter.tick(&coefficients, &mut state, x);
            let (sin, cos) = libm::sincos(TAU * at * f64::from(i));
            re += y * cos;
            im -= y * sin;
        }
        10.0 * libm::log10(re * re + im * im)
    }

    /// Magnitude in dB of the analogue filter, at the frequency that the bilinear transform maps to `at`.
    fn expected(mode: usize, params: FilterParams, at: f64) -> f64 {
        let FilterParams { freq, q, gain_db } = params;
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
            for (freq, q, gain_db) in [(0.02, 0.707, 6.0), (0.1, 5.0, -12.0), (0.3, 0.3, 20.0)] {
                let params = FilterParams { freq, q, gain_db };
                for at in [0.001, 0.015, 0.05, 0.12, 0.2, 0.33, 0.45] {
                    let (have, want) = (measured(mode, params, at), expected(mode, params, at));
                    let near = (have - want).abs() < 1e-6 || want < -200.0;
                    assert!(near, "{name} {params:?} at {at}: {have} {want}");
                }
            }
        }
    }
}
