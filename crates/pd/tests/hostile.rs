//! Patches with absurd blocks: no panic, and bounded memory.

use divisi_pd::{PatchPlayer, SearchPath, load_patch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Plays a patch for a few blocks; false if it panics.
fn plays(name: &str, text: &str) -> bool {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("divisi-pd-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let path = folder.join(format!("{name}.pd"));
    std::fs::write(&path, text).expect("writable");
    let patch = load_patch(&path, &SearchPath::only([])).expect("it is there");
    let _ = std::fs::remove_file(&path);
    let played = catch_unwind(AssertUnwindSafe(|| {
        let (mut player, _) = PatchPlayer::new(&patch, 48_000.0, 2, 2);
        for _ in 0..6 {
            player.play(&[]);
        }
    }));
    played.is_ok()
}

#[test]
fn a_canvas_that_computes_a_part_of_its_block_may_hold_another() {
    for inside in [
        "switch~ 1",
        "switch~",
        "block~ 128",
        "block~",
        "block~ 64 1 0.5",
        "block~ 64 2 2",
    ] {
        let text = format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 osc~ 440;\n#N canvas 0 0 9 9 o 0;\n#X obj 0 0 inlet~;\n#N canvas 0 0 9 9 i 0;\n#X obj 0 0 inlet~;\n\
             #X obj 0 0 outlet~;\n#X obj 0 0 {inside};\n#X obj 0 0 loadbang;\n#X msg 0 0 1;\n#X connect 0 0 1 0;\n#X connect 3 0 4 0;\n#X connect 4 0 2 0;\n#X restore 0 0 pd i;\n\
             #X obj 0 0 outlet~;\n#X obj 0 0 block~ 100;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X restore 0 0 pd o;\n#X obj 0 0 dac~;\n\
             #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n"
        );
        assert!(plays("part", &text), "{inside}");
    }
}

#[test]
fn a_factor_of_upsampling_within_a_long_block_is_bounded() {
    let text = "#N canvas 0 0 9 9 12;\n#X obj 0 0 osc~ 440;\n#N canvas 0 0 9 9 o 0;\n#X obj 0 0 inlet~;\n#N canvas 0 0 9 9 i 0;\n#X obj 0 0 inlet~;\n\
         #X obj 0 0 outlet~;\n#X obj 0 0 block~ 4194304 1 65536;\n#X connect 0 0 1 0;\n#X restore 0 0 pd i;\n\
         #X obj 0 0 outlet~;\n#X obj 0 0 block~ 4194304;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n#X restore 0 0 pd o;\n#X obj 0 0 dac~;\n\
         #X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
    assert!(plays("up", text));
}

/// Sound and printed lines of a patch in `blocks` blocks.
fn played(name: &str, text: &str, blocks: usize) -> (Vec<f32>, String) {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("divisi-hostile-{name}-{}.pd", std::process::id()));
    std::fs::write(&path, text).expect("writable");
    let patch = load_patch(&path, &SearchPath::only([])).expect("it is there");
    let _ = std::fs::remove_file(&path);
    let (mut player, _) = PatchPlayer::new(&patch, 48_000.0, 2, 2);
    let mut sound = Vec::new();
    for _ in 0..blocks {
        player.play(&[]);
        sound.extend_from_slice(player.output(0));
    }
    (sound, player.take_console().join("\n"))
}

#[test]
fn a_canvas_with_endless_work_is_bounded_and_named() {
    for inside in ["block~ 1 1 65536", "block~ 1e9 1e9 1e-9"] {
        let text = format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 osc~ 440;\n#N canvas 0 0 9 9 o 0;\n#X obj 0 0 inlet~;\n#X obj 0 0 outlet~;\n\
             #X obj 0 0 {inside};\n#X connect 0 0 1 0;\n#X restore 0 0 pd o;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n"
        );
        let (_, printed) = played("work", &text, 2);
        assert!(printed.contains("too much work"), "{inside}: {printed}");
    }
}

#[test]
fn a_bang_to_a_switch_with_a_dac_inside_is_heard() {
    let text = "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 o 0;\n#X obj 0 0 sig~ 0.5;\n#X obj 0 0 dac~;\n#X obj 0 0 inlet;\n\
         #X obj 0 0 switch~;\n#X connect 0 0 1 0;\n#X connect 2 0 3 0;\n#X restore 0 0 pd o;\n#X obj 0 0 loadbang;\n#X obj 0 0 delay 2;\n\
         #X msg 0 0 bang;\n#X connect 1 0 2 0;\n#X connect 2 0 3 0;\n#X connect 3 0 0 0;\n";
    let (sound, _) = played("bang", text, 4);
    let mut expected = vec![0.0; 256];
    expected[64..128].fill(0.5);
    assert_eq!(sound, expected);
}

#[test]
fn arrays_and_delay_lines_together_are_bounded() {
    let lines: String = (0..3)
        .map(|at| {
            format!("#X obj 0 0 table t{at} 200000000;\n#X obj 0 0 delwrite~ d{at} 4000000;\n")
        })
        .collect();
    let text = format!(
        "#N canvas 0 0 9 9 12;\n{lines}#X obj 0 0 loadbang;\n#X msg 0 0 \\; t1 resize 200000000;\n#X connect 6 0 7 0;\n"
    );
    let (_, printed) = played("memory", &text, 1);
    assert!(printed.contains("left out"), "{printed}");
    assert!(
        printed.contains("t1: 200000000 points are too many"),
        "{printed}"
    );
}
