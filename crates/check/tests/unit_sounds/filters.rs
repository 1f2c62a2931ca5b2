//! Filters against their transfer functions.

use crate::kit::*;
use graph::ParamValue;

/// The frequency of the analog filter that a trapezoidal one has at `hz`, relative to `freq`.
fn warped(hz: f64, freq: f64) -> f64 {
    (TAU / 2.0 * hz / RATE as f64).tan() / (TAU / 2.0 * freq / RATE as f64).tan()
}

fn multiply(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// (1 + jw)^n.
fn power(w: f64, n: usize) -> (f64, f64) {
    (0..n).fold((1.0, 0.0), |sum, _| multiply(sum, (1.0, w)))
}

#[test]
fn a_ladder_that_does_not_clip_is_that_of_its_formula() {
    for (resonance, mode) in [
        (0.0, "low24"),
        (0.5, "low24"),
        (0.9, "low24"),
        (0.3, "low12"),
        (0.0, "high24"),
    ] {
        let params = [
            ("freq", number(1000.0)),
            ("resonance", number(resonance)),
            ("mode", word(mode)),
            ("drive_db", number(-40.0)),
        ];
        let mut input = impulse(1 << 15);
        input[0] = 0.01;
        let heard = out("ladder", &params, &[&input]);
        for hz in [20.0, 100.0, 500.0, 1000.0, 2000.0, 5000.0] {
            let w = warped(hz, 1000.0);
            let (re, im) = power(w, 4);
            let below = (re + 4.0 * resonance).hypot(im);
            let above = match mode {
                "low12" => 1.0 + w * w,
                "high24" => w.powi(4),
                _ => 1.0,
            };
            let want = db(above / below);
            if want > -50.0 {
                near(response_db(&heard, hz) + 80.0, want, 0.01);
            }
        }
    }
}

#[test]
fn a_ladder_at_full_resonance_rings_at_its_frequency() {
    let heard = out(
        "ladder",
        &[("freq", number(1000.0)), ("resonance", number(1.0))],
        &[&impulse(RATE)],
    );
    let end = &heard[RATE - 4800..];
    assert!(
        sine_db(end, 1000.0) > -60.0 && peak(end) < 1.0,
        "{}",
        sine_db(end, 1000.0)
    );
}

#[test]
fn a_ladder_above_full_resonance_oscillates_at_its_frequency_and_is_bounded() {
    let params = [("freq", number(1000.0)), ("resonance", number(1.2))];
    let mut input = impulse(3 * RATE);
    input[0] = 1e-4;
    let heard = out("ladder", &params, &[&input]);
    let end = &heard[2 * RATE..];
    assert!(
        sine_db(end, 1000.0) > -30.0 && peak(end) < 1.0,
        "{}",
        sine_db(end, 1000.0)
    );
    let before = &heard[RATE..2 * RATE];
    near(db(rms(before)), db(rms(end)), 0.1);
}

#[test]
fn an_allpass_keeps_the_level_and_turns_the_phase() {
    for (order, degrees) in [("first", 90.0), ("second", 180.0)] {
        let params = [
            ("freq", number(1000.0)),
            ("order", word(order)),
            ("q", number(2.0)),
        ];
        let heard = out("allpass", &params, &[&impulse(1 << 14)]);
        for hz in [50.0, 300.0, 1000.0, 4000.0, 15_000.0] {
            near(response_db(&heard, hz), 0.0, 1e-3);
        }
        let (re, im) = spectrum(&heard, 1000.0);
        near(im.atan2(re).to_degrees().abs(), degrees, 0.01);
    }
}

#[test]
fn a_comb_is_its_recursion() {
    // A delay of 100.5 frames: halfway between two.
    let params = [
        ("freq", number(RATE as f64 / 100.5)),
        ("feedback", number(0.8)),
        ("forward", number(0.5)),
        ("blend", number(-0.25)),
        ("damp", number(0.3)),
    ];
    let input = noise(3, 4000);
    let heard = out("comb", &params, &[&input]);
    let mut w = vec![0.0f64; 4000];
    let (mut low, mut worst) = (0.0, 0f64);
    for n in 0..4000usize {
        let past = |back: usize| n.checked_sub(back).map_or(0.0, |at| w[at]);
        let delayed = 0.5 * (past(100) + past(101));
        low = 0.7 * delayed + 0.3 * low;
        w[n] = f64::from(input[n]) + 0.8 * low;
        worst = worst.max((f64::from(heard[n]) - (0.5 * delayed - 0.25 * w[n])).abs());
    }
    assert!(worst < 1e-4, "{worst}");
}

#[test]
fn a_comb_with_opposite_gains_is_an_allpass() {
    let params = [
        ("freq", number(480.0)),
        ("feedback", number(0.7)),
        ("forward", number(1.0)),
        ("blend", number(-0.7)),
    ];
    let heard = out("comb", &params, &[&impulse(1 << 15)]);
    for hz in [100.0, 240.0, 481.0, 3333.0, 15_000.0] {
        near(response_db(&heard, hz), 0.0, 1e-3);
    }
}

#[test]
fn an_offset_is_taken_away_and_the_rest_passes() {
    let heard = out("dc", &[("freq", number(10.0))], &[&impulse(1 << 16)]);
    for hz in [1.0, 10.0, 100.0, 10_000.0] {
        let w = warped(hz, 10.0);
        near(response_db(&heard, hz), db(w / w.hypot(1.0)), 0.01);
    }
}

/// Response of the Audio EQ Cookbook's analog prototypes, in dB.
fn cookbook_db(shape: &str, w: f64, q: f64, gain_db: f64) -> f64 {
    let a = 10f64.powf(gain_db / 40.0);
    let (s, root) = (-w * w, a.sqrt() * w / q);
    let (above, below) = match shape {
        "peak" => ((s + 1.0, w * a / q), (s + 1.0, w / (a * q))),
        "low" => ((a * (s + a), a * root), (a * s + 1.0, root)),
        _ => ((a * (a * s + 1.0), a * root), (s + a, root)),
    };
    db(above.0.hypot(above.1) / below.0.hypot(below.1))
}

#[test]
fn an_equalizer_is_that_of_the_cookbook() {
    let gains = [9.0, -12.0, 6.0, -4.0];
    let params = [
        ("low_freq", number(120.0)),
        ("low_db", number(gains[0])),
        ("mid1_freq", number(700.0)),
        ("mid1_q", number(3.0)),
        ("mid1_db", number(gains[1])),
        ("mid2_freq", number(2500.0)),
        ("mid2_q", number(0.6)),
        ("mid2_db", number(gains[2])),
        ("high_freq", number(9000.0)),
        ("high_db", number(gains[3])),
    ];
    let heard = out("eq", &params, &[&impulse(1 << 16)]);
    let butterworth = 0.5f64.sqrt();
    for hz in [
        20.0, 90.0, 300.0, 700.0, 1500.0, 2500.0, 6000.0, 12_000.0, 20_000.0,
    ] {
        let want = cookbook_db("low", warped(hz, 120.0), butterworth, gains[0])
            + cookbook_db("peak", warped(hz, 700.0), 3.0, gains[1])
            + cookbook_db("peak", warped(hz, 2500.0), 0.6, gains[2])
            + cookbook_db("high", warped(hz, 9000.0), butterworth, gains[3]);
        near(response_db(&heard, hz), want, 0.01);
    }
}

#[test]
fn the_bands_of_a_crossover_add_up_flat() {
    let params = [("freq1", number(300.0)), ("freq2", number(4000.0))];
    let bands = play(&mut bench("crossover", &params), &[&impulse(1 << 15)], &[]);
    let sum: Vec<f32> = (0..1 << 15)
        .map(|i| bands.iter().map(|band| band[i]).sum())
        .collect();
    for hz in [30.0, 150.0, 300.0, 800.0, 2000.0, 4000.0, 9000.0, 20_000.0] {
        near(response_db(&sum, hz), 0.0, 0.001);
    }
    let minus_six = db(0.5);
    near(response_db(&bands[0], 300.0), minus_six, 0.01);
    near(response_db(&bands[1], 300.0), minus_six, 0.02);
    near(response_db(&bands[2], 4000.0), minus_six, 0.02);
    assert!(response_db(&bands[0], 3000.0) < -78.0 && response_db(&bands[2], 400.0) < -78.0);
}

#[test]
fn two_phases_are_a_quarter_of_a_cycle_apart() {
    let heard = play(&mut bench("hilbert", &[]), &[&impulse(1 << 17)], &[]);
    let (mut worst, mut hz) = (0f64, 25.0);
    while hz < 23_900.0 {
        let [real, imag] = [0, 1].map(|port| spectrum(&heard[port], hz));
        let turned = (imag.1.atan2(imag.0) - real.1.atan2(real.0)).to_degrees();
        worst = worst.max((turned.rem_euclid(180.0) - 90.0).abs());
        near(response_db(&heard[0], hz), 0.0, 0.01);
        near(response_db(&heard[1], hz), 0.0, 0.01);
        hz *= 1.07;
    }
    assert!(worst < 0.8, "{worst} degrees off");
}

/// Noise through a unit whose frequency is another random number every 16 frames.
fn filters_stay_bounded_for(seconds: usize) {
    let units: [(&str, &[(&str, f64)]); 5] = [
        ("ladder", &[("resonance", 0.95)]),
        ("allpass", &[("q", 30.0)]),
        ("comb", &[("feedback", 0.95)]),
        ("eq", &[("mid1_db", 24.0), ("mid1_q", 10.0)]),
        ("crossover", &[]),
    ];
    for (kind, params) in units {
        let params: Vec<_> = params
            .iter()
            .map(|(key, value)| (*key, number(*value)))
            .collect();
        let mut unit = bench(kind, &params);
        let mut numbers = units::SplitMix64(5);
        for second in 0..seconds {
            let changes: Vec<_> = (0..RATE as u32 / 16)
                .map(|i| change(0, i * 16, (20.0 * 900f64.powf(numbers.unit())) as f32))
                .collect();
            let heard = play(&mut unit, &[&noise(second as u64, RATE)], &changes);
            let loudest = heard.iter().map(|output| peak(output)).fold(0.0, f64::max);
            assert!(loudest < 1000.0, "{kind} reaches {loudest}");
        }
    }
}

#[test]
fn filters_are_stable_while_their_frequencies_jump() {
    filters_stay_bounded_for(2);
}

#[test]
#[ignore = "10^8 frames of each filter: minutes"]
fn filters_are_stable_for_a_hundred_million_random_frames() {
    filters_stay_bounded_for(100_000_000 / RATE);
}

/// Noise through a filter whose parameters `drives` follow other noises, another number in each frame.
fn stays_bounded(kind: &str, params: &[(&str, ParamValue)], drives: &[Drive], seconds: usize) {
    let mut unit = driven_bench(kind, params, drives);
    let mut seed = 0;
    for _ in 0..seconds {
        let noises: Vec<Vec<f32>> = (0..=drives.len())
            .map(|_| {
                seed += 1;
                noise(seed, RATE)
            })
            .collect();
        let inputs: Vec<&[f32]> = noises.iter().map(Vec::as_slice).collect();
        let heard = play(&mut unit, &inputs, &[]);
        let loudest = heard.iter().map(|output| peak(output)).fold(0.0, f64::max);
        assert!(loudest < 1000.0, "{kind} {params:?} reaches {loudest}");
        assert!(loudest > 0.1, "{kind} {params:?} is silent");
    }
}

/// A frequency that is driven over ten octaves.
const fn wild(freq: &'static str) -> Drive {
    (freq, Law::Octaves, 5.0)
}

/// Frequencies, resonances and gains, all of which a filter is driven by at once.
fn driven_filters_stay_bounded_for(seconds: usize) {
    let freq = &[("freq", number(600.0))];
    let (q, sharp) = ([wild("freq"), ("q", Law::Octaves, 4.0)], number(6.0));
    let resonance = [wild("freq"), ("resonance", Law::Add, 0.95)];
    let feedback = [wild("freq"), ("feedback", Law::Add, 0.95)];
    let equalizer = [
        wild("low_freq"),
        ("low_db", Law::Add, 24.0),
        wild("mid1_freq"),
        ("mid1_q", Law::Octaves, 3.0),
        ("mid1_db", Law::Add, 24.0),
    ];
    let two = [wild("freq1"), wild("freq2")];
    stays_bounded("ladder", freq, &resonance, seconds);
    stays_bounded("allpass", &[("q", sharp.clone())], &q, seconds);
    stays_bounded("comb", freq, &feedback, seconds);
    stays_bounded("eq", &[], &equalizer, seconds);
    stays_bounded("crossover", &[], &two, seconds);
    let resonant = [freq[0].clone(), ("q", sharp)];
    stays_bounded("svf", &resonant, &q, seconds);
    stays_bounded("onepole", freq, &q[..1], seconds);
    stays_bounded("dc", &[], &q[..1], seconds);
    stays_bounded(
        "deesser",
        &[],
        &[wild("freq"), ("threshold_db", Law::Add, 30.0)],
        seconds,
    );
    let phases = [
        wild("freq"),
        ("depth", Law::Add, 4.0),
        ("feedback", Law::Add, 0.9),
    ];
    stays_bounded("phaser", &[], &phases, seconds);
    let moving = [
        ("delay", Law::Octaves, 3.0),
        ("depth", Law::Octaves, 3.0),
        ("feedback", Law::Add, 0.9),
    ];
    stays_bounded("flanger", &[], &moving, seconds);
}

/// A biquad in each of its modes, likewise.
fn driven_biquads_stay_bounded_for(seconds: usize) {
    let drives = [
        wild("freq"),
        ("q", Law::Octaves, 4.0),
        ("gain_db", Law::Add, 24.0),
    ];
    for mode in [
        "lowpass",
        "highpass",
        "bandpass",
        "notch",
        "peak",
        "lowshelf",
        "highshelf",
    ] {
        let params = [
            ("freq", number(600.0)),
            ("q", number(6.0)),
            ("mode", word(mode)),
        ];
        stays_bounded("biquad", &params, &drives, seconds);
    }
}

#[test]
fn filters_are_stable_while_noise_drives_their_parameters() {
    driven_filters_stay_bounded_for(2);
    driven_biquads_stay_bounded_for(2);
}

/// Steadily the highest resonance: what enters stays longest.
#[test]
fn resonant_filters_are_stable_while_noise_drives_their_frequencies() {
    let params = [("freq", number(600.0)), ("q", number(30.0))];
    for kind in ["allpass", "svf", "biquad"] {
        stays_bounded(kind, &params, &[wild("freq")], 2);
    }
}

#[test]
#[ignore = "10^8 frames of each filter: minutes"]
fn filters_are_stable_for_a_hundred_million_frames_of_noise() {
    driven_filters_stay_bounded_for(100_000_000_usize.div_ceil(RATE));
}

#[test]
#[ignore = "10^8 frames of each mode: minutes"]
fn biquads_are_stable_for_a_hundred_million_frames_of_noise() {
    driven_biquads_stay_bounded_for(100_000_000_usize.div_ceil(RATE));
}

/// A biquad of direct form saved its delays and its coefficients in as many words.
#[test]
fn a_biquad_refuses_a_state_of_another_form() {
    let params = [("freq", number(600.0))];
    for drives in [&[][..], &[wild("freq")]] {
        let mut unit = driven_bench("biquad", &params, drives);
        let inputs: Vec<Vec<f32>> = (0..=drives.len() as u64)
            .map(|seed| noise(seed + 1, 480))
            .collect();
        let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
        play(&mut unit, &inputs, &[]);
        let mut state = Vec::new();
        unit.processor.save(&mut state);
        unit.processor.load(&state).expect("its own state");
        let mark = state.len() - 4;
        state[mark..].fill(0);
        assert!(unit.processor.load(&state).is_err(), "{}", drives.len());
    }
}
