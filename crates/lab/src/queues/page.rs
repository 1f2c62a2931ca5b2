//! What the experiment *queues* says: everything from its table.

use super::cells::OVERLAPS;
use super::{CONTROL, FILTER, ONE, PIPES, PROCESSES, STREAM, TRIP, TWO};
use crate::chart::{Body, Chart};
use crate::page::Page;
use crate::{MachineInfo, Row, Table, state};

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &MachineInfo) -> (String, Vec<Chart>) {
    let view = View {
        table,
        cores: machine.cores,
    };
    let mut page = Page::new("Queues without copies");
    let mut charts = Vec::new();
    method(&mut page);
    page.machine(machine, crate::dates(table));
    state::section(&mut page, table, machine.cores);
    view.control(&mut page);
    view.filters(&mut page, &mut charts);
    view.passing(&mut page, &mut charts);
    view.shows(&mut page);
    (page.finish(), charts)
}

fn method(page: &mut Page) {
    page.text(
        "A filter that slides over a signal reads windows that overlap. In a ring of ordinary memory such a window is in two \
         pieces at times, so a program keeps a buffer beside it and moves the overlap to its front before every block. Allen, \
         Zucknick and Evans mapped the ring's memory twice, side by side: then every window is one slice and nothing is moved. \
         They filtered by FFT (overlap-save) both ways, on a PowerPC G5. Here it is done again.",
    );
    page.section("What was done");
    page.list([
        "A signal is fed into a queue, a hop at a time; a filter takes a window of N frames, transforms it, multiplies it by \
         its response, transforms it back and gives a hop of frames to a second queue. N runs from 2^6 to 2^17, the overlap \
         from 10 to 90 % of N.",
        "Mirrored: windows are read and results are written in place (`divisi::rt::mirror`); the response is turned so that \
         the frames that are right come first. Copying: a ring of ordinary memory (the crate rtrb); the overlap is moved in \
         a buffer, the new frames are copied behind it, the result is copied into the second ring. Slices: a mirrored queue \
         for one thread (the crate slice-ring-buffer, which has one owner and no ends that two threads could have); windows \
         in place, results copied in.",
        "One thread feeds and filters by turns; or one thread feeds and another filters, both spinning for some microseconds while they wait. The \
         kinds of queue take turns; a figure is the mean of all turns with its standard deviation; a gain is that of the \
         means.",
        "MFLOPS: half of 2 x 5 N log2 N + 6 N operations a block, since the signal is real (a complex signal would take \
         all of them), whatever the overlap, times the blocks a second.",
        "The control is the copying way against itself.",
        "Passing memory on: portions are written into one ring and come back through another from a second thread, or from \
         a second process that has mapped the same memory; and portions go one way as fast as they are read. Beside the \
         rings between processes stand pipes as the system makes them (64 KB), by turns, each with a process of its own.",
    ]);
}

struct View<'a> {
    table: &'a Table,
    cores: usize,
}

impl<'a> View<'a> {
    fn rows(&self, what: &'static str, between: &'static str) -> impl Iterator<Item = Row<'a>> {
        let rows = self.table.rows();
        rows.filter(move |row| row.text("what") == what && row.text("between") == between)
    }

    fn is_void(&self, row: &Row<'_>) -> bool {
        state::void(row, self.cores).is_some()
    }

    fn control(&self, page: &mut Page) {
        page.section("The control");
        let gains: Vec<f64> = (self.rows(CONTROL, ONE))
            .filter(|row| !self.is_void(row))
            .filter_map(|row| gain(&row))
            .collect();
        match most(&gains) {
            None => page.text("The control has not been run yet, or only while the machine was in other use."),
            Some(most) => page.text(&format!(
                "The copying way against itself came out up to {most:.1} % better or worse over {} lengths: a gain below that \
                 says nothing.",
                gains.len()
            )),
        }
    }

    fn filters(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        for between in [ONE, TWO] {
            page.section(&format!("A filter by FFT, {between}"));
            let file = between.replace(' ', "-");
            let speed = |row: &Row<'_>| row.number("mirrored");
            let gain = self.curves(between, gain, &format!("gain-{file}"), "gain, %");
            let speed = self.curves(between, speed, &format!("speed-{file}"), "speed, MFLOPS");
            for (chart, caption) in [
                (
                    gain,
                    "By how much the mirrored queue is faster than the copying one.",
                ),
                (speed, "What the mirrored queue comes to."),
            ] {
                if !chart.is_empty() {
                    page.figure(&chart.svg(), caption);
                    charts.push(chart);
                }
            }
            let rows: Vec<_> = self
                .rows(FILTER, between)
                .map(|row| self.line(&row))
                .collect();
            let head = [
                "N", "Overlap", "Mirrored", "Copying", "Slices", "Gain", "State",
            ];
            page.table("MFLOPS, mean and standard deviation", &head, &rows);
        }
    }

    fn curves(
        &self,
        between: &'static str,
        value: fn(&Row<'_>) -> Option<f64>,
        file: &str,
        y: &'static str,
    ) -> Chart {
        let curve = |overlap: usize| {
            let overlap_text = overlap.to_string();
            let rows = self.rows(FILTER, between).filter(|row| !self.is_void(row));
            let rows = rows.filter(|row| row.text("overlap") == overlap_text);
            let points = rows.filter_map(|row| Some((row.number("size")?, value(&row)?)));
            (format!("overlap {overlap} %"), points.collect())
        };
        Chart {
            file: file.into(),
            title: format!("overlap-save, {between}"),
            x: "N",
            y,
            body: Body::Curves {
                log: (true, false),
                curves: OVERLAPS.map(curve).into(),
            },
        }
    }

    fn line(&self, row: &Row<'_>) -> Vec<String> {
        let state = if self.is_void(row) { "void" } else { "" };
        vec![
            row.text("size").into(),
            format!("{} %", row.text("overlap")),
            spread(row, "mirrored"),
            spread(row, "copying"),
            spread(row, "slices"),
            told(gain(row)),
            state.into(),
        ]
    }

    fn passing(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Passing memory on");
        let trips = self.passed_curves(TRIP, ("trips", "there and back"), "round trip, µs", 1e-3);
        let streams = self.passed_curves(STREAM, ("streams", "one way"), "MB/s", 1.0);
        for (chart, caption) in [
            (
                trips,
                "There and back between two threads and between two processes.",
            ),
            (
                streams,
                "One way between two threads and between two processes.",
            ),
        ] {
            if !chart.is_empty() {
                page.figure(&chart.svg(), caption);
                charts.push(chart);
            }
        }
        for (what, caption) in [
            (TRIP, "There and back, in ns: mean and standard deviation"),
            (STREAM, "One way, in MB/s: mean and standard deviation"),
        ] {
            let rows = self.table.rows().filter(|row| row.text("what") == what);
            let rows: Vec<_> = rows.map(|row| self.passed(&row)).collect();
            let head = [
                "Bytes",
                "Between",
                "Mirrored",
                "Copying, or pipes",
                "Gain",
                "State",
            ];
            page.table(caption, &head, &rows);
        }
    }

    /// What passing memory on came to, over the bytes of a portion; in units of `unit` in the table.
    fn passed_curves(
        &self,
        what: &'static str,
        (file, title): (&str, &str),
        y: &'static str,
        unit: f64,
    ) -> Chart {
        // Round trips between processes have also been run without pipes beside them.
        let processes = if what == TRIP { PROCESSES } else { PIPES };
        let curve = |name: &str, between, column: &str| {
            let rows = self.rows(what, between).filter(|row| !self.is_void(row));
            let points =
                rows.filter_map(|row| Some((row.number("size")?, row.number(column)? * unit)));
            (name.to_owned(), points.collect())
        };
        Chart {
            file: file.into(),
            title: title.into(),
            x: "bytes",
            y,
            body: Body::Curves {
                log: (true, true),
                curves: vec![
                    curve("mirrored, threads", TWO, "mirrored"),
                    curve("copying, threads", TWO, "copying"),
                    curve("mirrored, processes", processes, "mirrored"),
                    curve("pipes, processes", PIPES, "copying"),
                ],
            },
        }
    }

    fn passed(&self, row: &Row<'_>) -> Vec<String> {
        let state = match row.number("mirrored") {
            None => "not run: only the program divisi can start itself again",
            Some(_) if self.is_void(row) => "void",
            Some(_) => "",
        };
        vec![
            row.text("size").into(),
            row.text("between").into(),
            spread(row, "mirrored"),
            spread(row, "copying"),
            told(gain(row)),
            state.into(),
        ]
    }

    fn shows(&self, page: &mut Page) {
        page.section("What it shows");
        let mut found = Vec::new();
        for between in [ONE, TWO] {
            found.extend(
                self.gain(between, "up to 4096 with half or more overlap", |n, o| {
                    n <= 4096.0 && o >= 50.0
                }),
            );
            found.extend(self.gain(between, "above 4096", |n, _| n > 4096.0));
        }
        match found.is_empty() {
            true => page.text("Nothing yet: no run is there that is not void."),
            false => page.list(&found),
        }
        page.section("What it does not show");
        page.list([
            "A slow memory: the study's machine copied a few GB a second, this one several times that, so that less is to be \
             gained.",
            "A signal that somebody needs: what comes out is thrown away, and the signal is fed from the cache.",
            "A queue that is asleep: nobody sleeps here but in a pipe, whose readers and writers the system wakes.",
        ]);
    }

    /// The least, the middle and the greatest gain over some lengths and overlaps.
    fn gain(
        &self,
        between: &'static str,
        where_: &str,
        is_in: impl Fn(f64, f64) -> bool,
    ) -> Option<String> {
        let rows = self.rows(FILTER, between).filter(|row| !self.is_void(row));
        let mut gains: Vec<f64> = rows
            .filter(|row| {
                let (size, overlap) = (row.number("size"), row.number("overlap"));
                is_in(size.unwrap_or(0.0), overlap.unwrap_or(0.0))
            })
            .filter_map(|row| gain(&row))
            .collect();
        gains.sort_by(f64::total_cmp);
        let (least, most) = (gains.first()?, gains.last()?);
        let middle = gains[gains.len() / 2];
        Some(format!(
            "N {where_}, {between}: the mirrored queue is {middle:.1} % faster in the median of {} cells, {least:.1} % at least, \
             {most:.1} % at most.",
            gains.len()
        ))
    }
}

/// The greatest of what there is, whatever its sign.
fn most(values: &[f64]) -> Option<f64> {
    values.iter().map(|value| value.abs()).reduce(f64::max)
}

/// By how much mirrored is better than copying, in %.
fn gain(row: &Row<'_>) -> Option<f64> {
    let (mirrored, copying) = (row.number("mirrored")?, row.number("copying")?);
    let ratio = match row.text("what") {
        TRIP => copying / mirrored,
        _ => mirrored / copying,
    };
    let gain = 100.0 * (ratio - 1.0);
    gain.is_finite().then_some(gain)
}

fn told(gain: Option<f64>) -> String {
    gain.map_or("-".into(), |gain| format!("{gain:+.1} %"))
}

/// A mean and its standard deviation.
fn spread(row: &Row<'_>, column: &str) -> String {
    match (row.number(column), row.number(&format!("{column}_sd"))) {
        (Some(mean), Some(sd)) if mean.abs() >= 100.0 => format!("{mean:.0} ± {sd:.0}"),
        (Some(mean), Some(sd)) => format!("{mean:.1} ± {sd:.1}"),
        _ => "-".into(),
    }
}
