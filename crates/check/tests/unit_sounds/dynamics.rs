//! Dynamics against their curves, and the limiter against a measurement of its own.

use crate::kit::*;

/// Level behind a unit of a sine of 1 kHz, after a second.
fn settled_db(kind: &str, params: &[(&str, graph::ParamValue)], level_db: f64) -> f64 {
    let input = sine(1000.0, 10f64.powf(level_db / 20.0), 2 * RATE);
    let silence = vec![0.0; input.len()];
    let mut unit = bench(kind, params);
    let inputs: &[&[f32]] = match unit.input_channels() {
        1 => &[&input],
        _ => &[&input, &silence],
    };
    let heard = play(&mut unit, inputs, &[]).swap_remove(0);
    db(peak(&heard[RATE..]))
}

#[test]
fn a_compressor_has_the_curve_of_its_parameters() {
    // A fast attack and a slow release: the detector stays at the peaks.
    let params = [
        ("threshold_db", number(-20.0)),
        ("ratio", number(4.0)),
        ("knee_db", number(10.0)),
        ("attack", number(0.0)),
        ("release", number(5.0)),
        ("makeup_db", number(2.0)),
    ];
    for level in [-60.0, -26.0, -24.0, -20.0, -16.0, -10.0, 0.0] {
        let over: f64 = level + 20.0;
        let reduction = match over {
            over if over < -5.0 => 0.0,
            over if over < 5.0 => 0.75 * (over + 5.0).powi(2) / 20.0,
            over => 0.75 * over,
        };
        near(
            settled_db("compressor", &params, level),
            level - reduction + 2.0,
            0.05,
        );
    }
}

#[test]
fn a_compressor_is_its_recursion_with_a_look_ahead() {
    let (attack, release) = (0.003, 0.04);
    let params = [
        ("threshold_db", number(-18.0)),
        ("ratio", number(3.0)),
        ("knee_db", number(0.0)),
        ("attack", number(attack)),
        ("release", number(release)),
        ("lookahead", number(0.002)),
        ("key", word("side")),
    ];
    let (input, side) = (noise(1, 9000), noise(2, 9000));
    let mut unit = bench("compressor", &params);
    assert_eq!(unit.processor.latency().0, 96);
    let heard = play(&mut unit, &[&input, &side], &[]).swap_remove(0);
    let mut s = 0.0;
    for n in 0..9000usize {
        let wanted = (2.0 / 3.0 * (db(f64::from(side[n].abs())) + 18.0)).max(0.0);
        let time: f64 = if wanted > s { attack } else { release };
        s += (wanted - s) * (1.0 - (-1.0 / (time * RATE as f64)).exp());
        let x = n.checked_sub(96).map_or(0.0, |at| f64::from(input[at]));
        near(f64::from(heard[n]), x * 10f64.powf(-s / 20.0), 1e-5);
    }
}

#[test]
fn an_expander_and_a_gate_reduce_what_is_below_the_threshold() {
    let expander = [
        ("threshold_db", number(-30.0)),
        ("ratio", number(3.0)),
        ("range_db", number(40.0)),
    ];
    for (level, want) in [
        (-10.0, -10.0),
        (-29.0, -29.0),
        (-40.0, -60.0),
        (-60.0, -100.0),
    ] {
        near(settled_db("expander", &expander, level), want, 0.3);
    }
    let gate = [
        ("threshold_db", number(-30.0)),
        ("hysteresis_db", number(6.0)),
        ("range_db", number(50.0)),
    ];
    for (level, want) in [(-20.0, -20.0), (-33.0, -83.0), (-45.0, -95.0)] {
        near(settled_db("gate", &gate, level), want, 0.3);
    }
}

#[test]
fn a_larger_range_of_an_expander_leaves_loud_sound_as_it_is() {
    let input = sine(1000.0, 0.5, 2 * RATE);
    let silence = vec![0.0; input.len()];
    let mut unit = bench("expander", &[("range_db", number(10.0))]);
    let changes = [change(1, RATE as u32, 100.0)];
    let heard = play(&mut unit, &[&input, &silence], &changes).swap_remove(0);
    for (heard, input) in heard.iter().zip(&input).skip(RATE / 2) {
        near(f64::from(*heard), f64::from(*input), 1e-4);
    }
}

#[test]
fn a_gate_stays_open_within_its_hysteresis_and_its_hold() {
    let loud = sine(1000.0, 0.1, RATE / 2);
    let between = sine(1000.0, 0.07, RATE / 2);
    let soft = sine(1000.0, 0.001, RATE / 2);
    let input = [loud, between, soft].concat();
    let silence = vec![0.0; input.len()];
    let params = [
        ("threshold_db", number(-22.0)),
        ("hysteresis_db", number(4.0)),
        ("hold", number(0.1)),
        ("release", number(0.001)),
        ("range_db", number(120.0)),
    ];
    let heard = out("gate", &params, &[&input, &silence]);
    near(peak(&heard[RATE - 4800..RATE]), 0.07, 1e-3);
    // The level falls within 40 ms, and 100 ms later it shuts.
    near(peak(&heard[RATE + 2400..RATE + 4700]), 0.001, 1e-5);
    assert!(peak(&heard[RATE + 9600..]) < 1e-6);
}

#[test]
fn a_deesser_reduces_loud_high_frequencies_alone() {
    let params = [("threshold_db", number(-30.0)), ("range_db", number(12.0))];
    let level = |hz: f64, peak: f64| {
        let input = sine(hz, peak, RATE);
        let heard = out("deesser", &params, &[&input]);
        sine_db(&heard[RATE / 2..], hz) - db(peak)
    };
    near(level(200.0, 0.5), 0.0, 0.05);
    near(level(12_000.0, 0.01), 0.0, 0.05);
    near(level(12_000.0, 0.5), -12.0, 1.0);
}

#[test]
fn a_transient_shaper_lifts_beginnings_and_not_the_rest() {
    let mut input = vec![0.0; RATE / 2];
    input.extend(sine(1000.0, 0.3, RATE));
    let heard = out("transient", &[("attack_db", number(12.0))], &[&input]);
    let at = |ms: usize| RATE / 2 + ms * RATE / 1000;
    let gain = |from, to| db(peak(&heard[from..to]) / 0.3);
    assert!(gain(at(2), at(6)) > 6.0, "{}", gain(at(2), at(6)));
    assert!(
        gain(at(500), at(900)).abs() < 1.0,
        "{}",
        gain(at(500), at(900))
    );
    let plain = out("transient", &[], &[&input]);
    assert_eq!(plain, input, "without gains it is the input");
}

/// The largest magnitude of `samples` at eight times the rate, by a long sinc of another window than the limiter's.
fn true_peak(samples: &[f32]) -> f64 {
    const HALF: i32 = 48;
    let mut largest = 0f64;
    for part in 1..8 {
        let part = f64::from(part) / 8.0;
        let taps: Vec<f64> = (1 - HALF..=HALF)
            .map(|k| {
                let x = f64::from(k) - part;
                let window = (TAU / 4.0 * x / f64::from(HALF)).cos().powi(2);
                (TAU / 2.0 * x).sin() / (TAU / 2.0 * x) * window
            })
            .collect();
        for around in samples.windows(taps.len()) {
            let y: f64 = taps
                .iter()
                .zip(around)
                .map(|(a, b)| a * f64::from(*b))
                .sum();
            largest = largest.max(y.abs());
        }
    }
    largest.max(peak(samples))
}

#[test]
fn no_true_peak_of_a_limiter_is_above_its_ceiling() {
    let frames = 16_000;
    // Bursts of noise, a sine whose peaks lie between samples, and clicks.
    let mut bursts = noise(3, frames);
    for (i, x) in bursts.iter_mut().enumerate() {
        *x *= if i / 700 % 3 == 0 { 1.0 } else { 0.02 };
    }
    let between: Vec<f32> = (0..frames)
        .map(|i| (TAU / 4.0 * i as f64 + TAU / 8.0).sin() as f32)
        .collect();
    let mut clicks = sine(997.0, 0.3, frames);
    (0..frames).step_by(1234).for_each(|i| clicks[i] = 1.0);
    let program: Vec<f32> = noise(4, frames)
        .windows(8)
        .map(|around| around.iter().sum::<f32>() / 3.0)
        .collect();
    for (what, input) in [
        ("bursts", bursts),
        ("between", between),
        ("clicks", clicks),
        ("program", program),
    ] {
        for ceiling in [-1.0, -6.0] {
            let params = [
                ("ceiling_db", number(ceiling)),
                ("gain_db", number(12.0)),
                ("release", number(0.02)),
            ];
            let heard = out("limiter", &params, &[&input]);
            let highest = db(true_peak(&heard));
            assert!(
                highest <= ceiling,
                "{highest} dB above a ceiling of {ceiling}"
            );
            assert!(
                highest > ceiling - 1.0,
                "{what}: {highest} dB is too careful for {ceiling}"
            );
        }
    }
}

/// Each frame has another gain and another release.
#[test]
fn nothing_is_above_the_ceiling_while_noise_drives_a_limiter() {
    let frames = 16_000;
    let drives = [("gain_db", Law::Add, 24.0), ("release", Law::Octaves, 4.0)];
    for (detector, highest) in [
        ("true-peak", true_peak as fn(&[f32]) -> f64),
        ("sample-peak", peak),
    ] {
        let params = [
            ("ceiling_db", number(-3.0)),
            ("detector", word(detector)),
            ("release", number(0.02)),
        ];
        let mut unit = driven_bench("limiter", &params, &drives);
        let [input, gain, release] = [
            bursts_and_silence(3, frames),
            noise(4, frames),
            noise(5, frames),
        ];
        let heard = play(&mut unit, &[&input, &gain, &release], &[]).swap_remove(0);
        let highest = db(highest(&heard));
        assert!(
            highest <= -3.0 && highest > -5.0,
            "{detector}: {highest} dB"
        );
    }
}

#[test]
fn a_limiter_leaves_what_is_below_its_ceiling() {
    let input = noise(5, 5000).iter().map(|x| x * 0.4).collect::<Vec<_>>();
    let mut unit = bench("limiter", &[]);
    let latency = unit.processor.latency().0 as usize;
    assert_eq!(latency, 175);
    let heard = play(&mut unit, &[&input], &[]).swap_remove(0);
    assert_eq!(heard[latency..], input[..5000 - latency]);
}

/// The parameters of a limiter of samples.
fn of_samples(ceiling_db: f64, release: f64) -> [(&'static str, graph::ParamValue); 4] {
    [
        ("detector", word("sample-peak")),
        ("ceiling_db", number(ceiling_db)),
        ("gain_db", number(12.0)),
        ("release", number(release)),
    ]
}

/// Its definition, frame by frame, for one channel: segments of 64 frames from the first one that sounds.
fn limit_samples(input: &[f32], ceiling: f64, release: f64) -> Vec<f64> {
    const S: usize = 64;
    let gain = 10f64.powf(12.0 / 20.0);
    let lead = input.iter().take_while(|x| **x == 0.0).count();
    let sounding = &input[lead..];
    let needed = |segment: usize| {
        let frames = sounding.iter().skip(segment * S).take(S);
        let peak = frames.fold(0.0, |peak: f64, x| peak.max(f64::from(x.abs()) * gain));
        (1.0 - ceiling / peak).max(0.0)
    };
    let mut heard = vec![0.0; lead + 2 * S];
    // It has come down before the first of them leaves.
    let mut begin = needed(0);
    for segment in 0..sounding.len() / S {
        let left: f64 = begin * (-(S as f64) / (release * RATE as f64)).exp();
        let end = left.max(needed(segment)).max(needed(segment + 1));
        // What has decayed that far is none.
        let end = if end < 1e-9 { 0.0 } else { end };
        for i in 0..S {
            let reduction = begin + (end - begin) * i as f64 / S as f64;
            let x = f64::from(sounding[segment * S + i]) * gain;
            heard.push(x * (1.0 - reduction));
        }
        begin = end;
    }
    heard
}

/// Bursts of noise with silence between them.
fn bursts_and_silence(seed: u64, frames: usize) -> Vec<f32> {
    let mut input = noise(seed, frames);
    for (i, x) in input.iter_mut().enumerate() {
        *x *= [0.0, 1.0, 0.02, 0.4][i / 1100 % 4];
    }
    input
}

#[test]
fn a_limiter_of_samples_draws_lines_between_segments() {
    for (ceiling_db, release) in [(-1.0, 0.02), (-6.0, 0.2), (0.0, 0.0)] {
        let input = bursts_and_silence(6, 12_000);
        let ceiling = 10f64.powf(ceiling_db / 20.0);
        let heard = out("limiter", &of_samples(ceiling_db, release), &[&input]);
        // The second burst is in the silence of the first: where nothing is left of a reduction, segments begin anew.
        let wanted = match release {
            0.0 => limit_parts(&input, ceiling),
            _ => limit_samples(&input, ceiling, release),
        };
        for (n, (heard, wanted)) in heard.iter().zip(&wanted).enumerate() {
            assert!(
                (f64::from(*heard) - wanted).abs() < 2e-6,
                "{ceiling_db} dB, frame {n}: {heard} and {wanted}"
            );
        }
    }
}

/// Each silence and what follows it by itself: what leaves late is heard in the next silence.
fn limit_parts(input: &[f32], ceiling: f64) -> Vec<f64> {
    let mut heard = vec![0.0; input.len() + 400];
    for (index, part) in input.chunks(4400).enumerate() {
        let part = [part, &[0.0; 256]].concat();
        let to = heard[index * 4400..].iter_mut();
        to.zip(limit_samples(&part, ceiling, 0.0))
            .for_each(|(to, y)| *to += y);
    }
    heard
}

#[test]
fn no_sample_of_a_limiter_of_samples_is_above_its_ceiling() {
    let mut clicks = sine(997.0, 0.2, 16_000);
    (0..16_000).step_by(1234).for_each(|i| clicks[i] = 1.0);
    for input in [bursts_and_silence(7, 16_000), clicks, noise(8, 16_000)] {
        for ceiling in [-0.5, -9.0] {
            let heard = out("limiter", &of_samples(ceiling, 0.02), &[&input]);
            let highest = peak(&heard);
            assert!(highest <= 10f64.powf(ceiling / 20.0), "{highest}");
            assert!(db(highest) > ceiling - 0.01, "{highest}");
        }
    }
}

#[test]
fn a_limiter_of_samples_leaves_what_is_below_its_ceiling() {
    let input = noise(9, 5000).iter().map(|x| x * 0.89).collect::<Vec<_>>();
    let mut unit = bench("limiter", &[("detector", word("sample-peak"))]);
    assert_eq!(unit.processor.latency().0, 128);
    let heard = play(&mut unit, &[&input], &[]).swap_remove(0);
    assert_eq!(heard[128..], input[..5000 - 128]);
}

#[test]
fn a_ceiling_that_falls_holds_what_is_under_way() {
    let input = sine(300.0, 1.0, RATE);
    let mut unit = bench("limiter", &[("detector", word("sample-peak"))]);
    let changes = [change(0, 24_000, -12.0)];
    let heard = play(&mut unit, &[&input], &changes).swap_remove(0);
    // The change is a ramp of 5 ms.
    assert!(peak(&heard[24_240..]) <= 10f64.powf(-12.0 / 20.0));
    assert!(db(peak(&heard[24_240 + 128..])) > -12.01);
}
