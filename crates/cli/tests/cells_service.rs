//! Cells while they play: asked, stopped, started, resized, added and removed through the socket; and their policies.
#![cfg(target_os = "linux")]

mod common;

use common::json_schema::validate;
use common::playing::Playing;
use common::{Folder, repository};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

/// A block lasts 10 ms, of which 9 are not reserved. Only what is stated counts: nothing is measured here.
const SESSION: &str = r#"
edges = ["tone -> low -> mix.in1 -> out", "tone -> room -> mix.in2", "tone -> wide -> mix.in3"]
[nodes]
tone = { kind = "osc", freq = 440, cost_us = 0 }
low = { kind = "svf", freq = 900, cost_us = 5000 }
room = { kind = "gain", gain_db = -6, cost_us = 6000 }
wide = { kind = "gain", gain_db = -6, cost_us = 3000 }
mix = { kind = "mixer", in = 3, cost_us = 0 }
out = { kind = "sink", cost_us = 0 }
[cell.first]
nodes = ["low"]
cores = [0]
latency = 1
precedence = 1
"#;

const LINE: &str = "cells s.toml --driver clock --socket s --rate 48000 --block 480";

fn play<'f>(here: &'f Folder, session: &str, options: &str) -> Playing<'f> {
    here.write("s.toml", session);
    Playing::begin(here, &format!("{LINE} {options}"), |_| {})
}

/// The cells, as a query gives them. The reply fits the schema.
fn cells(playing: &Playing<'_>) -> Value {
    let reply = playing.send(&["query cells"]).unwrap();
    let schema = std::fs::read(repository("docs/commands.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    validate(&schema, &schema["$defs"]["reply"], &reply).unwrap();
    validate(&schema, &schema["$defs"]["cells"], &reply["data"][0]).unwrap();
    reply["data"][0].clone()
}

fn cell(playing: &Playing<'_>, name: &str) -> Value {
    let all = cells(playing);
    let mut all = all["cells"].as_array().unwrap().iter();
    all.find(|it| it["cell"] == name)
        .cloned()
        .unwrap_or_default()
}

/// Waits until `is_so` of a cell. It fails only if that never comes.
fn await_cell(playing: &Playing<'_>, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1500 {
        let found = cell(playing, name);
        if is_so(&found) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("never: {}", cell(playing, name));
}

fn is(state: &'static str) -> impl Fn(&Value) -> bool {
    move |cell| cell["state"] == state
}

/// Blocks that have come.
fn answered(cell: &Value) -> i64 {
    cell["blocks"].as_i64().unwrap() - cell["lost"].as_i64().unwrap()
}

/// Waits until a cell has answered more blocks.
fn await_blocks(playing: &Playing<'_>, name: &str) {
    let before = answered(&cell(playing, name));
    await_cell(playing, name, |cell| answered(cell) > before + 3);
}

fn runs(process: i64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

fn await_end(process: i64) {
    for _ in 0..1500 {
        if !runs(process) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("still there: {process}");
}

/// The cores of each thread of a process.
fn cores_of(process: i64) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let lists = tasks.map(|task| {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.unwrap().trim().to_owned()
    });
    lists.collect()
}

/// Returns true, with a word, on a machine without the cores 0 and 1.
fn lacks_cores(name: &str) -> bool {
    let lacks = std::thread::available_parallelism().is_ok_and(|it| it.get() < 2);
    if lacks {
        println!("SKIPPED {name}: one core");
    }
    lacks
}

#[test]
fn a_cell_is_stopped_started_resized_removed_and_added_while_it_plays() {
    if lacks_cores("a_cell_is_stopped_started_resized_removed_and_added_while_it_plays") {
        return;
    }
    let here = Folder::new();
    let playing = play(&here, SESSION, "");
    let mode = here.path("s").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = await_cell(&playing, "first", is("playing"));
    assert_eq!(
        (&first["cores"], &first["cost_ns"]),
        (&json!([0]), &json!(5_000_000))
    );
    await_blocks(&playing, "first");
    // Stopped: its process is gone, and no block counts as lost.
    let process = first["process"].as_i64().unwrap();
    playing.send(&["stop_cell first"]).unwrap();
    await_end(process);
    let stopped = cell(&playing, "first");
    assert_eq!(
        (&stopped["state"], &stopped["process"]),
        (&json!("stopped"), &json!(null))
    );
    let later = await_cell(&playing, "first", |it| {
        it["blocks"].as_i64().unwrap() > stopped["blocks"].as_i64().unwrap() + 10
    });
    assert_eq!(later["lost"], stopped["lost"]);
    // Started: another process.
    playing.send(&["start_cell first"]).unwrap();
    let second = await_cell(&playing, "first", is("playing"));
    assert_ne!(second["process"], first["process"]);
    assert_eq!(second["restarts"], 1);
    await_blocks(&playing, "first");
    // Resized: all threads of the same process.
    let process = second["process"].as_i64().unwrap();
    playing.send(&["resize_cell first 1"]).unwrap();
    assert!(
        cores_of(process).iter().all(|list| list == "1"),
        "{:?}",
        cores_of(process)
    );
    // Grown: another process, with as many workers, takes its place.
    playing.send(&["resize_cell first 0 1"]).unwrap();
    let third = await_cell(&playing, "first", is("playing"));
    assert_eq!(
        (&third["workers"], &third["cores"]),
        (&json!(2), &json!([0, 1]))
    );
    assert_ne!(third["process"], second["process"]);
    await_blocks(&playing, "first");
    // A value that was set stays, whatever happens to the cells.
    playing.send(&["set wide.gain_db -20"]).unwrap();
    // Added: its nodes leave the supervisor's graph.
    let kind = |name: &str| {
        let graph = playing.graph();
        let nodes = graph["nodes"].as_array().unwrap().clone();
        let node = nodes.into_iter().find(|node| node["name"] == name);
        node.map(|node| node["kind"].as_str().unwrap().to_owned())
    };
    assert_eq!(kind("room").unwrap(), "gain");
    let done = playing
        .send(&["add_cell hall of room with cores=0,1 latency=1"])
        .unwrap();
    assert!(done["frame"].as_u64().unwrap() > 0, "{done}");
    // To its user it is the node that it was.
    assert_eq!(kind("room").unwrap(), "gain");
    let hall = await_cell(&playing, "hall", is("playing"));
    assert_eq!(
        (&hall["cores"], &hall["workers"]),
        (&json!([0, 1]), &json!(2))
    );
    await_blocks(&playing, "hall");
    // One that is killed comes back by itself.
    let process = hall["process"].as_i64().unwrap();
    let killed = Command::new("kill")
        .args(["-KILL", &process.to_string()])
        .status();
    assert!(killed.unwrap().success());
    await_cell(&playing, "hall", |it| {
        it["restarts"] == 1 && it["state"] == "playing"
    });
    await_blocks(&playing, "hall");
    // Removed: its nodes play with the rest.
    let process = await_cell(&playing, "first", is("playing"))["process"].clone();
    let process = process.as_i64().unwrap();
    playing.send(&["remove_cell first"]).unwrap();
    await_end(process);
    assert_eq!(kind("low").unwrap(), "svf");
    assert_eq!(kind("cell first"), None);
    assert_eq!(cells(&playing)["cells"].as_array().unwrap().len(), 1);
    let graph = playing.graph().to_string();
    assert!(graph.contains("-20"), "{graph}");
    playing
        .send(&["add_cell first of low with latency=1"])
        .unwrap();
    await_blocks(&playing, "first");
    let left = ["first", "hall"].map(|name| {
        let process = await_cell(&playing, name, is("playing"))["process"].clone();
        process.as_i64().unwrap()
    });
    drop(playing);
    left.into_iter().for_each(await_end);
}

#[test]
fn a_change_that_does_not_fit_is_refused_with_its_excess_and_precedence_decides_who_yields() {
    if lacks_cores(
        "a_change_that_does_not_fit_is_refused_with_its_excess_and_precedence_decides_who_yields",
    ) {
        return;
    }
    let here = Folder::new();
    let playing = play(&here, SESSION, "");
    let refused = |command: &str, parts: &[&str]| {
        let before = cells(&playing)["cells"].clone();
        let why = playing.send(&[command]).unwrap_err();
        for part in parts {
            assert!(why.contains(part), "{command}: {why}");
        }
        let names = |cells: &Value| -> Vec<Value> {
            let all = cells.as_array().unwrap().iter();
            all.map(|it| json!([it["cell"], it["state"], it["cores"]]))
                .collect()
        };
        assert_eq!(
            names(&before),
            names(&cells(&playing)["cells"]),
            "{command}"
        );
    };
    await_cell(&playing, "first", is("playing"));
    let too_much = "it needs 6 ms of each block on core 0: 2 ms too much";
    refused(
        "add_cell big of room with cores=0 latency=1 precedence=1",
        &["the cell `big` does not fit", too_much, "the cell `first`"],
    );
    // 5 of 4.5 ms, without latency.
    refused(
        "add_cell big of room with cores=1",
        &["it needs 6 ms of each block and may take 4.5 ms: 1.5 ms too much"],
    );
    // One of higher precedence stops the other, which comes back when there is room.
    let done = playing
        .send(&["add_cell big of room with cores=0 latency=1 precedence=2"])
        .unwrap();
    assert_eq!(done["data"][0]["yielded"], json!(["first"]));
    assert_eq!(cell(&playing, "first")["state"], "yielded");
    let done = playing.send(&["remove_cell big"]).unwrap();
    assert_eq!(done["data"][0]["resumed"], json!(["first"]));
    await_cell(&playing, "first", is("playing"));
    // Beside each other on two cores.
    playing.send(&["resize_cell first 1"]).unwrap();
    playing
        .send(&["add_cell big of room with cores=0 latency=1 precedence=1"])
        .unwrap();
    refused(
        "resize_cell first 0",
        &[
            "it needs 5 ms of each block on core 0: 2 ms too much",
            "the cell `big`",
        ],
    );
    playing.send(&["stop_cell big"]).unwrap();
    playing.send(&["resize_cell first 0"]).unwrap();
    refused("start_cell big", &[too_much]);
    // 9 ms are in no cell then, and 14 do not fit a block.
    playing.send(&["remove_cell big"]).unwrap();
    refused(
        "remove_cell first",
        &["the rest of the session does not fit", "5 ms too much"],
    );
}

#[test]
fn what_cells_cannot_do_is_refused_and_hostile_lines_change_nothing() {
    let here = Folder::new();
    let playing = play(&here, SESSION, "--no-admission");
    let cases = [
        ("stop_cell frist", "did you mean `first`?"),
        ("start_cell first", "is not stopped"),
        ("resize_cell first 4000", "there is no core 4000"),
        ("add_cell first of room", "there is a cell `first` already"),
        ("add_cell x of romo", "did you mean `room`?"),
        ("add_cell x of low", "is in the cells"),
        ("add_cell x of out", "cannot be in the cell `x`"),
        ("add_cell x of tone mix", "comes back to it"),
        (
            "add_cell x of room with latency=300",
            "`latency` is a whole number from 0 to 256",
        ),
        (
            "add_cell x of room with cores=0 policy=none",
            "both name core 0",
        ),
        (
            "add_cell x of room with policy=event-triggered",
            "needs `budget_us`",
        ),
        ("remove tune", "did you mean `tone`?"),
        ("connect mix -> low", "comes back to it"),
        ("load", "a session of cells takes"),
    ];
    for (command, part) in cases {
        let why = playing.send(&[command]).unwrap_err();
        assert!(why.contains(part), "{command}: {why}");
    }
    let why = playing
        .send(&["set tone.freq 300", "stop_cell first"])
        .unwrap_err();
    assert!(
        why.contains("command 2") && why.contains("stands alone"),
        "{why}"
    );
    // Each line has an answer, whatever is in it.
    let stream = UnixStream::connect(here.path("s")).unwrap();
    let mut replies = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut ask = |line: &str| -> Value {
        writeln!(&stream, "{line}").unwrap();
        serde_json::from_str(&replies.next().unwrap().unwrap()).unwrap()
    };
    let add = |settings: Value| {
        let add =
            json!({ "do": "add_cell", "cell": "--x\n[", "nodes": ["room"], "settings": settings });
        json!({ "commands": [add] }).to_string()
    };
    let mut lines = vec![
        add(json!({ "memory_mib": -1 })),
        add(json!({ "cores": [1e300] })),
        add(json!({ "windows": [[[]]] })),
        add(json!({ "nodes": ["low"] })),
        add(json!({ "policy": "x".repeat(200_000) })),
        json!({ "commands": [{ "do": "resize_cell", "cell": "first", "cores": [-1] }] })
            .to_string(),
        json!({ "commands": [{ "do": "stop_cell", "cell": 3 }] }).to_string(),
        "{\"commands\":[{\"do\":\"stop_cell\"".to_owned(),
    ];
    let mut state = 5_u64;
    let whole = add(json!({ "cores": [99], "latency": 7 }));
    for _ in 0..300 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone().into_bytes();
        let at = (state >> 33) as usize % bytes.len();
        bytes[at] = b" !\"0x{}[]:,"[(state >> 20) as usize % 11];
        lines.extend(String::from_utf8(bytes));
    }
    for line in lines {
        let reply = ask(&line);
        assert_eq!(reply["ok"], false, "{line}: {reply}");
    }
    await_blocks(&playing, "first");
}

/// A cell whose block needs several milliseconds, whatever the machine.
fn heavy(keys: &str) -> String {
    let (mut nodes, mut edges) = (String::new(), String::new());
    let names: Vec<String> = (0..500).map(|at| format!("n{at}")).collect();
    for (at, name) in names.iter().enumerate() {
        writeln!(
            nodes,
            "{name} = {{ kind = \"osc\", freq = {}, wave = \"saw\" }}",
            50 + at
        )
        .unwrap();
        write!(edges, "\"{name} -> sum\", ").unwrap();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "edges = [{edges}\"sum -> out\"]\n[nodes]\n{nodes}sum = {{ kind = \"gain\", gain_db = -40 }}\nout = {{ kind = \"sink\" }}\n\
         [cell.heavy]\nnodes = [{}, \"sum\"]\nlatency = 1\n{keys}\n",
        quoted.join(", ")
    )
}

/// Returns true, with a word, where this process gets no real-time priority.
fn lacks_priority(name: &str) -> bool {
    let granted = Command::new("chrt").args(["-f", "50", "true"]).output();
    let lacks = !granted.is_ok_and(|it| it.status.success());
    if lacks {
        println!("SKIPPED {name}: no real-time priority");
    }
    lacks
}

#[test]
fn an_event_triggered_cell_that_needs_more_has_its_share_and_plays_on() {
    let name = "an_event_triggered_cell_that_needs_more_has_its_share_and_plays_on";
    if lacks_cores(name) || lacks_priority(name) {
        return;
    }
    let here = Folder::new();
    // On one of two cores the monitor keeps the account.
    let keys = "cores = [0]\npolicy = \"event-triggered\"\nbudget_us = 500\nperiod_us = 20000";
    let playing = play(&here, &heavy(keys), "--no-admission");
    let found = await_cell(&playing, "heavy", |it| {
        it["used_ns"].as_u64().is_some_and(|used| used > 40_000_000)
    });
    let uptime = cells(&playing)["uptime_ns"].as_u64().unwrap();
    let used = found["used_ns"].as_u64().unwrap();
    // It may have a fortieth; what one look or one block comes late is a debt. A block needs more than a budget, so without
    // the server it would take ten times as much.
    assert!(
        used < uptime / 40 + 30_000_000,
        "{used} of {uptime}: {found}"
    );
    await_blocks(&playing, "heavy");
}

/// The limit of real-time work without a pause of a cell with these keys.
fn real_time_limit(keys: &str) -> String {
    let here = Folder::new();
    let playing = play(
        &here,
        &SESSION.replace("precedence = 1", keys),
        "--no-admission",
    );
    let process = await_cell(&playing, "first", is("playing"))["process"].clone();
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max realtime timeout"));
    let limit = line.unwrap().split_whitespace().next();
    limit.unwrap().to_owned()
}

#[test]
fn a_cell_that_is_switched_is_not_ended_for_work_that_adds_up() {
    assert_eq!(real_time_limit("policy = \"none\""), "200000");
    // The kernel begins to count anew where a thread wakes up at real-time priority, which these do not always have.
    let windows = "windows = [{ period_us = 5000, length_us = 3000 }]";
    let time = format!("policy = \"time-triggered\"\n{windows}");
    assert_eq!(real_time_limit(&time), "unlimited");
    let event = "policy = \"event-triggered\"\nbudget_us = 1000\nperiod_us = 10000";
    assert_eq!(real_time_limit(event), "unlimited");
}

#[test]
fn a_time_triggered_cell_plays_in_its_windows() {
    let name = "a_time_triggered_cell_plays_in_its_windows";
    if lacks_cores(name) || lacks_priority(name) {
        return;
    }
    let here = Folder::new();
    let windows = "windows = [{ period_us = 5000, offset_us = 1000, length_us = 2000 }]";
    let session = SESSION.replace(
        "precedence = 1",
        &format!("policy = \"time-triggered\"\n{windows}"),
    );
    let session = session.replace("cost_us = 5000", "cost_us = 2000");
    let session = session.replace("cost_us = 3000", "cost_us = 500");
    let playing = play(&here, &session, "");
    await_blocks(&playing, "first");
    let first = await_cell(&playing, "first", |it| answered(it) > 100);
    // It begins no block outside; what was begun late may end there.
    let (used, outside) = (
        first["used_ns"].as_u64().unwrap(),
        first["outside_ns"].as_u64().unwrap(),
    );
    assert!(outside * 2 < used, "{first}");
    // Windows that meet are refused, with the time for which they do; others are not.
    let add = |offset: u32| {
        let window = json!({ "period_us": 5000, "offset_us": offset, "length_us": 1000 });
        let settings =
            json!({ "cores": [0], "latency": 1, "policy": "time-triggered", "windows": [window] });
        let add =
            json!({ "do": "add_cell", "cell": "second", "nodes": ["wide"], "settings": settings });
        let stream = UnixStream::connect(here.path("s")).unwrap();
        writeln!(&stream, "{}", json!({ "commands": [add] })).unwrap();
        let line = BufReader::new(stream).lines().next().unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let refused = add(2500);
    let why = refused["error"].as_str().unwrap();
    let expected = "its windows on core 0 meet those of another for 500 µs";
    assert!(
        why.contains(expected) && why.contains("the cell `first`"),
        "{why}"
    );
    assert_eq!(add(3000)["ok"], true);
    await_blocks(&playing, "second");
    await_blocks(&playing, "first");
}

/// Ends a session, and gives what it has said.
fn end(mut playing: Playing<'_>) -> String {
    let process = playing.child.id().to_string();
    let asked = Command::new("kill").args(["-INT", &process]).status();
    assert!(asked.unwrap().success());
    let mut said = String::new();
    let errors = playing.child.stderr.as_mut().unwrap();
    errors.read_to_string(&mut said).unwrap();
    said
}

/// A cell that may have one or two cores, with these keys.
fn elastic(keys: &str, more: &str) -> String {
    let cell = "[cell.first]\nnodes = [\"low\"]\nlatency = 1\ncores = [0, 1]\ncores_min = 1\n";
    let (rest, _) = SESSION.split_once("[cell.first]").unwrap();
    format!("{rest}{cell}{keys}\n{more}")
}

#[test]
fn cores_move_by_measured_need_within_their_bounds() {
    let name = "cores_move_by_measured_need_within_their_bounds";
    if lacks_cores(name) {
        return;
    }
    // Any work is more than a millionth of a core.
    let here = Folder::new();
    let session = elastic("target_load = 0.000001", "");
    let playing = play(&here, &session, "");
    let found = await_cell(&playing, "first", |it| it["cores"] == json!([0, 1]));
    assert_eq!((&found["moves"], &found["workers"]), (&json!(1), &json!(2)));
    assert_eq!(
        (&found["cores_min"], &found["cores_max"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(cells(&playing)["goal"], "fewest-cores");
    let process = found["process"].as_i64().unwrap();
    await_blocks(&playing, "first");
    assert!(
        cores_of(process).iter().all(|it| it == "0-1"),
        "{:?}",
        cores_of(process)
    );
    let said = end(playing);
    let moved = "cell `first`: moves from the cores [0] to [0, 1]: it uses ";
    assert!(said.contains(moved), "{said}");
    // A core is not taken that another cell has alone.
    let here = Folder::new();
    let alone = "[cell.wide]\nnodes = [\"wide\"]\nlatency = 1\ncores = [1]\npolicy = \"none\"\n";
    let playing = play(&here, &elastic("target_load = 0.000001", alone), "");
    await_blocks(&playing, "first");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(cell(&playing, "first")["cores"], json!([0]));
    end(playing);
}

#[test]
fn a_core_that_is_not_needed_is_given_back_and_the_goal_headroom_keeps_it() {
    if lacks_cores("a_core_that_is_not_needed_is_given_back_and_the_goal_headroom_keeps_it") {
        return;
    }
    let here = Folder::new();
    let playing = play(&here, &elastic("target_load = 1.0", ""), "");
    await_blocks(&playing, "first");
    playing.send(&["resize_cell first 0 1"]).unwrap();
    let found = await_cell(&playing, "first", |it| it["cores"] == json!([0]));
    assert_eq!(found["moves"], 1);
    end(playing);
    let here = Folder::new();
    let session = elastic(
        "target_load = 1.0",
        "[cells]\ngoal = \"headroom\"\nreserve = 5\n",
    );
    let playing = play(&here, &session, "");
    await_cell(&playing, "first", |it| it["cores"] == json!([0, 1]));
    let all = cells(&playing);
    assert_eq!(
        (&all["goal"], &all["reserve_percent"]),
        (&json!("headroom"), &json!(5))
    );
    end(playing);
}

#[test]
fn shares_that_the_machine_does_not_give_are_named_with_the_fix() {
    let here = Folder::new();
    let keys = SESSION.replace("precedence = 1", "cache_ways = 2\nmax_mhz = 1000");
    let playing = play(&here, &keys, "");
    await_blocks(&playing, "first");
    let said = end(playing);
    let is_given = |file: &str| std::path::Path::new(file).exists();
    if !is_given("/sys/fs/resctrl/schemata") {
        assert!(said.contains("no shares of cache or bandwidth"), "{said}");
    }
    if !is_given("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq") {
        assert!(said.contains("no limit of the clock rate"), "{said}");
    }
}

#[test]
fn a_cell_of_long_latency_comes_back_and_a_start_that_is_asked_for_loses_nothing() {
    let here = Folder::new();
    // 200 ms.
    let session = SESSION.replace("latency = 1", "latency = 20");
    let playing = play(&here, &session, "--no-admission");
    let blocks = |cell: &Value| cell["blocks"].as_i64().unwrap();
    let count = |name: &str| cell(&playing, "first")[name].as_i64().unwrap();
    let await_more = || {
        let before = count("blocks");
        await_cell(&playing, "first", |cell| blocks(cell) > before + 60);
    };
    await_more();
    let lost = count("lost");
    playing.send(&["stop_cell first"]).unwrap();
    await_cell(&playing, "first", is("stopped"));
    playing.send(&["start_cell first"]).unwrap();
    await_cell(&playing, "first", is("playing"));
    await_more();
    assert_eq!(count("restarts"), 1);
    // A machine under load may lose some, but not as many as the latency has.
    assert!(count("lost") < lost + 20, "{}", cell(&playing, "first"));
    // Started again by itself.
    let killed = count("process");
    let id = rustix::process::Pid::from_raw(killed as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    await_cell(&playing, "first", |cell| {
        cell["process"].as_i64().is_some_and(|it| it != killed)
    });
    await_more();
    assert_eq!(count("restarts"), 2);
    assert!(count("lost") >= lost + 20, "{}", cell(&playing, "first"));
}

#[test]
fn an_edit_that_is_refused_leaves_the_costs_of_the_nodes() {
    if lacks_cores("an_edit_that_is_refused_leaves_the_costs_of_the_nodes") {
        return;
    }
    let here = Folder::new();
    let playing = play(&here, SESSION, "");
    playing.send(&["stop_cell first"]).unwrap();
    let refused = playing.send(&["rename low lower"]).unwrap_err();
    assert!(refused.contains("start it first"), "{refused}");
    assert_eq!(cell(&playing, "first")["cost_ns"], 5_000_000);
    // A worker on each core, not two on one.
    let refused = playing.send(&["resize_cell first 0 0"]).unwrap_err();
    assert!(refused.contains("core 0 twice"), "{refused}");
}

#[test]
fn cells_of_a_session_that_plays_are_changed_by_options_of_the_command() {
    let here = Folder::new();
    let playing = play(&here, SESSION, "--no-admission");
    let added = here.well("cells --socket s --add wet of room with latency=1");
    assert!(added.out.contains("\"frame\":"), "{}", added.out);
    await_cell(&playing, "wet", is("playing"));
    here.well("cells --socket s --resize wet 0");
    assert_eq!(cell(&playing, "wet")["cores"], json!([0]));
    here.well("cells --socket s --remove wet");
    assert_eq!(cell(&playing, "wet"), Value::Null);
    // An argument is one word, with its blanks.
    let words = |arguments: &[&str]| {
        let done = here.command("cells --socket s").args(arguments).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    words(&["--add", "wet \"room\"", "of", "room", "with", "latency=1"]);
    await_cell(&playing, "wet \"room\"", is("playing"));
    words(&["--remove", "wet \"room\""]);
    assert_eq!(cell(&playing, "wet \"room\""), Value::Null);
    // Refused: by the session, by the words, and by the options.
    let refusals = [
        ("cells --socket s --remove wet", "there is no cell `wet`"),
        ("cells --socket s --resize first x", "resize_cell CELL CORE"),
        ("cells --socket s --add dry", "add_cell CELL of NODE"),
        (
            "cells --socket s --remove first --reserve 5",
            "--reserve is for a session that begins",
        ),
        ("cells s.toml --remove first", "a session's file is for"),
        (
            "cells --remove first --resize first 0",
            "cannot be used with",
        ),
        ("cells", "<FILE>"),
    ];
    for (line, why) in refusals {
        let gave = here.call(line);
        assert_eq!(gave.code, Some(2), "{line}: {}", gave.err);
        assert!(gave.err.contains(why), "{line}: {}", gave.err);
    }
    assert_eq!(cell(&playing, "first")["state"], "playing");
}
