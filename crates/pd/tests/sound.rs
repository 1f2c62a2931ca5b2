//! The sound of patches with one object each, compared with what the real Pd makes of them.
//!
//! `tests/sound` has the patches: each drives itself. For Pd the `dac~` is replaced by a recorder.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Frames that are compared: half a second at 44100 Hz.
const FRAMES: usize = 22_016;

/// The patch with a recorder in place of `dac~`: a subpatch that writes arrays, and at the end a file with them.
fn recorded(text: &str, wav: &Path) -> (String, usize) {
    let at = text.find("dac~").expect("a patch has one `dac~`");
    let begin = text[..at].rfind("#X obj").expect("it is an object");
    let end = at + text[at..].find(";\n").expect("a statement ends") + 2;
    let channels = match text[at + 4..end - 2].split_whitespace().count() {
        0 => 2,
        count => count,
    };
    let names: Vec<String> = (0..channels)
        .map(|channel| format!("recorded-{channel}"))
        .collect();
    let mut recorder = "#N canvas 0 0 9 9 recorder 0;\n".to_owned();
    for (channel, name) in names.iter().enumerate() {
        recorder += &format!(
            "#X obj {} 0 inlet~;\n#X obj 0 0 tabwrite~ {name};\n#X obj 0 0 table {name} {FRAMES};\n",
            channel * 100
        );
    }
    let after = channels * 3;
    recorder += &format!(
        "#X obj 0 0 loadbang;\n#X obj 0 0 delay 600;\n#X msg 0 0 write -wave -bytes 4 {} {};\n\
         #X obj 0 0 soundfiler;\n#X msg 0 0 \\; pd quit;\n#X msg 0 0 \\; pd dsp 1;\n",
        wav.display(),
        names.join(" ")
    );
    for channel in 0..channels {
        let (inlet, write) = (channel * 3, channel * 3 + 1);
        recorder += &format!("#X connect {inlet} 0 {write} 0;\n#X connect {after} 0 {write} 0;\n");
    }
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5)] {
        recorder += &format!("#X connect {} 0 {} 0;\n", after + from, after + to);
    }
    recorder += "#X restore 0 0 pd recorder;\n";
    (
        format!("{}{recorder}{}", &text[..begin], &text[end..]),
        channels,
    )
}

/// Sound that Pd records, or `None` where there is no Pd.
fn sound_of_pd(patch: &Path, folder: &Path) -> Option<(usize, Vec<f32>)> {
    let text = std::fs::read_to_string(patch).expect("it is there");
    let name = patch.file_name()?.to_str()?;
    let wav = folder.join(name).with_extension("wav");
    let (text, channels) = recorded(&text, &wav);
    let changed = folder.join(name);
    std::fs::write(&changed, text).expect("a file can be written");
    let pd = Command::new("pd")
        .args([
            "-nogui", "-noprefs", "-batch", "-noaudio", "-stderr", "-r", "44100", "-path",
        ])
        .arg(patch.parent()?)
        .arg(&changed)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    assert!(pd.status.success(), "{pd:?}");
    Some((channels, read_wav(&wav)))
}

/// Samples of a file in 32-bit floats.
fn read_wav(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("Pd has recorded");
    let header = bytes.windows(4).position(|word| word == b"data");
    let begin = header.expect("a header") + 8;
    let samples = bytes[begin..].chunks_exact(4);
    samples
        .map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect()
}

fn sound_here(patch: &Path, channels: usize) -> Vec<f32> {
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    assert!(
        loaded.diagnostics.is_empty(),
        "{patch:?}: {:?}",
        loaded.diagnostics
    );
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 0, channels);
    assert!(not_yet.is_empty(), "{patch:?}: {not_yet:?}");
    let mut sound = Vec::with_capacity(FRAMES * channels);
    for _ in 0..FRAMES / PatchPlayer::BLOCK {
        player.play(&[]);
        for frame in 0..PatchPlayer::BLOCK {
            sound.extend((0..channels).map(|channel| player.output(channel)[frame]));
        }
    }
    sound
}

/// Signal to error, in decibels. Where a logarithm of 1 divides, one of the two may be infinite: such samples are left out.
fn snr(expected: &[f32], found: &[f32]) -> f64 {
    let power: f64 = expected
        .iter()
        .filter(|x| x.is_finite())
        .map(|x| f64::from(*x).powi(2))
        .sum();
    let differing = expected
        .iter()
        .zip(found)
        .filter(|(a, b)| a.to_bits() != b.to_bits());
    let is_known = |(a, b): &(&f32, &f32)| a.is_finite() && b.is_finite();
    let error: f64 = differing
        .filter(is_known)
        .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
        .sum();
    if error == 0.0 {
        f64::INFINITY
    } else {
        10.0 * (power / error).log10()
    }
}

#[test]
fn patches_with_one_object_sound_as_in_pd() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-sound-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sound");
    let entries = std::fs::read_dir(source).expect("the folder is there");
    let mut patches: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    patches.retain(|patch| {
        std::fs::read_to_string(patch)
            .expect("a text")
            .contains("dac~")
    });
    patches.sort();
    let mut far = Vec::new();
    let mut compared = 0;
    for patch in &patches {
        let Some((channels, expected)) = sound_of_pd(patch, &folder) else {
            println!("SKIPPED: needs puredata-core");
            break;
        };
        let name = patch.file_stem().expect("a name").display().to_string();
        assert!(
            expected.len() >= FRAMES * channels,
            "{name}: {} samples",
            expected.len()
        );
        let db = snr(&expected[..FRAMES * channels], &sound_here(patch, channels));
        compared += 1;
        println!("{name}: {db:.1} dB");
        if db.is_nan() || db < 110.0 {
            far.push(format!(
                "{}: {db:.1} dB",
                patch.file_stem().expect("a name").display()
            ));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    assert!(far.is_empty(), "{far:#?}");
    assert!(compared == 0 || compared >= 80, "{compared} patches");
}
