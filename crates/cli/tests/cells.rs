//! Cells: the bits of the whole session, what one failure costs, and what a cell cannot do.
#![cfg(target_os = "linux")]

mod common;

use common::{CallResult, Folder, wav};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A cell that the graph waits for, one of a block's latency, and nodes in neither. Output 1 is behind the cell `filter` alone,
/// output 2 behind the cell `hum` alone.
const SESSION: &str = r#"
edges = ["tone -> low -> mix.in1 -> out", "tone -> room -> mix.in2", "hum -> wide -> out2", "lfo -> low.freq: 200"]
[nodes]
tone = { kind = "osc", freq = 440 }
lfo = { kind = "osc", freq = 3 }
hum = { kind = "osc", freq = 110 }
low = { kind = "svf", freq = 900 }
room = { kind = "gain", gain_db = -6 }
wide = { kind = "gain", gain_db = -3 }
mix = { kind = "mixer", in = 2 }
out = { kind = "sink" }
out2 = { kind = "sink" }
[cell.filter]
nodes = ["low", "mix"]
[cell.hum]
nodes = ["hum", "wide"]
latency = 1
"#;

/// Frames of a block in these tests.
const BLOCK: usize = 64;

/// Samples of one channel.
fn channel((channels, samples): &(u16, Vec<u32>), channel: usize) -> Vec<f32> {
    let frames = samples.chunks_exact(usize::from(*channels));
    frames.map(|frame| f32::from_bits(frame[channel])).collect()
}

fn bits(samples: &[f32]) -> Vec<u32> {
    samples.iter().map(|it| it.to_bits()).collect()
}

/// Numbers of the processes of cells, as they were printed.
fn processes(text: &str) -> Vec<u32> {
    let lines = text
        .lines()
        .filter_map(|line| line.split_once(": process "));
    lines
        .map(|(_, number)| number.trim().parse().unwrap())
        .collect()
}

/// Returns true if a process of this number runs; one that has ended and waits for its parent does not.
fn runs(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Waits until no process of these runs. It fails only if one stays.
fn await_end(processes: &[u32]) {
    for _ in 0..2000 {
        if !processes.iter().any(|it| runs(*it)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("still there: {processes:?}");
}

#[test]
fn a_session_has_the_same_bits_with_its_cells_and_without() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    for block in [BLOCK, 1, 100, 512] {
        let seconds = if block == 1 { 0.02 } else { 0.5 };
        let line = format!("--seconds {seconds} --block {block}");
        here.well(&format!("render s.toml -o whole.wav {line}"));
        let gave = here.well(&format!("cells s.toml --render cells.wav {line}"));
        assert!(here.read("whole.wav") == here.read("cells.wav"), "{block}");
        let latency = format!("latency: {block} frames, left out");
        assert!(gave.err.contains(&latency), "{}", gave.err);
        let all = processes(&gave.err);
        assert_eq!(all.len(), 2, "{}", gave.err);
        assert!(!all.into_iter().any(runs), "no process is left");
    }
}

/// Voices, a tracker and a convolver whose deferred work is the cell's own, on workers of its own.
const LONG_WORK: &str = r#"
edges = ["one -> filter1 -> mix.in1 -> out", "two -> filter2 -> mix.in2", "three -> filter3 -> mix.in3", "one -> room -> mix.in4", "one -> pitch", "pitch.freq -> follow.freq: 0.5", "follow -> mix.in5"]
[nodes]
one = { kind = "osc", freq = 220, wave = "saw" }
two = { kind = "osc", freq = 331, wave = "square" }
three = { kind = "osc", freq = 97, wave = "saw" }
filter1 = { kind = "svf", freq = 900 }
filter2 = { kind = "svf", freq = 500 }
filter3 = { kind = "svf", freq = 1900 }
pitch = { kind = "pitch_tracker" }
follow = { kind = "osc", freq = 50 }
room = { kind = "convolver", file = "room.wav" }
mix = { kind = "mixer", in = 5 }
out = { kind = "sink" }
[cell.work]
nodes = ["filter1", "filter2", "filter3", "room", "pitch", "follow", "mix"]
"#;

#[test]
fn a_cell_of_several_blocks_and_workers_has_the_bits_of_one_process() {
    let here = Folder::new();
    let noise = "edges = [\"n -> e -> out\"]\n[nodes]\nn = { kind = \"noise\" }\ne = { kind = \"gain\", gain_db = -40 }\nout = { kind = \"sink\" }";
    here.write("noise.toml", noise);
    here.well("render noise.toml -o room.wav --seconds 0.4 --rate 48000");
    here.write("s.toml", LONG_WORK);
    let line = "--seconds 0.6 --rate 48000 --block 64";
    here.well(&format!("render s.toml -o whole.wav {line}"));
    for (latency, cores) in [(3, "[0]"), (256, "[0]"), (0, "[0, 1]"), (7, "[0, 1]")] {
        here.write(
            "s.toml",
            format!("{LONG_WORK}latency = {latency}\ncores = {cores}\n"),
        );
        let gave = here.well(&format!("cells s.toml --render cells.wav {line}"));
        assert!(
            here.read("whole.wav") == here.read("cells.wav"),
            "{latency} {cores}"
        );
        let stated = format!("latency: {} frames, left out", latency * BLOCK);
        assert!(latency == 0 || gave.err.contains(&stated), "{}", gave.err);
    }
}

#[test]
fn a_cell_of_several_blocks_fades_in_the_block_that_fails_and_comes_back() {
    let here = Folder::new();
    here.write("s.toml", SESSION.replace("latency = 1", "latency = 4"));
    let line = "--seconds 1 --rate 48000 --block 64";
    here.well(&format!("render s.toml -o whole.wav {line}"));
    let gave = here.call(&format!(
        "cells s.toml --render cells.wav {line} --drill hum:kill@0.5"
    ));
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    let [whole, cells] = ["whole.wav", "cells.wav"].map(|name| wav(&here.read(name)));
    assert!(
        channel(&whole, 0) == channel(&cells, 0),
        "the other cell lost nothing"
    );
    let (whole, cells) = (channel(&whole, 1), channel(&cells, 1));
    let first = whole.iter().zip(&cells).position(|(a, b)| a != b).unwrap();
    assert_eq!(first, 24_000 / BLOCK * BLOCK, "the block of the failure");
    let step = cells
        .windows(2)
        .map(|it| (it[1] - it[0]).abs())
        .fold(0.0, f32::max);
    let usual = whole
        .windows(2)
        .map(|it| (it[1] - it[0]).abs())
        .fold(0.0, f32::max);
    assert!(step < usual + 0.02, "no click: {step} beside {usual}");
    assert!(
        cells[47_000..].iter().any(|it| it.abs() > 0.1),
        "it is back"
    );
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A random graph whose inputs add several edges, with its nodes spread over cells and the rest.
fn random_session(random: &mut Random) -> String {
    let count = 6 + random.below(14);
    let (mut edges, mut nodes) = (Vec::new(), String::new());
    let mut homes = vec![Vec::new(); 4];
    for at in 0..count {
        let (freq, gain) = (80 + 37 * at, -1 - random.below(12) as i32);
        let (kind, inputs) = match random.below(4) {
            _ if at < 2 => (format!("kind = \"osc\", freq = {freq}"), 0),
            0 => (format!("kind = \"svf\", freq = {freq}"), 2),
            1 => ("kind = \"onepole\"".to_owned(), 1),
            _ => (format!("kind = \"gain\", gain_db = {gain}"), 3),
        };
        writeln!(nodes, "n{at} = {{ {kind} }}").unwrap();
        let from: std::collections::BTreeSet<usize> =
            (0..inputs).map(|_| random.below(at)).collect();
        edges.extend(from.into_iter().map(|from| format!("\"n{from} -> n{at}\"")));
        // Neighbours are often together, so that few paths leave a cell and come back.
        homes[(at * 4 / count + random.below(5) / 4).min(3)].push(at);
    }
    (0..count).for_each(|at| edges.push(format!("\"n{at} -> out\"")));
    let mut text = format!(
        "edges = [{}]\n[nodes]\n{nodes}out = {{ kind = \"sink\" }}\n",
        edges.join(", ")
    );
    for (cell, home) in homes
        .iter()
        .enumerate()
        .take(3)
        .filter(|(_, home)| !home.is_empty())
    {
        let names: Vec<String> = home.iter().map(|at| format!("\"n{at}\"")).collect();
        let latency = random.below(2);
        write!(
            text,
            "[cell.c{cell}]\nnodes = [{}]\nlatency = {latency}\n",
            names.join(", ")
        )
        .unwrap();
    }
    text
}

#[test]
fn random_graphs_have_the_same_bits_however_they_are_split() {
    let here = Folder::new();
    let mut random = Random(7);
    let (mut split, mut refused) = (0, 0);
    while split < 12 {
        let text = random_session(&mut random);
        here.write("s.toml", &text);
        let gave = here.call("cells s.toml --render cells.wav --seconds 0.1");
        if gave.err.contains("comes back to it") {
            assert_eq!(gave.code, Some(2));
            refused += 1;
            assert!(refused < 200, "most graphs can be split");
            continue;
        }
        assert_eq!(gave.code, Some(0), "{}\n{text}", gave.err);
        here.well("render s.toml -o whole.wav --seconds 0.1");
        assert!(here.read("whole.wav") == here.read("cells.wav"), "{text}");
        split += 1;
    }
}

/// Renders with a failure of `filter` in the block of frame `frame`.
fn drilled(here: &Folder, kind: &str, seconds: f64) -> CallResult {
    here.call(&format!(
        "cells s.toml --render drill.wav --seconds 1 --block {BLOCK} --drill filter:{kind}@{seconds}"
    ))
}

#[test]
fn a_failure_costs_one_block_of_one_cell_which_fades_and_comes_back() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.well(&format!(
        "render s.toml -o whole.wav --seconds 1 --block {BLOCK}"
    ));
    let whole = wav(&here.read("whole.wav"));
    for kind in ["kill", "segv", "stop", "loop", "hog", "garbage"] {
        let gave = drilled(&here, kind, 0.5);
        assert_eq!(gave.code, Some(1), "{kind}: {}", gave.err);
        assert!(gave.err.contains("`filter`: 1 of "), "{kind}: {}", gave.err);
        assert!(gave.err.contains("`hum`: 0 of "), "{kind}: {}", gave.err);
        let is_limited = kind != "hog" || gave.err.contains("memory allocation of");
        assert!(is_limited, "{kind}: {}", gave.err);
        let all = processes(&gave.err);
        assert_eq!(all.len(), 3, "{kind}: {}", gave.err);
        assert!(!all.into_iter().any(runs), "{kind}: no process is left");
        let found = wav(&here.read("drill.wav"));
        assert!(
            bits(&channel(&found, 1)) == bits(&channel(&whole, 1)),
            "{kind}: the other cell"
        );
        // The mix is aligned to the latency of `hum`, which is left out of the file.
        let (found, whole) = (channel(&found, 0), channel(&whole, 0));
        let lost = 24_000 / BLOCK * BLOCK;
        assert!(
            bits(&found[..lost]) == bits(&whole[..lost]),
            "{kind}: before"
        );
        let fade = &found[lost..lost + BLOCK];
        assert!(
            fade.windows(2).all(|it| it[1].abs() <= it[0].abs()),
            "{kind}: {fade:?}"
        );
        assert!(
            fade[BLOCK - 1].abs() < 1e-6,
            "{kind}: silent at the end of the block"
        );
        let back = &found[lost + BLOCK..];
        assert!(
            back.iter().all(|it| it.is_finite()) && back[0].abs() < 0.1,
            "{kind}"
        );
        assert!(
            back.iter().any(|it| it.abs() > 0.1),
            "{kind}: it plays again"
        );
    }
}

#[test]
fn a_cell_that_fails_again_and_again_still_costs_the_other_nothing() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.well("render s.toml -o whole.wav --seconds 1");
    let drills: String = (1..8)
        .map(|n| format!(" --drill filter:kill@0.{n}"))
        .collect();
    let gave = here.call(&format!(
        "cells s.toml --render drill.wav --seconds 1{drills}"
    ));
    assert_eq!(gave.code, Some(1));
    assert!(
        gave.err.contains("`filter`: 7 of ") && gave.err.contains("`hum`: 0 of "),
        "{}",
        gave.err
    );
    let (found, whole) = (wav(&here.read("drill.wav")), wav(&here.read("whole.wav")));
    assert!(bits(&channel(&found, 1)) == bits(&channel(&whole, 1)));
}

#[test]
#[ignore = "long: 1000 failures"]
fn a_thousand_failures_cost_a_thousand_blocks() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    here.well("render s.toml -o whole.wav --seconds 2");
    let whole = channel(&wav(&here.read("whole.wav")), 1);
    for round in 0..143 {
        // Seven in a row, so that the back-off stays short; each round at another phase.
        let drills = (0..7).map(|n| {
            let kind = ["kill", "segv", "garbage"][(n + round) % 3];
            format!(
                " --drill filter:{kind}@{}",
                0.1 + 0.19 * n as f64 + 0.0011 * round as f64
            )
        });
        let drills: String = drills.collect();
        let gave = here.call(&format!(
            "cells s.toml --render drill.wav --seconds 2{drills}"
        ));
        assert!(
            gave.err.contains("`filter`: 7 of ") && gave.err.contains("`hum`: 0 of "),
            "{}",
            gave.err
        );
        assert!(bits(&channel(&wav(&here.read("drill.wav")), 1)) == bits(&whole));
        await_end(&processes(&gave.err));
    }
}

/// A supervisor that plays by the clock, and the first lines that it prints.
struct Supervisor(Child, BufReader<std::process::ChildStderr>);

impl Supervisor {
    fn start(here: &Folder) -> Self {
        let mut command = here.command("cells s.toml --driver clock");
        let mut child = command
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self(child, errors)
    }

    /// The number of the next process that it prints.
    fn next_process(&mut self) -> u32 {
        loop {
            let mut line = String::new();
            assert!(self.1.read_line(&mut line).unwrap() > 0, "it has ended");
            if let [process] = processes(&line)[..] {
                return process;
            }
        }
    }

    fn signal(&self, name: &str) {
        signal(self.0.id(), name);
    }
}

fn signal(process: u32, name: &str) {
    let done = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn nothing_is_left_of_a_supervisor_that_is_killed() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let mut supervisor = Supervisor::start(&here);
    let cells = [supervisor.next_process(), supervisor.next_process()];
    assert!(cells.into_iter().all(runs));
    supervisor.signal("KILL");
    supervisor.0.wait().unwrap();
    await_end(&cells);
}

#[test]
fn a_cell_that_is_killed_or_stopped_from_outside_comes_back_while_it_plays() {
    let here = Folder::new();
    here.write("s.toml", SESSION);
    let mut supervisor = Supervisor::start(&here);
    let mut cells = [supervisor.next_process(), supervisor.next_process()];
    for name in ["KILL", "STOP", "ABRT"] {
        signal(cells[0], name);
        let next = supervisor.next_process();
        assert!(!cells.contains(&next) && runs(next), "{name}");
        await_end(&cells[..1]);
        cells[0] = next;
    }
    supervisor.signal("INT");
    // Blocks were lost, and it says so.
    assert_eq!(supervisor.0.wait().unwrap().code(), Some(1));
    await_end(&cells);
}

#[test]
fn a_cell_cannot_be_left() {
    let here = Folder::new();
    // The process that it tries to trace and to end must be its parent, and outlive it.
    let line = format!(
        "cell-process --try-to-leave --parent {}",
        std::process::id()
    );
    let program = here.command(&line);
    // A descriptor that whoever starts it has left open.
    let mut leaving = std::process::Command::new("sh");
    leaving.args(["-c", "exec 9</etc/passwd; exec \"$0\" \"$@\""]);
    leaving.arg(program.get_program()).args(program.get_args());
    leaving.current_dir(program.get_current_dir().unwrap());
    let gave = CallResult::from(leaving.output().unwrap());
    assert_eq!(gave.code, Some(0), "{}{}", gave.out, gave.err);
    let attempts: Vec<&str> = gave.out.lines().collect();
    assert_eq!(attempts.len(), 11, "{}", gave.out);
    assert!(
        attempts.iter().all(|line| line.ends_with(": refused")),
        "{}",
        gave.out
    );
    // A process whose supervisor is another has nobody to work for.
    assert_eq!(
        here.call("cell-process --try-to-leave --parent 1").code,
        Some(1)
    );
}

#[test]
fn a_session_that_cannot_be_split_is_refused_with_the_place() {
    let here = Folder::new();
    let cases = [
        ("nodes = [\"lwo\"]", "names `lwo`, which is no node"),
        (
            "nodes = [\"low\"]\n[cell.b]\nnodes = [\"low\"]",
            "is in the cells",
        ),
        ("nodes = [\"out\"]", "cannot be in the cell `a`"),
        ("nodes = [\"tone\", \"mix\"]", "comes back to it, through `"),
        (
            "nodes = [\"low\"]\nlatency = 300",
            "`latency` is a whole number from 0 to 256",
        ),
        (
            "nodes = [\"low\"]\npolicy = \"time-triggered\"",
            "there are 1 to 4096 windows",
        ),
    ];
    let graph = SESSION.split("[cell.filter]").next().unwrap();
    for (cell, message) in cases {
        here.write("bad.toml", format!("{graph}[cell.a]\n{cell}\n"));
        let gave = here.call("cells bad.toml --seconds 0.1");
        assert_eq!(gave.code, Some(2), "{cell}: {}", gave.err);
        let checked = here.call("check bad.toml");
        let is_named = checked.code == Some(2) && checked.err.contains(message);
        assert!(is_named, "check, {cell}: {}", checked.err);
        assert!(
            gave.err.contains(message) && gave.err.contains("bad.toml:"),
            "{cell}: {}",
            gave.err
        );
    }
    here.write("none.toml", graph);
    let gave = here.call("cells none.toml --seconds 0.1");
    assert!(
        gave.code == Some(2) && gave.err.contains("has no cells"),
        "{}",
        gave.err
    );
    here.write("s.toml", SESSION);
    let gave = here.call("cells s.toml --seconds 0.1 --drill nobody:kill@1");
    assert!(
        gave.code == Some(2) && gave.err.contains("no cell `nobody`"),
        "{}",
        gave.err
    );
    let gave = here.call("cells s.toml --seconds 0.1 --render s.toml");
    assert_eq!(
        gave.code,
        Some(2),
        "the session is not overwritten: {}",
        gave.err
    );
    assert!(Path::new(&here.path("s.toml")).exists() && here.read("s.toml") == SESSION.as_bytes());
}

#[test]
fn cells_that_do_not_fit_are_refused_with_their_excess_and_precedence_decides() {
    let here = Folder::new();
    // A block of 480 frames at 48 kHz lasts 10 ms; 9 ms of it are not reserved.
    let session = |latency: u8| {
        format!(
            r#"
edges = ["a -> out", "b -> out"]
[nodes]
a = {{ kind = "osc", freq = 220, cost_us = 6000 }}
b = {{ kind = "osc", freq = 330, cost_us = 4000 }}
out = {{ kind = "sink", cost_us = 0 }}
[cell.first]
nodes = ["a"]
cores = [0]
latency = {latency}
[cell.second]
nodes = ["b"]
cores = [0]
latency = 1
precedence = 2
"#
        )
    };
    here.write("s.toml", session(1));
    let line = "--rate 48000 --block 480 --seconds 0.05";
    let gave = here.call(&format!("cells s.toml --driver clock {line}"));
    assert_eq!(gave.code, Some(2), "{}", gave.err);
    for part in [
        "the cell `first` does not fit: it needs 6 ms of each block on core 0: 1 ms too much",
        "the cell `second`",
        "a block lasts 10 ms, of which 10 % stay idle",
        "s.toml:7:1",
    ] {
        assert!(gave.err.contains(part), "{part}: {}", gave.err);
    }
    assert!(processes(&gave.err).is_empty(), "nothing was started");
    // Exactly at the bound it is accepted, and a render has no deadline.
    let accepted = [
        format!("cells s.toml --driver clock {line} --reserve 0"),
        format!("cells s.toml --driver clock {line} --no-admission"),
        format!("cells s.toml {line} --render o.wav"),
    ];
    for line in accepted {
        let gave = here.call(&line);
        assert!(!gave.err.contains("does not fit"), "{line}: {}", gave.err);
        assert_eq!(processes(&gave.err).len(), 2, "{line}: {}", gave.err);
    }
    here.write("s.toml", session(0));
    let gave = here.call(&format!("cells s.toml --driver clock {line}"));
    let part = "it needs 6 ms of each block and may take 4.5 ms: 1.5 ms too much";
    assert!(
        gave.code == Some(2) && gave.err.contains(part),
        "{}",
        gave.err
    );
}
