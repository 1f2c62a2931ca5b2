//! The states of patches outlive the process of their cell.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, patch_cell, wav};
use std::fmt::Write;

/// Frames of a block, and blocks between two checkpoints: 20 ms.
const BLOCK: usize = 64;
const INTERVAL: usize = 15;

/// A counter of beats, whose tone goes through a delay line with feedback, and so many voices of noise beside it.
fn patch(voices: usize) -> String {
    let mut text = "#N canvas 0 0 9 9 12;\n\
        #X obj 0 0 loadbang;\n#X obj 0 0 metro 37;\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n#X obj 0 0 mod 5;\n#X obj 0 0 + 48;\n\
        #X obj 0 0 mtof;\n#X obj 0 0 osc~;\n#X obj 0 0 delwrite~ line 200;\n#X obj 0 0 delread~ line 130;\n#X obj 0 0 *~ 0.3;\n\
        #X obj 0 0 dac~ 1;\n#X obj 0 0 random 100;\n#X obj 0 0 tabwrite past;\n#X obj 0 0 table past 50;\n\
        #X obj 0 0 tabread past;\n#X obj 0 0 pipe 90;\n#X obj 0 0 line~;\n#X obj 0 0 pack 0 20;\n#X obj 0 0 *~;\n\
        #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 2 1;\n\
        #X connect 2 0 5 0;\n#X connect 5 0 6 0;\n#X connect 6 0 7 0;\n#X connect 7 0 19 0;\n#X connect 19 0 8 0;\n\
        #X connect 9 0 10 0;\n#X connect 10 0 8 0;\n#X connect 9 0 11 0;\n#X connect 1 0 12 0;\n#X connect 2 0 13 1;\n\
        #X connect 12 0 13 0;\n#X connect 2 0 15 0;\n#X connect 15 0 16 0;\n#X connect 16 0 18 0;\n#X connect 18 0 17 0;\n\
        #X connect 17 0 19 1;\n"
        .to_owned();
    for voice in 0..voices {
        let [noise, filter, level] = [0, 1, 2].map(|at| 20 + 3 * voice + at);
        write!(
            text,
            "#X obj 0 0 noise~;\n#X obj 0 0 bp~ {} 9;\n#X obj 0 0 *~ 0.01;\n\
             #X connect {noise} 0 {filter} 0;\n#X connect {filter} 0 {level} 0;\n#X connect {level} 0 11 0;\n",
            200 + 31 * voice
        )
        .unwrap();
    }
    text
}

/// Samples of the first channel.
fn samples(here: &Folder, name: &str) -> Vec<u32> {
    let (channels, samples) = wav(&here.read(name));
    samples.into_iter().step_by(usize::from(channels)).collect()
}

#[test]
fn a_patch_goes_on_from_a_state_of_the_last_two_checkpoints() {
    let here = Folder::new();
    here.write("s.toml", patch_cell::session("beats"));
    let line = format!("--seconds 0.9 --block {BLOCK} --rate 48000");
    // One node, and several.
    for (voices, kind, seconds) in [(0, "kill", 0.5), (0, "segv", 0.613), (60, "kill", 0.437)] {
        here.write("beats.pd", patch(voices));
        here.well(&format!("render s.toml -o whole.wav {line}"));
        let whole = samples(&here, "whole.wav");
        let gave = here.call(&format!(
            "cells s.toml --render drill.wav {line} --drill a:{kind}@{seconds}"
        ));
        assert_eq!(gave.code, Some(1), "{kind}: {}", gave.err);
        let is_told = gave
            .err
            .contains("cell `a`: continues from before the failure");
        assert!(is_told, "{kind}: {}", gave.err);
        assert!(!gave.err.contains("begins anew"), "{}", gave.err);
        let found = samples(&here, "drill.wav");
        let begin = (seconds * 48_000.0) as usize / BLOCK * BLOCK;
        assert!(found[..begin] == whole[..begin], "{kind}: before");
        // The lost block fades out, the next one in.
        let from = begin + 2 * BLOCK;
        let goes_on =
            |age: &usize| found[from..] == whole[from - age * BLOCK..whole.len() - age * BLOCK];
        let age = (1..=2 * INTERVAL).find(goes_on);
        assert!(
            age.is_some(),
            "{voices} voices, {kind}: from no state of the last 40 ms"
        );
        let sounds = whole[from..]
            .iter()
            .any(|x| f32::from_bits(*x).abs() > 0.01);
        assert!(sounds, "it is heard");
    }
}

#[test]
fn what_a_patch_in_a_cell_prints_is_shown_once() {
    let here = Folder::new();
    here.write("s.toml", patch_cell::session("beats"));
    // The second one prints more than may wait for the terminal.
    let patch = |period: &str, print: &str| {
        format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X obj 0 0 metro {period};\n#X obj 0 0 f;\n#X obj 0 0 + 1;\n\
             #X obj 0 0 print {print};\n#X obj 0 0 osc~ 440;\n#X obj 0 0 dac~ 1;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n\
             #X connect 2 0 3 0;\n#X connect 3 0 2 1;\n#X connect 3 0 4 0;\n#X connect 5 0 6 0;\n"
        )
    };
    here.write("beats.pd", patch("10", "heard"));
    let line = "s.toml --render o.wav --seconds 0.2 --rate 48000";
    let gave = here.well(&format!("cells {line}"));
    let lines: Vec<&str> = (gave.err.lines())
        .filter(|it| it.starts_with("beats: heard: "))
        .collect();
    let expected: Vec<String> = (1..=lines.len())
        .map(|n| format!("beats: heard: {n}"))
        .collect();
    assert!((19..=21).contains(&lines.len()), "{}", gave.err);
    assert_eq!(lines, expected);
    here.write("beats.pd", patch("0.005", "much"));
    // A machine under load may lose a block, and says so.
    let gave = here.call("cells s.toml --driver clock --seconds 0.3 --block 4096 --no-admission");
    assert!(gave.err.contains("beats: much: 1\n"), "{}", gave.err);
}
