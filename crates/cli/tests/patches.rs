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
fn a_message_answers_its_frame_and_an_error_where_nothing_receives_it() {
    let here = Folder::new();
    let patch = "#N canvas 0 0 9 9 12;\n#X obj 0 0 r freq;\n#X obj 0 0 osc~ 440;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n";
    here.write("p.pd", patch);
    let session = "edges = [\"p.out1 -> out\"]\n[nodes.p]\nkind = \"pd\"\nfile = \"p.pd\"\n[nodes.out]\nkind = \"sink\"\n[nodes.other]\nkind = \"osc\"\nfreq = 100\n";
    here.write("s.toml", session);
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    let before = playing.send(&["set other.freq 200"]).unwrap()["frame"].as_u64();
    let heard = playing.send(&["message p freq 330"]).unwrap();
    let frame = heard["frame"].as_u64();
    assert!(
        frame > before && frame.is_some_and(|it| it % 64 == 0),
        "{heard}"
    );
    // The rest of the request is carried out.
    let unheard = playing.send(&["message p frq 330", "set other.freq 300"]);
    let why = unheard.unwrap_err();
    assert!(why.contains("nothing receives `frq` in `p`"), "{why}");
    let graph = playing.graph().to_string();
    assert!(graph.contains("300"), "{graph}");
    // A load that changes nothing is heard at no frame.
    here.write("s.toml", session.replace("freq = 100", "freq = 300"));
    let loaded = playing.send(&["load s.toml"]).unwrap();
    assert_eq!(loaded["ok"], true);
    assert!(
        loaded["frame"].as_u64().is_none_or(|at| Some(at) > frame),
        "{loaded}"
    );
}

#[test]
fn messages_without_room_are_refused_as_a_whole_and_hold_nothing_back() {
    let here = Folder::new();
    here.write("p.pd", "#N canvas 0 0 9 9 12;\n#X obj 0 0 r freq;\n#X obj 0 0 osc~ 440;\n#X obj 0 0 dac~;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n");
    here.write("s.toml", "edges = [\"p.out1 -> out\"]\n[nodes.p]\nkind = \"pd\"\nfile = \"p.pd\"\n[nodes.out]\nkind = \"sink\"\n[nodes.other]\nkind = \"osc\"\nfreq = 100\n");
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    let why = playing.send(&[&format!("message p freq {}", "1".repeat(5000))]);
    let why = why.unwrap_err();
    assert!(why.contains("at most 4096 bytes"), "{why}");
    let long = format!("message p freq {}", "1".repeat(4000));
    let why = playing.send(&[long.as_str(); 17]).unwrap_err();
    assert!(why.contains("at most 65536 bytes"), "{why}");
    assert_eq!(playing.send(&["set other.freq 300"]).unwrap()["ok"], true);
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
    here.write("patch.pd", printer("third words") + "#X obj 0 0 osk~;\n");
    wait_until(|| says("third words"));
    assert!(says("osk~"), "{lines:?}");
    playing.send(&["message patch nobody 1"]).unwrap_err();
}

/// A sine at the pitch of the key that is down, which sends each key on, a fifth higher and behind `poly`.
const KEYS: &str = "#N canvas 0 0 450 300 12;
#X obj 20 20 notein;
#X obj 20 50 stripnote;
#X obj 20 80 mtof;
#X obj 20 110 osc~;
#X obj 20 140 *~ 0.1;
#X obj 20 170 dac~ 1;
#X obj 150 50 + 7;
#X obj 150 80 noteout 2;
#X connect 0 0 1 0;
#X connect 0 1 1 1;
#X connect 0 1 7 1;
#X connect 0 0 6 0;
#X connect 1 0 2 0;
#X connect 2 0 3 0;
#X connect 3 0 4 0;
#X connect 4 0 5 0;
#X connect 6 0 7 0;
";

#[test]
fn notes_of_a_score_reach_the_boxes_of_a_patch_and_its_own_leave_it() {
    let here = Folder::new();
    here.write("keys.pd", KEYS);
    let session = |patch: &str| {
        format!(
            "edges = [\"notes -> keys.midi\", \"keys.midi -> take\", \"keys.out1 -> out\"]
[settings]
rate = 44100
block = 64
[tempo]
bpm = 120
[nodes]
notes = {{ kind = \"score\", events = \"0 69 0.8 1; 1 81 0.8 1\" }}
take = {{ kind = \"midi_writer\", file = \"take.mid\" }}
keys = {{ kind = \"pd\", file = \"{patch}\", out = 1 }}
out = {{ kind = \"sink\" }}
"
        )
    };
    here.write("s.toml", session("keys.pd"));
    here.well("render s.toml -o out.wav --seconds 1");
    let bytes = here.read("out.wav");
    let samples: Vec<f32> = bytes[bytes.len() - 4 * 44_100..]
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().expect("four")))
        .collect();
    let crossings = |part: &[f32]| {
        part.windows(2)
            .filter(|two| two[0] < 0.0 && two[1] >= 0.0)
            .count()
    };
    // 440 and 880 Hz for half a second each.
    assert!(crossings(&samples[..22_000]).abs_diff(220) <= 2);
    assert!(crossings(&samples[22_100..44_100]).abs_diff(440) <= 3);
    let take = here.read("take.mid");
    let has = |message: [u8; 2]| take.windows(2).any(|two| two == message);
    // Channel 2, a fifth higher.
    assert!(has([0x91, 76]) && has([0x91, 88]));
}

#[test]
fn a_patch_with_midi_boxes_has_live_ports() {
    let here = Folder::new();
    here.write("keys.pd", KEYS);
    let played = here.well("play keys.pd --driver clock --seconds 0.05 --workers 1");
    // This driver has none, and the machine need not have ALSA's: either is said.
    assert!(played.err.contains("MIDI"), "{}", played.err);
    here.write("tone.pd", TONE);
    let played = here.well("play tone.pd --driver clock --seconds 0.05 --workers 1");
    assert!(!played.err.contains("MIDI"), "{}", played.err);
}

/// A session with `TONE`, whose node states `params`.
fn tone_session(params: &str) -> String {
    format!(
        "edges = [\"tone.out1 -> left\"]
[settings]
rate = 44100
block = 64
[nodes]
tone = {{ kind = \"pd\", file = \"tone.pd\"{params} }}
left = {{ kind = \"sink\" }}
"
    )
}

#[test]
fn what_a_patch_receives_is_a_parameter_of_its_node() {
    let here = Folder::new();
    here.write("tone.pd", TONE);
    let render = |name: &str, params: &str| {
        here.write(&format!("{name}.toml"), tone_session(params));
        here.well(&format!("render {name}.toml -o {name}.wav --seconds 0.1"));
        here.read(&format!("{name}.wav"))
    };
    let stated = render("stated", ", freq = 440");
    assert_eq!(stated, render("sent", ", send = \"0 freq 440\""));
    assert_ne!(stated, render("plain", ""));
    here.write("wrong.toml", tone_session(", frq = 440"));
    let wrong = here.call("render wrong.toml -o wrong.wav --seconds 0.1");
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("did you mean `freq`"), "{}", wrong.err);
    let checked = here.call("check wrong.toml");
    assert_eq!(checked.code, Some(2));
    assert!(checked.err.contains("wrong.toml:6"), "{}", checked.err);
    here.write("text.toml", tone_session(", freq = \"high\""));
    let text = here.call("check text.toml");
    assert!(text.err.contains("`high`"), "{}", text.err);
}

#[test]
fn parameters_of_a_patch_are_set_undone_learned_and_saved_while_it_plays() {
    let here = Folder::new();
    here.write("tone.pd", TONE);
    here.write("s.toml", tone_session(", freq = 300"));
    let playing = Playing::begin(
        &here,
        "play s.toml --driver clock --workers 1 --socket s",
        |_| {},
    );
    let node = || {
        let graph = playing.graph();
        let nodes = graph["nodes"].as_array().unwrap();
        nodes
            .iter()
            .find(|node| node["name"] == "tone")
            .unwrap()
            .clone()
    };
    assert_eq!(node()["own_params"], serde_json::json!(["freq"]));
    playing.send(&["set tone.freq 440"]).unwrap();
    assert_eq!(node()["params"]["freq"], 440.0);
    playing.send(&["undo"]).unwrap();
    assert_eq!(node()["params"]["freq"], 300.0);
    playing.send(&["set tone.freq 500 over 50"]).unwrap();
    let refused = playing.send(&["set tone.volumne 1"]).unwrap_err();
    assert!(refused.contains("volumne"), "{refused}");
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("freq = 500"), "{kept}");
    here.well("check kept.toml");
}

/// A session that plays `patch.pd` with two arguments.
const NAMING: &str = "edges = [\"p.out1 -> out\"]
[settings]
rate = 44100
block = 64
[nodes]
p = { kind = \"pd\", file = \"patch.pd\", args = \"seven 7\", out = 1 }
out = { kind = \"sink\" }
";

#[test]
fn a_session_gives_its_patch_arguments_and_shows_its_mistakes() {
    let here = Folder::new();
    here.write("s.toml", NAMING);
    here.write(
        "patch.pd",
        printer("ready").replace("print", "print \\$1-\\$2"),
    );
    let said = here
        .well("render s.toml -o out.wav --seconds 0.1 --strict")
        .err;
    assert!(said.contains("seven-7: ready"), "{said}");
    here.write("patch.pd", TONE);
    let said = here.well("check s.toml").err;
    for part in ["`osccc~`", "patch.pd:6"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(here.call("check s.toml --strict").code, Some(1));
    here.well("render s.toml -o lax.wav --seconds 0.1");
    let strict = here.call("render s.toml -o strict.wav --seconds 0.1 --strict");
    assert_eq!(strict.code, Some(1), "{}", strict.err);
}

#[test]
fn a_patch_of_a_session_that_plays_is_replaced_when_its_file_is_saved() {
    let here = Folder::new();
    here.write("s.toml", NAMING);
    here.write("patch.pd", printer("first words"));
    let line = "play s.toml --driver clock --workers 1 --reload --socket s";
    let mut playing = Playing::begin(&here, line, |_| {});
    let stderr = BufReader::new(playing.child.stderr.take().unwrap());
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = lines.clone();
    std::thread::spawn(move || {
        for line in stderr.lines().map_while(Result::ok) {
            heard.lock().unwrap().push(line);
        }
    });
    let says = |words: &str| {
        let lines = lines.lock().unwrap();
        lines.iter().any(|line: &String| line.contains(words))
    };
    wait_until(|| says("first words"));
    here.write("patch.pd", printer("second words"));
    wait_until(|| says("second words"));
    here.write("patch.pd", printer("third words") + "#X obj 0 0 osk~;\n");
    wait_until(|| says("third words"));
    assert!(says("osk~"), "{lines:?}");
}

#[test]
fn messages_to_canvases_make_boxes_in_a_render() {
    let here = Folder::new();
    let patch = "#N canvas 0 0 450 300 12;
#X obj 20 20 loadbang;
#X msg 20 50 \\; pd-made obj 10 10 r go \\, obj 10 40 print made \\, connect 0 0 1 0 \\, obj 10 70 osc~ 440 \\; go 5;
#X connect 0 0 1 0;
#N canvas 0 0 450 300 made 0;
#X restore 20 80 pd made;
";
    here.write("p.pd", patch);
    let said = here.well("render p.pd -o out.wav --seconds 0.1").err;
    assert!(said.contains("made: 5"), "{said}");
    assert!(!said.contains("error"), "{said}");
}

/// A patch that prints each millisecond and writes what it plays into a file.
const PRINTS_AND_WRITES: &str = "#N canvas 0 0 450 300 12;
#X obj 20 20 loadbang;
#X obj 20 50 metro 1;
#X obj 20 80 float;
#X obj 80 80 + 1;
#X obj 20 110 print;
#X obj 200 20 osc~ 441;
#X obj 200 80 dac~;
#X obj 300 80 writesf~ 1;
#X msg 300 50 open FILE.wav \\, start;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 2 0 3 0;
#X connect 3 0 2 1;
#X connect 2 0 4 0;
#X connect 5 0 6 0;
#X connect 5 0 7 0;
#X connect 0 0 8 0;
#X connect 8 0 7 0;
";

/// A render takes several blocks of a small patch at once: nothing of it is heard, written or printed.
#[test]
fn a_render_does_nothing_behind_its_end() {
    let here = Folder::new();
    let render = |name: &str, options: &str| {
        here.write(
            &format!("{name}.pd"),
            PRINTS_AND_WRITES.replace("FILE", &format!("own-{name}")),
        );
        let call =
            format!("render {name}.pd -o {name}.wav --seconds 0.1 --allow-write . {options}");
        let printed = here.well(&call).err;
        let lines = printed.lines().filter(|line| line.contains("print: "));
        let count = lines.count();
        (
            count,
            here.read(&format!("{name}.wav")),
            here.read(&format!("own-{name}.wav")),
        )
    };
    // 0.1 s are 68.9 blocks of 64 frames, and 2.2 of 2048.
    let (several, single) = (render("several", ""), render("single", "--block 64"));
    assert!(several.0 >= 100, "{} lines", several.0);
    assert_eq!(several.0, single.0);
    assert!(several.1 == single.1 && several.2 == single.2);
}

#[test]
fn fast_forward_changes_nothing_in_a_render_as_in_pd_without_audio() {
    let here = Folder::new();
    let tone = "#N canvas 0 0 450 300 12;\n#X obj 0 0 osc~ 220;\n#X obj 0 0 dac~;\n#X obj 0 0 loadbang;\n#X connect 0 0 1 0;\n";
    let passes =
        format!("{tone}#X msg 0 0 \\; pd dsp 1 \\, fast-forward 4500;\n#X connect 2 0 3 0;\n");
    let render = |name: &str, text: &str, options: &str| {
        here.write(&format!("{name}.pd"), text);
        let said = here.well(&format!(
            "render {name}.pd -o {name}.wav --seconds 0.2 {options}"
        ));
        assert!(!said.err.contains("error"), "{}", said.err);
        let wav = here.read(&format!("{name}.wav"));
        let begin = wav.windows(4).position(|it| it == b"data").expect("sound") + 8;
        wav[begin..].to_vec()
    };
    let plain = render("tone", tone, "");
    assert!(plain.iter().any(|byte| *byte != 0));
    for options in ["", "--block 64"] {
        assert!(render("passes", &passes, options) == plain, "{options}");
    }
    // What plays says so.
    let said = here.well("play passes.pd --seconds 0.1");
    assert!(said.err.contains("fast-forward"), "{}", said.err);
}

/// A scalar in a subpatch, with a polygon, an area, a number and two arrays.
const DATA: &str = "#N struct point float x float y float size array row step array area wide;
#N struct step float y;
#N struct wide float x float y float w;
#N canvas 0 0 450 300 12;
#N canvas 0 0 200 100 data 0;
#X scalar point 30 50 7 \\; 0 \\; 10 \\; -10 \\; \\; 0 5 3 \\; 20 5 6 \\; \\;;
#X coords 0 100 1 99 0 0 0;
#X restore 20 20 pd data;
#N canvas 0 0 450 300 drawing 0;
#X obj 20 20 struct point float x float y float size array row step array area wide;
#X obj 20 50 drawpolygon 900 2 0 0 size(0:10)(0:100) 0 20 20;
#X obj 20 80 filledcurve 80 8 1 0 0 10 0 10 10;
#X obj 20 110 drawnumber size 5 5 9 size=;
#X obj 20 140 plot row 505 3 0 0 10;
#X obj 20 170 plot -vs 0 area 660 1 0 0 10;
#X obj 20 200 drawpolygon -v 0 111 1 0 0 9 9;
#X restore 20 50 pd drawing;
#X obj 20 80 hsl 128 15 0 127 0 0 empty empty empty -2 -8 0 10 #fcfcfc #000000 #000000 0 1;
";

#[test]
fn a_drawing_shows_what_subpatches_show_of_themselves() {
    let here = Folder::new();
    let face = |corner: &str, shown: u8| {
        format!(
            "#N canvas 0 0 450 300 12;\n#N canvas 0 0 200 100 desk 0;\n\
             #X obj 110 60 nbx 5 14 0 1 0 0 empty empty volume 5 7 0 10 #fcfcfc #000000 #000000 7 256;\n\
             #X obj 195 60 tgl 15 0 empty empty outside 17 7 0 10 #fcfcfc #000000 #000000 0 1;\n\
             #X text 102 52 level;\n#X obj 110 80 osc~ 440;\n#X msg 110 80 hidden;\n\
             #X coords 0 -1 1 1 100 60 {shown}{corner};\n#X restore 50 40 pd desk;\n\
             #N canvas 0 0 450 300 (subpatch) 0;\n#X array curve 3 float 1;\n#A 0 0 2 1;\n\
             #X coords 0 2 2 0 80 40 1 0 0;\n#X restore 200 40 graph;\n"
        )
    };
    let drawn = |text: &str| {
        here.write("face.pd", text);
        here.well("draw face.pd -o face.svg");
        let svg = String::from_utf8(here.read("face.svg")).unwrap();
        std::fs::remove_file(here.path("face.svg")).unwrap();
        svg
    };
    let svg = drawn(&face(" 100 50", 1));
    for text in ["pd desk", ">7<", ">level<", ">curve<"] {
        assert!(svg.contains(text), "{text}\n{svg}");
    }
    for text in ["outside", "osc~", "hidden", "graph"] {
        assert!(!svg.contains(text), "{text}\n{svg}");
    }
    // The graph stands 150 pixels right of the face, which is 20 pixels from the border; the array goes from its bottom to its top.
    let curve = "M170 60L210 20L250 40";
    assert!(svg.contains(curve), "{svg}");
    // A name that is hidden, and a graph of old, which shows its whole window and no comments.
    let svg = drawn(&face(" 100 50", 2));
    assert!(!svg.contains("pd desk") && svg.contains("level"), "{svg}");
    let svg = drawn(&face("", 1));
    assert!(svg.contains("outside") && !svg.contains("level"), "{svg}");
}

#[test]
fn a_drawing_of_a_canvas_shows_its_data_in_the_places_and_colours_of_pd() {
    let here = Folder::new();
    here.write("data.pd", DATA);
    here.well("draw data.pd --canvas data -o data.svg");
    let drawing = String::from_utf8(here.read("data.svg")).unwrap();
    // The scalar lies at (30, 50) in the window; the corner of the picture is 20 pixels left of and above (0, 0).
    for part in [
        // Red, from it to 70 pixels and to (20, 20) on.
        "stroke=\"#ff0000\" stroke-width=\"2\"",
        "M50 70L120 70L70 50",
        // A curve in blue inside, closed, between the middles of its sides.
        "fill=\"#00ff00\"",
        // `size=7` in the darkest blue.
        ">size=7<",
        // Elements ten pixels apart, 3 wide.
        "M50 70L60 60L70 80",
        "stroke-width=\"3\"",
        // Twice as wide as `w` says.
        "M50 68L70 71L70 59L50 62",
    ] {
        assert!(drawing.contains(part), "{part}\n{drawing}");
    }
    assert!(!drawing.contains("#202020"), "it is not visible");
    let refused = here.call("draw data.pd --canvas nowhere -o x.svg");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(
        refused.err.contains("no canvas `nowhere`"),
        "{}",
        refused.err
    );
}
