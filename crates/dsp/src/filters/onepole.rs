//! `onepole`: a first-order low-pass or high-pass, 6 dB per octave.
//!
//! ```text
//! g = tan(π freq / rate)    G = g / (1 + g)
//! v = (x - s) G    low = v + s    high = x - low    s = low + v
//! ```
//!
//! The trapezoidal one-pole of Vadim Zavalishin, *The Art of VA Filter Design* (2012), chapter 3: at `freq` half the power
//! passes, exactly.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `freq` 1 Hz to 0.49 of the rate, `mode` |
//! | latency | none |
//! | tail | until the pole has decayed, see `filter.rs` |
//! | driven | `freq` at audio rate |

use crate::filters::driven::{CoefficientFrames, DrivenKernel, ParamFrames, half_angle};
use crate::filters::filter::Filter;
use crate::filters::groups::Transition;
use crate::filters::kernel::{CoefficientArray, FREQ, FilterKernel, FilterParams, coefficients};
use crate::filters::lanes::Number;
use crate::param::{ParamSpec, channels};
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor};
use std::f64::consts::PI;

pub(crate) fn kind() -> Kind {
    let modes = &["lowpass", "highpass"];
    Kind {
        params: vec![
            FREQ.param(),
            Param::choice("mode", modes).doc("Which side of the frequency passes."),
            channels(),
        ],
        typical_ns: 290,
        ..Kind::effect("onepole", "A first-order filter, 6 dB an octave.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let high = creation.choice("mode")? == 1;
    Filter::make(creation, OnePole { high })
}

#[derive(Clone)]
struct OnePole {
    high: bool,
}

coefficients! {
    /// G = g / (1 + g), the gain of the resolved feedback loop.
    OnePoleCoefficients { gain, }
}

impl FilterKernel<1> for OnePole {
    type Coefficients = OnePoleCoefficients;

    const PARAMS: &'static [ParamSpec] = &[FREQ];
    const STATES: usize = 1;

    fn coefficients(&self, params: FilterParams) -> OnePoleCoefficients {
        let g = libm::tan(PI * params.freq);
        OnePoleCoefficients {
            gain: g / (1.0 + g),
        }
    }

    // 2 low - s, as a product and a sum of what is known before.
    #[inline(always)]
    fn transition(&self, c: &OnePoleCoefficients) -> Transition {
        Transition {
            matrix: [[1.0 - 2.0 * c.gain, 0.0], [0.0; 2]],
            input: [2.0 * c.gain, 0.0],
        }
    }

    #[inline(always)]
    fn outputs<T: Number>(&self, c: &OnePoleCoefficients, [s, _]: [T; 2], x: T) -> [T; 1] {
        let low = s + (x - s) * T::of(c.gain);
        [if self.high { x - low } else { low }]
    }

    fn pole_radius(&self, c: &OnePoleCoefficients) -> f64 {
        (1.0 - 2.0 * c.gain).abs()
    }
}

impl DrivenKernel<1> for OnePole {
    #[inline(always)]
    fn driven_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames) {
        let angle = half_angle(&params.freq);
        let [gain, ..] = to;
        for (gain, (sin, cos)) in gain.iter_mut().zip(angle.sin.iter().zip(&angle.cos)) {
            *gain = f64::from(sin / (sin + cos));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::driven::agrees;

    #[test]
    fn driven_coefficients_are_those_of_a_filter_that_stands_still() {
        [false, true]
            .into_iter()
            .for_each(|high| agrees(&OnePole { high }));
    }

    #[test]
    fn at_its_frequency_half_the_power_passes() {
        for high in [false, true] {
            let filter = OnePole { high };
            let coefficients = filter.coefficients(FilterParams {
                freq: 0.02,
                q: 0.0,
                gain_db: 0.0,
            });
            let mut state = [0.0; 2];
            let mut power = 0.0;
            for i in 0..6000 {
                let [y] = filter.tick(
                    &coefficients,
                    &mut state,
                    libm::sin(2.0 * PI * 0.02 * f64::from(i)),
                );
                power += if i >= 1000 { y * y / 5000.0 } else { 0.0 };
            }
            assert!((power - 0.25).abs() < 1e-4, "{power}");
        }
    }
}
