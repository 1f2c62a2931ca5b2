//! The page of the experiment *queues*.

use super::runs::OVERLAPS;
use super::{CONTROL, FILTER, ONE_THREAD, PIPES, PROCESSES, ROUND_TRIP, THROUGHPUT, TWO_THREADS};
use crate::Row;
use crate::chart::{Chart, Curve};
use crate::page::Page;
use crate::results::{Filter, Results, median, min_max};

/// Heading and content of the tables: a column of the table of runs, or computed by [`View::cell`].
const FILTERS: [(&str, &str); 7] = [
    ("N", "size"),
    ("Overlap", "overlap"),
    ("Mirrored", "mirrored"),
    ("Copying", "copying"),
    ("Slices", "slices"),
    ("Gain", "gain"),
    ("State", "state"),
];
const TRANSFERS: [(&str, &str); 6] = [
    ("Bytes", "size"),
    ("Between", "between"),
    ("Mirrored", "mirrored"),
    ("Copying, or pipes", "copying"),
    ("Gain", "gain"),
    ("State", "state"),
];

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    let view = View(results);
    page.paragraph("control", &view.control());
    view.filters(page, "one_thread", ONE_THREAD);
    view.filters(page, "two_threads", TWO_THREADS);
    view.transfers(page, ROUND_TRIP);
    view.transfers(page, THROUGHPUT);
    let findings = [ONE_THREAD, TWO_THREADS].into_iter().flat_map(|between| {
        let short = |size, overlap| size <= 4096.0 && overlap >= 50.0;
        [
            view.gains(between, "up to 4096 with half or more overlap", short),
            view.gains(between, "above 4096", |size, _| size > 4096.0),
        ]
    });
    page.findings("findings", &findings.flatten().collect::<Vec<_>>());
}

struct View<'a>(&'a Results<'a>);

impl View<'_> {
    fn control(&self) -> String {
        let filter = [("what", CONTROL), ("between", ONE_THREAD)];
        let gains = self.0.valid_rows(&filter).filter_map(|row| gain(&row));
        let gains: Vec<f64> = gains.map(f64::abs).collect();
        match min_max(gains.iter().copied()) {
            None => "The control has not been run yet, or only while the machine was in other use."
                .into(),
            Some((_, max)) => format!(
                "The copying queue against itself came out up to {max:.1} % better or worse over {} lengths: a gain below that \
                 says nothing.",
                gains.len()
            ),
        }
    }

    /// Speed and gain of the filter.
    fn filters(&self, page: &mut Page, section: &'static str, between: &str) {
        let filter = [("what", FILTER), ("between", between)];
        let file = between.replace(' ', "-");
        let chart = |value: fn(&Row<'_>) -> Option<f64>, name: &str, y: &str| {
            let curves = OVERLAPS.map(|overlap| {
                let overlap = overlap.to_string();
                let filter = [filter[0], filter[1], ("overlap", overlap.as_str())];
                self.curve(format!("overlap {overlap} %"), &filter, value)
            });
            let (file, title) = (format!("{name}-{file}"), format!("overlap-save, {between}"));
            Chart::curves(file, title, ["N", y], [true, false], curves)
        };
        let caption = "Gain in speed of the mirrored queue over the copying one.";
        page.chart(section, chart(gain, "gain", "gain, %"), caption);
        let mirrored = chart(|row| row.number("mirrored"), "speed", "speed, MFLOPS");
        page.chart(section, mirrored, "Speed with the mirrored queue.");
        let caption = "MFLOPS, mean and standard deviation";
        self.table(page, section, caption, &FILTERS, &filter);
    }

    /// A value over the size.
    fn curve(
        &self,
        name: String,
        filter: Filter<'_>,
        value: impl Fn(&Row<'_>) -> Option<f64>,
    ) -> Curve {
        let rows = self.0.valid_rows(filter);
        let points = rows.filter_map(|row| Some((row.number("size")?, value(&row)?)));
        (name, points.collect())
    }

    /// Round trips, or messages one way.
    fn transfers(&self, page: &mut Page, what: &str) {
        // Round trips between processes have also been run without pipes beside them.
        let (file, title, y, in_words, processes, unit) = match what {
            ROUND_TRIP => (
                "trips",
                "there and back",
                "round trip, µs",
                "ns",
                PROCESSES,
                1e-3,
            ),
            _ => ("streams", "one way", "MB/s", "MB/s", PIPES, 1.0),
        };
        let series = [
            ("mirrored, threads", TWO_THREADS, "mirrored"),
            ("copying, threads", TWO_THREADS, "copying"),
            ("mirrored, processes", processes, "mirrored"),
            ("pipes, processes", PIPES, "copying"),
        ];
        let curves = series.map(|(name, between, column)| {
            let filter = [("what", what), ("between", between)];
            let value = |row: &Row<'_>| Some(row.number(column)? * unit);
            self.curve(name.to_owned(), &filter, value)
        });
        let chart = Chart::curves(file, title, ["bytes", y], [true; 2], curves);
        let title = format!("{}{}", title[..1].to_uppercase(), &title[1..]);
        let caption = format!("{title} between two threads and between two processes.");
        page.chart("transfer", chart, &caption);
        let caption = format!("{title}, in {in_words}: mean and standard deviation");
        self.table(page, "transfer", &caption, &TRANSFERS, &[("what", what)]);
    }

    /// A table of runs; a column in which no run has a value is left out.
    fn table(
        &self,
        page: &mut Page,
        section: &'static str,
        caption: &str,
        columns: &[(&str, &str)],
        filter: Filter<'_>,
    ) {
        let has_slices = self
            .0
            .rows(filter)
            .any(|row| row.number("slices").is_some());
        let shown = columns
            .iter()
            .filter(|(_, what)| has_slices || *what != "slices");
        let (head, shown): (Vec<&str>, Vec<&str>) = shown.copied().unzip();
        let rows = self.0.rows(filter);
        let rows = rows.map(|row| shown.iter().map(|what| self.cell(&row, what)).collect());
        page.table(section, caption, &head.join(" | "), rows);
    }

    fn cell(&self, row: &Row<'_>, what: &str) -> String {
        match what {
            "overlap" => format!("{} %", row.text(what)),
            "mirrored" | "copying" | "slices" => mean_and_deviation(row, what),
            "gain" => gain(row).map_or("-".into(), |gain| format!("{gain:+.1} %")),
            "state" if row.number("mirrored").is_none() => {
                "not run: only the program divisi can start itself again".into()
            }
            "state" => self.0.state(row).into(),
            column => row.text(column).into(),
        }
    }

    /// Minimum, median and maximum gain over some lengths and overlaps, in a sentence.
    fn gains(
        &self,
        between: &str,
        range: &str,
        is_in_range: impl Fn(f64, f64) -> bool,
    ) -> Option<String> {
        let filter = [("what", FILTER), ("between", between)];
        let rows = self.0.valid_rows(&filter).filter(|row| {
            let number = |column| row.number(column).unwrap_or(0.0);
            is_in_range(number("size"), number("overlap"))
        });
        let gains: Vec<f64> = rows.filter_map(|row| gain(&row)).collect();
        let (min, max) = min_max(gains.iter().copied())?;
        let (median, count) = (median(gains.iter().copied())?, gains.len());
        Some(format!(
            "N {range}, {between}: the mirrored queue is {median:.1} % faster in the median of {count} cells, {min:.1} % at \
             least, {max:.1} % at most."
        ))
    }
}

/// Advantage of the mirrored queue over the copying one, in %.
fn gain(row: &Row<'_>) -> Option<f64> {
    let (mirrored, copying) = (row.number("mirrored")?, row.number("copying")?);
    let ratio = match row.text("what") {
        ROUND_TRIP => copying / mirrored,
        _ => mirrored / copying,
    };
    let gain = 100.0 * (ratio - 1.0);
    gain.is_finite().then_some(gain)
}

fn mean_and_deviation(row: &Row<'_>, column: &str) -> String {
    match (row.number(column), row.number(&format!("{column}_sd"))) {
        (Some(mean), Some(sd)) if mean.abs() >= 100.0 => format!("{mean:.0} ± {sd:.0}"),
        (Some(mean), Some(sd)) => format!("{mean:.1} ± {sd:.1}"),
        _ => "-".into(),
    }
}
