//! `svf`: a state-variable filter: low, band and high at once.
//!
//! One input, three outputs, as wide as `channels` says; the band's peak is 0 dB. The trapezoidal form that keeps its
//! tuning and stays stable while it is swept (Zavalishin, *The Art of VA Filter Design*, 2012; Simper, "Solving the
//! continuous SVF equations using trapezoidal integration", 2013).

use crate::biquad::{Q, radius};
use crate::filter::{Coefs, FREQ, Filter, Knobs, Recipe, State};
use crate::knob::{Knob, channels};
use graph::{Kind, PortSpec};
use processor::{MakeContext, MakeError, Processor};
use std::f64::consts::PI;

pub(crate) fn kind() -> Kind {
    let mut params: Vec<_> = Svf::KNOBS.iter().map(Knob::param).collect();
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

#[derive(Clone)]
struct Svf;

impl Recipe<3> for Svf {
    const KNOBS: &'static [Knob] = &[FREQ, Q];

    fn coefs(&self, [freq, q, _]: Knobs) -> Coefs {
        [libm::tan(PI * freq), 1.0 / q, 0.0, 0.0, 0.0]
    }

    #[inline(always)]
    fn tick(&self, [g, k, ..]: &Coefs, [s1, s2]: &mut State, x: f64) -> [f64; 3] {
        let a1 = 1.0 / (1.0 + g * (g + k));
        let a2 = g * a1;
        let rest = x - *s2;
        let band = a1 * *s1 + a2 * rest;
        let low = *s2 + (a2 * *s1 + g * a2 * rest);
        *s1 = 2.0 * band - *s1;
        *s2 = 2.0 * low - *s2;
        [low, k * band, x - k * band - low]
    }

    fn radius(&self, [g, k, ..]: &Coefs) -> f64 {
        let all = 1.0 + g * (g + k);
        radius(2.0 * (g * g - 1.0) / all, (1.0 + g * (g - k)) / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_outputs_add_up_to_the_input() {
        let coefs = Svf.coefs([0.01, 3.0, 0.0]);
        let mut state = [0.0; 2];
        for i in 0..1000 {
            let x = f64::from(i * 7919 % 101) / 50.0 - 1.0;
            let sum: f64 = Svf.tick(&coefs, &mut state, x).iter().sum();
            assert!((sum - x).abs() < 1e-12);
        }
    }

    #[test]
    fn a_sine_at_its_frequency_passes_the_band_and_loses_nothing() {
        let (freq, q) = (0.01, 4.0);
        let coefs = Svf.coefs([freq, q, 0.0]);
        let mut state = [0.0; 2];
        let mut peaks = [0f64; 3];
        for i in 0..20_000 {
            let out = Svf.tick(
                &coefs,
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
