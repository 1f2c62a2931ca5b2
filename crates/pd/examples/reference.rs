//! Compares the sound of patches with what the real Pd made of them, and prints the distance of each.
//!
//! `cargo run -p divisi-pd --example reference FOLDER`: the folder has `patches/NAME/NAME.pd` and `wav/NAME.wav`. With `--show` the
//! first samples that differ are printed too.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::path::Path;

fn read_wav(path: &Path) -> (usize, Vec<f32>) {
    let bytes = std::fs::read(path).expect("the file is there");
    let channels = usize::from(u16::from_le_bytes([bytes[22], bytes[23]]));
    let mut at = 12;
    loop {
        let size =
            u32::from_le_bytes(bytes[at + 4..at + 8].try_into().expect("four bytes")) as usize;
        if &bytes[at..at + 4] == b"data" {
            let samples = bytes[at + 8..(at + 8 + size).min(bytes.len())].chunks_exact(4);
            let samples = samples.map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")));
            return (channels, samples.collect());
        }
        at += 8 + size + size % 2;
    }
}

fn play(patch: &Path, channels: usize, frames: usize) -> (Vec<f32>, Vec<String>, usize) {
    let loaded = load_patch(patch, &SearchPath::new([])).expect("it is there");
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 2, channels);
    let mut sound = Vec::with_capacity(frames * channels);
    while sound.len() < frames * channels {
        player.play(&[]);
        for frame in 0..PatchPlayer::BLOCK {
            sound.extend((0..channels).map(|channel| player.output(channel)[frame]));
        }
    }
    sound.truncate(frames * channels);
    let mut classes: Vec<String> = not_yet.into_iter().map(|n| n.class).collect();
    classes.sort();
    classes.dedup();
    (sound, classes, player.signal_count())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_shown = arguments.iter().any(|argument| argument == "--show");
    let Some(folder) = arguments.iter().find(|argument| *argument != "--show") else {
        println!("usage: reference FOLDER [--show]");
        return;
    };
    let folder = Path::new(folder);
    let mut good = 0;
    let mut names: Vec<_> = std::fs::read_dir(folder.join("patches"))
        .expect("patches")
        .flatten()
        .collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    let count = names.len();
    for entry in names {
        let name = entry.file_name().into_string().expect("a name");
        let wav = folder.join("wav").join(format!("{name}.wav"));
        let patch = entry.path().join(format!("{name}.pd"));
        if !wav.exists() || !patch.exists() {
            continue;
        }
        let (channels, expected) = read_wav(&wav);
        let (sound, not_yet, signals) = play(&patch, channels, expected.len() / channels);
        let power: f64 = expected.iter().map(|x| f64::from(*x).powi(2)).sum();
        let error: f64 = sound
            .iter()
            .zip(&expected)
            .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
            .sum();
        let db = if error == 0.0 {
            999.0
        } else {
            10.0 * (power / error).log10()
        };
        let first = sound
            .iter()
            .zip(&expected)
            .position(|(a, b)| (a - b).abs() > 1e-6);
        good += usize::from(db >= 110.0);
        if let (Some(at), true) = (first, is_shown) {
            let near = at.saturating_sub(4)..(at + 8).min(sound.len());
            println!(
                "  Pd   {:?}\n  here {:?}",
                &expected[near.clone()],
                &sound[near]
            );
        }
        println!("{name:24} {db:7.1} dB  {signals} signals, first {first:?} {not_yet:?}");
    }
    println!("{good} of {count}");
}
