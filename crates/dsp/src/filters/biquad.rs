//! `biquad`: a second-order filter with one of seven responses.
//!
//! ```text
//! A = 10^(gain_db / 40)    y = m0 x + m1 band + m2 low of `svf`'s filter, with gain g of an integrator and damping k
//!             g                       k          m0  m1           m2
//! lowpass     tan(π freq / rate)      1 / q      0   0            1
//! highpass    same                    1 / q      1   -k           -1
//! bandpass    same                    1 / q      0   k            0
//! notch       same                    1 / q      1   -k           0
//! peak        same                    1 / (q A)  1   k (A² - 1)   0
//! lowshelf    same / √A               1 / q      1   k (A - 1)    A² - 1
//! highshelf   same √A                 1 / q      A²  k (1 - A) A  1 - A²
//! ```
//!
//! The responses are those of Robert Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter coefficients" (W3C, *Audio EQ
//! Cookbook*); the weights are those of Andrew Simper, "Solving the continuous SVF equations using trapezoidal integration and
//! equivalent currents" (Cytomic, 2013). The states are those of integrators: without input s1² + s2² changes by -4 g k band² in a
//! frame, so it never grows, however g and k move. The delays of a direct form do not have that.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `q` 0.05 to 100, `gain_db` -60 to 40 dB for peak and shelves, `mode` |
//! | latency | none |
//! | tail | until the slower pole has decayed, see `filter.rs` |
//! | driven | `freq`, `q` and `gain_db` at audio rate |

use crate::filters::driven::{CoefficientFrames, DrivenKernel, FRAMES, ParamFrames, half_angle};
use crate::filters::eq_band::{EqShelf, peak_weights};
use crate::filters::filter::Filter;
use crate::filters::groups::Transition;
use crate::filters::kernel::{CoefficientArray, FREQ, FilterKernel, FilterParams, coefficients};
use crate::filters::lanes::Number;
use crate::filters::svf::{Q, transition};
use crate::kernel::pole_radius;
use crate::param::{ParamSpec, channels};
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, exp2};
use std::f64::consts::PI;

const MODES: &[&str] = &[
    "lowpass",
    "highpass",
    "bandpass",
    "notch",
    "peak",
    "lowshelf",
    "highshelf",
];

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
    /// `g`: gain of an integrator. `k`: damping. Then the weights of input, band and low.
    BiquadCoefficients { g, k, input, band, low, }
}

impl FilterKernel<1> for Biquad {
    type Coefficients = BiquadCoefficients;

    const PARAMS: &'static [ParamSpec] = &[FREQ, Q, GAIN_DB];

    // 0 were delays of the direct form.
    const FORM: u32 = 1;

    fn coefficients(&self, params: FilterParams) -> BiquadCoefficients {
        let FilterParams { freq, q, gain_db } = params;
        let a = libm::exp10(gain_db / 40.0);
        section(self.0, libm::tan(PI * freq), 1.0 / q, a).into()
    }

    #[inline(always)]
    fn transition(&self, c: &BiquadCoefficients) -> Transition {
        transition(c.g, c.k)
    }

    // Band and low are sums of x, s1 and s2; so is what is made of them.
    #[inline(always)]
    fn outputs<T: Number>(&self, c: &BiquadCoefficients, [s1, s2]: [T; 2], x: T) -> [T; 1] {
        let a1 = 1.0 / (1.0 + c.g * (c.g + c.k));
        let a2 = c.g * a1;
        let a3 = c.g * a2;
        let of_x = c.input + (c.band * a2 + c.low * a3);
        let of_s1 = c.band * a1 + c.low * a2;
        let of_s2 = c.low * (1.0 - a3) - c.band * a2;
        [(T::of(of_x) * x + T::of(of_s2) * s2) + T::of(of_s1) * s1]
    }

    fn pole_radius(&self, c: &BiquadCoefficients) -> f64 {
        pole_radius(c.g, c.k)
    }
}

/// The coefficients of a response, in the order of [`BiquadCoefficients`]: `g` = tan(π freq), `k` = 1 / q, `a` = 10^(gain_db / 40).
#[inline(always)]
fn section(mode: usize, g: f64, k: f64, a: f64) -> CoefficientArray {
    let (g, k, [input, band, low]) = match mode {
        0 => (g, k, [0.0, 0.0, 1.0]),
        1 => (g, k, [1.0, -k, -1.0]),
        2 => (g, k, [0.0, k, 0.0]),
        3 => (g, k, [1.0, -k, 0.0]),
        4 => (g, k / a, peak_weights(k / a, a)),
        5 => {
            let (g, weights) = EqShelf::Low.section(g, k, a);
            (g, k, weights)
        }
        _ => {
            let (g, weights) = EqShelf::High.section(g, k, a);
            (g, k, weights)
        }
    };
    [g, k, input, band, low]
}

/// The coefficients of response `mode`, frame by frame.
#[inline(always)]
fn fill(to: &mut CoefficientFrames, params: &ParamFrames, mode: usize) {
    let angle = half_angle(&params.freq);
    let [to_g, to_k, to_input, to_band, to_low] = to;
    for i in 0..FRAMES {
        let g = f64::from(angle.sin[i] / angle.cos[i]);
        let k = f64::from(1.0 / params.q[i]);
        let a = f64::from(exp2(params.gain_db[i] * OCTAVES_PER_DB));
        let [g, k, input, band, low] = section(mode, g, k, a);
        (to_g[i], to_k[i]) = (g, k);
        (to_input[i], to_band[i], to_low[i]) = (input, band, low);
    }
}

/// log2(10) / 40.
const OCTAVES_PER_DB: f32 = 0.083_048_2;

impl DrivenKernel<1> for Biquad {
    #[inline(always)]
    fn driven_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames) {
        // One loop for each response, so that each runs in vectors.
        match self.0 {
            0 => fill(to, params, 0),
            1 => fill(to, params, 1),
            2 => fill(to, params, 2),
            3 => fill(to, params, 3),
            4 => fill(to, params, 4),
            5 => fill(to, params, 5),
            _ => fill(to, params, 6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::driven::agrees;
    use std::f64::consts::TAU;

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
