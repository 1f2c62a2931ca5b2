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

/// The plate of the paper at its own rate, without movement: everything that was ever written to a line is kept.
struct PaperPlate {
    diffusers: [Vec<f64>; 4],
    halves: [[Vec<f64>; 4]; 2],
    low: [f64; 2],
}

impl PaperPlate {
    /// Frame `n` of the outputs, of which frame `n` of the input is `x`.
    fn step(&mut self, n: usize, mut x: f64, decay: f64, damping: f64) -> [f64; 2] {
        let back =
            |line: &Vec<f64>, frames: usize| n.checked_sub(frames).map_or(0.0, |at| line[at]);
        for ((frames, gain), line) in [(142, 0.75), (107, 0.75), (379, 0.625), (277, 0.625)]
            .into_iter()
            .zip(&mut self.diffusers)
        {
            let delayed = back(line, frames);
            line.push(x - gain * delayed);
            x = delayed + gain * line[n];
        }
        let second = (decay + 0.15).clamp(0.25, 0.5);
        let lengths = [[672, 4453, 1800, 3720], [908, 4217, 2656, 3163]];
        let ends = [0, 1].map(|half| back(&self.halves[half][3], lengths[half][3]));
        for half in 0..2 {
            let [first, delay, diffuser, last] = &mut self.halves[half];
            let [first_frames, delay_frames, diffuser_frames, _] = lengths[half];
            let into = x + decay * ends[1 - half];
            let delayed = back(first, first_frames);
            first.push(into + 0.7 * delayed);
            delay.push(delayed - 0.7 * first[n]);
            let delayed = back(delay, delay_frames);
            self.low[half] = (1.0 - damping) * delayed + damping * self.low[half];
            let delayed = back(diffuser, diffuser_frames);
            diffuser.push(decay * self.low[half] - second * delayed);
            last.push(delayed + second * diffuser[n]);
        }
        let [[_, a, b, c], [_, d, e, f]] = &self.halves;
        let left = back(d, 266) + back(d, 2974) - back(e, 1913) + back(f, 1996)
            - back(a, 1990)
            - back(b, 187)
            - back(c, 1066);
        let right = back(a, 353) + back(a, 3627) - back(b, 1228) + back(c, 2673)
            - back(d, 2111)
            - back(e, 335)
            - back(f, 121);
        [0.6 * left, 0.6 * right]
    }
}

#[test]
fn a_plate_is_that_of_the_paper_at_every_decay() {
    for decay in [0.05, 0.2, 0.6] {
        let params = [
            ("mix", number(1.0)),
            ("depth", number(0.0)),
            ("bandwidth", number(1.0)),
            ("damping", number(0.3)),
            ("decay", number(decay)),
        ];
        let mut registry = processor::Registry::default();
        dsp::register(&mut registry);
        let rate = units::SampleRate::new(29_761).expect("a rate above 0");
        let plate = node("plate", &params);
        let mut unit = divisi_check::processor_bench::ProcessorBench::new(&registry, &plate, rate);
        let input = noise(5, 30_000);
        let heard = play(&mut unit, &[&input], &[]);
        let mut paper = PaperPlate {
            diffusers: Default::default(),
            halves: Default::default(),
            low: [0.0; 2],
        };
        for (n, x) in input.iter().enumerate() {
            let want = paper.step(n, f64::from(*x), f64::from(decay as f32), f64::from(0.3f32));
            for (heard, want) in heard.iter().zip(want) {
                near(f64::from(heard[n]), want, 1e-5);
            }
        }
    }
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

#[test]
fn a_pitch_that_comes_back_to_no_shift_is_a_pure_delay_again() {
    let input = noise(2, 6 * RATE);
    let mut unit = bench("pitch", &[("semitones", number(3.7))]);
    let heard = play(&mut unit, &[&input], &[change(0, 20_000, 0.0)]).swap_remove(0);
    let stands = |from: usize| {
        let errors = (from..from + 4800).map(|i| (heard[i] - input[i - 1442]).abs());
        errors.fold(0.0, f32::max)
    };
    // The glide of the parameter, then at most a quarter of a window at 1/256 of a frame a frame: 3.9 s.
    assert!(
        stands(30_000) > 0.1 && stands(5 * RATE) < 1e-3,
        "{}",
        stands(5 * RATE)
    );
}

/// A sound file for a test of this process.
fn sound_file(name: &str, samples: &[f32]) -> String {
    let path =
        std::env::temp_dir().join(format!("divisi-grains-{}-{name}.wav", std::process::id()));
    std::fs::write(&path, wav(samples)).expect("the folder for temporary files can be written");
    path.to_str().expect("a path of letters").into()
}

#[test]
fn a_grain_is_a_window_of_the_file() {
    let sound = noise(8, 4 * RATE);
    let file = sound_file("window", &sound);
    let params = [
        ("file", word(&file)),
        ("position", number(0.25)),
        ("size", number(0.1)),
        ("density", number(1.0)),
    ];
    let heard = play(&mut bench("grains", &params), &[], &[]).swap_remove(0);
    std::fs::remove_file(&file).expect("it was written");
    // Half a period after the start.
    let first = heard.iter().position(|x| *x != 0.0).expect("it sounds");
    assert!((23_999..=24_001).contains(&first), "{first}");
    for k in 0..4800 {
        let weight = (TAU / 2.0 * (k as f64 + 0.5) / 4800.0).sin().powi(2);
        near(
            f64::from(heard[first + k]),
            weight * f64::from(sound[RATE + k]),
            1e-5,
        );
    }
    assert!(heard[first + 4800..].iter().all(|x| *x == 0.0));
}

#[test]
fn grains_shift_the_pitch_and_leave_the_place_of_the_file() {
    let file = sound_file("pitch", &sine(500.0, 0.5, 4 * RATE));
    for (semitones, hz) in [(0.0, 500.0), (12.0, 1000.0), (-12.0, 250.0)] {
        let params = [
            ("file", word(&file)),
            ("position", number(0.5)),
            ("size", number(0.2)),
            ("density", number(40.0)),
            ("spread", number(0.5)),
            ("jitter", number(1.0)),
            ("pitch", number(semitones)),
        ];
        let heard = play(&mut bench("grains", &params), &[], &[]).swap_remove(0);
        let heard = &heard[RATE / 2..];
        let around = |hz: f64| {
            let near = (-12..=12).map(|off| 10f64.powf(sine_db(heard, hz + f64::from(off)) / 10.0));
            db(near.sum::<f64>().sqrt())
        };
        let others = [250.0, 500.0, 1000.0]
            .into_iter()
            .filter(|other| *other != hz);
        let loudest = others.map(around).fold(f64::MIN, f64::max);
        assert!(
            around(hz) > loudest + 30.0,
            "{semitones}: {} {loudest}",
            around(hz)
        );
    }
    std::fs::remove_file(&file).expect("it was written");
}
