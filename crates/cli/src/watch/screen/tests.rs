//! The live view on terminals of several sizes.

use super::*;
use divisi::report::TimeSummary;
use divisi::units::Nanos;
use std::collections::BTreeMap;

/// After 12.3 s: 750 cycles of 1.33 ms since the stats before.
fn stats(workers: usize) -> (LiveStats, LiveStats) {
    let before = LiveStats {
        cycles: 8475,
        acquisitions: 90_000,
        wakes: 8475,
        load: WorkerLoad {
            cycles: 8470,
            busy: vec![Nanos(1_000_000); workers],
        },
        ..LiveStats::default()
    };
    let busy = |worker: usize| Nanos(1_000_000 + 750 * 100_000 * (worker as u64 + 9));
    let now = LiveStats {
        cycles: 9225,
        missed: 4,
        wakes: 9225,
        acquisitions: 99_225,
        recent: TimeSummary {
            mean: 0.0,
            p50: 600_000,
            p99: 900_000,
            p99_9: 1_000_000,
            max: 1_100_000,
        },
        max_ns: 2_400_000,
        period_ns: 1_333_333,
        load: WorkerLoad {
            cycles: 9220,
            busy: (0..workers).map(busy).collect(),
        },
        misses_by_node: vec![("reverb".into(), 3), ("\u{1b}[2Jevil".into(), 1)],
        gauges: BTreeMap::from([
            ("rec.lost".into(), 0.75),
            ("vu.clips".into(), 0.0),
            ("vu.hold".into(), 1.0),
            ("vu.peak".into(), 0.75),
            ("vu.rms".into(), 0.5),
        ]),
        ..LiveStats::default()
    };
    (now, before)
}

fn shown(workers: usize, columns: usize, rows: usize) -> Vec<String> {
    let (now, before) = stats(workers);
    let notes = ["`loop` did not return on worker 1: it is silent now".to_owned()];
    let view = ScreenInput {
        title: "divisi  session.toml",
        description: "stealing, 2 workers, 64 frames at 48000 Hz, clock",
        seconds: 12.34,
        workers,
        now: &now,
        before: &before,
        notes: &notes,
    };
    let lines = screen_lines(&view, columns, rows);
    lines.iter().map(StyledLine::to_plain).collect()
}

#[test]
fn a_usual_terminal_shows_everything() {
    let expected = "\
divisi  session.toml                                                      12.3 s
stealing, 2 workers, 64 frames at 48000 Hz, clock

cycle     ████████████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░░···········   83 %
          p50 600 µs, p99 900 µs, max 1.1 ms of 1.33 ms; ever 2.4 ms
worker 0  ██████████████████████████████████████████▌····················   68 %
worker 1  ███████████████████████████████████████████████▎···············   75 %
missed 4   late 0   abandoned 0   faults 0   muted 0   xruns 0
12.3 acquisitions and 1.0 wakes a cycle
late nodes: reverb 3   \u{fffd}[2Jevil 1
`loop` did not return on worker 1: it is silent now
vu        ████████████████████████████████████▍│   -6.0 dB, peak    0.0
rec.lost 0.750";
    assert_eq!(shown(2, 80, 24).join("\n"), expected);
}

#[test]
fn a_narrow_terminal_shows_what_fits() {
    let expected = "\
divisi  session.… 12.3 s
stealing, 2 workers, 64…

cycle        83 %
p50 600 µs, p99 900 µs,…
worker 0     68 %
worker 1     75 %
missed 4   late 0
abandoned 0   faults 0
muted 0   xruns 0
12.3 acquisitions and 1…
…";
    assert_eq!(shown(2, 24, 12).join("\n"), expected);
}

#[test]
fn many_workers_leave_room_for_the_counts() {
    let lines = shown(64, 80, 12);
    assert_eq!(lines.len(), 12);
    assert!(lines[5].starts_with("worker 0"));
    assert_eq!(lines[7], "62 more workers: 311 % on average, 540 % at most");
    assert!(lines[8].starts_with("missed 4"));
}

#[test]
fn no_size_is_too_small_and_no_line_too_wide() {
    for columns in 0..100 {
        for rows in 0..30 {
            let lines = shown(3, columns, rows);
            assert!(lines.len() <= rows);
            let widths = lines.iter().map(|line| line.chars().count());
            assert!(widths.max().unwrap_or(0) <= columns, "{columns}x{rows}");
        }
    }
}

#[test]
fn empty_stats_are_shown_without_nan_or_infinity() {
    let empty = LiveStats::default();
    let view = ScreenInput {
        title: "divisi",
        description: "",
        seconds: 0.0,
        workers: 2,
        now: &empty,
        before: &empty,
        notes: &[],
    };
    let lines = screen_lines(&view, 80, 24);
    let text: Vec<String> = lines.iter().map(StyledLine::to_plain).collect();
    let text = text.join("\n");
    assert!(
        text.contains("worker 1 ") && !text.contains("NaN") && !text.contains("inf"),
        "{text}"
    );
    assert!(summary_line(&view).starts_with("0 s: cycle p50 0 ns"));
}

#[test]
fn errors_are_red_and_control_characters_are_replaced() {
    let (now, before) = stats(2);
    let view = ScreenInput {
        title: "divisi",
        description: "",
        seconds: 1.0,
        workers: 2,
        now: &now,
        before: &before,
        notes: &[],
    };
    let lines = screen_lines(&view, 80, 24);
    let text: Vec<String> = lines.iter().map(StyledLine::to_ansi).collect();
    let text = text.join("\n");
    assert!(text.contains("\x1b[31mmissed 4\x1b[0m") && text.contains("\x1b[33m"));
    assert!(!text.contains("\x1b[2J"));
}
