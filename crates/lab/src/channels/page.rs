//! The page of the experiment *channels*.

use super::{GRAPH, TRIP};
use crate::Row;
use crate::page::Page;
use crate::results::Results;

/// Headings and columns of the table.
const HEAD: &str = "Bytes | Through | Min | Mean | p99.9 | Max | Ticks | Bare min | Bare mean | Bare p99.9 | Bare max | Mean / bare | State";
const COLUMNS: [&str; 9] = [
    "min_ns",
    "mean_ns",
    "p999_ns",
    "max_ns",
    "mean_cycles",
    "bare_min_ns",
    "bare_mean_ns",
    "bare_p999_ns",
    "bare_max_ns",
];

/// The paper's mean of 1280 bytes, in ns, on its machine.
const PAPER_TRIP_NS: f64 = 1080.0;
/// The paper's mean through the loop-back graph, likewise.
const PAPER_GRAPH_NS: f64 = 21_080.0;

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    let rows = results.rows(&[]).map(|row| {
        let mut cells = vec![row.text("size").to_owned(), through(&row).to_owned()];
        cells.extend(COLUMNS.iter().map(|column| match row.text(column) {
            "" => "not run".to_owned(),
            value => value.to_owned(),
        }));
        cells.push(ratio(&row).map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
        cells.push(results.state(&row).to_owned());
        cells
    });
    page.table(
        "table",
        "Round trips, in ns; ticks of the time-stamp counter",
        HEAD,
        rows,
    );
    let finding = |what, size: usize, paper: f64| {
        let filter = [("what", what)];
        let mut rows = results.valid_rows(&filter);
        let row = rows.find(|row| row.number("size") == Some(size as f64))?;
        let (mean, ratio) = (row.number("mean_ns")?, ratio(&row)?);
        Some(format!(
            "{size} bytes, {}: {mean:.0} ns in the mean, {ratio:.2} x the bare ping-pong of the same run; the paper has {paper:.0} ns on its \
             machine.",
            through(&row)
        ))
    };
    let found = [
        finding(TRIP, 1280, PAPER_TRIP_NS),
        finding(GRAPH, 1280, PAPER_GRAPH_NS),
    ];
    page.findings("findings", &found.into_iter().flatten().collect::<Vec<_>>());
}

fn through(row: &Row<'_>) -> &'static str {
    match row.text("what") {
        GRAPH => "a graph",
        _ => "nothing",
    }
}

fn ratio(row: &Row<'_>) -> Option<f64> {
    let ratio = row.number("mean_ns")? / row.number("bare_mean_ns")?;
    ratio.is_finite().then_some(ratio)
}
