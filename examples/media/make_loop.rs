//! Makes `loop.wav`: the sounds of the 64-track session, one beat each, at 128 beats per minute.
//!
//! `cargo run -p divisi-media --example make_loop -- examples/media/loop.wav`. The same bytes on every machine: every
//! sine comes from `libm`, every noise from a seed.

use divisi_media::{SampleFormat, Writer};
use std::f64::consts::TAU;
use units::{Channels, SampleRate};

const HZ: f64 = 32_000.0;
/// Frames of one beat: 15/32 s.
const BEAT: usize = 15_000;

fn main() {
    let path = std::env::args().nth(1).expect("the file to write");
    let mut sound = Vec::new();
    for (beats, notes) in kit() {
        let length = (beats * BEAT as f64) as usize;
        sound.extend(faded(notes, length));
    }
    let rate = SampleRate::new(HZ as u32).expect("32000 is not zero");
    let mut writer = Writer::create(&path, rate, Channels(1), SampleFormat::I16).expect("the file");
    writer.write_interleaved(&sound).expect("room on the disk");
    writer.finish().expect("room on the disk");
    println!("{path}: {} beats", sound.len() / BEAT);
}

/// A sound as a function of time in seconds.
type Sound = Box<dyn FnMut(f64) -> f64>;

/// All sounds, each with its length in beats.
fn kit() -> Vec<(f64, Sound)> {
    let mut kit: Vec<(f64, Sound)> = vec![
        (1.0, kick()),
        (1.0, snare()),
        (0.5, hat(0.03)),
        (0.5, hat(0.11)),
        (1.0, tom()),
    ];
    // A, F, C, G: the roots of the progression.
    kit.extend([55.0, 43.65, 65.41, 49.0].map(|hz| (1.0, bass(hz))));
    let chords: [[f64; 4]; 4] = [
        [220.0, 261.63, 329.63, 392.0],
        [174.61, 261.63, 329.63, 440.0],
        [196.0, 261.63, 329.63, 493.88],
        [196.0, 246.94, 293.66, 440.0],
    ];
    kit.extend(chords.map(|notes| (1.0, chord(notes))));
    let scale = [440.0, 523.25, 587.33, 659.26, 783.99, 880.0, 987.77, 1046.5];
    kit.extend(scale.map(|hz| (0.5, pluck(hz))));
    kit.extend([(2.0, crash()), (1.0, clap()), (0.5, shaker()), (0.5, rim())]);
    kit.push((4.0, pad(&[110.0, 164.81, 220.0, 246.94, 329.63])));
    kit
}

/// The first `length` frames of a sound, with the last 6 ms faded out so that no beat ends in a click.
fn faded(mut voice: Sound, length: usize) -> impl Iterator<Item = f32> {
    (0..length).map(move |n| {
        let end = ((length - n) as f64 / (0.006 * HZ)).min(1.0);
        (voice(n as f64 / HZ) * end) as f32
    })
}

fn sine(cycles: f64) -> f64 {
    libm::sin(TAU * (cycles - cycles.floor()))
}

/// From 1 down, to 1/e after `time` seconds.
fn decay(t: f64, time: f64) -> f64 {
    libm::exp(-t / time)
}

fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}

/// Noise without its lows.
fn hiss(seed: u64) -> impl FnMut() -> f64 {
    let mut noise = noise(seed);
    let mut past = [0.0; 2];
    move || {
        let now = noise();
        let out = now - 1.6 * past[0] + 0.7 * past[1];
        past = [now, past[0]];
        out * 0.35
    }
}

/// A sine that falls from `from` to `to` Hz.
fn falling(t: f64, (from, to): (f64, f64), time: f64) -> f64 {
    sine(to * t + (from - to) * time * (1.0 - decay(t, time)))
}

fn kick() -> Sound {
    let mut click = noise(1);
    Box::new(move |t| {
        0.85 * falling(t, (190.0, 47.0), 0.035) * decay(t, 0.13) + 0.15 * click() * decay(t, 0.003)
    })
}

fn snare() -> Sound {
    let mut hiss = hiss(2);
    Box::new(move |t| {
        0.7 * hiss() * decay(t, 0.08) + 0.4 * falling(t, (260.0, 180.0), 0.02) * decay(t, 0.06)
    })
}

fn hat(time: f64) -> Sound {
    let mut hiss = hiss(3);
    Box::new(move |t| 0.6 * hiss() * decay(t, time))
}

fn tom() -> Sound {
    Box::new(|t| 0.7 * falling(t, (170.0, 92.0), 0.06) * decay(t, 0.14))
}

fn crash() -> Sound {
    let mut hiss = hiss(4);
    Box::new(move |t| 0.6 * hiss() * decay(t, 0.28))
}

fn clap() -> Sound {
    let mut hiss = hiss(5);
    Box::new(move |t| {
        let hands = if t < 0.03 { t % 0.01 } else { t - 0.03 };
        0.8 * hiss() * decay(hands, if t < 0.03 { 0.004 } else { 0.06 })
    })
}

fn shaker() -> Sound {
    let mut hiss = hiss(6);
    Box::new(move |t| 0.4 * hiss() * (t / 0.03).min(1.0) * decay(t, 0.04))
}

fn rim() -> Sound {
    Box::new(|t| 0.6 * (sine(820.0 * t) + 0.6 * sine(1730.0 * t)) * decay(t, 0.012))
}

/// Partials that fade the faster the higher they are.
fn saw(t: f64, hz: f64, bright: f64) -> f64 {
    let partials = (13_000.0 / hz).min(40.0) as u32;
    (1..=partials)
        .map(|k| sine(hz * f64::from(k) * t) / f64::from(k) * decay(t * f64::from(k), bright))
        .sum()
}

fn bass(hz: f64) -> Sound {
    Box::new(move |t| {
        0.45 * (saw(t, hz, 0.9) + 0.5 * sine(hz * t)) * (t / 0.004).min(1.0) * decay(t, 0.3)
    })
}

fn chord(notes: [f64; 4]) -> Sound {
    Box::new(move |t| {
        let voices = notes
            .iter()
            .map(|hz| saw(t, hz * 0.997, 1.2) + saw(t, hz * 1.003, 1.2));
        0.09 * voices.sum::<f64>() * (t / 0.005).min(1.0) * decay(t, 0.16)
    })
}

/// A string: noise that goes round in a line as long as the note's period, a little duller each time.
fn pluck(hz: f64) -> Sound {
    let exact = HZ / hz - 0.5;
    let (whole, part) = (exact as usize, exact.fract());
    let mut noise = noise(7);
    let mut line: Vec<f64> = (0..=whole).map(|_| noise()).collect();
    let mut at = 0;
    Box::new(move |_| {
        let oldest = line[at];
        let next = line[(at + 1) % line.len()];
        let after = line[(at + 2) % line.len()];
        let here = oldest + (next - oldest) * (1.0 - part);
        let there = next + (after - next) * (1.0 - part);
        line[at] = 0.498 * (here + there);
        at = (at + 1) % line.len();
        0.5 * here
    })
}

fn pad(notes: &'static [f64]) -> Sound {
    Box::new(move |t| {
        let partial = |hz: f64, k: f64| sine(hz * k * t) / (k * k);
        let voice = |hz: f64| {
            let (flat, sharp) = (hz * 0.996, hz * 1.004);
            (1..=6)
                .map(|k| partial(flat, k.into()) + partial(sharp, k.into()))
                .sum::<f64>()
        };
        let rise = (t / 0.5).min(1.0) * ((1.875 - t) / 0.5).clamp(0.0, 1.0);
        0.07 * rise * notes.iter().map(|hz| voice(*hz)).sum::<f64>()
    })
}
