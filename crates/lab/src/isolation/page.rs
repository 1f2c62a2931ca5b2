//! The page of the experiment *isolation*.

use super::histogram::Histogram;
use super::load::Load;
use super::music::MusicApp;
use crate::chart::Chart;
use crate::page::Page;
use crate::results::{Results, min_max};

const HEAD: &str = "Application | Beside it | Responses | Sent late | Min | Mean | p50 | p99.9 | Max | p50 / alone | p99.9 / alone";

/// All valid rounds of one application beside one load.
struct Summary {
    histogram: Histogram,
    late: f64,
    min_us: f64,
    max_us: f64,
    mean_us: f64,
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
                None => vec!["not run".to_owned(); 9],
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
}

/// Compares a load with none.
fn finding(app: MusicApp, load: Load, found: &Summary, alone: &Summary) -> Option<String> {
    let (p50, p999) = (found.ratio(alone, 0.5)?, found.ratio(alone, 0.999)?);
    let (app, load) = (app.name(), load.name());
    Some(format!(
        "{app}, {load}: p50 is {p50:.2} and p99.9 {p999:.2} times that of the same application alone; the maximum is {:.1} µs, alone {:.1} µs.",
        found.max_us, alone.max_us
    ))
}
