//! The page of the experiment *isolation*.

use super::CHANNEL;
use super::histogram::Histogram;
use super::load::Load;
use super::music::MusicApp;
use crate::channels::SIZES;
use crate::chart::Chart;
use crate::page::Page;
use crate::results::{Results, min_max};

const HEAD: &str = "Application | Beside it | Responses | Sent late | Min | Mean | p50 | p99.9 | Max | Longest gap | Gaps a second | p50 / alone | p99.9 / alone";

/// All valid rounds of one application beside one load.
struct Summary {
    histogram: Histogram,
    late: f64,
    min_us: f64,
    max_us: f64,
    mean_us: f64,
    gap_max_us: Option<f64>,
    gaps_per_second: Option<f64>,
}

impl Summary {
    fn new(results: &Results<'_>, app: MusicApp, load: Load) -> Option<Self> {
        let filter = [("app", app.name()), ("load", load.name())];
        let rows: Vec<_> = results.valid_rows(&filter).collect();
        let mut histogram = Histogram::default();
        let of = |column| rows.iter().filter_map(move |row| row.number(column));
        rows.iter()
            .for_each(|row| histogram.merge(&Histogram::read(row.text("histogram"))));
        let sum = |row: &crate::Row<'_>| Some(row.number("mean_us")? * row.number("count")?);
        let total: f64 = rows.iter().filter_map(sum).sum();
        Some(Self {
            late: of("late").sum(),
            min_us: min_max(of("min_us"))?.0,
            max_us: min_max(of("max_us"))?.1,
            gap_max_us: min_max(of("gap_max_us")).map(|it| it.1),
            gaps_per_second: {
                let watched: f64 = of("watched_ms").sum();
                (watched > 0.0).then(|| of("gaps").sum::<f64>() / watched * 1e3)
            },
            mean_us: total / of("count").sum::<f64>(),
            histogram,
        })
    }

    /// Quotient of the quantiles of this and `other`.
    fn ratio(&self, other: &Self, share: f64) -> Option<f64> {
        Some(self.histogram.quantile_us(share)? / other.histogram.quantile_us(share)?)
    }

    fn cells(&self, alone: Option<&Self>) -> Vec<String> {
        let quantile = |share| self.histogram.quantile_us(share).unwrap_or_default();
        let ratio = |share| {
            let ratio = alone.and_then(|alone| self.ratio(alone, share));
            ratio.map_or("-".to_owned(), |it| format!("{it:.2}"))
        };
        let mut cells = vec![
            self.histogram.count().to_string(),
            format!("{:.0}", self.late),
        ];
        let times = [
            self.min_us,
            self.mean_us,
            quantile(0.5),
            quantile(0.999),
            self.max_us,
        ];
        cells.extend(times.map(|us| format!("{us:.1}")));
        let known = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{it:.1}"));
        cells.extend([known(self.gap_max_us), known(self.gaps_per_second)]);
        cells.extend([ratio(0.5), ratio(0.999)]);
        cells
    }
}

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for app in MusicApp::ALL {
        let alone = Summary::new(results, app, Load::Alone);
        let mut curves = Vec::new();
        for load in Load::ALL {
            let found = Summary::new(results, app, load);
            let cells = match &found {
                Some(found) => found.cells(alone.as_ref()),
                None => vec!["no valid run".to_owned(); 11],
            };
            let names = [app.name().to_owned(), load.name().to_owned()];
            rows.push(names.into_iter().chain(cells).collect());
            let Some(found) = found else { continue };
            if let (Some(alone), true) = (&alone, load != Load::Alone) {
                findings.extend(finding(app, load, &found, alone));
            }
            curves.push((load.name().to_owned(), found.histogram.points()));
        }
        let file = format!("histogram-{}", app.name());
        let title = format!("Response times, {}", app.name());
        let axes = ["response time, µs", "responses"];
        let chart = Chart::curves(file, title, axes, [true, true], curves);
        page.chart("charts", chart, "Number of responses in each microsecond.");
    }
    page.table(
        "table",
        "Response times of all valid rounds, in µs",
        HEAD,
        rows,
    );
    page.findings("findings", &findings);
    page.findings("refused", &refused(results));
    page.findings("shares", &shares(results.machine.cores));
    fill_paper_tables(results, page);
}

/// Refusals of the system in any run, once each.
fn refused(results: &Results<'_>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in results.rows(&[]) {
        let lines = row.text("refused").split("; ").filter(|it| !it.is_empty());
        for line in lines.map(str::to_owned) {
            if !all.contains(&line) {
                all.push(line);
            }
        }
    }
    if all.is_empty() && results.rows(&[]).next().is_some() {
        all.push("Nothing.".to_owned());
    }
    all
}

/// Processes that share cores.
fn shares(cores: usize) -> Vec<String> {
    let load = match cores {
        1 => "The load in its cell shares the one core of this machine with both.".to_owned(),
        _ => format!("The load in its cell has core {} alone.", cores - 1),
    };
    vec![
        "Core 0: the device and the application. One waits while the other computes.".to_owned(),
        load,
        format!(
            "The load as a process or in a container has a thread for each of the {cores} cores, so it shares core 0 too."
        ),
    ]
}

/// Minimum, mean and maximum of the paper's table 1, in µs, in the order of [`SIZES`].
const PAPER_TRIPS: [[&str; 3]; 6] = [
    ["0.67", "0.73", "0.85"],
    ["0.86", "0.95", "1.08"],
    ["0.96", "1.08", "1.49"],
    ["1.27", "1.40", "1.62"],
    ["2.02", "2.10", "2.29"],
    ["2.18", "2.42", "3.26"],
];
/// The same of its table 2: alone, and beside the sorting load in a cell.
const PAPER_RESPONSES: [(Load, [&str; 3]); 2] = [
    (Load::Alone, ["107", "110", "119"]),
    (Load::Cell, ["107", "110", "121"]),
];

/// The two tables of the paper, with what was measured here.
fn fill_paper_tables(results: &Results<'_>, page: &mut Page) {
    let unknown = || vec!["no valid run".to_owned(); 3];
    let trips = SIZES.iter().zip(PAPER_TRIPS).map(|(size, paper)| {
        let size = size.to_string();
        let filter = [("app", CHANNEL), ("load", &*size)];
        let row = results.valid_rows(&filter).last();
        let own = row.filter(|row| !row.text("count").is_empty());
        let own = own.map(|row| {
            ["min_us", "mean_us", "max_us"]
                .map(|it| row.text(it).to_owned())
                .to_vec()
        });
        let paper = paper.map(str::to_owned);
        [size.clone()]
            .into_iter()
            .chain(paper)
            .chain(own.unwrap_or_else(unknown))
            .collect()
    });
    let head = "Bytes | Paper: min | Mean | Max | Here: min | Mean | Max";
    page.table(
        "paper",
        "Table 1: round trips of messages, in µs",
        head,
        trips.collect::<Vec<_>>(),
    );
    let own = |app, load| {
        let found = Summary::new(results, app, load);
        found.map_or_else(unknown, |it| {
            [it.min_us, it.mean_us, it.max_us]
                .map(|us| format!("{us:.1}"))
                .to_vec()
        })
    };
    let responses = PAPER_RESPONSES.map(|(load, paper)| {
        let mut cells = vec![load.name().to_owned()];
        cells.extend(paper.map(str::to_owned));
        MusicApp::ALL
            .iter()
            .for_each(|app| cells.extend(own(*app, load)));
        cells
    });
    let head =
        "Beside it | Paper: min | Mean | Max | Session: min | Mean | Max | Patch: min | Mean | Max";
    page.table(
        "paper",
        "Table 2: response times, in µs",
        head,
        responses.to_vec(),
    );
}

/// Compares a load with none.
fn finding(app: MusicApp, load: Load, found: &Summary, alone: &Summary) -> Option<String> {
    let (p50, p999) = (found.ratio(alone, 0.5)?, found.ratio(alone, 0.999)?);
    let (app, load) = (app.name(), load.name());
    Some(format!(
        "{app}, {load}: p50 is {p50:.2} and p99.9 {p999:.2} times that of the same application alone; the maximum is {:.1} µs, alone {:.1} µs; the probe saw a gap of {:.1} µs on the same core.",
        found.max_us,
        alone.max_us,
        found.gap_max_us.unwrap_or_default()
    ))
}
