//! `svf`: a state-variable filter with low-pass, band-pass and high-pass outputs.
//!
//! ```text
//! g = tan(π freq / rate)    k = 1 / q    a1 = 1 / (1 + g (g + k))    a2 = g a1    a3 = g a2
//! v3   = x - s2                     each state as one sum of x, s1 and s2
//! band = a1 s1 + a2 v3            s1 = 2 band - s1
//! low  = s2 + a2 s1 + a3 v3       s2 = 2 low  - s2
//! high = x - k band - low
//! ```
//!
//! Andrew Simper, "Solving the continuous SVF equations using trapezoidal integration and equivalent currents" (Cytomic,
//! 2013), eqs. for `v1` (band) and `v2` (low); after Vadim Zavalishin, *The Art of VA Filter Design* (2012), chapter 4.
//! Trapezoidal integration keeps the tuning exact at `freq` and stays stable while the frequency is swept. The band output
//! is times k, so that its peak is 0 dB: low + band + high is the input.
//!
//! | | |
//! |---|---|
//! | ports | `in`; `low`, `band`, `high`; as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `q` 0.05 to 100 |
//! | latency | none |
//! | tail | until the slower pole has decayed, see `filter.rs` |
//! | driven | `freq` and `q` at audio rate |

use crate::filters::driven::{CoefficientFrames, DrivenKernel, ParamFrames, half_angle};
use crate::filters::filter::Filter;
use crate::filters::groups::Transition;
use crate::filters::kernel::{CoefficientArray, FREQ, FilterKernel, FilterParams, coefficients};
use crate::filters::lanes::Number;
use crate::kernel::pole_radius;
use crate::param::{ParamSpec, channels};
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor};
use std::f64::consts::PI;

/// Resonance, of this filter, of `biquad` and of `allpass`.
pub(crate) const Q: ParamSpec =
    ParamSpec::new(1, "q", (0.05, 100.0), std::f64::consts::FRAC_1_SQRT_2)
        .doc("Resonance: how narrow it is; 0.707 is flat.")
        .audio_rate();

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Svf::PARAMS.iter().map(ParamSpec::param).collect();
    params.push(channels());
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: ["low", "band", "high"].map(PortSpec::audio).into(),
        params,
        typical_ns: 550,
        ..Kind::new(
            "svf",
            "A state-variable filter: low, band and high at once.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Filter::make(creation, Svf)
}

/// 2 band - s1 and 2 low - s2, each as a sum of what is known before.
#[inline(always)]
pub(super) fn transition(g: f64, k: f64) -> Transition {
    let a1 = 1.0 / (1.0 + g * (g + k));
    let twice = 2.0 * g * a1;
    Transition {
        matrix: [[2.0 * a1 - 1.0, -twice], [twice, 1.0 - g * twice]],
        input: [twice, g * twice],
    }
}

#[derive(Clone)]
struct Svf;

coefficients! {
    /// `g`: gain of an integrator, tan(π freq). `k`: damping, 1 / q.
    SvfCoefficients { g, k, }
}

impl FilterKernel<3> for Svf {
    type Coefficients = SvfCoefficients;

    const PARAMS: &'static [ParamSpec] = &[FREQ, Q];

    fn coefficients(&self, params: FilterParams) -> SvfCoefficients {
        SvfCoefficients {
            g: libm::tan(PI * params.freq),
            k: 1.0 / params.q,
        }
    }

    #[inline(always)]
    fn transition(&self, SvfCoefficients { g, k }: &SvfCoefficients) -> Transition {
        transition(*g, *k)
    }

    #[inline(always)]
    fn outputs<T: Number>(
        &self,
        SvfCoefficients { g, k }: &SvfCoefficients,
        [s1, s2]: [T; 2],
        x: T,
    ) -> [T; 3] {
        let a1 = 1.0 / (1.0 + g * (g + k));
        let (a2, k) = (g * a1, T::of(*k));
        let v3 = x - s2;
        let band = T::of(a1) * s1 + T::of(a2) * v3;
        let low = s2 + (T::of(a2) * s1 + T::of(g * a2) * v3);
        [low, k * band, x - k * band - low]
    }

    fn pole_radius(&self, SvfCoefficients { g, k }: &SvfCoefficients) -> f64 {
        pole_radius(*g, *k)
    }
}

impl DrivenKernel<3> for Svf {
    #[inline(always)]
    fn driven_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames) {
        let angle = half_angle(&params.freq);
        let [g, k, ..] = to;
        for ((g, k), ((sin, cos), q)) in
            (g.iter_mut().zip(k)).zip(angle.sin.iter().zip(&angle.cos).zip(&params.q))
        {
            *g = f64::from(sin / cos);
            *k = f64::from(1.0 / q);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::driven::agrees;

    #[test]
    fn driven_coefficients_are_those_of_a_filter_that_stands_still() {
        agrees(&Svf);
    }

    fn params(freq: f64, q: f64) -> FilterParams {
        FilterParams {
            freq,
            q,
            gain_db: 0.0,
        }
    }

    #[test]
    fn the_three_outputs_add_up_to_the_input() {
        let coefficients = Svf.coefficients(params(0.01, 3.0));
        let mut state = [0.0; 2];
        for i in 0..1000 {
            let x = f64::from(i * 7919 % 101) / 50.0 - 1.0;
            let sum: f64 = Svf.tick(&coefficients, &mut state, x).iter().sum();
            assert!((sum - x).abs() < 1e-12);
        }
    }

    #[test]
    fn a_sine_at_its_frequency_passes_the_band_and_loses_nothing() {
        let (freq, q) = (0.01, 4.0);
        let coefficients = Svf.coefficients(params(freq, q));
        let mut state = [0.0; 2];
        let mut peaks = [0f64; 3];
        for i in 0..20_000 {
            let out = Svf.tick(
                &coefficients,
                &mut state,
                libm::sin(2.0 * PI * freq * f64::from(i)),
            );
            if i > 10_000 {
                peaks
                    .iter_mut()
                    .zip(out)
                    .for_each(|(p, y)| *p = p.max(y.abs()));
            }
        }
        assert!((peaks[1] - 1.0).abs() < 1e-3, "{peaks:?}");
        assert!(
            (peaks[0] - q).abs() < 1e-2 && (peaks[2] - q).abs() < 1e-2,
            "{peaks:?}"
        );
    }
}
