//! `onepole`: a first-order filter, 6 dB an octave.
//!
//! One input, one output, as wide as `channels` says. Trapezoidal (Zavalishin, *The Art of VA Filter Design*, 2012).

use crate::filter::{Coefs, FREQ, Filter, Knobs, Recipe, State};
use crate::knob::{Knob, channels, choice};
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor};
use std::f64::consts::PI;

pub(crate) fn kind() -> Kind {
    let modes = &["lowpass", "highpass"];
    Kind {
        inputs: vec![PortSpec::audio("in")],
        outputs: vec![PortSpec::audio("out")],
        params: vec![
            FREQ.param(),
            choice("mode", modes, "Which side of the frequency passes."),
            channels(),
        ],
        typical_ns: 290,
        ..Kind::new("onepole", "A first-order filter, 6 dB an octave.")
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

impl Recipe<1> for OnePole {
    const KNOBS: &'static [Knob] = &[FREQ];

    fn coefs(&self, [freq, ..]: Knobs) -> Coefs {
        let g = libm::tan(PI * freq);
        [g / (1.0 + g), 0.0, 0.0, 0.0, 0.0]
    }

    #[inline(always)]
    fn tick(&self, [g, ..]: &Coefs, [s, _]: &mut State, x: f64) -> [f64; 1] {
        let v = (x - *s) * g;
        let low = v + *s;
        *s = low + v;
        [if self.high { x - low } else { low }]
    }

    fn radius(&self, [g, ..]: &Coefs) -> f64 {
        (1.0 - 2.0 * g).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_its_frequency_half_the_power_passes() {
        for high in [false, true] {
            let filter = OnePole { high };
            let coefs = filter.coefs([0.02, 0.0, 0.0]);
            let mut state = [0.0; 2];
            let mut power = 0.0;
            for i in 0..6000 {
                let [y] = filter.tick(
                    &coefs,
                    &mut state,
                    libm::sin(2.0 * PI * 0.02 * f64::from(i)),
                );
                power += if i >= 1000 { y * y / 5000.0 } else { 0.0 };
            }
            assert!((power - 0.25).abs() < 1e-4, "{power}");
        }
    }
}
