//! Ctrl-C ends cleanly, with the report.
#![cfg(unix)]

mod common;

use common::playing::wait_until;
use common::{BEEP, CallResult, Folder, wav};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Begins a call.
fn begin(here: &Folder, line: &str) -> Child {
    let mut command = here.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Sends Ctrl-C and waits for the end.
fn interrupt(child: Child) -> CallResult {
    signal("INT", child)
}

/// Sends a signal and waits for the end.
fn signal(name: &str, child: Child) -> CallResult {
    let kill = format!("kill -{name} {}", child.id());
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
    wait_for_driver(&mut child);
    // The take begins with the first block.
    wait_until(|| here.path("out.wav").exists());
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(0), "{}", gave.err);
    assert!(gave.out.contains("cycles"), "{}", gave.out);
    assert_eq!(here.json("report.json")["driver"], "clock");
    assert_eq!(wav(&here.read("out.wav")).0, 1);
}

/// Waits for the driver's message: the signal handler is installed before it.
fn wait_for_driver(child: &mut Child) {
    let mut first = [0; 7];
    let err = child.stderr.as_mut().unwrap();
    err.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"playing");
}

/// True if no hangup reaches these tests, as under `nohup`: then none reaches the program either.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn a_terminal_that_closes_leaves_a_whole_report() {
    if hangups_are_ignored() {
        return common::jackd::skip("a_terminal_that_closes", "hangups are ignored here (nohup)");
    }
    let here = Folder::new();
    here.write("beep.ag", BEEP);
    let line = "play beep.ag --driver clock --scheduler sequential --json report.json";
    let mut child = begin(&here, line);
    wait_for_driver(&mut child);
    // Nobody reads any more, as when a terminal is gone.
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(signal("HUP", child).code, Some(0));
    assert_eq!(here.json("report.json")["driver"], "clock");
}

#[test]
fn a_choice_of_the_scheduler_can_be_interrupted() {
    let here = Folder::new();
    here.well("shape random --nodes 400 --work 20000 -o slow.ag");
    // The choice alone would take an hour.
    let line = "render slow.ag -o out.wav --seconds 20000 --workers 2 --choose 3600";
    let child = begin(&here, line);
    // The trials run on a thread of their own, after the handler is installed.
    let threads = format!("/proc/{}/task", child.id());
    let is_choosing = || {
        let all = std::fs::read_dir(&threads).into_iter().flatten().flatten();
        let names = all.map(|task| std::fs::read_to_string(task.path().join("comm")));
        { names }.any(|name| name.is_ok_and(|name| name.starts_with("divisi-choose")))
    };
    while !is_choosing() {
        std::thread::yield_now();
    }
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    assert!(
        gave.err.contains("interrupted: nothing is written"),
        "{}",
        gave.err
    );
    assert!(!here.has("out.wav"));
}

#[test]
fn render_ends_with_1_the_report_and_a_valid_file() {
    let here = Folder::new();
    here.well("shape random --nodes 400 --work 2000 -o slow.ag");
    let line = "render slow.ag -o out.wav --scheduler stealing --seconds 20000 --json report.json";
    let mut child = begin(&here, line);
    // Report and sound are begun beside their names.
    let begun = || {
        let names = std::fs::read_dir(here.path("")).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".divisi-")).count()
    };
    while begun() < 2 {
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
fn run_part(here: &Folder, name: &str, lines: usize) -> String {
    let mut child = begin(here, &format!("experiment {name} --quick --out {name}"));
    let results = format!("{name}/results.csv");
    let table = || match here.has(&results) {
        true => String::from_utf8(here.read(&results)).unwrap(),
        false => String::new(),
    };
    while table().lines().count() < lines {
        assert_eq!(child.try_wait().unwrap(), None, "it runs for a long time");
        std::thread::sleep(Duration::from_millis(2));
    }
    let gave = interrupt(child);
    assert_eq!(gave.code, Some(1), "{}", gave.err);
    let told = "interrupted: the same command continues from here";
    assert!(gave.err.contains(told), "{}", gave.err);
    assert!(gave.out.contains(&format!("runs, explained in {name}")));
    table()
}

#[test]
fn an_experiment_ends_with_1_and_the_same_call_continues_it() {
    let here = Folder::new();
    let first = run_part(&here, "graphs", 5);
    assert!(first.ends_with('\n') && here.has("graphs/index.html"));
    let second = run_part(&here, "graphs", first.lines().count() + 3);
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

#[cfg(target_os = "linux")]
#[test]
fn the_isolation_experiment_measures_through_processes_of_this_program() {
    let here = Folder::new();
    // A comment, the columns, six round trips, then the session alone, beside a cell, a process and a container.
    let table = run_part(&here, "isolation", 12);
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let at = |name: &str| columns.iter().position(|it| *it == name).unwrap();
    let cell = |row: &[&str], name: &str| row[at(name)].to_owned();
    assert!(rows.len() >= 10, "{table}");
    for row in &rows[..10] {
        let (app, load) = (cell(row, "app"), cell(row, "load"));
        let has_run = cell(row, "count").parse::<u64>().is_ok_and(|it| it > 0);
        // A machine that grants no control group says why.
        let is_refused = load == "container" && cell(row, "refused").contains("no control group");
        assert!(has_run || is_refused, "{app} {load}: {row:?}");
        let is_timed = cell(row, "mean_us").parse::<f64>().is_ok_and(|it| it > 0.0);
        assert!(is_timed || is_refused, "{app} {load}");
        assert!(cell(row, "others_ms").parse::<f64>().is_ok());
        if app == "session" && has_run {
            let watched = cell(row, "watched_ms").parse::<f64>();
            assert!(watched.is_ok(), "{load}: {row:?}");
        }
    }
    let page = String::from_utf8(here.read("isolation/index.html")).unwrap();
    for part in [
        "Table 1: round trips",
        "Table 2: response times",
        "Longest gap",
        "Core 0: the device",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
