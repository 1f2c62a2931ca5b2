//! Ctrl-C ends cleanly, with the report.
#![cfg(unix)]

mod common;

use common::{BEEP, CallResult, Folder, wav};
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// Begins a call.
fn begin(here: &Folder, line: &str) -> Child {
    let mut command = here.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends Ctrl-C and waits for the end.
fn interrupt(child: Child) -> CallResult {
    let kill = format!("kill -INT {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    child.wait_with_output().unwrap().into()
}

#[test]
fn play_ends_with_0_and_the_report() {
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let line =
        "play beep.ag --driver clock --scheduler stealing --record out.wav --json report.json";
    let mut child = begin(&here, line);
    // The signal handler is installed before the driver is printed.
    let mut first = [0; 7];
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert_eq!(&first, b"playing");
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(0), "{}", gave.err);
    assert!(gave.out.contains("cycles"), "{}", gave.out);
    assert_eq!(here.json("report.json")["driver"], "clock");
    assert_eq!(wav(&here.read("out.wav")).0, 1);
}

#[test]
fn render_ends_with_1_the_report_and_a_valid_file() {
    let here = Folder::new();
    here.well("shape random --nodes 400 --work 2000 -o slow.ag");
    let line = "render slow.ag -o out.wav --scheduler stealing --seconds 20000 --json report.json";
    let mut child = begin(&here, line);
    while !here.has("out.wav") {
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "it renders for a long time"
        );
        std::thread::yield_now();
    }
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    assert!(
        gave.err.contains("interrupted: out.wav holds the first "),
        "{}",
        gave.err
    );
    let (channels, samples) = wav(&here.read("out.wav"));
    assert_eq!(channels, 1);
    let cycles = here.json("report.json")["cycles"].as_u64().unwrap();
    assert_eq!(samples.len() as u64, cycles * 64);
}

/// Runs an experiment until its table has `lines` lines, then sends Ctrl-C. Returns the table.
fn run_part(here: &Folder, lines: usize) -> String {
    let mut child = begin(here, "experiment graphs --quick --out graphs");
    let table = || match here.has("graphs/results.csv") {
        true => String::from_utf8(here.read("graphs/results.csv")).unwrap(),
        false => String::new(),
    };
    while table().lines().count() < lines {
        assert_eq!(child.try_wait().unwrap(), None, "it runs for a long time");
        std::thread::yield_now();
    }
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    let told = "interrupted: the same command continues from here";
    assert!(gave.err.contains(told), "{}", gave.err);
    assert!(gave.out.contains("runs, explained in graphs"));
    table()
}

#[test]
fn an_experiment_ends_with_1_and_the_same_call_continues_it() {
    let here = Folder::new();
    let first = run_part(&here, 5);
    assert!(first.ends_with('\n') && here.has("graphs/index.html"));
    let second = run_part(&here, first.lines().count() + 3);
    assert!(
        second.starts_with(&first),
        "what was done is not done again"
    );
    let run = |line: &str| line.split(',').take(10).collect::<Vec<_>>().join(",");
    let mut runs: Vec<String> = second.lines().map(run).collect();
    let all = runs.len();
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), all, "no run is there twice");
}
