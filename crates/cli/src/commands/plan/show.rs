//! Output of `plan`: text, JSON and picture.

use super::analysis::{PlanAnalysis, Row, typical_transfer};
use crate::output::table::{format_time, table};
use divisi::draw::{self, GanttArrow, GanttBar, GanttChart, GanttRow, Picture};
use serde_json::{Value, json};
use std::fmt::Write;

/// Tasks that are listed; more are only counted.
const MAX_LISTED: usize = 200;
/// Schedules with more cores are shown as one line for each core, without a table.
const MAX_COLUMNS: usize = 4;

/// What the output shows beside the analysis.
pub(super) struct PlanHeading {
    pub(super) name: String,
    pub(super) nodes: usize,
    /// Number of nodes whose cost was measured.
    pub(super) measured: usize,
    /// True if communication costs were not measured.
    pub(super) is_guess: bool,
}

/// Text for people.
pub(super) fn text(found: &PlanAnalysis, message: &PlanHeading) -> String {
    let mut out = String::new();
    let (name, nodes, measured) = (&message.name, message.nodes, message.measured);
    let (block, rate) = (found.block, found.rate_hz);
    let _ = writeln!(
        out,
        "{name}: {nodes} nodes, blocks of {block} frames at {rate} Hz, {measured} with measured costs\n"
    );
    levels(&mut out, found);
    let _ = writeln!(
        out,
        "\ncritical path  {}: {}",
        format_time(found.longest),
        path(found)
    );
    let _ = writeln!(out, "one core       {}", format_time(found.total));
    let cores = found.cores;
    let _ = writeln!(
        out,
        "{:<14} {} at best, {:.2} times as fast",
        cores_in_words(cores),
        format_time(found.bound),
        found.max_speedup()
    );
    let _ = writeln!(
        out,
        "{:<14} {}, {:.2} times as fast{}",
        found.who.name(),
        format_time(found.makespan),
        found.speedup(),
        copies(found)
    );
    let guess = if message.is_guess {
        " (not measured: an estimate)"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "communication  {} and {} a KiB{guess}\n",
        format_time(found.base),
        format_time(found.per_kib)
    );
    schedule(&mut out, found);
    out
}

fn cores_in_words(cores: usize) -> String {
    match cores {
        1 => "1 core".into(),
        n => format!("{n} cores"),
    }
}

fn copies(found: &PlanAnalysis) -> String {
    let copies = match found.copies() {
        0 => String::new(),
        1 => ", with 1 copy".into(),
        n => format!(", with {n} copies"),
    };
    let abridged = if found.is_abridged { ", abridged" } else { "" };
    format!("{copies}{abridged}")
}

fn path(found: &PlanAnalysis) -> String {
    let names: Vec<&str> = found
        .critical
        .iter()
        .map(|i| found.rows[*i].name.as_str())
        .collect();
    match names.len() {
        ..=12 => names.join(" → "),
        n => format!(
            "{} → … ({} more) → {}",
            names[..6].join(" → "),
            n - 11,
            names[n - 5..].join(" → ")
        ),
    }
}

fn levels(out: &mut String, found: &PlanAnalysis) {
    let rows = found.rows.iter().take(MAX_LISTED).map(|row| {
        let cores: Vec<String> = row.runs.iter().map(|run| run.core.to_string()).collect();
        let starts: Vec<String> = row.runs.iter().map(|run| run.start.0.to_string()).collect();
        let star = if row.is_critical { "*" } else { "" };
        [
            format!("{}{star}", row.name),
            row.kind.clone(),
            row.cost.0.to_string(),
            row.t_level.0.to_string(),
            row.b_level.0.to_string(),
            row.static_level.0.to_string(),
            cores.join(", "),
            starts.join(", "),
        ]
    });
    let head = [
        "node", "kind", "cost", "t-level", "b-level", "static", "core", "start",
    ];
    table(out, 2, head, rows.collect());
    if found.rows.len() > MAX_LISTED {
        let _ = writeln!(
            out,
            "… and {} more, all in --json",
            found.rows.len() - MAX_LISTED
        );
    }
}

/// One column for each core, or one line where there are many cores.
fn schedule(out: &mut String, found: &PlanAnalysis) {
    let lanes: Vec<_> = (0..found.cores).map(|core| found.runs_on(core)).collect();
    if found.cores > MAX_COLUMNS {
        for (core, lane) in lanes.iter().enumerate() {
            let runs = lane.iter().take(MAX_LISTED);
            let runs = runs.map(|(row, run)| format!("{} {}", run.start.0, found.rows[*row].name));
            let _ = writeln!(out, "core {core}: {}", runs.collect::<Vec<_>>().join(", "));
        }
        return;
    }
    let longest = lanes.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |core: usize, line: usize| {
        let at = lanes.get(core).and_then(|lane| lane.get(line));
        at.map_or(String::new(), |(row, run)| {
            format!("{:>6}  {}", run.start.0, found.rows[*row].name)
        })
    };
    let rows =
        (0..longest.min(MAX_LISTED)).map(|line| std::array::from_fn(|core| cell(core, line)));
    let heads: [String; MAX_COLUMNS] = std::array::from_fn(|core| match core < found.cores {
        true => format!("  from  core {core}"),
        false => String::new(),
    });
    let heads: [&str; MAX_COLUMNS] = std::array::from_fn(|core| heads[core].as_str());
    table(out, MAX_COLUMNS, heads, rows.collect());
}

/// JSON for programs.
pub(super) fn json(found: &PlanAnalysis, message: &PlanHeading) -> Value {
    let lanes = (0..found.cores).map(|core| {
        let lane = found.runs_on(core).into_iter();
        let runs = lane.map(|(row, run)| {
            let name = &found.rows[row].name;
            json!({ "node": name, "start_ns": run.start.0, "finish_ns": run.finish.0 })
        });
        runs.collect::<Vec<_>>()
    });
    let critical = found.critical.iter().map(|i| &found.rows[*i].name);
    json!({
        "file": message.name,
        "block": found.block,
        "rate": found.rate_hz,
        "cores": found.cores,
        "scheduler": found.who.name(),
        "measured": message.measured,
        "comm_ns": { "base": found.base.0, "per_kib": found.per_kib.0, "guess": message.is_guess },
        "nodes": found.rows.iter().map(|row| row_json(found, row)).collect::<Vec<_>>(),
        "critical_path": critical.collect::<Vec<_>>(),
        "critical_path_ns": found.longest.0,
        "total_ns": found.total.0,
        "bound_ns": found.bound.0,
        "makespan_ns": found.makespan.0,
        "speedup": found.speedup(),
        "speedup_bound": found.max_speedup(),
        "copies": found.copies(),
        "abridged": found.is_abridged,
        "lanes": lanes.collect::<Vec<_>>(),
    })
}

fn row_json(found: &PlanAnalysis, row: &Row) -> Value {
    let runs = row
        .runs
        .iter()
        .map(|run| json!({ "core": run.core, "start_ns": run.start.0, "finish_ns": run.finish.0 }));
    let after = row.before.iter().map(|i| &found.rows[*i].name);
    json!({
        "node": row.name,
        "kind": row.kind,
        "cost_ns": row.cost.0,
        "t_level_ns": row.t_level.0,
        "b_level_ns": row.b_level.0,
        "static_level_ns": row.static_level.0,
        "critical": row.is_critical,
        "after": after.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}

/// The schedule as a Gantt chart, one row for each core.
pub(super) fn picture(found: &PlanAnalysis, message: &PlanHeading) -> Picture {
    let lanes = (0..found.cores).map(|core| GanttRow {
        name: format!("core {core}"),
        bars: gantt_bars(found, core),
    });
    draw::gantt(&GanttChart {
        title: format!(
            "{}: {} on {}",
            message.name,
            found.who.name(),
            cores_in_words(found.cores)
        ),
        note: format!(
            "makespan {}, speed-up {:.2} (at most {:.2}); 256 bytes to another core cost {}",
            format_time(found.makespan),
            found.speedup(),
            found.max_speedup(),
            format_time(typical_transfer(found.base, found.per_kib)),
        ),
        rows: lanes.collect(),
        arrows: gantt_arrows(found),
        markers: Vec::new(),
        deadline_ns: None,
    })
}

fn gantt_bars(found: &PlanAnalysis, core: usize) -> Vec<GanttBar> {
    let lane = found.runs_on(core).into_iter();
    let boxes = lane.map(|(index, run)| {
        let row = &found.rows[index];
        GanttBar {
            label: row.name.clone(),
            start_ns: run.start.0,
            end_ns: run.finish.0,
            critical: row.is_critical,
            // The copy that finishes first counts as the original.
            copy: row
                .runs
                .iter()
                .any(|other| (other.finish, other.core) < (run.finish, run.core)),
            class: row.hue,
        }
    });
    boxes.collect()
}

/// Communication between cores: an arrow to each run whose input has no copy on the run's own core.
fn gantt_arrows(found: &PlanAnalysis) -> Vec<GanttArrow> {
    let mut all = Vec::new();
    for row in &found.rows {
        for run in &row.runs {
            for before in row.before.iter().map(|i| &found.rows[*i]) {
                if before
                    .runs
                    .iter()
                    .any(|b| b.core == run.core && b.finish <= run.start)
                {
                    continue;
                }
                if let Some(from) = before.runs.iter().min_by_key(|b| b.finish) {
                    all.push(GanttArrow {
                        from: (from.core, from.finish.0),
                        to: (run.core, run.start.0),
                    });
                }
            }
        }
    }
    all
}
