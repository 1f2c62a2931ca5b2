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

/// The lines of a patch with data structures after some blocks.
fn printed(name: &str, text: &str, blocks: usize) -> Vec<String> {
    let path = std::env::temp_dir().join(format!("divisi-pd-{name}-{}.pd", std::process::id()));
    std::fs::write(&path, text).expect("writable");
    let loaded = load_patch(&path, &SearchPath::only([])).expect("it is there");
    std::fs::remove_file(&path).expect("ours");
    let (mut machine, _) = divisi_pd::Machine::build(&loaded, 44_100.0);
    machine.load();
    (0..blocks).for_each(|_| machine.tick());
    machine.take_console()
}

#[test]
fn templates_that_hold_themselves_and_data_without_end_are_refused() {
    // One that holds itself, two that hold each other, and arrays in arrays that would be a million million elements.
    let mut text = "#N struct self array a self;\n#N struct p array a q;\n#N struct q array a p;\n#N struct leaf float y;\n".to_owned();
    for depth in 0..40 {
        let inner = if depth == 0 {
            "leaf".to_owned()
        } else {
            format!("d{}", depth - 1)
        };
        let fields: String = (0..10).map(|at| format!(" array f{at} {inner}")).collect();
        text += &format!("#N struct d{depth}{fields};\n");
    }
    text += "#N struct big array a leaf;\n#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 data 0;\n";
    for name in ["self", "p", "d39", "d30", "d20", "nothing", "float", "text"] {
        text += &format!("#X scalar {name} \\;;\n");
    }
    text += "#X scalar;\n#X scalar big \\; 1 \\; 2;\n#X scalar leaf;\n#X restore 0 0 pd data;\n#X obj 0 0 loadbang;\n#X obj 0 0 t b b b b;\n\
             #X msg 0 0 traverse pd-data \\, next \\, next \\, next;\n#X obj 0 0 pointer big;\n#X obj 0 0 setsize big a;\n\
             #X msg 0 0 1e30 \\, -5 \\, 16777216 \\, 3;\n#X obj 0 0 getsize big a;\n#X obj 0 0 print size;\n#X obj 0 0 element big a;\n\
             #X msg 0 0 2;\n#X obj 0 0 pointer;\n#X obj 0 0 t b p;\n#X obj 0 0 get leaf y;\n#X obj 0 0 print y;\n#X msg 0 0 -1e30;\n\
             #X connect 1 0 2 0;\n#X connect 2 3 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 5 1;\n#X connect 4 0 9 1;\n#X connect 4 0 11 1;\n\
             #X connect 2 2 6 0;\n#X connect 6 0 5 0;\n#X connect 2 1 10 0;\n#X connect 10 0 9 0;\n#X connect 2 0 15 0;\n#X connect 15 0 9 0;\n\
             #X connect 9 0 13 0;\n#X connect 13 0 14 0;\n#X connect 4 0 7 0;\n#X connect 7 0 8 0;\n";
    let lines = printed("data", &text, 4);
    for name in ["self", "p", "d39", "d30", "d20", "nothing"] {
        let start = format!("error: scalar {name}: ");
        assert!(
            lines.iter().any(|line| line.starts_with(&start)),
            "{name}: {lines:?}"
        );
    }
    let no_memory = lines.iter().filter(|line| line.contains("no memory"));
    assert!(no_memory.count() >= 3, "{lines:?}");
    assert!(lines.contains(&"size: 2".to_owned()), "{lines:?}");
    assert!(lines.contains(&"y: 0".to_owned()), "{lines:?}");
}

#[test]
fn pointers_to_what_is_gone_find_nothing() {
    let text = "#N struct one array a leaf;\n#N struct leaf float y;\n#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 data 0;\n#X restore 0 0 pd data;\n\
                #X obj 0 0 loadbang;\n#X obj 0 0 t b b b b b b;\n#X msg 0 0 traverse pd-data \\, bang;\n#X obj 0 0 pointer;\n#X obj 0 0 append one;\n\
                #X obj 0 0 element one a;\n#X obj 0 0 pointer;\n#X obj 0 0 get - y;\n#X obj 0 0 print y;\n#X msg 0 0 \\; pd-data clear;\n\
                #X msg 0 0 bang;\n#X obj 0 0 5000;\n#X obj 0 0 until;\n#X msg 0 0 1;\n#X msg 0 0 0;\n#X obj 0 0 t b b;\n\
                #X connect 1 0 2 0;\n#X connect 2 5 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 5 1;\n\
                #X connect 2 4 14 0;\n#X connect 14 0 5 0;\n#X connect 5 0 6 1;\n#X connect 2 3 15 0;\n#X connect 15 0 6 0;\n#X connect 6 0 7 0;\n\
                #X connect 7 0 8 0;\n#X connect 8 0 9 0;\n#X connect 2 2 10 0;\n#X connect 2 1 11 0;\n#X connect 11 0 7 0;\n#X connect 2 0 12 0;\n\
                #X connect 12 0 13 0;\n#X connect 13 0 16 0;\n#X connect 16 1 10 0;\n#X connect 16 0 3 0;\n#X connect 16 0 14 0;\n";
    let lines = printed("stale", text, 2);
    let others = lines.iter().filter(|line| !line.ends_with("no such field"));
    let others: Vec<&str> = others.map(String::as_str).collect();
    assert_eq!(others, ["y: 0", "error: pointer bang: stale pointer"]);
    let made = lines.len() - others.len();
    assert_eq!(made, 5001, "each found its list");
}

/// A patch with canvases `data` and `st`, to which a message is sent `count` times; `$1` in it is the number of the time.
fn boxes_again_and_again(count: usize, message: &str) -> String {
    format!(
        "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 data 0;\n#X restore 0 0 pd data;\n#N canvas 0 0 9 9 st 0;\n#X restore 0 0 pd st;\n\
         #X obj 0 0 loadbang;\n#X msg 0 0 {count};\n#X obj 0 0 until;\n#X msg 0 0 {message};\n\
         #X obj 0 0 f;\n#X obj 0 0 + 1;\n#X connect 2 0 3 0;\n#X connect 3 0 4 0;\n#X connect 4 0 6 0;\n#X connect 6 0 7 0;\n\
         #X connect 7 0 6 1;\n#X connect 6 0 5 0;\n"
    )
}

#[test]
fn two_fields_of_one_name_share_nothing() {
    let message = "\\; pd-data scalar t \\; pd-st clear \\; pd-st obj 0 0 struct t array a e array a e \\; pd-data clear \
                   \\; pd-data scalar u \\; pd-data write x.txt";
    let text = "#N struct t array a e;\n#N struct e float y;\n#N struct u array p v;\n#N struct v array q w;\n#N struct w float y;\n"
        .to_owned()
        + &boxes_again_and_again(1, message).replace(
            "9 9 st 0;\n",
            "9 9 st 0;\n#X obj 0 0 struct t array a e;\n",
        );
    let lines = printed("twice", &text, 2);
    // Where both fields held one array, the next scalar held itself, and writing it had no end.
    let refused = lines.iter().filter(|line| line.contains("--allow-write"));
    assert_eq!((lines.len(), refused.count()), (1, 1), "{lines:?}");
}

#[test]
fn a_template_that_grows_takes_no_more_memory_than_there_is() {
    let fields: String = (0..400).map(|at| format!(" float a{at}")).collect();
    let wider = format!("struct p{fields}");
    // One box of other fields takes the place of the first, or one that is there already counts once the first is removed.
    for (message, other) in [
        (
            format!("\\; pd-st clear \\; pd-st obj 0 0 {wider}"),
            String::new(),
        ),
        (
            "\\; pd-st clear".to_owned(),
            format!("#X obj 0 0 {wider};\n"),
        ),
    ] {
        let text = "#N struct p float x;\n".to_owned()
            + &boxes_again_and_again(50_000, "\\; pd-data scalar p 1")
                .replace("9 9 st 0;\n", "9 9 st 0;\n#X obj 0 0 struct p float x;\n")
            + &format!("#X msg 0 0 {message};\n#X connect 2 0 8 0;\n{other}");
        let lines = printed("grows", &text, 2);
        let refused = lines
            .iter()
            .filter(|line| line.contains("no memory for more data"));
        assert_eq!(refused.count(), 1, "{lines:?}");
    }
}

#[test]
fn boxes_of_data_that_clear_removes_leave_nothing_behind() {
    let fields: String = (0..32).map(|at| format!(" array a{at} mid")).collect();
    let inner: String = (0..32).map(|at| format!(" array a{at} lit")).collect();
    let templates =
        format!("#N struct big{fields};\n#N struct mid{inner};\n#N struct lit float y;\n");
    let scalars = "\\; pd-st obj 0 0 scalar define big \\; pd-st clear";
    let lines = printed(
        "scalars",
        &(templates + &boxes_again_and_again(2000, scalars)),
        2,
    );
    assert!(lines.is_empty(), "{lines:?}");
    let texts = "\\; pd-st obj 0 0 text define \\; pd-st obj 0 0 array define \\; pd-st clear";
    let lines = printed("texts", &boxes_again_and_again(3000, texts), 2);
    assert!(lines.is_empty(), "{lines:?}");
    for name in ["u", "u-\\$1"] {
        // Those of other names count no longer either, unless something is made of them.
        let structs = format!("\\; pd-st obj 0 0 struct {name} float x \\; pd-st clear");
        let lines = printed("structs", &boxes_again_and_again(4200, &structs), 2);
        assert!(lines.is_empty(), "{lines:?}");
    }
}

#[test]
fn pointers_to_texts_and_arrays_that_clear_removes_are_stale() {
    for class in ["text define x", "array define x 10"] {
        let boxes = format!(
            "\\; pd-st obj 0 0 {class} \\; pd-st obj 0 0 r q \\; pd-st obj 0 0 s p \\; pd-st connect 1 0 0 0 \\; pd-st connect 0 0 2 0 \\; q bang"
        );
        let text = format!(
            "#N canvas 0 0 9 9 12;\n#N canvas 0 0 9 9 st 0;\n#X restore 0 0 pd st;\n#X obj 0 0 loadbang;\n#X obj 0 0 t b b b;\n\
             #X msg 0 0 {boxes};\n#X msg 0 0 \\; pd-st clear;\n#X obj 0 0 r p;\n#X obj 0 0 pointer;\n#X msg 0 0 bang;\n\
             #X obj 0 0 print held;\n#X connect 1 0 2 0;\n#X connect 2 2 3 0;\n#X connect 2 1 4 0;\n#X connect 2 0 7 0;\n\
             #X connect 5 0 6 1;\n#X connect 7 0 6 0;\n#X connect 6 0 8 0;\n"
        );
        let lines = printed("around", &text, 2);
        assert_eq!(lines, ["error: pointer bang: stale pointer"], "{class}");
        let kept = text.replace("\\; pd-st clear", "\\; pd-st vis 0");
        let lines = printed("around", &kept, 2);
        assert_eq!(lines, ["held: (pointer)"], "{class}");
    }
}
