//! Sources: tables without aliases, operators, brown noise.

use crate::kit::*;
use divisi_check::processor_bench::ProcessorBench;
use graph::{Law, Modulation, Signal};
use processor::Registry;
use units::{Channels, SampleRate};

fn second(kind: &str, params: &[(&str, graph::ParamValue)]) -> Vec<f32> {
    play(&mut bench(kind, params), &[], &[]).swap_remove(0)
}

#[test]
fn a_saw_and_a_pulse_of_5_khz_have_no_aliases_below_10_khz() {
    for (shape, width) in [("saw", 0.5), ("pulse", 0.5), ("pulse", 0.2)] {
        // A prime: every alias is at a whole Hz of its own, and no harmonic is.
        let hz = 5003;
        let params = [
            ("freq", number(f64::from(hz))),
            ("shape", word(shape)),
            ("width", number(width)),
        ];
        let heard = second("wavetable", &params);
        let first = sine_db(&heard, f64::from(hz));
        // What is there beside the offset, the first harmonic and the second: half a Hz to either side.
        let mut worst = f64::MIN;
        for alias in (1..10_000).filter(|at| at % hz != 0) {
            // Every alias of harmonic k is at |k hz - n rate|: those that could be are looked at.
            let is_alias = (3..400).any(|k| {
                let at = (k * hz) % RATE as i32;
                at.min(RATE as i32 - at) == alias
            });
            if is_alias {
                worst = worst.max(sine_db(&heard, f64::from(alias)));
            }
        }
        assert!(
            worst < first - 90.0,
            "{shape} {width}: {} dB below",
            first - worst
        );
    }
}

#[test]
fn harmonics_of_tables_have_their_amplitudes() {
    let saw = second("wavetable", &[("freq", number(100.0))]);
    let triangle = second(
        "wavetable",
        &[("freq", number(100.0)), ("shape", word("triangle"))],
    );
    let stated = [
        ("freq", number(100.0)),
        ("shape", word("harmonics")),
        ("harmonics", word("1 0 0.25")),
    ];
    let stated = second("wavetable", &stated);
    for k in 1..=100 {
        near(
            sine_db(&saw, 100.0 * f64::from(k)),
            db(2.0 / (TAU / 2.0) / f64::from(k)),
            0.01,
        );
    }
    for k in [1, 3, 5, 21] {
        let want = 8.0 / (TAU / 2.0 * f64::from(k)).powi(2);
        near(sine_db(&triangle, 100.0 * f64::from(k)), db(want), 0.01);
    }
    near(sine_db(&stated, 100.0), 0.0, 1e-3);
    near(sine_db(&stated, 300.0), db(0.25), 1e-3);
    assert!(sine_db(&stated, 200.0) < -110.0 && sine_db(&stated, 400.0) < -110.0);
}

#[test]
fn a_pulse_is_high_for_its_width() {
    for width in [0.1, 0.5, 0.8] {
        let params = [
            ("freq", number(20.0)),
            ("shape", word("pulse")),
            ("width", number(width)),
        ];
        let heard = second("wavetable", &params);
        let high = heard.iter().filter(|y| **y > 0.0).count();
        near(high as f64 / RATE as f64, width, 0.002);
        near(f64::from(heard[(1200.0 * width) as usize]), 1.0, 0.05);
    }
}

/// The Bessel function of the first kind, by its series.
fn bessel(order: i32, x: f64) -> f64 {
    let mut term = (1..=order).fold(1.0, |term, k| term * x / 2.0 / f64::from(k));
    let mut sum = term;
    for k in 1..40 {
        term *= -x * x / 4.0 / f64::from(k) / f64::from(k + order);
        sum += term;
    }
    sum
}

#[test]
fn phase_modulation_has_the_sidebands_of_bessel() {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let mut operator = node("operator", &[("freq", number(5000.0))]);
    let modulation = Modulation {
        param: 3,
        law: Law::Add,
        amount: 1.0,
    };
    let added = operator.add_modulation("phase", Signal::Audio(Channels(1)), modulation);
    added.expect("an operator has room for it");
    let rate = SampleRate::new(RATE as u32).expect("a rate above 0");
    let mut unit = ProcessorBench::new(&registry, &operator, rate);
    let index = 1.7;
    let heard = play(&mut unit, &[&sine(300.0, index / TAU, RATE)], &[]).swap_remove(0);
    for n in 0..=6 {
        let want = db(bessel(n, index).abs());
        near(sine_db(&heard, 5000.0 + 300.0 * f64::from(n)), want, 0.01);
        near(sine_db(&heard, 5000.0 - 300.0 * f64::from(n)), want, 0.01);
    }
}

#[test]
fn an_operator_with_feedback_is_its_recursion() {
    let params = [
        ("freq", number(220.0)),
        ("ratio", number(1.5)),
        ("feedback", number(0.9)),
        ("phase", number(0.1)),
        ("volume", number(0.5)),
    ];
    let heard = second("operator", &params);
    let (mut last, mut before) = (0.0, 0.0);
    for (n, y) in heard.iter().take(2000).enumerate() {
        let phase = (330.0 * n as f64 / RATE as f64 + 0.1) * TAU;
        let s = (phase + 0.9 * (last + before) / 2.0).sin();
        (before, last) = (last, s);
        near(f64::from(*y), 0.5 * s, 1e-4);
    }
}

#[test]
fn brown_noise_falls_six_decibels_an_octave() {
    let mut unit = bench("noise", &[("color", word("brown")), ("seed", number(3.0))]);
    let level = |heard: &[f32], hz: usize| {
        let around = (hz * 4 / 5..hz * 5 / 4).step_by((hz / 40).max(1));
        let powers: Vec<f64> = around
            .map(|hz| {
                let (re, im) = spectrum(heard, hz as f64);
                re * re + im * im
            })
            .collect();
        10.0 * (powers.iter().sum::<f64>() / powers.len() as f64).log10()
    };
    let heard = play(&mut unit, &[], &[]).swap_remove(0);
    let [low, high] = [200, 3200].map(|hz| level(&heard, hz));
    near((low - high) / 4.0, 6.0, 0.8);
    near(rms(&heard), 0.25, 0.08);
}

/// A value that opens or shuts the gate of an envelope.
fn gate(frame: u32, value: f32) -> processor::Event {
    processor::Event {
        target: processor::EventTarget::Input(1),
        ..change(0, frame, value)
    }
}

#[test]
fn an_envelope_of_segments_is_the_one_of_its_text() {
    let params = [(
        "points",
        word("0.01 1; 0.02 0.5 -4; hold; 0.03 0 s-curve; 0.01 0.25 step"),
    )];
    let mut unit = bench("mseg", &params);
    let gates = [gate(0, 1.0), gate(20_000, 0.0)];
    let heard = play(&mut unit, &[&[0.0; RATE]], &gates).swap_remove(0);
    let at = |frame: usize| f64::from(heard[frame]);
    near(at(239), 0.5, 1e-6);
    near(at(479), 1.0, 0.0);
    let way = |c: f64, x: f64| (1.0 - (c * x).exp()) / (1.0 - c.exp());
    near(at(479 + 240), 1.0 - 0.5 * way(-4.0, 0.25), 1e-6);
    near(at(479 + 960), 0.5, 0.0);
    near(at(19_999), 0.5, 0.0);
    let x: f64 = 0.3;
    near(
        at(19_999 + 432),
        0.5 * (1.0 - x * x * (3.0 - 2.0 * x)),
        1e-6,
    );
    near(at(19_999 + 1440), 0.0, 0.0);
    near(at(19_999 + 1900), 0.0, 0.0);
    near(at(19_999 + 1920), 0.25, 0.0);
    near(at(RATE - 1), 0.25, 0.0);
}

#[test]
fn segments_repeat_while_the_gate_is_open_and_times_follow_their_factor() {
    let params = [
        (
            "points",
            word("0.005 1\nloop\n0.005 0\n0.005 1\nhold\n0.005 0"),
        ),
        ("time", number(2.0)),
    ];
    let mut unit = bench("mseg", &params);
    let heard = play(
        &mut unit,
        &[&[0.0; RATE]],
        &[gate(0, 1.0), gate(10_000, 0.0)],
    )
    .swap_remove(0);
    for round in 0..9 {
        let first = 479 + 960 * round;
        assert_eq!((heard[first], heard[first + 480]), (1.0, 0.0), "{round}");
    }
    // The gate shuts within a round: from there to 0 in its own time.
    let before = f64::from(heard[9999]);
    near(f64::from(heard[9999 + 240]), before / 2.0, 1e-6);
    assert!(before > 0.1 && heard[9999 + 480..].iter().all(|x| *x == 0.0));
}
