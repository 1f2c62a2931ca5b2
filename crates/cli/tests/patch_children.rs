//! `pd~` through the program: a sub-patch that is checked, planned, rendered, played, and read again when it is saved.

mod common;

use common::Folder;
use common::playing::{Playing, wait_until};
use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex};

/// Starts a patch at once, sends it messages, and prints what it sends.
const MAIN: &str = "#N canvas 0 0 9 9 12;
#X obj 0 0 loadbang;
#X msg 0 0 pd~ start -nogui sub.pd;
#X obj 0 0 pd~ -ninsig 1 -noutsig 1 -fifo 4;
#X obj 0 0 osc~ 440;
#X obj 0 0 dac~;
#X obj 0 0 print back;
#X obj 0 0 metro 50;
#X msg 0 0 count 7;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 3 0 2 0;
#X connect 2 1 4 0;
#X connect 2 1 4 1;
#X connect 2 0 5 0;
#X connect 0 0 6 0;
#X connect 6 0 7 0;
#X connect 7 0 2 0;
";

/// Makes sound softer by `gain`, and sends `word` back.
fn sub(gain: &str, word: &str) -> String {
    format!(
        "#N canvas 0 0 9 9 12;
#X obj 0 0 loadbang;
#X msg 0 0 \\; pd dsp 1;
#X obj 0 0 adc~ 1;
#X obj 0 0 *~ {gain};
#X obj 0 0 dac~ 1;
#X obj 0 0 r count;
#X msg 0 0 {word} \\$1;
#X obj 0 0 stdout;
#X connect 0 0 1 0;
#X connect 2 0 3 0;
#X connect 3 0 4 0;
#X connect 5 0 6 0;
#X connect 6 0 7 0;
"
    )
}

fn folder() -> Folder {
    let here = Folder::new();
    here.write("main.pd", MAIN);
    here.write("sub.pd", sub("0.5", "first"));
    here
}

#[test]
fn check_lists_the_sub_patch_with_its_mistakes() {
    let here = folder();
    let said = here.well("check main.pd").out;
    assert!(said.contains("pd~ starts sub.pd: 8 boxes"), "{said}");
    here.write("sub.pd", &(sub("0.5", "first") + "#X obj 0 0 osccc~;\n"));
    let said = here.well("check main.pd").err;
    assert!(
        said.contains("`osccc~`") && said.contains("sub.pd:15"),
        "{said}"
    );
    let strict = here.call("render main.pd -o strict.wav --seconds 0.1 --strict");
    assert_eq!(strict.code, Some(1));
    here.write("sub.pd", MAIN.replace("sub.pd", "main.pd"));
    let said = here.well("check main.pd").err;
    let chain = "main.pd → sub.pd → main.pd";
    assert!(said.contains(chain), "{said}");
}

#[test]
fn a_sub_patch_that_is_missing_is_listed_and_strict_ends_with_1() {
    let here = folder();
    here.write("main.pd", MAIN.replace("sub.pd", "gone.pd"));
    let checked = here.well("check main.pd");
    assert!(
        checked.out.contains("one start of pd~ finds no patch"),
        "{}",
        checked.out
    );
    assert!(
        checked.err.contains("there is no patch `gone.pd`"),
        "{}",
        checked.err
    );
    assert_eq!(here.call("check main.pd --strict").code, Some(1));
    let render = "render main.pd -o strict.wav --seconds 0.1";
    here.well(render);
    assert_eq!(here.call(&format!("{render} --strict")).code, Some(1));
}

#[test]
fn a_render_has_the_latency_that_is_stated_and_the_same_bits_on_two_workers() {
    let here = folder();
    let rendered = ["--workers 1", "--workers 2 --scheduler stealing --fuse off"].map(|workers| {
        let call = here.well(&format!(
            "render main.pd -o out.wav --seconds 0.3 {workers}"
        ));
        assert!(call.err.contains("back: first 7"), "{}", call.err);
        common::wav(&here.read("out.wav"))
    });
    assert_eq!(rendered[0], rendered[1]);
    let (channels, bits) = &rendered[0];
    let mut left = bits.iter().step_by(usize::from(*channels));
    // The first sample of the wave is 1.
    let first = left.position(|bits| *bits != 0);
    assert_eq!(first, Some(4 * 64));
    let said = here.well("plan main.pd --cores 2 --json plan.json");
    let plan = String::from_utf8_lossy(&here.read("plan.json")).into_owned();
    assert!(plan.contains("pd~ 1 sub.pd"), "{} {plan}", said.out);
    here.well("draw main.pd --signal -o main.svg");
}

#[test]
fn a_sub_patch_plays_live_and_is_read_again_when_it_is_saved() {
    let here = folder();
    let line = "play main.pd --driver clock --reload --workers 2 --socket s";
    let mut playing = Playing::begin(&here, line, |_| {});
    let said = Arc::new(Mutex::new(String::new()));
    let reader = BufReader::new(playing.child.stderr.take().expect("piped"));
    let heard = said.clone();
    std::thread::spawn(move || {
        for line in reader.lines().map_while(Result::ok) {
            let mut said = heard.lock().expect("no panic");
            said.push_str(&line);
            said.push('\n');
        }
    });
    let has = |text: &str| said.lock().expect("no panic").contains(text);
    wait_until(|| has("back: first 7"));
    here.write("sub.pd", sub("0.25", "second"));
    wait_until(|| has("back: second 7"));
    assert!(!has("not ready"), "{}", said.lock().expect("no panic"));
}
