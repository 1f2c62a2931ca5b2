//! Output of `plan`: text, JSON and picture.

use super::analysis::{PlanAnalysis, TaskRow, typical_transfer};
use crate::output::table::table;
use divisi::costs::{CoreTimings, KnownCosts};
use divisi::draw::{self, GanttArrow, GanttBar, GanttChart, GanttRow, Picture};
use serde_json::{Value, json};
use std::fmt::{self, Display, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tasks that are listed; more are only counted.
const MAX_LISTED: usize = 200;
/// Schedules with more cores are shown as one line for each core, without a table.
const MAX_COLUMNS: usize = 4;

/// Facts that the output shows beside the analysis.
pub(super) struct PlanHeading {
    pub(super) name: String,
    pub(super) nodes: usize,
    pub(super) measured: MeasuredFrom,
    /// True if communication costs were not measured.
    pub(super) is_guess: bool,
}

/// Number and age of the measured costs, and the state of the machine when they were measured.
pub(super) struct MeasuredFrom {
    nodes: usize,
    /// Time of the oldest, in seconds since 1970.
    oldest_at_s: Option<u64>,
    /// Time of a cache line to another core when they were measured, in ns: smallest and largest.
    crossing_ns: Option<(u32, u32)>,
    /// The same now, as last measured.
    crossing_now_ns: Option<u32>,
}

impl MeasuredFrom {
    pub(super) fn new(costs: &KnownCosts, now: &CoreTimings) -> Self {
        let all = costs.0.values();
        let crossings = || all.clone().filter_map(|cost| cost.crossing_ns);
        Self {
            nodes: costs.0.len(),
            oldest_at_s: all.clone().map(|cost| cost.at_s).min(),
            crossing_ns: crossings().min().zip(crossings().max()),
            crossing_now_ns: now.links.first().map(|link| link.base_ns.round() as u32),
        }
    }
}

/// As in `329 with measured costs, the oldest 3 hours old; a cache line took 55 ns to another core then, 180 ns when last measured`.
impl Display for MeasuredFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with measured costs", self.nodes)?;
        if let Some(oldest) = self.oldest_at_s {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let age = now.map_or(0, |now| now.as_secs().saturating_sub(oldest));
            write!(f, ", the oldest {} old", age_in_words(age))?;
        }
        let Some((min, max)) = self.crossing_ns else {
            return Ok(());
        };
        match min == max {
            true => write!(f, "; a cache line took {min} ns to another core then")?,
            false => write!(
                f,
                "; a cache line took {min} to {max} ns to another core then"
            )?,
        }
        match self.crossing_now_ns {
            Some(now) => write!(f, ", {now} ns when last measured"),
            None => Ok(()),
        }
    }
}

/// An age in its largest whole unit.
fn age_in_words(seconds: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    let (length, name) = unit.unwrap_or(&UNITS[3]);
    let count = seconds / length;
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {name}{s}")
}

/// Text for people.
pub(super) fn text(analysis: &PlanAnalysis, heading: &PlanHeading) -> String {
    let mut out = String::new();
    let (name, nodes, measured) = (&heading.name, heading.nodes, &heading.measured);
    let (block, rate) = (analysis.block, analysis.rate_hz);
    let _ = writeln!(
        out,
        "{name}: {nodes} nodes, blocks of {block} frames at {rate} Hz, {measured}\n"
    );
    levels(&mut out, analysis);
    let _ = writeln!(
        out,
        "\ncritical path  {}: {}",
        analysis.longest,
        path(analysis)
    );
    let _ = writeln!(out, "one core       {}", analysis.total);
    let cores = analysis.cores;
    let _ = writeln!(
        out,
        "{:<14} {} at best, {:.2} times as fast",
        cores_in_words(cores),
        analysis.bound,
        analysis.max_speedup()
    );
    let _ = writeln!(
        out,
        "{:<14} {}, {:.2} times as fast{}",
        analysis.scheduler.name(),
        analysis.makespan,
        analysis.speedup(),
        copies(analysis)
    );
    let guess = if heading.is_guess {
        " (not measured: an estimate)"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "communication  {} and {} per KiB{guess}\n",
        analysis.base, analysis.per_kib
    );
    schedule(&mut out, analysis);
    out
}

fn cores_in_words(cores: usize) -> String {
    match cores {
        1 => "1 core".into(),
        n => format!("{n} cores"),
    }
}

fn copies(analysis: &PlanAnalysis) -> String {
    let copies = match analysis.copies() {
        0 => String::new(),
        1 => ", with 1 copy".into(),
        n => format!(", with {n} copies"),
    };
    let abridged = if analysis.is_abridged {
        ", abridged"
    } else {
        ""
    };
    format!("{copies}{abridged}")
}

fn path(analysis: &PlanAnalysis) -> String {
    let names: Vec<&str> = analysis
        .critical
        .iter()
        .map(|i| analysis.rows[*i].name.as_str())
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

fn levels(out: &mut String, analysis: &PlanAnalysis) {
    let rows = analysis.rows.iter().take(MAX_LISTED).map(|row| {
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
    if analysis.rows.len() > MAX_LISTED {
        let _ = writeln!(
            out,
            "… and {} more, all in --json",
            analysis.rows.len() - MAX_LISTED
        );
    }
}

/// One column for each core, or one line where there are many cores.
fn schedule(out: &mut String, analysis: &PlanAnalysis) {
    let lanes: Vec<_> = (0..analysis.cores)
        .map(|core| analysis.runs_on(core))
        .collect();
    if analysis.cores > MAX_COLUMNS {
        for (core, lane) in lanes.iter().enumerate() {
            let runs = lane.iter().take(MAX_LISTED);
            let runs =
                runs.map(|(row, run)| format!("{} {}", run.start.0, analysis.rows[*row].name));
            let _ = writeln!(out, "core {core}: {}", runs.collect::<Vec<_>>().join(", "));
        }
        return;
    }
    let longest = lanes.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |core: usize, line: usize| {
        let at = lanes.get(core).and_then(|lane| lane.get(line));
        at.map_or(String::new(), |(row, run)| {
            format!("{:>6}  {}", run.start.0, analysis.rows[*row].name)
        })
    };
    let rows =
        (0..longest.min(MAX_LISTED)).map(|line| std::array::from_fn(|core| cell(core, line)));
    let heads: [String; MAX_COLUMNS] = std::array::from_fn(|core| match core < analysis.cores {
        true => format!("  from  core {core}"),
        false => String::new(),
    });
    let heads: [&str; MAX_COLUMNS] = std::array::from_fn(|core| heads[core].as_str());
    table(out, MAX_COLUMNS, heads, rows.collect());
}

/// JSON for programs.
pub(super) fn json(analysis: &PlanAnalysis, heading: &PlanHeading) -> Value {
    let lanes = (0..analysis.cores).map(|core| {
        let lane = analysis.runs_on(core).into_iter();
        let runs = lane.map(|(row, run)| {
            let name = &analysis.rows[row].name;
            json!({ "node": name, "start_ns": run.start.0, "finish_ns": run.finish.0 })
        });
        runs.collect::<Vec<_>>()
    });
    let critical = analysis.critical.iter().map(|i| &analysis.rows[*i].name);
    json!({
        "file": heading.name,
        "block": analysis.block,
        "rate": analysis.rate_hz,
        "cores": analysis.cores,
        "scheduler": analysis.scheduler.name(),
        "measured": heading.measured.nodes,
        "measured_at_s": heading.measured.oldest_at_s,
        "measured_crossing_ns": heading.measured.crossing_ns.map(|(min, max)| [min, max]),
        "comm_ns": { "base": analysis.base.0, "per_kib": analysis.per_kib.0, "guess": heading.is_guess },
        "nodes": analysis.rows.iter().map(|row| row_json(analysis, row)).collect::<Vec<_>>(),
        "critical_path": critical.collect::<Vec<_>>(),
        "critical_path_ns": analysis.longest.0,
        "total_ns": analysis.total.0,
        "bound_ns": analysis.bound.0,
        "makespan_ns": analysis.makespan.0,
        "speedup": analysis.speedup(),
        "speedup_bound": analysis.max_speedup(),
        "copies": analysis.copies(),
        "abridged": analysis.is_abridged,
        "lanes": lanes.collect::<Vec<_>>(),
    })
}

fn row_json(analysis: &PlanAnalysis, row: &TaskRow) -> Value {
    let runs = row
        .runs
        .iter()
        .map(|run| json!({ "core": run.core, "start_ns": run.start.0, "finish_ns": run.finish.0 }));
    let after = row.before.iter().map(|i| &analysis.rows[*i].name);
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
pub(super) fn picture(analysis: &PlanAnalysis, heading: &PlanHeading) -> Picture {
    let lanes = (0..analysis.cores).map(|core| GanttRow {
        name: format!("core {core}"),
        bars: gantt_bars(analysis, core),
    });
    draw::gantt(&GanttChart {
        title: format!(
            "{}: {} on {}",
            heading.name,
            analysis.scheduler.name(),
            cores_in_words(analysis.cores)
        ),
        note: format!(
            "makespan {}, speed-up {:.2} (at most {:.2}); 256 bytes to another core cost {}",
            analysis.makespan,
            analysis.speedup(),
            analysis.max_speedup(),
            typical_transfer(analysis.base, analysis.per_kib),
        ),
        rows: lanes.collect(),
        arrows: gantt_arrows(analysis),
        markers: Vec::new(),
        deadline_ns: None,
    })
}

fn gantt_bars(analysis: &PlanAnalysis, core: usize) -> Vec<GanttBar> {
    let lane = analysis.runs_on(core).into_iter();
    let boxes = lane.map(|(index, run)| {
        let row = &analysis.rows[index];
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
            class: row.class,
        }
    });
    boxes.collect()
}

/// Communication between cores: an arrow to each run whose input has no copy on the run's own core.
fn gantt_arrows(analysis: &PlanAnalysis) -> Vec<GanttArrow> {
    let mut all = Vec::new();
    for row in &analysis.rows {
        for run in &row.runs {
            for before in row.before.iter().map(|i| &analysis.rows[*i]) {
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
