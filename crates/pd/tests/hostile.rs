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
