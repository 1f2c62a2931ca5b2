//! Pure Data patches through the program: checked, drawn, rendered, played, and what they may write.

mod common;

use common::Folder;
use common::playing::{Playing, wait_until};
use std::io::{BufRead, BufReader};
use std::sync::{Arc, Mutex};

/// A tone whose pitch `freq` sets, and an object that does not exist.
const TONE: &str = "#N canvas 0 0 450 300 12;
#X obj 20 20 r freq;
#X obj 20 60 osc~ 220;
#X obj 20 90 *~ 0.1;
#X obj 20 130 dac~;
#X obj 250 80 osccc~ 3;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 2 0 3 0;
";

/// A patch that writes `file` as soon as it is loaded.
fn writer(file: &str) -> String {
    format!(
        "#N canvas 0 0 450 300 12;
#X obj 20 20 loadbang;
#X msg 20 50 add one two \\, write {file};
#X obj 20 80 textfile;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
"
    )
}

/// A patch that prints `words` when it is loaded.
fn printer(words: &str) -> String {
    format!(
        "#N canvas 0 0 450 300 12;
#X obj 20 20 loadbang;
#X msg 20 50 {words};
#X obj 20 80 print;
#X obj 20 110 osc~ 100;
#X obj 20 140 dac~;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 3 0 4 0;
"
    )
}

#[test]
fn a_missing_object_is_named_with_its_place_and_strict_ends_with_1() {
    let here = Folder::new();
    here.write("tone.pd", TONE);
    let said = here.well("check tone.pd").err;
    for part in ["`osccc~`", "tone.pd:6", "osc~"] {
        assert!(said.contains(part), "{said}");
    }
    here.well("render tone.pd -o out.wav --seconds 0.1");
    let strict = here.call("render tone.pd -o strict.wav --seconds 0.1 --strict");
    assert_eq!(strict.code, Some(1));
    let play = "play tone.pd --driver clock --seconds 0.05 --workers 1";
    here.well(play);
    assert_eq!(here.call(&format!("{play} --strict")).code, Some(1));
}

#[test]
fn a_patch_in_a_cycle_that_is_shorter_than_its_block_is_refused() {
    let here = Folder::new();
    let through = "#N canvas 0 0 450 300 12;
#X obj 20 20 adc~ 1;
#X obj 20 60 *~ 0.5;
#X obj 20 90 dac~ 1;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
";
    here.write("through.pd", through);
    let session = |seconds: f64| {
        format!(
            "edges = [\"osc -> mix.in1 -> p.in1\", \"p.out1 -> echo -> mix.in2\", \"mix -> out\"]
[settings]
rate = 44100
block = 64
[nodes]
osc = {{ kind = \"osc\", freq = 100, volume = 0.1 }}
mix = {{ kind = \"mixer\", in = 2 }}
p = {{ kind = \"pd\", file = \"through.pd\", in = 1, out = 1 }}
echo = {{ kind = \"delay\", time = {seconds} }}
out = {{ kind = \"sink\" }}
"
        )
    };
    here.write("long.toml", session(0.002));
    here.well("check long.toml");
    here.well("render long.toml -o long.wav --seconds 0.1");
    here.write("short.toml", session(0.0005));
    for call in [
        "check short.toml",
        "render short.toml -o short.wav --seconds 0.1",
    ] {
        let refused = here.call(call);
        assert_eq!(refused.code, Some(2), "{call}: {}", refused.err);
        assert!(
            refused.err.contains("plays 64 frames at once"),
            "{}",
            refused.err
        );
    }
    assert!(!here.has("short.wav"));
}

#[test]
fn a_drawing_shows_the_words_as_they_are_written() {
    let here = Folder::new();
    here.write("tone.pd", TONE);
    here.well("draw tone.pd -o patch.svg");
    let drawing = String::from_utf8(here.read("patch.svg")).unwrap();
    for words in ["r freq", "*~ 0.1", "osccc~ 3"] {
        assert!(drawing.contains(&format!(">{words}<")), "{words}");
    }
    here.well("draw tone.pd --signal -o signal.svg");
    let drawing = String::from_utf8(here.read("signal.svg")).unwrap();
    assert!(drawing.contains("osc~"));
}

#[test]
fn every_scheduler_renders_the_same_bits_and_a_message_changes_them_from_its_block_on() {
    let here = Folder::new();
    here.write("tone.pd", TONE);
    let render = |options: &str| {
        here.well(&format!(
            "render tone.pd -o out.wav --seconds 0.2 {options}"
        ));
        here.read("out.wav")
    };
    let plain = render("--scheduler sequential");
    for options in [
        "--scheduler stealing --workers 2",
        "--scheduler etf --workers 2",
        "--block 100",
    ] {
        assert!(render(options) == plain, "{options}");
    }
    let mut sent = here.command("render tone.pd -o sent.wav --seconds 0.2 --send");
    assert!(sent.arg("100 freq 440").status().unwrap().success());
    let sent = here.read("sent.wav");
    let first = sent.iter().zip(&plain).position(|(new, old)| new != old);
    let frame = (first.unwrap() - (plain.len() - 8820 * 8)) / 8;
    // 100 ms are 4410 frames; a message is heard from the block of 64 frames in which it falls.
    assert!((4352..4480).contains(&frame), "{frame}");
}

#[test]
fn a_patch_writes_only_where_it_may_and_what_it_could_not_write_ends_with_1() {
    let here = Folder::new();
    here.write("writer.pd", writer("out/list.txt"));
    std::fs::create_dir(here.path("out")).unwrap();
    let refused = here.call("render writer.pd -o a.wav --seconds 0.1");
    assert_eq!((refused.code, here.has("out/list.txt")), (Some(1), false));
    assert!(refused.err.contains("--allow-write"), "{}", refused.err);
    here.well("render writer.pd -o a.wav --seconds 0.1 --allow-write out");
    assert_eq!(here.read("out/list.txt"), b"one two;\n");
    // The sound that the program writes is not the patch's to replace.
    here.write("clash.pd", writer("out/take.wav"));
    let clash = here.call("render clash.pd -o out/take.wav --seconds 0.1 --allow-write out");
    assert_eq!(clash.code, Some(1), "{}", clash.err);
    assert!(here.read("out/take.wav").starts_with(b"RIFF"));
}

#[test]
fn a_patch_that_plays_is_replaced_when_its_file_is_saved_and_takes_messages() {
    let here = Folder::new();
    here.write("patch.pd", printer("first words"));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let line = "play patch.pd --driver clock --workers 1 --reload --socket s";
    let mut playing = Playing::begin(&here, line, |_| {});
    let stderr = BufReader::new(playing.child.stderr.take().unwrap());
    let heard = lines.clone();
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            heard.lock().unwrap().push(line);
        }
    });
    let says = |words: &str| {
        lines
            .lock()
            .unwrap()
            .iter()
            .any(|line: &String| line.contains(words))
    };
    wait_until(|| says("first words"));
    here.write("patch.pd", printer("second words"));
    wait_until(|| says("second words"));
    playing.send(&["message patch nobody 1"]).unwrap();
}
