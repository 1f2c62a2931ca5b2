//! In what state the machine was while runs were made, and which runs are void for it.

use crate::page::Page;
use crate::threads::Busy;
use crate::{Row, Table};
use std::collections::BTreeMap;
use std::fs;

/// Of what a run could have had, so much, and no less than that many ms, may go to others.
const SHARE: f64 = 0.1;
const LEAST_MS: f64 = 30.0;
/// For so much of a run its threads may be ready and have no core, where there are enough.
const WAITED: f64 = 0.1;
/// More minutes than these are put together by tens.
const MINUTES: usize = 60;

/// What is known of the machine when a run begins.
pub(crate) struct State {
    load: String,
    busy: Busy,
}

impl State {
    /// Looks.
    pub(crate) fn begin() -> Self {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            load: load.split(' ').next().unwrap_or_default().to_owned(),
            busy: Busy::so_far(),
        }
    }

    /// The cells of the run that has ended, for the columns `loadavg`, `nice` and `others_ms`.
    pub(crate) fn end(self) -> [String; 3] {
        let others = Busy::so_far().others_since(self.busy);
        let nice = niceness().map_or(String::new(), |nice| nice.to_string());
        [
            self.load,
            nice,
            format!("{:.0}", others.as_secs_f64() * 1e3),
        ]
    }
}

/// How nice this process is to others.
fn niceness() -> Option<i32> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold anything; behind it, niceness is the 17th word.
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(16)?.parse().ok()
}

/// Why a run says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Void {
    /// The host of a virtual machine gave its cores to others.
    Host,
    /// Other programs ran.
    Others,
    /// Its threads were ready and had no core, though there were enough.
    Waited,
}

/// Whether a run is void on a machine of so many cores.
pub(crate) fn void(run: &Row<'_>, cores: usize) -> Option<Void> {
    let most = (SHARE * run.number("ms")? * cores as f64).max(LEAST_MS);
    let took = |column: &str| run.number(column).is_some_and(|ms| ms > most);
    let threads = run.number("threads").or(run.number("cores")).unwrap_or(1.0);
    let has_cores = threads <= cores as f64 && run.text("load") != "video";
    let waited = run.number("waited").is_some_and(|share| share > WAITED);
    match () {
        () if took("stolen_ms") => Some(Void::Host),
        () if took("others_ms") => Some(Void::Others),
        () if has_cores && waited => Some(Void::Waited),
        () => None,
    }
}

/// What a page says of it: minute by minute, so that every run is in it.
pub(crate) fn section(page: &mut Page, table: &Table, cores: usize) {
    page.section("The state of the machine");
    page.text(
        "A run is void if while it was made the host of the machine or other programs took more than a tenth of what its \
         cores could do, or if its own threads, no more than there are cores and on a machine at rest, were ready and had no \
         core for more than a tenth of the time. Tables mark void runs; nothing else counts them.",
    );
    let mut spans = BTreeMap::<&str, Span>::new();
    let minutes = minutes(table);
    for row in table.rows() {
        let date = row.text("date");
        let name = if minutes > MINUTES { tens(date) } else { date };
        spans.entry(name).or_default().add(&row, cores);
    }
    let rows: Vec<_> = spans.iter().map(|(name, span)| span.cells(name)).collect();
    let caption = match minutes > MINUTES {
        true => "Ten minutes a row (the last digit is left out), UTC",
        false => "A minute a row, UTC",
    };
    let head = [
        "Runs begun",
        "Runs",
        "Load average",
        "Niceness",
        "At real-time priority",
        "Other programs, ms",
        "The host, ms",
        "Void: host",
        "Void: others",
        "Void: waited",
    ];
    page.table(caption, &head, &rows);
}

fn minutes(table: &Table) -> usize {
    let mut dates: Vec<_> = table.rows().map(|row| row.text("date")).collect();
    dates.sort_unstable();
    dates.dedup();
    dates.len()
}

/// A date without its last digit.
fn tens(date: &str) -> &str {
    let mut chars = date.chars();
    chars.next_back();
    chars.as_str()
}

/// What is said of the runs of a minute.
#[derive(Default)]
struct Span {
    runs: usize,
    real_time: usize,
    loads: Vec<f64>,
    nice: Vec<String>,
    others_ms: Option<f64>,
    stolen_ms: Option<f64>,
    void: [usize; 3],
}

impl Span {
    fn add(&mut self, row: &Row<'_>, cores: usize) {
        self.runs += 1;
        self.real_time += usize::from(row.text("priority") == "real-time");
        self.loads.extend(row.number("loadavg"));
        let nice = row.text("nice").to_owned();
        if !nice.is_empty() && !self.nice.contains(&nice) {
            self.nice.push(nice);
        }
        let sum = |all: &mut Option<f64>, column| {
            if let Some(ms) = row.number(column) {
                *all = Some(all.unwrap_or(0.0) + ms);
            }
        };
        sum(&mut self.others_ms, "others_ms");
        sum(&mut self.stolen_ms, "stolen_ms");
        if let Some(void) = void(row, cores) {
            self.void[void as usize] += 1;
        }
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let unknown = || "not kept".to_owned();
        let least = self.loads.iter().copied().reduce(f64::min);
        let most = self.loads.iter().copied().reduce(f64::max);
        let load = least
            .zip(most)
            .map_or_else(unknown, |(least, most)| format!("{least:.2} to {most:.2}"));
        let nice = match self.nice.is_empty() {
            true => unknown(),
            false => self.nice.join(", "),
        };
        let ms = |ms: Option<f64>| ms.map_or_else(unknown, |ms| format!("{ms:.0}"));
        let mut cells = vec![
            name.to_owned(),
            self.runs.to_string(),
            load,
            nice,
            self.real_time.to_string(),
            ms(self.others_ms),
            ms(self.stolen_ms),
        ];
        cells.extend(self.void.map(|count| count.to_string()));
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const HEAD: &[&str] = &[
        "threads",
        "load",
        "ms",
        "date",
        "waited",
        "stolen_ms",
        "loadavg",
        "nice",
        "others_ms",
    ];

    /// A table of runs of 1000 ms.
    fn table(rows: &[[&str; 5]]) -> (Table, PathBuf) {
        let name = format!("divisi-lab-state-{}-{}.csv", std::process::id(), rows.len());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&path);
        let mut table = Table::open(&path, "m", HEAD, 4).unwrap();
        for (at, [threads, load, waited, stolen, others]) in rows.iter().enumerate() {
            let date = format!("2026-11-21 15:{at:02}");
            let cells = [
                threads, load, "1000", &date, waited, stolen, "1.5", "0", others,
            ];
            table.add(cells.map(str::to_owned).to_vec()).unwrap();
        }
        (table, path)
    }

    #[test]
    fn a_run_is_void_where_others_had_its_cores() {
        let (table, path) = table(&[
            ["2", "rest", "0.01", "0", "10"],
            ["2", "rest", "0.01", "500", "10"],
            ["2", "rest", "0.01", "0", "500"],
            ["2", "rest", "0.5", "0", "10"],
            ["3", "rest", "0.5", "0", "10"],
            ["2", "video", "0.5", "0", "10"],
            ["2", "rest", "", "", ""],
        ]);
        let found: Vec<_> = table.rows().map(|row| void(&row, 2)).collect();
        let (host, others, waited) = (Void::Host, Void::Others, Void::Waited);
        let expected = [
            None,
            Some(host),
            Some(others),
            Some(waited),
            None,
            None,
            None,
        ];
        assert_eq!(found, expected);
        let mut page = Page::new("x");
        section(&mut page, &table, 2);
        let page = page.finish();
        assert_eq!(page.matches("2026-11-21 15:0").count(), 7);
        assert!(page.contains("1.50 to 1.50"));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn many_minutes_are_put_together() {
        let rows = [["2", "rest", "0", "0", "0"]; 75];
        let (table, path) = table(&rows);
        let mut page = Page::new("x");
        section(&mut page, &table, 2);
        let page = page.finish();
        assert!(
            page.contains("<td>2026-11-21 15:7</td><td>5</td>"),
            "{page}"
        );
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_state_is_told_in_a_cell_a_column() {
        let cells = State::begin().end();
        let told = fs::read_to_string("/proc/loadavg").is_ok();
        assert!(
            !told || cells.iter().all(|cell| cell.parse::<f64>().is_ok()),
            "{cells:?}"
        );
    }
}
