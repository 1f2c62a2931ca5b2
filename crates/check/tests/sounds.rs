//! Units against slow, obvious versions of their sound.

use divisi_check::conformance::node;
use divisi_check::processor_bench::{BlockSplit, ProcessorBench, TestInput, TestOutput};
use graph::ParamValue;
use processor::{Event, EventBody, EventTarget, Registry};
use std::f64::consts::TAU;
use units::SampleRate;

const RATE: usize = 48_000;

fn rig(kind: &str, params: &[(&str, ParamValue)]) -> ProcessorBench {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let rate = SampleRate::new(RATE as u32).expect("a rate above 0");
    ProcessorBench::new(&registry, &node(kind, params), rate)
}

fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

fn word(value: &str) -> ParamValue {
    ParamValue::Text(value.into())
}

/// Plays `input` on every channel of `processor_bench`.
fn play(rig: &mut ProcessorBench, input: &[f32], events: &[Event]) -> TestOutput {
    let take = TestInput {
        inputs: vec![input.to_vec(); rig.input_channels()],
        events: events.to_vec(),
        frames: input.len(),
    };
    rig.process(&take, BlockSplit::Even(64))
}

/// A second of a source.
fn second(kind: &str, params: &[(&str, ParamValue)]) -> Vec<f32> {
    play(&mut rig(kind, params), &[0.0; RATE], &[]).channel(0)
}

/// The amplitude of `samples` (a second) at a whole number of Hz, in dB.
fn level_db(samples: &[f32], hz: usize) -> f64 {
    let turn = |i: usize| TAU * ((i * hz) % RATE) as f64 / RATE as f64;
    let (re, im) = samples
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(re, im), (i, x)| {
            let (sin, cos) = turn(i).sin_cos();
            (re + f64::from(*x) * cos, im + f64::from(*x) * sin)
        });
    20.0 * ((re * re + im * im).sqrt() * 2.0 / RATE as f64)
        .max(1e-12)
        .log10()
}

fn turn_to(param: u16, frame: u32, value: f32) -> Event {
    Event {
        frame,
        target: EventTarget::Param(param),
        body: EventBody::Value(value),
    }
}

#[test]
fn a_sine_is_the_sine_a_second_later_too() {
    let sine = second("osc", &[("freq", number(440.25)), ("volume", number(0.5))]);
    for (i, x) in sine.iter().enumerate() {
        let truth = 0.5 * (TAU * 440.25 * i as f64 / RATE as f64).sin();
        assert!(
            (f64::from(*x) - truth).abs() < 1e-6,
            "frame {i}: {x} {truth}"
        );
    }
}

#[test]
fn a_turned_frequency_keeps_the_phase() {
    let mut osc = rig("osc", &[("freq", number(100.0))]);
    let out = play(&mut osc, &[0.0; 4800], &[turn_to(0, 1234, 200.0)]).channel(0);
    let most = TAU * 200.0 / RATE as f64 * 1.001;
    for pair in out.windows(2) {
        assert!(f64::from((pair[1] - pair[0]).abs()) < most, "no jump");
    }
}

#[test]
fn harmonics_stand_where_they_should_and_aliases_are_faint() {
    // Every harmonic and every alias is at a whole Hz of its own.
    let hz = 2501;
    // Response of the kernel at the harmonics, beside that at the first.
    let droop = [
        0.0, -0.14, -0.53, -1.35, -2.77, -4.95, -8.09, -12.41, -18.31,
    ];
    for (wave, every) in [("saw", 1), ("square", 2), ("triangle", 2)] {
        let out = second("osc", &[("freq", number(hz as f64)), ("wave", word(wave))]);
        let first = level_db(&out, hz);
        for k in (1..=9).step_by(every) {
            let order = if wave == "triangle" { 2.0 } else { 1.0 };
            let want = first - order * 20.0 * (k as f64).log10() + droop[k - 1];
            let have = level_db(&out, k * hz);
            assert!(
                (have - want).abs() < 0.1,
                "{wave} harmonic {k}: {have} {want}"
            );
        }
        let worst = worst_alias(&out, hz, RATE / 2) - first;
        assert!(worst < -46.0, "{wave}: an alias at {worst} dB");
    }
}

#[test]
fn aliases_of_5_khz_lie_90_db_below_up_to_10_khz() {
    for wave in ["saw", "square", "triangle"] {
        for hz in [5003, 4999, 3511, 1999] {
            let out = second("osc", &[("freq", number(hz as f64)), ("wave", word(wave))]);
            let worst = worst_alias(&out, hz, 10_000) - level_db(&out, hz);
            println!("{wave} {hz}: {worst:.1} dB");
            assert!(worst < -90.0, "{wave} {hz}: an alias at {worst} dB");
        }
    }
    // Edges that overlap: all harmonics of 8 and 11 kHz but the first two fold.
    for (hz, db) in [(8009, -80.0), (11_003, -75.0)] {
        let out = second("osc", &[("freq", number(hz as f64)), ("wave", word("saw"))]);
        let worst = worst_alias(&out, hz, 10_000) - level_db(&out, hz);
        println!("saw {hz}: {worst:.1} dB");
        assert!(worst < db, "saw {hz}: an alias at {worst} dB");
    }
}

/// Level of the strongest alias below `limit` Hz of the first 400 harmonics of `hz`, of which none folds to another.
fn worst_alias(out: &[f32], hz: usize, limit: usize) -> f64 {
    let folded = (1..400).filter(|k| 2 * k * hz > RATE).map(|k| {
        let at = (k * hz) % RATE;
        at.min(RATE - at)
    });
    let heard = folded.filter(|at| *at < limit && at % hz != 0);
    heard.map(|at| level_db(out, at)).fold(f64::MIN, f64::max)
}

#[test]
fn a_modulator_makes_the_sum_and_the_difference() {
    let carrier = second("osc", &[("freq", number(1000.0))]);
    let mut modulator = rig("mod", &[("freq", number(300.0)), ("volume", number(0.5))]);
    let out = play(&mut modulator, &carrier, &[]).channel(0);
    let half = 20.0 * 0.25f64.log10();
    for hz in [700, 1300] {
        assert!((level_db(&out, hz) - half).abs() < 0.01);
    }
    assert!(level_db(&out, 1000) < -100.0);
}

#[test]
fn white_noise_is_flat_and_pink_noise_falls_three_decibels_an_octave() {
    let power = |samples: &[f32], from: usize| {
        let sum: f64 = (from..from + 100)
            .map(|hz| 10f64.powf(level_db(samples, hz) / 10.0))
            .sum();
        10.0 * sum.log10()
    };
    let white = second("noise", &[("seed", number(1.0))]);
    let pink = second("noise", &[("seed", number(1.0)), ("color", word("pink"))]);
    // Four octaves and a bit between the middles of the bands.
    let octaves = (8050f64 / 450.0).log2();
    assert!((power(&white, 8000) - power(&white, 400)).abs() < 2.0);
    let falls = power(&pink, 400) - power(&pink, 8000);
    assert!((falls - 3.01 * octaves).abs() < 2.0, "{falls}");
    let mean = white.iter().map(|x| f64::from(*x)).sum::<f64>() / RATE as f64;
    let square = white.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / RATE as f64;
    assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01);
}

#[test]
fn noises_differ_by_seed_and_agree_by_seed() {
    let noise = |seed| second("noise", &[("seed", number(seed))]);
    assert_eq!(noise(5.0), noise(5.0));
    assert_ne!(noise(5.0), noise(6.0));
}

#[test]
fn a_meter_shows_a_full_scale_sine_at_3_decibels_below_its_peak() {
    let sine = second("osc", &[("freq", number(1000.0))]);
    let mut meter = rig("meter", &[]);
    for _ in 0..4 {
        let out = play(&mut meter, &sine, &[]).channel(0);
        assert_eq!(out, sine, "the sound passes untouched");
    }
    let db = |name: &str| 20.0 * f64::from(meter.gauges[name].get()).log10();
    assert!((db("rms") + 3.01).abs() < 0.02, "{}", db("rms"));
    assert!(db("peak").abs() < 0.03, "{}", db("peak"));
}

#[test]
fn a_delay_is_exact_to_the_frame() {
    for frames in [0usize, 1, 5, 63, 64, 65, 4000] {
        let mut delay = rig("delay", &[("time", number(frames as f64 / RATE as f64))]);
        let mut input = vec![0.0; 8000];
        input[10] = 1.0;
        let out = play(&mut delay, &input, &[]).channel(0);
        let output: Vec<usize> = (0..8000).filter(|i| out[*i] != 0.0).collect();
        assert_eq!(output, [10 + frames]);
    }
}

#[test]
fn a_moved_delay_fades_from_tap_to_tap() {
    let params = [("time", number(0.01)), ("max_time", number(0.1))];
    let mut delay = rig("delay", &params);
    let ramp: Vec<f32> = (0..RATE).map(|i| i as f32 / RATE as f32).collect();
    let out = play(&mut delay, &ramp, &[turn_to(0, 10_000, 0.1)]).channel(0);
    let late = |frame: usize, frames: usize| (out[frame] - ramp[frame - frames]).abs() < 1e-6;
    assert!(late(9_999, 480) && late(10_961, 4800));
    let half = (out[10_480] - ramp[10_480 - 2640]).abs();
    assert!(half < 1e-4, "half way between the two: {half}");
}

#[test]
fn a_gain_glides_five_milliseconds() {
    let mut gain = rig("gain", &[]);
    let out = play(&mut gain, &[1.0; 2000], &[turn_to(0, 1000, -120.0)]).channel(0);
    assert_eq!((out[999], out[1239]), (1.0, 0.0));
    assert!((out[1119] - 0.5).abs() < 1e-4);
}

#[test]
fn mixers_add_what_comes_in() {
    let take = TestInput {
        inputs: [1.0, 2.0, 4.0, 8.0].map(|x| vec![x; 100]).into(),
        events: Vec::new(),
        frames: 100,
    };
    let last = |kind, params: &[(&str, ParamValue)]| -> Vec<f32> {
        let played = rig(kind, params).process(&take, BlockSplit::Even(64));
        (0..played.bits.len())
            .map(|c| played.channel(c)[99])
            .collect()
    };
    let ports = [("in", number(4.0)), ("out", number(2.0))];
    assert_eq!(last("mix", &ports), [15.0, 15.0]);
    let grouped = [
        ports[0].clone(),
        ports[1].clone(),
        ("grouped", ParamValue::Flag(true)),
    ];
    assert_eq!(last("mix", &grouped), [3.0, 12.0]);
    let faders = [
        ("in", number(4.0)),
        ("level4", number(-120.0)),
        ("gain_db", number(0.0)),
    ];
    assert_eq!(last("mixer", &faders), [7.0]);
}

#[test]
fn a_metronome_opens_an_envelope() {
    let beats = play(
        &mut rig("metro", &[("bpm", number(120.0))]),
        &[0.0; RATE],
        &[],
    );
    let frames: Vec<_> = beats.sent.iter().map(|(_, e)| (e.frame, e.body)).collect();
    let (on, off) = (EventBody::Value(1.0), EventBody::Value(0.0));
    assert_eq!(
        frames,
        [(0, on), (12_000, off), (24_000, on), (36_000, off)]
    );
    let notes: Vec<Event> = (beats.sent.iter())
        .map(|(_, e)| Event {
            target: EventTarget::Input(1),
            ..*e
        })
        .collect();
    let params = [
        ("attack", number(0.01)),
        ("decay", number(0.05)),
        ("sustain", number(0.5)),
        ("release", number(0.1)),
    ];
    let out = play(&mut rig("envelope", &params), &[0.0; RATE], &notes).channel(0);
    assert!((out[239] - 0.5).abs() < 1e-3, "half way up");
    assert!((out[11_999] - 0.5).abs() < 1e-3, "sustained");
    assert!(
        (out[12_000 + 4799] - 0.0005).abs() < 1e-5,
        "60 dB down after the release"
    );
    assert_eq!(out[23_999], 0.0);
    assert!(out[24_239] > 0.4, "and again");
}

#[test]
fn a_midi_note_holds_the_gate_until_its_own_end() {
    let midi = |frame, bytes| Event {
        frame,
        target: EventTarget::Input(1),
        body: EventBody::Midi(bytes),
    };
    let notes = [
        midi(0, [0x90, 60, 100]),
        midi(1000, [0x90, 64, 100]),
        midi(2000, [0x80, 60, 0]),
        midi(3000, [0x90, 64, 0]),
    ];
    let params = [("release", number(0.001))];
    let out = play(&mut rig("envelope", &params), &[0.0; 4000], &notes).channel(0);
    assert!(out[2900] > 0.5 && out[3900] == 0.0);
}
