//! The machine's state during runs, and which runs are void because of it.
//!
//! | reason | measured by | void above |
//! |---|---|---|
//! | the host of a virtual machine took cores | `steal` in `/proc/stat` | a tenth of the cores' time, and 30 ms |
//! | other programs ran | busy time in `/proc/stat` less that in `/proc/self/stat` | the same |
//! | threads were ready and had no core | `/proc/self/task/*/schedstat` | a tenth of the run |
//!
//! The third counts only where the run had no more threads than there are cores and the machine was not put under load:
//! otherwise waiting for a core is what the run is about.

use crate::machine::now;
use crate::page::Page;
use crate::record::Record;
use crate::results::{Results, min_max};

use crate::{MachineInfo, Row, Table};
use divisi::workers::MachineTime;
use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

/// Share of the cores' time that others may take, and the time that they may take in any case.
const MAX_OTHERS_SHARE: f64 = 0.1;
const MIN_OTHERS_MS: f64 = 30.0;
/// Share of a run for which its threads may be ready without a core.
const MAX_WAITED: f64 = 0.1;
/// Upper bound on rows of one minute each; of more minutes ten are one row.
const MAX_MINUTES: usize = 60;

/// Headings of the table of states.
const HEAD: &str = "Runs begun | Runs | Load average | Niceness | At real-time priority | Other programs, ms | The host, ms | Void: host | Void: others | Void: waited";

/// The machine's state when a run began.
///
/// | column | holds |
/// |---|---|
/// | `date`, `ms` | when the run began, and how long it took |
/// | `loadavg`, `nice` | load average and niceness at its begin |
/// | `stolen_ms`, `others_ms` | time that the host, and other programs, took meanwhile |
pub(crate) struct StateProbe {
    begun: Instant,
    date: String,
    load_average: String,
    machine: MachineTime,
}

impl StateProbe {
    /// Reads the state at the begin of a run.
    pub(crate) fn start() -> Self {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            begun: Instant::now(),
            date: now(),
            load_average: load.split(' ').next().unwrap_or_default().to_owned(),
            machine: MachineTime::so_far(),
        }
    }

    /// Records the state over the run that ends now. Of `ms` and `stolen_ms` a run's own values stay: it may have
    /// measured a part of itself only.
    pub(crate) fn finish(self, record: &mut Record) {
        let end = MachineTime::so_far();
        let (stolen, others) = (
            end.stolen_since(self.machine),
            end.others_since(self.machine),
        );
        record.set("date", self.date);
        record.set_default("ms", self.begun.elapsed().as_millis().to_string());
        record.set_default("stolen_ms", format!("{:.0}", stolen.as_secs_f64() * 1e3));
        record.set("loadavg", self.load_average);
        record.set("nice", niceness().map_or(String::new(), |n| n.to_string()));
        record.set_number("others_ms", others.as_secs_f64() * 1e3, 0);
    }
}

/// Niceness of this process.
fn niceness() -> Option<i32> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The process's name may hold anything; behind it, niceness is the 17th word.
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(16)?.parse().ok()
}

/// Reason why a run is void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoidReason {
    /// The host of a virtual machine gave its cores to others.
    Host,
    /// Other programs ran.
    Others,
    /// Its threads were ready and had no core, though there were enough.
    Waited,
}

/// The reason why a run is void on a machine with `cores` cores; `None` for a valid run.
///
/// The bound grows with the run and the cores, because a share of their time counts, not a number of interruptions. Runs of
/// a few milliseconds would be void after one tick of `/proc/stat` (10 ms), hence the minimum.
pub(crate) fn void_reason(run: &Row<'_>, cores: usize) -> Option<VoidReason> {
    let max_ms = (MAX_OTHERS_SHARE * run.number("ms")? * cores as f64).max(MIN_OTHERS_MS);
    let exceeds = |column: &str| run.number(column).is_some_and(|ms| ms > max_ms);
    let threads = run.number("threads").or(run.number("cores")).unwrap_or(1.0);
    let has_cores = threads <= cores as f64 && run.text("load") != "video";
    let waited = run.number("waited").is_some_and(|share| share > MAX_WAITED);
    match () {
        () if exceeds("stolen_ms") => Some(VoidReason::Host),
        () if exceeds("others_ms") => Some(VoidReason::Others),
        () if has_cores && waited => Some(VoidReason::Waited),
        () => None,
    }
}

/// Fills the part of a page that all experiments share: the machine, and its state minute by minute.
pub(crate) fn fill(results: &Results<'_>, page: &mut Page) {
    let Results { table, machine } = *results;
    fill_machine(page, machine, table);
    let mut spans = BTreeMap::<&str, Vec<Row<'_>>>::new();
    let is_long = minutes(table) > MAX_MINUTES;
    for row in table.rows() {
        let date = row.text("date");
        // Without its last digit a date is ten minutes.
        let tens = &date[..date.len().saturating_sub(1)];
        let name = if is_long { tens } else { date };
        spans.entry(name).or_default().push(row);
    }
    let caption = match is_long {
        true => "Ten minutes a row (the last digit is left out), UTC",
        false => "A minute a row, UTC",
    };
    let rows = spans
        .iter()
        .map(|(name, rows)| cells(name, rows, machine.cores));
    page.table("states", caption, HEAD, rows);
}

fn fill_machine(page: &mut Page, machine: &MachineInfo, table: &Table) {
    let dates = || table.rows().map(|row| row.text("date"));
    let dates = match (dates().min(), dates().max()) {
        (Some(first), Some(last)) if first == last => format!("{first} UTC"),
        (Some(first), Some(last)) => format!("{first} to {last} UTC"),
        _ => "no run yet".to_owned(),
    };
    let rows = [
        ("Processor", machine.cpu.clone()),
        ("Cores", machine.cores.to_string()),
        ("System", machine.kernel.clone()),
        ("Real-time priority", machine.priority.clone()),
        ("Short wake-ups", machine.wakes.clone()),
        ("Runs made", dates),
        ("Divisi", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
    page.table("machine", "Where the runs were made", " | ", rows);
}

/// Number of different minutes in which runs began.
fn minutes(table: &Table) -> usize {
    let mut dates: Vec<_> = table.rows().map(|row| row.text("date")).collect();
    dates.sort_unstable();
    dates.dedup();
    dates.len()
}

/// The cells of the runs of a minute, or of ten; the columns are those of [`HEAD`].
fn cells(name: &str, rows: &[Row<'_>], cores: usize) -> Vec<String> {
    let unknown = || "not kept".to_owned();
    let numbers = |column| rows.iter().filter_map(move |row| row.number(column));
    let sum = |column| {
        let ms = numbers(column).reduce(|a, b| a + b);
        ms.map_or_else(unknown, |ms| format!("{ms:.0}"))
    };
    let load = min_max(numbers("loadavg"));
    let load = load.map_or_else(unknown, |(min, max)| format!("{min:.2} to {max:.2}"));
    let mut nice: Vec<&str> = Vec::new();
    for value in rows.iter().map(|row| row.text("nice")) {
        if !value.is_empty() && !nice.contains(&value) {
            nice.push(value);
        }
    }
    let has_priority = |row: &&Row<'_>| row.text("priority") == "real-time";
    let real_time = rows.iter().filter(has_priority).count();
    let void = [VoidReason::Host, VoidReason::Others, VoidReason::Waited].map(|reason| {
        let rows = rows
            .iter()
            .filter(|row| void_reason(row, cores) == Some(reason));
        rows.count().to_string()
    });
    let nice = if nice.is_empty() {
        unknown()
    } else {
        nice.join(", ")
    };
    let mut cells = vec![name.to_owned(), rows.len().to_string(), load, nice];
    cells.extend([real_time.to_string(), sum("others_ms"), sum("stolen_ms")]);
    cells.extend(void);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "threads,load,ms,date,waited,stolen_ms,others_ms,loadavg,nice";

    /// A table of runs of 1000 ms: threads, load, waited, stolen_ms and others_ms of each.
    fn table(rows: &[[&str; 5]]) -> Table {
        let name = format!("divisi-lab-state-{}-{}.csv", std::process::id(), rows.len());
        let path = std::env::temp_dir().join(name);
        let mut text = format!("# machine: m\n{COLUMNS}\n");
        for (at, [threads, load, waited, stolen, others]) in rows.iter().enumerate() {
            let date = format!("2026-11-21 15:{at:02}");
            text += &format!("{threads},{load},1000,{date},{waited},{stolen},{others},1.5,0\n");
        }
        fs::write(&path, text).unwrap();
        let table = Table::open(&path, "m", COLUMNS, 4).unwrap();
        fs::remove_file(path).unwrap();
        table
    }

    fn page(table: &Table) -> String {
        let machine = MachineInfo {
            cores: 2,
            ..MachineInfo::detect()
        };
        let machine = &machine;
        let mut page = Page::new("x", "{{environment}}");
        fill(&Results { table, machine }, &mut page);
        page.finish().0
    }

    #[test]
    fn a_run_is_void_where_others_had_its_cores() {
        let table = table(&[
            ["2", "rest", "0.01", "0", "10"],
            ["2", "rest", "0.01", "500", "10"],
            ["2", "rest", "0.01", "0", "500"],
            ["2", "rest", "0.5", "0", "10"],
            ["3", "rest", "0.5", "0", "10"],
            ["2", "video", "0.5", "0", "10"],
            ["2", "rest", "", "", ""],
        ]);
        let found: Vec<_> = table.rows().map(|row| void_reason(&row, 2)).collect();
        let [host, others, waited] =
            [VoidReason::Host, VoidReason::Others, VoidReason::Waited].map(Some);
        assert_eq!(found, [None, host, others, waited, None, None, None]);
        let page = page(&table);
        assert_eq!(page.matches("<tr><td>2026-11-21 15:0").count(), 7);
        assert!(page.contains("1.50 to 1.50"));
    }

    #[test]
    fn of_many_minutes_ten_are_a_row() {
        let page = page(&table(&[["2", "rest", "0", "0", "0"]; 75]));
        assert!(
            page.contains("<td>2026-11-21 15:7</td><td>5</td>"),
            "{page}"
        );
    }

    #[test]
    fn the_state_is_recorded_as_numbers() {
        let mut record = Record::default();
        record.set("stolen_ms", "own");
        StateProbe::start().finish(&mut record);
        let is_readable = fs::read_to_string("/proc/loadavg").is_ok();
        for column in ["loadavg", "nice", "others_ms", "ms"] {
            assert!(
                !is_readable || record.get(column).parse::<f64>().is_ok(),
                "{column}"
            );
        }
        assert_eq!(record.get("stolen_ms"), "own");
    }
}
