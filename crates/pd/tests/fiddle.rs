//! `fiddle~`: what it prints for several sounds, compared with the real Pd.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sounds: their boxes, the connections between them, and the number of the last box. The first box is number 10.
const SOUNDS: [(&str, &str, usize); 8] = [
    (
        "sine",
        "#X obj 0 0 osc~ 1000;#X obj 0 0 *~ 0.5;#X connect 10 0 11 0;",
        11,
    ),
    (
        "saw",
        "#X obj 0 0 phasor~ 220;#X obj 0 0 *~ 0.5;#X connect 10 0 11 0;",
        11,
    ),
    ("low", "#X obj 0 0 phasor~ 130.8;", 10),
    (
        "two tones",
        "#X obj 0 0 osc~ 330;#X obj 0 0 osc~ 1234;#X obj 0 0 +~;#X obj 0 0 *~ 0.3;\
         #X connect 10 0 12 0;#X connect 11 0 12 0;#X connect 12 0 13 0;",
        13,
    ),
    (
        "chord",
        "#X obj 0 0 phasor~ 220;#X obj 0 0 phasor~ 311.1;#X obj 0 0 +~;#X obj 0 0 *~ 0.3;\
         #X connect 10 0 12 0;#X connect 11 0 12 0;#X connect 12 0 13 0;",
        13,
    ),
    (
        "plucked",
        "#X obj 0 0 metro 173;#X msg 0 0 1 \\, 0 150;#X obj 0 0 line~;#X obj 0 0 phasor~ 293.7;#X obj 0 0 *~;#X obj 0 0 *~;#X obj 0 0 *~;\
         #X obj 0 0 t b b;#X obj 0 0 random 24;#X obj 0 0 + 55;#X obj 0 0 mtof;\
         #X connect 0 0 10 0;#X connect 10 0 17 0;#X connect 17 0 11 0;#X connect 17 1 18 0;#X connect 18 0 19 0;#X connect 19 0 20 0;\
         #X connect 20 0 13 0;#X connect 11 0 12 0;#X connect 12 0 14 0;#X connect 12 0 14 1;#X connect 14 0 15 0;#X connect 14 0 15 1;\
         #X connect 15 0 16 0;#X connect 13 0 16 1;",
        16,
    ),
    (
        "glide",
        "#X msg 0 0 200 \\, 800 900;#X obj 0 0 line~;#X obj 0 0 phasor~;#X obj 0 0 -~ 0.5;\
         #X connect 0 0 10 0;#X connect 10 0 11 0;#X connect 11 0 12 0;#X connect 12 0 13 0;",
        13,
    ),
    (
        "noise",
        "#X obj 0 0 noise~;#X obj 0 0 *~ 0.2;#X connect 10 0 11 0;",
        11,
    ),
];

/// Arguments of the class: window, pitches, peaks and peaks that are given out.
const ARGUMENTS: [[usize; 4]; 3] = [[1024, 1, 20, 3], [2048, 3, 30, 5], [512, 2, 20, 0]];

/// A patch that prints all outlets. Pd plays it for 1.2 seconds.
fn patch(sound: &(&str, &str, usize), arguments: [usize; 4]) -> String {
    let [points, pitches, peaks, given] = arguments;
    let outlets = 3 + pitches + usize::from(given > 0);
    let mut boxes = format!(
        "#N canvas 0 0 600 500 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 1200;\n#X msg 0 0 \\; pd quit;\n\
         #X obj 0 0 fiddle~ {points} {pitches} {peaks} {given};\n"
    );
    for outlet in 0..6 {
        boxes += &format!("#X obj 0 0 print o{outlet};\n");
    }
    boxes += &sound.1.replace(";#X", ";\n#X").replace(";         ", ";\n");
    boxes += "\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
    for outlet in 0..outlets {
        boxes += &format!("#X connect 3 {outlet} {} 0;\n", 4 + outlet.min(5));
    }
    boxes + &format!("#X connect {} 0 3 0;\n", sound.2)
}

fn printed_by_pd(patch: &Path) -> Option<String> {
    let output = Command::new("pd")
        .args([
            "-nogui", "-noprefs", "-batch", "-noaudio", "-stderr", "-r", "44100",
        ])
        .args(["-path", "/usr/lib/puredata/extra", "-send", "pd dsp 1"])
        .arg(patch)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn printed_here(patch: &Path) -> String {
    let loaded = load_patch(patch, &SearchPath::only([])).expect("it is there");
    let (mut player, not_yet) = PatchPlayer::new(&loaded, 44_100.0, 0, 2);
    assert!(not_yet.is_empty(), "{not_yet:?}");
    let mut lines = Vec::new();
    for _ in 0..1200 * 441 / 640 {
        player.play(&[]);
        lines.extend(player.take_console());
    }
    lines.join("\n")
}

/// Lines of the outlets: a name and its numbers.
fn lines(text: &str) -> Vec<(String, Vec<f32>)> {
    let numbered = text.lines().filter_map(|line| line.split_once(": "));
    let ours = numbered.filter(|(name, _)| name.len() == 2 && name.starts_with('o'));
    ours.map(|(name, words)| {
        let numbers = words
            .split_whitespace()
            .filter_map(|word| word.parse().ok());
        (name.to_owned(), numbers.collect())
    })
    .collect()
}

/// Lines that differ by more than a thousandth, and all of them.
fn differing(expected: &[(String, Vec<f32>)], found: &[(String, Vec<f32>)]) -> (usize, usize) {
    let is_near = |a: &f32, b: &f32| (a - b).abs() <= 0.001 + 0.0001 * a.abs();
    let is_same = |a: &(String, Vec<f32>), b: &(String, Vec<f32>)| {
        a.0 == b.0 && a.1.len() == b.1.len() && a.1.iter().zip(&b.1).all(|(a, b)| is_near(a, b))
    };
    let pairs = expected.iter().zip(found);
    let differing: Vec<_> = pairs.filter(|(a, b)| !is_same(a, b)).collect();
    for (a, b) in differing.iter().take(6) {
        println!("  Pd {a:?}, here {b:?}");
    }
    let surplus = expected.len().abs_diff(found.len());
    (differing.len() + surplus, expected.len())
}

/// Lines that may differ: the first pitch is Pd's but for windows at whose peaks a last place decides. Of further pitches the rule by
/// which Pd leaves out partials is not known in full; `None` where these are others.
fn most_differing(sound: &str, pitches: usize) -> Option<usize> {
    match (sound, pitches) {
        ("chord", 1) => Some(70),
        (_, 1) | ("sine" | "saw" | "two tones" | "chord" | "plucked" | "noise", 3) => Some(10),
        ("sine" | "low" | "two tones", 2) => Some(2),
        _ => None,
    }
}

#[test]
fn pitches_and_notes_are_those_of_pd() {
    let folder = std::env::temp_dir().join(format!("divisi-pd-fiddle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let mut far = Vec::new();
    for sound in &SOUNDS {
        for arguments in ARGUMENTS {
            let path = folder.join("driven.pd");
            std::fs::write(&path, patch(sound, arguments)).expect("writable");
            let Some(text) = printed_by_pd(&path) else {
                println!("SKIPPED: needs puredata-core and puredata-extra");
                return;
            };
            let (expected, found) = (lines(&text), lines(&printed_here(&path)));
            let (differ, all) = differing(&expected, &found);
            println!(
                "{} {arguments:?}: {differ} of {all} lines differ, here {}",
                sound.0,
                found.len()
            );
            assert!(all > 30, "{text}");
            if most_differing(sound.0, arguments[1]).is_some_and(|most| differ > most) {
                far.push((sound.0, arguments, differ));
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    assert!(far.is_empty(), "{far:?}");
}
