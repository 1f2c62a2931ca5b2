//! The page of the experiment *queues*.

use super::runs::OVERLAPS;
use super::{CONTROL, FILTER, ONE_THREAD, PIPES, PROCESSES, ROUND_TRIP, THROUGHPUT, TWO_THREADS};
use crate::Row;
use crate::chart::{Chart, Curve};
use crate::page::Page;
use crate::results::{Filter, Results, median};

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    let view = View(results);
    page.paragraph("control", &view.control());
    view.filters(page, "one_thread", ONE_THREAD);
    view.filters(page, "two_threads", TWO_THREADS);
    view.round_trips(page);
    view.throughput(page);
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
        let gains: Vec<f64> = self
            .0
            .valid_rows(&filter)
            .filter_map(|row| gain(&row))
            .collect();
        match gains.iter().map(|gain| gain.abs()).reduce(f64::max) {
            None => "The control has not been run yet, or only while the machine was in other use."
                .into(),
            Some(max) => format!(
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
            let title = format!("overlap-save, {between}");
            Chart::curves(
                format!("{name}-{file}"),
                title,
                ["N", y],
                [true, false],
                curves,
            )
        };
        let caption = "Gain in speed of the mirrored queue over the copying one.";
        page.chart(section, chart(gain, "gain", "gain, %"), caption);
        let mirrored = chart(|row| row.number("mirrored"), "speed", "speed, MFLOPS");
        page.chart(section, mirrored, "Speed with the mirrored queue.");

        let has_slices = self
            .0
            .rows(&filter)
            .any(|row| row.number("slices").is_some());
        let kinds: &[(&str, &str)] = match has_slices {
            true => &[
                ("Mirrored", "mirrored"),
                ("Copying", "copying"),
                ("Slices", "slices"),
            ],
            false => &[("Mirrored", "mirrored"), ("Copying", "copying")],
        };
        let head: Vec<&str> = ["N", "Overlap"]
            .into_iter()
            .chain(kinds.iter().map(|k| k.0))
            .chain(["Gain", "State"])
            .collect();
        let rows = self.0.rows(&filter).map(|row| {
            let mut cells = vec![
                row.text("size").into(),
                format!("{} %", row.text("overlap")),
            ];
            cells.extend(
                kinds
                    .iter()
                    .map(|(_, column)| mean_and_deviation(&row, column)),
            );
            cells.extend([signed_percent(gain(&row)), self.0.state(&row).into()]);
            cells
        });
        page.table(
            section,
            "MFLOPS, mean and standard deviation",
            &head.join(" | "),
            rows,
        );
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

    fn round_trips(&self, page: &mut Page) {
        // Round trips between processes have also been run without pipes beside them.
        let curves = self.transfer_curves(ROUND_TRIP, PROCESSES, 1e-3);
        let axes = ["bytes", "round trip, µs"];
        let chart = Chart::curves("trips", "there and back", axes, [true; 2], curves);
        page.chart(
            "transfer",
            chart,
            "There and back between two threads and between two processes.",
        );
        let caption = "There and back, in ns: mean and standard deviation";
        self.transfer_table(page, ROUND_TRIP, caption);
    }

    fn throughput(&self, page: &mut Page) {
        let curves = self.transfer_curves(THROUGHPUT, PIPES, 1.0);
        let axes = ["bytes", "MB/s"];
        let chart = Chart::curves("streams", "one way", axes, [true; 2], curves);
        page.chart(
            "transfer",
            chart,
            "One way between two threads and between two processes.",
        );
        let caption = "One way, in MB/s: mean and standard deviation";
        self.transfer_table(page, THROUGHPUT, caption);
    }

    /// Transfers over the bytes of a message; in units of `unit` in the table.
    fn transfer_curves(&self, what: &str, processes: &str, unit: f64) -> [Curve; 4] {
        [
            ("mirrored, threads", TWO_THREADS, "mirrored"),
            ("copying, threads", TWO_THREADS, "copying"),
            ("mirrored, processes", processes, "mirrored"),
            ("pipes, processes", PIPES, "copying"),
        ]
        .map(|(name, between, column)| {
            let filter = [("what", what), ("between", between)];
            self.curve(name.to_owned(), &filter, |row| {
                Some(row.number(column)? * unit)
            })
        })
    }

    fn transfer_table(&self, page: &mut Page, what: &str, caption: &str) {
        let filter = [("what", what)];
        let rows = self.0.rows(&filter).map(|row| {
            let state = match row.number("mirrored") {
                None => "not run: only the program divisi can start itself again",
                Some(_) => self.0.state(&row),
            };
            vec![
                row.text("size").into(),
                row.text("between").into(),
                mean_and_deviation(&row, "mirrored"),
                mean_and_deviation(&row, "copying"),
                signed_percent(gain(&row)),
                state.into(),
            ]
        });
        let head = "Bytes | Between | Mirrored | Copying, or pipes | Gain | State";
        page.table("transfer", caption, head, rows);
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
        let (min, max) = (
            gains.iter().copied().reduce(f64::min)?,
            gains.iter().copied().reduce(f64::max)?,
        );
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

fn signed_percent(gain: Option<f64>) -> String {
    gain.map_or("-".into(), |gain| format!("{gain:+.1} %"))
}

fn mean_and_deviation(row: &Row<'_>, column: &str) -> String {
    match (row.number(column), row.number(&format!("{column}_sd"))) {
        (Some(mean), Some(sd)) if mean.abs() >= 100.0 => format!("{mean:.0} ± {sd:.0}"),
        (Some(mean), Some(sd)) => format!("{mean:.1} ± {sd:.1}"),
        _ => "-".into(),
    }
}
