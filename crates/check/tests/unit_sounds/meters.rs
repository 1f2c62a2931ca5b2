//! Loudness, true peak and correlation against the signals of EBU Tech 3341 and 3342, and crossfades.

use crate::kit::*;
use ebur128::{EbuR128, Mode};

/// The gauges after `inputs`.
fn shown(inputs: &[&[f32]]) -> impl Fn(&str) -> f64 + use<> {
    let mut unit = bench("loudness", &[("channels", number(inputs.len() as f64))]);
    let heard = play(&mut unit, inputs, &[]);
    for (heard, input) in heard.iter().zip(inputs) {
        assert_eq!(heard, input, "it passes its input on");
    }
    move |name| f64::from(unit.gauges[name].get())
}

/// Sines of 1 kHz, each of a level in dB for some seconds.
fn tone(parts: &[(f64, usize)]) -> Vec<f32> {
    let part =
        |(level, seconds): &(f64, usize)| sine(1000.0, 10f64.powf(level / 20.0), seconds * RATE);
    parts.iter().flat_map(part).collect()
}

#[test]
fn the_loudness_of_the_ebu_tones_is_right() {
    // Tech 3341, cases 1 and 2.
    for level in [-23.0, -33.0] {
        let input = tone(&[(level, 20)]);
        let shown = shown(&[&input, &input]);
        for gauge in ["momentary", "short", "integrated"] {
            near(shown(gauge), level, 0.1);
        }
        near(shown("range"), 0.0, 0.1);
        near(shown("correlation"), 1.0, 1e-3);
    }
    // Case 3: the gates leave out what is more than 10 LU below. Case 4: and what is below -70 LUFS.
    for parts in [
        &[(-36.0, 10), (-23.0, 60), (-36.0, 10)][..],
        &[
            (-72.0, 10),
            (-36.0, 10),
            (-23.0, 60),
            (-36.0, 10),
            (-72.0, 10),
        ],
    ] {
        let input = tone(parts);
        near(shown(&[&input, &input])("integrated"), -23.0, 0.1);
    }
}

#[test]
fn loudness_is_that_of_silence_before_there_is_a_measurement() {
    let shown = shown(&[&sine(1000.0, 0.5, RATE / 5)]);
    assert_eq!((shown("integrated"), shown("range")), (-70.0, 0.0));
}

#[test]
fn the_loudness_range_of_the_ebu_tones_is_right() {
    // Tech 3342, cases 1 and 3.
    for (parts, range) in [
        ([(-20.0, 20), (-30.0, 20)], 10.0),
        ([(-40.0, 20), (-20.0, 20)], 20.0),
    ] {
        let input = tone(&parts);
        near(shown(&[&input, &input])("range"), range, 1.0);
    }
}

#[test]
fn loudness_is_that_of_a_library() {
    // Noise of changing levels, another one in each channel, with little near half the rate: there filters for true peaks differ.
    let levels = [-20.0, -32.0, -26.0, -60.0, -18.0, -23.0, -40.0, -21.0];
    let channel = |seed| {
        let mut sound = noise(seed, levels.len() * 4 * RATE);
        for (part, level) in sound.chunks_mut(4 * RATE).zip(levels) {
            let gain = 10f32.powf(level / 20.0);
            part.iter_mut().for_each(|x| *x *= gain);
        }
        let before = |at: usize, frames: usize| sound[at.saturating_sub(frames)];
        let smooth = |at| 0.25 * (before(at, 0) + before(at, 2)) + 0.5 * before(at, 1);
        (0..sound.len()).map(smooth).collect::<Vec<f32>>()
    };
    let (left, right) = (channel(1), channel(2));
    let shown = shown(&[&left, &right]);
    let mut library = EbuR128::new(2, RATE as u32, Mode::all()).unwrap();
    library.add_frames_planar_f32(&[&left, &right]).unwrap();
    near(
        shown("integrated"),
        library.loudness_global().unwrap(),
        0.05,
    );
    near(
        shown("momentary"),
        library.loudness_momentary().unwrap(),
        0.01,
    );
    near(shown("short"), library.loudness_shortterm().unwrap(), 0.01);
    // The library takes a value a second, we ten.
    near(shown("range"), library.loudness_range().unwrap(), 0.5);
    let peaks = [0, 1].map(|at| library.true_peak(at).unwrap());
    let peak = 20.0 * peaks[0].max(peaks[1]).log10();
    near(shown("true_peak"), peak, 0.1);
}

#[test]
fn the_true_peak_of_the_ebu_sines_is_right() {
    // Tech 3341, cases 15 to 19: a peak between samples; +0.2 dB, -0.4 dB.
    for (divisor, degrees) in [(4.0, 0.0), (4.0, 45.0), (6.0, 60.0), (8.0, 67.5)] {
        let sample =
            |i: usize| (0.5 * (TAU * i as f64 / divisor + f64::to_radians(degrees)).sin()) as f32;
        let mut input: Vec<f32> = (0..RATE).map(sample).collect();
        // No edges, which would have peaks of their own.
        for i in 0..2400 {
            let share = i as f32 / 2400.0;
            input[i] *= share;
            input[RATE - 1 - i] *= share;
        }
        let peak = shown(&[&input])("true_peak");
        assert!(
            peak < -6.02 + 0.2 && peak > -6.02 - 0.4,
            "{divisor} {degrees}: {peak}"
        );
    }
}

#[test]
fn correlation_tells_equal_from_opposite_and_unlike() {
    let (a, b) = (noise(1, 2 * RATE), noise(2, 2 * RATE));
    let opposite: Vec<f32> = a.iter().map(|x| -x).collect();
    near(shown(&[&a, &a])("correlation"), 1.0, 1e-3);
    near(shown(&[&a, &opposite])("correlation"), -1.0, 1e-3);
    near(shown(&[&a, &b])("correlation"), 0.0, 0.05);
}

#[test]
fn a_crossfade_keeps_power_or_level() {
    let (a, b) = (vec![1.0; 200], vec![0.5; 200]);
    for position in [0.0, 0.25, 1.0] {
        let params = |law| [("position", number(position)), ("law", word(law))];
        let linear = out("crossfade", &params("linear"), &[&a, &b]);
        near(f64::from(linear[100]), 1.0 - 0.5 * position, 1e-6);
        let power = out("crossfade", &params("power"), &[&a, &b]);
        let angle = TAU / 4.0 * position;
        near(f64::from(power[100]), angle.cos() + 0.5 * angle.sin(), 1e-6);
    }
}

#[test]
fn a_sine_of_the_reference_is_0_on_each_k_scale() {
    for (scale, reference) in [("k20", -20.0), ("k14", -14.0), ("k12", -12.0)] {
        let mut unit = bench("meter", &[("scale", word(scale))]);
        let input = sine(1000.0, 10f64.powf(reference / 20.0), 2 * RATE);
        play(&mut unit, &[&input], &[]);
        near(f64::from(unit.gauges["k"].get()), 0.0, 0.05);
    }
    // 99 % of a step in power after 600 ms.
    let mut unit = bench("meter", &[]);
    play(&mut unit, &[&sine(1000.0, 0.1, RATE * 6 / 10)], &[]);
    near(
        f64::from(unit.gauges["k"].get()),
        10.0 * 0.99f64.log10(),
        0.02,
    );
}
