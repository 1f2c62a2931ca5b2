//! Boxes of patches as parameters of their nodes, and edges that drive what a patch receives or shows.

mod common;

use common::Folder;
use common::playing::{Playing, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

/// A tone whose pitch a slider without a receive name sets, and boxes that show other things.
const BOXES: &str = "#N canvas 0 0 450 300 12;
#X obj 20 20 hsl 128 15 100 1000 1 0 empty empty pitch -2 -8 0 10 -262144 -1 -1 0 1;
#X obj 20 60 osc~ 220;
#X obj 20 90 *~ 0.1;
#X obj 20 130 dac~;
#X obj 90 20 tgl 15 0 empty empty empty 17 7 0 10 -262144 -1 -1 0 64;
#X floatatom 90 60 5 0 0 0 - - -;
#X obj 200 20 hradio 15 1 0 4 empty empty pitch 0 -8 0 10 -262144 -1 -1 0;
#X obj 200 60 vu 15 120 empty empty -1 -8 0 10 -66577 -1 1 0;
#N canvas 0 0 450 300 voice 0;
#X obj 10 10 nbx 5 14 0 1 0 0 empty empty cut_off! 0 -8 0 10 -262144 -1 -1 0.5 256;
#X restore 300 20 pd voice;
#N canvas 0 0 450 300 voice 0;
#X obj 10 10 bng 15 250 50 0 empty empty empty 17 7 0 10 -262144 -1 -1;
#X obj 10 40 print bang;
#X connect 0 0 1 0;
#X restore 300 60 pd voice;
#X obj 300 90 hsl 128 15 0 1 0 0 empty vol volume -2 -8 0 10 -262144 -1 -1 0 1;
#X symbolatom 300 120 10 0 0 0 - - -;
#X obj 300 150 print word;
#X connect 0 0 1 0;
#X connect 1 0 2 0;
#X connect 2 0 3 0;
#X connect 4 0 5 0;
#X connect 5 0 7 0;
#X connect 11 0 12 0;
";

/// A session with `boxes.pd`, whose node states `params`, and edges that drive it.
fn session(params: &str, edges: &str, nodes: &str) -> String {
    format!(
        "edges = [\"tone.out1 -> left\"{edges}]
[settings]
rate = 44100
block = 64
[nodes]
tone = {{ kind = \"pd\", file = \"boxes.pd\"{params} }}
left = {{ kind = \"sink\" }}
{nodes}"
    )
}

fn tone(playing: &Playing<'_>) -> Value {
    let graph = playing.graph();
    let nodes = graph["nodes"].as_array().unwrap();
    let tone = nodes.iter().find(|node| node["name"] == "tone");
    tone.unwrap().clone()
}

fn shown(node: &Value, name: &str) -> Value {
    let boxes = node["boxes"].as_array().unwrap();
    let found = boxes.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {boxes:?}"))["value"].clone()
}

#[test]
fn every_box_of_a_patch_has_a_name_a_range_and_a_value_and_is_moved_by_it() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    here.write("s.toml", session("", "", ""));
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    let node = tone(&playing);
    let names = |list: &Value, key: &str| -> Vec<String> {
        let all = list.as_array().unwrap().iter();
        all.map(|it| if key.is_empty() { it } else { &it[key] })
            .map(|it| it.as_str().unwrap().to_owned())
            .collect()
    };
    let all = [
        "vol",
        "pitch",
        "tgl1",
        "floatatom1",
        "pitch-2",
        "vu1",
        "voice-cut_off",
        "voice-2-bng1",
        "symbolatom1",
    ];
    assert_eq!(names(&node["boxes"], "name"), all);
    let settable = [
        "vol",
        "pitch",
        "tgl1",
        "floatatom1",
        "pitch-2",
        "voice-cut_off",
        "voice-2-bng1",
    ];
    assert_eq!(names(&node["own_params"], ""), settable);
    let pitch = json!({
        "name": "pitch", "class": "hsl", "label": "pitch", "min": 100.0, "max": 1000.0, "law": "logarithmic",
        "initial": 100.0, "value": 100.0, "read_only": false,
    });
    assert_eq!(node["boxes"][1], pitch);
    // As far as a mouse can move it.
    playing
        .send(&["set tone.pitch 5000", "set tone.tgl1 1"])
        .unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 1000.0);
    // The switch sends its number to the number box.
    wait_until(|| shown(&tone(&playing), "floatatom1") == 64.0);
    wait_until(|| shown(&tone(&playing), "vu1") == 64.0);
    playing.send(&["set tone.pitch 300"]).unwrap();
    playing.send(&["set tone.pitch-2 2.7"]).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch-2") == 2.0);
    playing.send(&["undo"]).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 300.0);
    wait_until(|| shown(&tone(&playing), "pitch-2") == 0.0);
    // A number that the session does not keep.
    playing.send(&["value tone.voice-cut_off 0.25"]).unwrap();
    wait_until(|| shown(&tone(&playing), "voice-cut_off") == 0.25);
    assert_eq!(tone(&playing)["params"].get("voice-cut_off"), None);
    // What the patch sends to a box by its name is followed.
    playing.send(&["message tone vol 0.75"]).unwrap();
    wait_until(|| shown(&tone(&playing), "vol") == 0.75);
    let refused = playing.send(&["set tone.vu1 1"]).unwrap_err();
    assert!(refused.contains("vu1"), "{refused}");
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("pitch = 300"), "{kept}");
    here.well("check kept.toml");
}

#[test]
fn a_box_that_the_session_states_sounds_as_one_that_is_sent_to() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    let render = |name: &str, params: &str| {
        here.write(&format!("{name}.toml"), session(params, "", ""));
        here.well(&format!("render {name}.toml -o {name}.wav --seconds 0.1"));
        here.read(&format!("{name}.wav"))
    };
    let stated = render("stated", ", pitch = 440");
    assert_ne!(stated, render("plain", ""));
    let by_name = BOXES.replacen("empty empty pitch", "empty p pitch", 1);
    here.write("boxes.pd", by_name);
    assert_eq!(stated, render("sent", ", send = \"0 p 440\""));
    here.write("wrong.toml", session(", pich = 440", "", ""));
    let wrong = here.call("check wrong.toml");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean"), "{}", wrong.err);
}

#[test]
fn words_reach_a_symbol_box_and_a_bang_reaches_a_button() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    here.write("s.toml", session(", voice-2-bng1 = 1", "", ""));
    let said = here.well("render s.toml -o s.wav --seconds 0.1").err;
    assert!(said.contains("bang: bang"), "{said}");
    here.write("s.toml", session("", "", ""));
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let mut playing = Playing::begin(&here, line, |_| {});
    playing
        .send(&["message tone symbolatom1 symbol hello"])
        .unwrap();
    let lines = BufReader::new(playing.child.stderr.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("word: symbol hello"))
    );
}

#[test]
fn snapshots_and_presets_keep_boxes_and_a_set_keeps_what_a_box_holds() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    here.write("s.toml", session("", "", ""));
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    playing.send(&["set tone.pitch 300"]).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 300.0);
    playing.send(&["snapshot low"]).unwrap();
    playing.send(&["save_preset tone low"]).unwrap();
    let far = ["set tone.pitch 5000", "set tone.pitch-2 2"];
    playing.send(&far).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 1000.0);
    // The nearest value in the range of the box.
    assert_eq!(tone(&playing)["params"]["pitch"], 1000.0);
    playing.send(&["recall low"]).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 300.0);
    wait_until(|| shown(&tone(&playing), "pitch-2") == 0.0);
    playing.send(&far).unwrap();
    playing.send(&["load_preset tone low"]).unwrap();
    wait_until(|| shown(&tone(&playing), "pitch") == 300.0);
    playing.send(&["save kept.toml"]).unwrap();
    here.well("check kept.toml");
    let again = "render kept.toml -o k.wav --seconds 0.1 --snapshot low";
    here.well(again);
}

#[test]
fn a_button_is_pressed_by_all_but_0_and_names_that_nothing_receives_are_said() {
    let here = Folder::new();
    let by_name = BOXES.replace("250 50 0 empty empty empty", "250 50 0 empty kick empty");
    here.write("boxes.pd", by_name);
    let said = |params: &str| {
        here.write("s.toml", session(params, "", ""));
        let said = here.well("render s.toml -o s.wav --seconds 0.1").err;
        said.matches("bang: bang").count()
    };
    assert_eq!((said(", kick = 0"), said(", kick = 1")), (0, 1));
    let mut render = here.command("render boxes.pd -o b.wav --seconds 0.1");
    let render = render.args(["--send", "10 kick bang", "--send", "20 nobody 1"]);
    let err = String::from_utf8(render.output().unwrap().stderr).unwrap();
    assert!(err.contains("nobody: no such object"), "{err}");
    assert!(!err.contains("kick: no such object"), "{err}");
}

#[test]
fn a_command_that_no_node_takes_says_what_is_wrong() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    let nodes = "lfo = { kind = \"osc\", freq = 2 }";
    here.write("s.toml", session("", "", nodes));
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    for (command, reason) in [
        ("message left x 1", "`left` is no patch"),
        ("message nobody x 1", "nobody"),
        ("connect lfo -> tone.pitch", "a command cannot drive it"),
        ("set tone.symbolatom1 3", "symbolatom1"),
    ] {
        let refused = playing.send(&[command]).unwrap_err();
        assert!(refused.contains(reason), "{command}: {refused}");
    }
}

#[test]
fn an_edge_drives_what_a_patch_receives_or_shows_with_the_same_bits_everywhere() {
    let here = Folder::new();
    here.write(
        "boxes.pd",
        BOXES.replacen("osc~ 220", "osc~ 220 \\, f 8", 1),
    );
    let nodes = "lfo = { kind = \"lfo\", freq = 30 }\nbeat = { kind = \"metro\" }\n";
    let edges = ", \"lfo -> tone.pitch: 200 add\", \"lfo -> tone.vol\"";
    let render = |name: &str, edges: &str, options: &str| {
        here.write(
            &format!("{name}.toml"),
            session(", pitch = 500", edges, nodes),
        );
        here.well(&format!(
            "render {name}.toml -o {name}.wav --seconds 0.2 {options}"
        ));
        here.read(&format!("{name}.wav"))
    };
    let driven = render("driven", edges, "--workers 1");
    assert_ne!(driven, render("plain", "", ""));
    for options in [
        "--workers 2 --scheduler stealing",
        "--workers 2 --scheduler global",
        "--workers 1 --fuse off",
    ] {
        assert!(driven == render("other", edges, options), "{options}");
    }
    // A part of the amount is another sound, and the file is read as it is written.
    assert_ne!(
        driven,
        render("less", ", \"lfo -> tone.pitch: 100 add\"", "")
    );
    here.write("wrong.toml", session("", ", \"lfo -> tone.pich\"", nodes));
    let wrong = here.call("check wrong.toml");
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("did you mean `pitch`"), "{}", wrong.err);
    here.write("meter.toml", session("", ", \"lfo -> tone.vu1\"", nodes));
    let wrong = here.call("check meter.toml");
    assert!(wrong.err.contains("cannot be set"), "{}", wrong.err);
}

#[test]
fn events_drive_boxes_each_by_itself() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    let nodes = "beat = { kind = \"metro\" }\n";
    let edges = ", \"beat -> tone.voice-2-bng1\"";
    here.write("s.toml", session("", edges, nodes));
    let said = here.well("render s.toml -o s.wav --seconds 2.2").err;
    assert!(said.matches("bang: bang").count() >= 4, "{said}");
}

#[test]
fn an_edge_drives_a_patch_that_shares_names() {
    let here = Folder::new();
    here.write(
        "a.pd",
        "#N canvas 0 0 9 9 12;\n#X obj 0 0 r freq;\n#X obj 0 0 osc~ 100;\n#X obj 0 0 dac~;\n#X obj 0 0 r shared;\n#X obj 0 0 *~ 1;\n\
         #X connect 0 0 1 0;\n#X connect 1 0 4 0;\n#X connect 4 0 2 0;\n#X connect 3 0 4 1;\n",
    );
    here.write(
        "b.pd",
        "#N canvas 0 0 9 9 12;\n#X obj 0 0 loadbang;\n#X msg 0 0 0.5;\n#X obj 0 0 s shared;\n#X connect 0 0 1 0;\n#X connect 1 0 2 0;\n",
    );
    let render = |name: &str, edge: &str, options: &str| {
        let session = format!(
            "edges = [\"a.out1 -> left\"{edge}]\n[settings]\nrate = 44100\nblock = 64\n[nodes]\na = {{ kind = \"pd\", file = \"a.pd\" }}\n\
             b = {{ kind = \"pd\", file = \"b.pd\" }}\nleft = {{ kind = \"sink\" }}\nlfo = {{ kind = \"lfo\", freq = 30 }}\n"
        );
        here.write(&format!("{name}.toml"), session);
        here.well(&format!(
            "render {name}.toml -o {name}.wav --seconds 0.2 {options}"
        ));
        here.read(&format!("{name}.wav"))
    };
    let edge = ", \"lfo -> a.freq: 300 add\"";
    let driven = render("driven", edge, "--workers 1");
    assert!(driven != render("plain", "", "--workers 1"));
    assert!(driven == render("two", edge, "--workers 2 --scheduler stealing"));
}

#[test]
fn a_driven_box_is_seen_moving_and_an_edge_is_saved() {
    let here = Folder::new();
    here.write("boxes.pd", BOXES);
    let nodes = "lfo = { kind = \"lfo\", freq = 3 }\n";
    let edges = ", \"lfo -> tone.pitch: 400 add\"";
    here.write("s.toml", session(", pitch = 550", edges, nodes));
    let line = "play s.toml --driver clock --workers 1 --socket s";
    let playing = Playing::begin(&here, line, |_| {});
    let first = shown(&tone(&playing), "pitch");
    wait_until(|| shown(&tone(&playing), "pitch") != first);
    playing.send(&["save kept.toml"]).unwrap();
    let kept = String::from_utf8(here.read("kept.toml")).unwrap();
    assert!(kept.contains("lfo -> tone.pitch: add 400"), "{kept}");
    here.well("check kept.toml");
}
