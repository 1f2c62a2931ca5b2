//! Reverbs and the pitch shifter.

use crate::kit::*;

/// Time in which the energy of `samples` behind each frame falls from -5 to -35 dB, twice (Schroeder's integral).
fn decay_time(samples: &[f32]) -> f64 {
    let mut left = 0.0;
    let mut energy: Vec<f64> = samples
        .iter()
        .rev()
        .map(|x| {
            left += f64::from(*x).powi(2);
            left
        })
        .collect();
    energy.reverse();
    let first = |level: f64| {
        let below = |e: &f64| 10.0 * (e / energy[0]).log10() < level;
        energy.iter().position(below).expect("it decays") as f64
    };
    2.0 * (first(-35.0) - first(-5.0)) / RATE as f64
}

#[test]
fn a_room_decays_in_its_time() {
    for decay in [0.5, 1.5] {
        let params = [
            ("decay", number(decay)),
            ("high", number(1.0)),
            ("mix", number(1.0)),
        ];
        let heard = out("reverb", &params, &[&impulse(3 * RATE)]);
        near(decay_time(&heard), decay, 0.06 * decay);
    }
}

#[test]
fn high_frequencies_of_a_room_decay_sooner() {
    let params = [
        ("decay", number(2.0)),
        ("high", number(0.3)),
        ("mix", number(1.0)),
    ];
    let mut unit = bench("reverb", &params);
    let heard = play(&mut unit, &[&impulse(3 * RATE)], &[]).swap_remove(0);
    let band = |mode: &str, hz: f64| {
        let params = [("mode", word(mode)), ("freq", number(hz))];
        decay_time(&out("biquad", &params, &[&heard]))
    };
    let (low, high) = (band("lowpass", 300.0), band("highpass", 15_000.0));
    near(low, 2.0, 0.25);
    assert!(high > 0.4 && high < 0.9, "{high}");
}

#[test]
fn both_channels_of_a_room_are_as_loud_and_unlike() {
    let params = [("mix", number(1.0)), ("channels", number(2.0))];
    let mut unit = bench("reverb", &params);
    let silence = vec![0.0; 2 * RATE];
    let heard = play(&mut unit, &[&impulse(2 * RATE), &silence], &[]);
    near(db(rms(&heard[0]) / rms(&heard[1])), 0.0, 1.0);
    let product: f64 = heard[0]
        .iter()
        .zip(&heard[1])
        .map(|(a, b)| f64::from(a * b))
        .sum();
    let correlation = product / heard[0].len() as f64 / rms(&heard[0]) / rms(&heard[1]);
    assert!(correlation.abs() < 0.2, "{correlation}");
}

#[test]
fn a_plate_is_the_network_of_its_paper() {
    // At the paper's rate a tap is a whole frame; the first sound comes from the first tap behind the diffusers.
    let params = [
        ("mix", number(1.0)),
        ("depth", number(0.0)),
        ("bandwidth", number(1.0)),
        ("damping", number(0.0)),
        ("decay", number(0.5)),
    ];
    let mut registry = processor::Registry::default();
    dsp::register(&mut registry);
    let rate = units::SampleRate::new(29_761).expect("a rate above 0");
    let mut unit = divisi_check::processor_bench::ProcessorBench::new(
        &registry,
        &node("plate", &params),
        rate,
    );
    let heard = play(&mut unit, &[&impulse(4000)], &[]);
    // Through four diffusers at once (0.75² × 0.625²), the moving all-pass (-0.7) and 266 frames of the right half's delay;
    // on the right 353 frames of the left half's.
    let through = 0.75f64.powi(2) * 0.625f64.powi(2) * -0.7;
    for (output, first) in [(0, 266), (1, 353)] {
        assert!(heard[output][..first].iter().all(|x| *x == 0.0));
        near(f64::from(heard[output][first]), 0.6 * through, 1e-6);
    }
    // The shortest diffuser's line gives the second sound: (1 - 0.75²) in place of 0.75.
    let second = 0.6 * through / 0.75 * (1.0 - 0.75 * 0.75);
    near(f64::from(heard[0][266 + 107]), second, 1e-6);
}

#[test]
fn a_plate_decays_at_every_gain() {
    let mut unit = bench(
        "plate",
        &[
            ("decay", number(0.97)),
            ("damping", number(0.0)),
            ("mix", number(1.0)),
        ],
    );
    let heard = play(&mut unit, &[&impulse(8 * RATE)], &[]);
    let (early, late) = (rms(&heard[0][RATE..2 * RATE]), rms(&heard[0][7 * RATE..]));
    assert!(late < early * 0.9 && late > 0.0, "{early} {late}");
}

#[test]
fn reverbs_are_stable_while_their_parameters_jump() {
    for (kind, highest) in [
        ("reverb", [60.0, 1.0, 0.25, 1.0]),
        ("plate", [0.97, 1.0, 0.99, 0.2]),
    ] {
        let mut unit = bench(kind, &[("mix", number(1.0))]);
        let mut numbers = units::SplitMix64(3);
        for second in 0..3 {
            let mut changes = Vec::new();
            for i in 0..RATE as u32 / 64 {
                let param = i % 4;
                let share = 0.01 + 0.99 * numbers.unit();
                changes.push(change(
                    param as u16,
                    i * 64,
                    (highest[param as usize] * share) as f32,
                ));
            }
            let heard = play(&mut unit, &[&noise(second, RATE)], &changes);
            assert!(
                peak(&heard[0]) < 100.0,
                "{kind} reaches {}",
                peak(&heard[0])
            );
        }
    }
}

#[test]
fn a_shifted_sine_has_the_shifted_frequency() {
    for (semitones, ratio) in [(12.0, 2.0), (-12.0, 0.5), (7.0, 1.498_307)] {
        let input = sine(600.0, 0.5, 2 * RATE);
        let heard = out("pitch", &[("semitones", number(semitones))], &[&input]);
        let heard = &heard[RATE..];
        // The taps' crossfade makes lines around it, (1 - ratio) / window apart.
        let around = |hz: f64| (-30..=30).map(move |off| sine_db(heard, hz + f64::from(off)));
        let loudest = around(600.0 * ratio).fold(f64::MIN, f64::max);
        assert!(loudest > db(0.5) - 7.0, "{semitones}: {loudest}");
        let left = around(600.0).fold(f64::MIN, f64::max);
        assert!(left < loudest - 25.0, "{semitones}: {left} {loudest}");
    }
    let input = noise(1, 4000);
    let heard = out("pitch", &[], &[&input]);
    // Without a shift it is a delay of half a window and two frames.
    for i in 1442..4000 {
        near(f64::from(heard[i]), f64::from(input[i - 1442]), 1e-4);
    }
}
