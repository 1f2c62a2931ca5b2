//! Makes `hall.wav`: a synthetic stereo impulse response of a hall, one second long.
//!
//! `cargo run -p divisi-conv --example make_hall -- examples/convolution/hall.wav`. The same bytes on every machine: every
//! number comes from a seed and from `libm`.

use media::{SampleFormat, Writer};
use units::{Channels, SampleRate};

const HZ: usize = 32_000;
/// Early reflections: time in milliseconds, gain at the left ear, gain at the right ear.
const WALLS: [(f64, f64, f64); 6] = [
    (11.0, 0.42, 0.20),
    (17.0, 0.16, 0.38),
    (23.0, 0.30, 0.22),
    (31.0, 0.12, 0.26),
    (37.0, 0.21, 0.12),
    (43.0, 0.10, 0.16),
];

fn main() {
    let path = std::env::args().nth(1).expect("the file to write");
    let (left, right) = (ear(1, |wall| wall.1), ear(2, |wall| wall.2));
    let rate = SampleRate::new(HZ as u32).expect("32000 is not zero");
    let mut writer = Writer::create(&path, rate, Channels(2), SampleFormat::I16).expect("the file");
    writer.write(&[&left, &right]).expect("room on the disk");
    writer.finish().expect("room on the disk");
    println!("{path}: {} frames", left.len());
}

/// One channel: the early reflections, and noise that decays by 60 dB in a second, high frequencies first.
fn ear(seed: u64, loud: fn(&(f64, f64, f64)) -> f64) -> Vec<f32> {
    let (mut state, mut dull) = (seed, 0.0);
    let mut tail = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let seconds = n as f64 / HZ as f64;
        let open = libm::exp(-3.0 * seconds);
        dull += open * (noise - dull);
        let comes = (seconds / 0.05).min(1.0);
        0.2 * comes * dull * libm::exp(-6.9 * seconds)
    };
    let mut all: Vec<f32> = (0..HZ).map(|n| tail(n) as f32).collect();
    for wall in &WALLS {
        let frame = (wall.0 * HZ as f64 / 1000.0) as usize;
        all[frame] += loud(wall) as f32;
    }
    all
}
