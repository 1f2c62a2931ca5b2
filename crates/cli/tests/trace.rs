//! `--trace` and `--slowest`: valid files, however the run ends.

mod common;

use common::{BEEP, Folder};
use serde_json::Value;
use std::collections::BTreeMap;

/// The events of a trace. Asserts that the slices of each lane do not overlap.
fn events(trace: &Value) -> Vec<Value> {
    let events = trace["traceEvents"].as_array().unwrap();
    let mut lanes = BTreeMap::<u64, Vec<(u64, u64)>>::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let ns = |time: &Value| (time.as_f64().unwrap() * 1000.0).round() as u64;
        let from = ns(&event["ts"]);
        let lane = lanes.entry(event["tid"].as_u64().unwrap()).or_default();
        lane.push((from, from + ns(&event["dur"])));
    }
    for lane in lanes.values_mut() {
        lane.sort_unstable();
        assert!(lane.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
    events.clone()
}

fn count(events: &[Value], name: &str) -> u64 {
    let named = events.iter().filter(|event| event["name"] == name);
    named.filter(|event| event["ph"] == "X").count() as u64
}

#[test]
fn every_step_of_every_cycle_is_in_a_render_s_trace() {
    let here = Folder::new();
    here.well("shape diamond --nodes 16 -o diamond.ag");
    for scheduler in ["sequential", "hlfet", "stealing", "mutex"] {
        let gave = here.well(&format!(
            "render diamond.ag -o out.wav --seconds 0.1 --scheduler {scheduler} --workers 2 \
             --trace trace.json --json report.json"
        ));
        let cycles = here.json("report.json")["cycles"].as_u64().unwrap();
        let events = events(&here.json("trace.json"));
        assert_eq!(count(&events, "cycle"), cycles, "{scheduler}");
        let steps = events.iter().filter(|event| event["cat"] == "sink");
        assert_eq!(steps.count() as u64, cycles, "{scheduler}");
        let said = format!("trace.json: all {cycles} cycles; open it at https://ui.perfetto.dev");
        assert!(gave.err.contains(&said), "{}", gave.err);
        let picture = String::from_utf8(here.read("trace.slowest.svg")).unwrap();
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("worker 0 (callback)"));
    }
}

#[test]
fn a_played_trace_has_lanes_names_and_deadlines() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.well(
        "play beep.ag --driver clock --scheduler sequential --seconds 0.2 --trace t.json --slowest s.svg",
    );
    assert!(here.has("s.svg") && !here.has("t.slowest.svg"));
    let trace = here.json("t.json");
    assert_eq!(
        trace["otherData"]["about"],
        "divisi: beep.ag, sequential, 64 frames at 48000 Hz"
    );
    let events = events(&trace);
    let deadlines = events.iter().filter(|event| event["name"] == "deadline");
    assert_eq!(deadlines.count() as u64, count(&events, "cycle"));
    assert!(count(&events, "o") > 0 && count(&events, "s") > 0);
}

#[test]
fn what_auto_chose_is_in_the_trace() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.well("render beep.ag -o o.wav --seconds 0.1 --trace t.json --json report.json");
    let chosen = here.json("report.json")["scheduler"].clone();
    assert_eq!(
        here.json("t.json")["otherData"]["about"],
        format!(
            "divisi: beep.ag, {} (auto), 64 frames at 48000 Hz",
            chosen.as_str().unwrap()
        )
    );
}

#[test]
fn a_full_trace_is_reported_and_stays_small() {
    let here = Folder::new();
    here.well("shape random --nodes 500 -o random.ag");
    let gave = here
        .well("render random.ag -o out.wav --seconds 2 --scheduler sequential --trace t.json --trace-room 1");
    assert!(
        gave.err
            .contains("t.json: 1 MiB are full: from here on only missed"),
        "{}",
        gave.err
    );
    assert!(gave.err.contains(" of 1500 cycles"), "{}", gave.err);
    assert!(here.read("t.json").len() < 1_100_000);
    assert!(count(&events(&here.json("t.json")), "cycle") > 5);
}

#[test]
fn the_slowest_cycle_alone_needs_no_trace() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let gave = here
        .well("render beep.ag -o out.wav --scheduler sequential --seconds 0.1 --slowest slow.svg");
    assert!(gave.err.contains("slow.svg: cycle "), "{}", gave.err);
    assert!(
        String::from_utf8(here.read("slow.svg"))
            .unwrap()
            .contains("<title>Cycle ")
    );
}

#[test]
fn wrong_names_are_refused_before_anything_is_written() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    here.write("beep.json", BEEP);
    let wrong = [
        (
            "play beep.ag --trace",
            "a value is required for '--trace <OUT.json>'",
        ),
        (
            "play --trace beep.ag",
            "the following required arguments were not provided",
        ),
        (
            "play beep.ag --trace t.txt",
            "divisi: t.txt: a trace ends in .json",
        ),
        ("play beep.ag --trace t", "divisi: t: a trace ends in .json"),
        (
            "render beep.ag -o o.wav --slowest s.png",
            "divisi: s.png: a picture ends in .svg",
        ),
        ("play beep.ag --trace-room 5", "--trace <OUT.json>"),
        (
            "play beep.ag --trace t.json --trace-room 0",
            "0 is not in 1..=65536",
        ),
        (
            "play beep.ag --driver clock --trace no/t.json",
            "divisi: cannot write no/t.json: ",
        ),
    ];
    for (line, said) in wrong {
        let gave = here.call(line);
        assert!(gave.err.contains(said), "divisi {line}\n{}", gave.err);
        let code = if line.contains("no/") { 1 } else { 2 };
        assert_eq!(gave.code, Some(code), "divisi {line}\n{}", gave.err);
    }
    assert!(!here.has("t.json") && !here.has("o.wav") && !here.has("t"));
}
