//! Loops of the sampler: those of files, and their crossfades.

use crate::kit::*;
use crate::sampler::{Instrument, heard, midi};

/// A WAV with a `smpl` chunk behind its samples: its key, and its loop up to and with the last frame.
fn wav_with_loop(samples: &[f32], key: u32, (first, last): (u32, u32)) -> Vec<u8> {
    let mut bytes = wav(samples);
    let numbers = [0, 0, 20_833, key, 0, 0, 0, 1, 0, 0, 0, first, last, 0, 0];
    bytes.extend(b"smpl");
    bytes.extend(60u32.to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    let length = bytes.len() as u32 - 8;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

#[test]
fn the_loop_and_the_key_of_a_wav_are_those_of_its_zone() {
    let here = Instrument::new("smpl");
    let ramp: Vec<f32> = (0..2000).map(|n| n as f32 / 2000.0).collect();
    for (name, cycle) in [
        ("good.wav", (1000, 1999)),
        ("long.wav", (1000, u32::MAX)),
        ("late.wav", (5000, 6000)),
        ("back.wav", (1000, 10)),
    ] {
        here.write(name, &wav_with_loop(&ramp, 64, cycle));
    }
    let text = "<global> amp_veltrack=0 pitch_keycenter=sample
<region> sample=good.wav lokey=64 hikey=64 <region> sample=long.wav lokey=65 hikey=65 tune=-100
<region> sample=late.wav lokey=66 hikey=66 <region> sample=back.wav lokey=67 hikey=67
<region> sample=good.wav lokey=68 hikey=68 loop_mode=no_loop pitch_keytrack=0
<region> sample=good.wav lokey=69 hikey=69 loop_start=1500 pitch_keytrack=0";
    let file = here.write("smpl.sfz", text.as_bytes());
    let out = |key| heard(&file, &[], &[midi(0, [0x90, key, 100])]);
    // A loop that ends behind the file ends with it.
    for key in [64, 65] {
        let out = out(key);
        for frame in [500, 1500, 2500, 13_300] {
            let at = if frame < 1000 {
                frame
            } else {
                1000 + frame % 1000
            };
            near(f64::from(out[frame]), at as f64 / 2000.0, 1e-3);
        }
    }
    for key in [66, 67, 68] {
        let out = out(key);
        assert!(out[100] != 0.0 && out[2000..].iter().all(|x| *x == 0.0));
    }
    near(f64::from(out(69)[2250]), 1750.0 / 2000.0, 1e-3);
    // A sound file by itself uses its loop where it is to be repeated.
    let plain = here.write("plain.wav", &wav_with_loop(&ramp, 64, (1000, 1999)));
    let params = [("loop", graph::ParamValue::Flag(true))];
    let out = heard(&plain, &params, &[midi(0, [0x90, 60, 127])]);
    near(f64::from(out[2250]), 1250.0 / 2000.0, 1e-3);
}

/// The fade of the tests below: the last 480 frames of a loop of a thousand.
const FADED: &str = "loop_start=1000 loop_end=1999 loop_crossfade=0.01";

/// `sound` at a frame of a loop from 1000 to 2000 with that fade.
fn faded(sound: &[f32], at: usize) -> f64 {
    let share = at.saturating_sub(1520) as f64 / 480.0;
    let sample = |at: usize| f64::from(sound[at]);
    match at {
        0..=1520 => sample(at),
        _ => (1.0 - share) * sample(at) + share * sample(at - 1000),
    }
}

#[test]
fn the_end_of_a_loop_fades_into_what_is_before_it() {
    let here = Instrument::new("fade");
    let sound = noise(5, 4000);
    here.write("noise.wav", &wav(&sound));
    let text = format!(
        "<global> amp_veltrack=0 pitch_keycenter=60 loop_mode=loop_continuous sample=noise.wav
<region> lokey=60 hikey=60 {FADED} <region> lokey=61 hikey=61 pitch_keytrack=0 loop_start=100 loop_end=1999 loop_crossfade=9"
    );
    let file = here.write("fade.sfz", text.as_bytes());
    let out = heard(&file, &[], &[midi(0, [0x90, 60, 100])]);
    for (n, y) in out.iter().enumerate() {
        let at = if n < 1000 { n } else { 1000 + n % 1000 };
        near(f64::from(*y), faded(&sound, at), 1e-6);
    }
    // A fade is no longer than what is before the loop.
    let out = heard(&file, &[], &[midi(0, [0x90, 61, 100])]);
    near(f64::from(out[1900]), f64::from(sound[1900]), 1e-6);
    let half = 0.5 * f64::from(sound[1950] + sound[50]);
    near(f64::from(out[1950]), half, 1e-6);
    near(f64::from(out[2000]), f64::from(sound[100]), 1e-6);
}

/// High notes are read from copies: those of a loop with a fade are the copies of the same sound faded beforehand.
#[test]
fn high_notes_have_the_crossfade_too() {
    let here = Instrument::new("high-fade");
    let sound = noise(6, 4000);
    here.write("plain.wav", &wav(&sound));
    let before: Vec<f32> = (0..2000).map(|at| faded(&sound, at) as f32).collect();
    here.write("faded.wav", &wav(&before));
    let zone = |sample: &str, key: u8, more: &str| {
        format!("<region> sample={sample}.wav lokey={key} hikey={key} {more}\n")
    };
    let text = "<global> amp_veltrack=0 pitch_keytrack=0 tune=1900 loop_mode=loop_continuous\n"
        .to_owned()
        + &zone("plain", 60, FADED)
        + &zone("faded", 61, "loop_start=1000 loop_end=1999");
    let file = here.write("high.sfz", text.as_bytes());
    let [plain, faded] = [60, 61].map(|key| heard(&file, &[], &[midi(0, [0x90, key, 100])]));
    for (a, b) in plain.iter().zip(&faded) {
        near(f64::from(*a), f64::from(*b), 1e-6);
    }
    assert!(peak(&plain[RATE / 2..]) > 0.1);
}

#[test]
fn a_note_that_ends_within_a_crossfade_leaves_the_loop_after_it() {
    let here = Instrument::new("sustain-fade");
    let sound = noise(7, 9000);
    here.write("noise.wav", &wav(&sound));
    let text = format!(
        "<region> sample=noise.wav key=60 amp_veltrack=0 ampeg_release=100 loop_mode=loop_sustain {FADED}"
    );
    let file = here.write("sustain.sfz", text.as_bytes());
    // A minute and more for 60 dB: hardly less in these frames.
    let level = |frames: usize| (-6.907_755 * frames as f64 / 100.0 / RATE as f64).exp();
    for (released, again) in [(1400, false), (1519, false), (1600, true), (3990, true)] {
        let events = [midi(0, [0x90, 60, 100]), midi(released, [0x80, 60, 0])];
        let out = heard(&file, &[], &events);
        // Frames that it has gone back until then, and once more.
        let back = (released as usize - 1000) / 1000 * 1000;
        let end = 9000 + back + if again { 1000 } else { 0 };
        let released = released as usize;
        for (since, y) in out[released..end].iter().enumerate() {
            let at = released + since - back;
            let want = match (again, at) {
                (false, _) => f64::from(sound[at]),
                (true, ..2000) => faded(&sound, at),
                (true, _) => f64::from(sound[at - 1000]),
            };
            near(f64::from(*y), want * level(since + 1), 1e-5);
        }
        assert!(out[end..].iter().all(|x| *x == 0.0));
    }
}
