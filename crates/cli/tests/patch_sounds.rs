//! Patches rendered by the program with any options: the sound that the tests of `divisi-pd` compare with Pd's.

mod common;

use common::{Folder, repository, wav};
use divisi::pd::{PatchPlayer, SearchPath, load_patch};
use std::path::{Path, PathBuf};

/// Options that must not change a bit. The first takes several of Pd's blocks at once.
const OPTIONS: [&str; 2] = ["", "--workers 2 --scheduler stealing"];

/// Patches that are known to be farther from Pd, with what they reach in decibels, and why: 19 of 92 pitches of its `sigmund~` (docs/pd.md).
const FARTHER: [(&str, f64); 1] = [("E03.octave.divider", 82.0)];

/// Frames of half a second at 44100 Hz.
const FRAMES: usize = 22_050;

/// The sound of a patch, block by block, as bits.
fn played(patch: &Path, (channels, frames): (usize, usize)) -> Vec<u32> {
    let loaded = load_patch(patch, &SearchPath::new([])).unwrap();
    let (mut player, _) = PatchPlayer::new(&loaded, 44_100.0, 2, channels);
    let mut sound = Vec::with_capacity((frames + PatchPlayer::BLOCK) * channels);
    while sound.len() < frames * channels {
        player.play(&[]);
        let outputs: Vec<_> = (0..channels).map(|c| player.output(c)).collect();
        sound.extend((0..PatchPlayer::BLOCK).flat_map(|at| outputs.iter().map(move |it| it[at])));
    }
    sound.truncate(frames * channels);
    sound.into_iter().map(f32::to_bits).collect()
}

/// The sound that the program renders with `options`.
fn rendered(here: &Folder, patch: &Path, (options, seconds): (&str, f64)) -> (usize, Vec<u32>) {
    let line = format!("--rate 44100 --seconds {seconds} -o out.wav {options}");
    let mut command = here.command("render");
    command.arg(patch).args(line.split_whitespace());
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}: {done:?}", patch.display());
    let (channels, sound) = wav(&here.read("out.wav"));
    std::fs::remove_file(here.path("out.wav")).unwrap();
    (usize::from(channels), sound)
}

#[test]
fn the_program_renders_the_sound_that_is_compared_with_pd() {
    let here = Folder::new();
    let entries = std::fs::read_dir(repository("crates/pd/tests/sound")).unwrap();
    let mut patches: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    patches.retain(|patch| std::fs::read_to_string(patch).unwrap().contains("dac~"));
    patches.push(repository("examples/patches/fifty-voices.pd"));
    patches.sort();
    for patch in &patches {
        for options in OPTIONS {
            let (channels, sound) = rendered(&here, patch, (options, 0.5));
            let expected = played(patch, (channels, FRAMES));
            // The engine lets out nothing that is not finite, such as a division by the logarithm of 1.
            let differs = |(a, b): (&u32, &u32)| a != b && f32::from_bits(*b).is_finite();
            let first = sound.iter().zip(&expected).position(differs);
            let same = first.is_none() && sound.len() == expected.len();
            assert!(same, "{} {options}: {first:?}", patch.display());
        }
    }
    assert!(patches.len() > 70, "{}", patches.len());
}

/// Signal to error in decibels.
fn distance(expected: &[f32], found: &[f32]) -> f64 {
    let square = |x: f32| f64::from(x).powi(2);
    let power: f64 = expected.iter().map(|x| square(*x)).sum();
    let error: f64 = expected.iter().zip(found).map(|(a, b)| square(a - b)).sum();
    match error == 0.0 {
        true => f64::INFINITY,
        false => 10.0 * (power / error).log10(),
    }
}

/// Largest difference of the levels of two sounds in any octave, in decibels.
fn octave_distance(expected: &[f32], found: &[f32]) -> f64 {
    let (expected, found) = (octave_levels(expected), octave_levels(found));
    let levels = expected.into_iter().zip(found);
    levels.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// Levels of the differences of neighbours, of sums of two, of four and so on, in decibels.
fn octave_levels(sound: &[f32]) -> Vec<f64> {
    let mut sound: Vec<f64> = sound.iter().map(|x| f64::from(*x)).collect();
    let mut levels = Vec::new();
    while sound.len() > 64 {
        let (pairs, _) = sound.as_chunks::<2>();
        let power: f64 = pairs.iter().map(|[a, b]| (a - b).powi(2)).sum();
        levels.push(10.0 * (power / pairs.len() as f64).log10());
        sound = pairs.iter().map(|[a, b]| (a + b) / 2.0).collect();
    }
    levels
}

/// The folder has `manifest.json`, which names for each patch `prepared`, `wav`, `frames` and how far another build of Pd is from it
/// (`strict_build_snr_db`), and the files.
#[test]
#[ignore = "long tier: needs DIVISI_PD_REFERENCE, a folder of patches with the sound of Pd"]
fn patches_of_a_folder_sound_as_in_pd() {
    let Some(folder) = std::env::var_os("DIVISI_PD_REFERENCE").map(PathBuf::from) else {
        println!("SKIPPED: needs DIVISI_PD_REFERENCE");
        return;
    };
    let here = Folder::new();
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut far = Vec::new();
    for (name, entry) in manifest.as_object().unwrap() {
        let path = |key: &str| folder.join(entry[key].as_str().unwrap());
        let (channels, expected) = wav(&std::fs::read(path("wav")).unwrap());
        let expected: Vec<f32> = expected.into_iter().map(f32::from_bits).collect();
        let seconds = entry["frames"].as_f64().unwrap() / 44_100.0;
        let other_build = entry["strict_build_snr_db"].as_f64();
        let is_farther = |(it, _): &&(&str, f64)| it == name;
        let needs = match FARTHER.iter().find(is_farther) {
            Some((_, db)) => *db,
            None => other_build.map_or(100.0, |db| (db - 6.0).min(100.0)),
        };
        for options in OPTIONS {
            let (width, found) = rendered(&here, &path("prepared"), (options, seconds));
            assert_eq!(width, usize::from(channels), "{name}");
            let found: Vec<f32> = found.into_iter().map(f32::from_bits).collect();
            let db = distance(&expected, &found);
            // Two builds of Pd are not alike: such a patch is compared by its levels.
            let octaves = octave_distance(&expected, &found);
            let is_chaotic = other_build.is_some_and(|db| db < 20.0);
            let is_near = db >= needs || is_chaotic && octaves < 1.0;
            println!(
                "{name} {options}: {db:.1} dB, needs {needs:.1}; octaves within {octaves:.2} dB"
            );
            if !is_near {
                far.push(format!("{name} {options}: {db:.1} dB, needs {needs:.1}"));
            }
        }
    }
    assert_eq!(far, Vec::<String>::new());
}
