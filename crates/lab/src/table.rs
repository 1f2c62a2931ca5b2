//! The table of runs: a CSV file that grows by one line for each run, from which an experiment continues.
//!
//! ```text
//! # machine: Intel(R) ...; 2 cores; Linux 6.18      the machine that made the runs
//! shape,nodes,...,date,...                          the columns; the first ones are the key
//! line,100,...,2026-11-21 18:08,...                 one run
//! ```
//!
//! | operation | by | used by |
//! |---|---|---|
//! | [`has`](Table::has), [`add`](Table::add) | the whole key | the runs: an experiment continues |
//! | [`find`](Table::find) | the settings: the key without the run's length | pages, and runs that use earlier ones |
//! | [`rows`](Table::rows), [`matches`](Row::matches) | any columns | pages, for lists and sums |
//!
//! A run's length is not part of its settings, so a quick run is found where no full one was made.
//!
//! Cells hold neither commas nor line ends. A line that is not whole (its run was interrupted), or has another number of
//! cells, is dropped when the file is opened. A table of an earlier version may lack the last columns: it gets them, and
//! they are empty.

use crate::LabError;
use crate::record::Record;
use std::collections::HashSet;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Upper bound on the bytes that are read; a real table has a megabyte or two.
const MAX_BYTES: u64 = 64 << 20;
/// Begin of the first line.
const MACHINE: &str = "# machine: ";

/// Every run of an experiment.
#[derive(Debug)]
pub(crate) struct Table {
    path: PathBuf,
    columns: Vec<&'static str>,
    /// Number of columns, the first ones, that identify a run.
    keys: usize,
    known: HashSet<String>,
    rows: Vec<Vec<String>>,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    columns: &'a [&'static str],
    cells: &'a [String],
}

impl<'a> Row<'a> {
    /// The text of a column; nothing where there is no such column.
    pub(crate) fn text(&self, column: &str) -> &'a str {
        let at = self.columns.iter().position(|name| *name == column);
        at.map_or("", |at| &self.cells[at])
    }

    /// The number in a column; `None` where it has none.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        let number: f64 = self.text(column).parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// Returns true if each of these columns has its value.
    pub(crate) fn matches(&self, filter: &[(&str, &str)]) -> bool {
        let matches = |(column, value): &(&str, &str)| self.text(column) == *value;
        filter.iter().all(matches)
    }
}

impl Table {
    /// Opens the table `path`, or creates it. `head` is the CSV head, of which the first `keys` columns identify a run.
    ///
    /// # Errors
    ///
    /// It is of another machine or of another experiment, or the system refuses.
    pub(crate) fn open(
        path: &Path,
        machine: &str,
        head: &'static str,
        keys: usize,
    ) -> Result<Self, LabError> {
        let mut table = Self {
            path: path.to_path_buf(),
            columns: head.split(',').collect(),
            keys,
            known: HashSet::new(),
            rows: Vec::new(),
        };
        let head = format!("{MACHINE}{}\n{head}\n", clean(machine));
        let found = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(LabError::Io(path.into(), error)),
        };
        let missing = table.missing_columns(&found, &head);
        if missing.is_none() && !head.starts_with(&found) {
            return Err(mismatch(path, &found, &head));
        }
        let body = found.splitn(3, '\n').nth(2).unwrap_or_default();
        let kept = table.load(body, missing.unwrap_or(0));
        let whole = format!("{head}{kept}");
        if whole != found {
            replace(path, &whole).map_err(LabError::io(path))?;
        }
        Ok(table)
    }

    /// Number of the last columns that the table that begins as `found` lacks; `None` if it is not this table.
    fn missing_columns(&self, found: &str, head: &str) -> Option<usize> {
        let mut lines = found.split_inclusive('\n');
        let machine = lines.next()?;
        let columns = lines.next()?.strip_suffix('\n')?;
        let count = columns.split(',').count();
        let is_this = head.starts_with(machine)
            && count > self.keys
            && count <= self.columns.len()
            && self.columns[..count].join(",") == columns;
        is_this.then(|| self.columns.len() - count)
    }

    /// Loads every whole line of a new run, with `missing` cells fewer than there are columns. Returns those lines.
    fn load(&mut self, body: &str, missing: usize) -> String {
        let mut kept = String::with_capacity(body.len());
        for line in body.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                break;
            };
            let line = format!("{line}{}", ",".repeat(missing));
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if cells.len() == self.columns.len() && self.known.insert(cells[..self.keys].join(","))
            {
                kept.push_str(&line);
                kept.push('\n');
                self.rows.push(cells);
            }
        }
        kept
    }

    /// Returns true if the table has the run with this key: its first cells, with commas between them.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.known.contains(key)
    }

    /// Adds a run, to the file at once. Commas and line ends in a cell of `record` become spaces.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    ///
    /// # Panics
    ///
    /// The key has more or fewer cells than the table has columns for it.
    pub(crate) fn add(&mut self, key: &str, record: &Record) -> Result<(), LabError> {
        let mut cells: Vec<String> = key.split(',').map(clean).collect();
        assert_eq!(cells.len(), self.keys, "a cell for each column of the key");
        let rest = self.columns[self.keys..].iter();
        cells.extend(rest.map(|column| clean(record.get(column))));
        let line = format!("{}\n", cells.join(","));
        let opened = OpenOptions::new().append(true).open(&self.path);
        opened
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(LabError::io(&self.path))?;
        self.known.insert(cells[..self.keys].join(","));
        self.rows.push(cells);
        Ok(())
    }

    /// Every run, in the order in which they were made.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let columns = &self.columns;
        self.rows.iter().map(move |cells| Row { columns, cells })
    }

    /// The last run with these settings, whatever its length: the cells of its key but the last, with commas between them.
    pub(crate) fn find(&self, settings: impl Display) -> Option<Row<'_>> {
        let settings = settings.to_string();
        let has_settings = |row: &Row<'_>| settings.split(',').eq(&row.cells[..self.keys - 1]);
        self.rows().filter(has_settings).last()
    }
}

/// The file's text, up to [`MAX_BYTES`].
fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    divisi::files::open(path)?
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Replaces a file as a whole: a reader sees the old text or the new one, never a part.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    divisi::files::replace(path, text)
}

/// Reason for which the table that begins as `found` cannot be continued.
fn mismatch(path: &Path, found: &str, head: &str) -> LabError {
    let columns = head.lines().nth(1).unwrap_or_default();
    match found.lines().next().and_then(|l| l.strip_prefix(MACHINE)) {
        Some(machine) if found.lines().nth(1) == Some(columns) => {
            LabError::OtherMachine(path.into(), machine.chars().take(200).collect())
        }
        _ => LabError::OtherExperiment(path.into()),
    }
}

/// A cell without commas and line ends, which become spaces.
fn clean(cell: &str) -> String {
    let bad = |c: char| c == ',' || c.is_control();
    cell.replace(bad, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEAD: &str = "shape,threads,mean_us";

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("divisi-lab-table-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn table(&self) -> Result<Table, LabError> {
            Table::open(&self.file(), "a machine, 2 cores", HEAD, 2)
        }

        fn file(&self) -> PathBuf {
            self.0.join("results.csv")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn add(table: &mut Table, key: &str, mean: &str) {
        let mut record = Record::default();
        record.set("mean_us", mean);
        table.add(key, &record).unwrap();
    }

    #[test]
    fn an_added_run_is_there_when_the_table_is_opened_again() {
        let here = Folder::new("again");
        let mut table = here.table().unwrap();
        add(&mut table, "line,2", "1.5");
        add(&mut table, "a\nb,3", "x,y");
        let table = here.table().unwrap();
        assert_eq!(table.rows().count(), 2);
        assert!(table.has("line,2") && !table.has("line,3"));
        assert_eq!(table.find("line").unwrap().number("mean_us"), Some(1.5));
        let odd = table.find("a b").unwrap();
        assert!(odd.matches(&[("threads", "3"), ("mean_us", "x y"), ("no", "")]));
        assert_eq!(odd.number("mean_us"), None);
    }

    #[test]
    fn a_broken_line_costs_only_itself() {
        let here = Folder::new("broken");
        add(&mut here.table().unwrap(), "line,2", "1.5");
        let mut text = fs::read(here.file()).unwrap();
        text.extend(b"\n,,,,,\n\xff\xfe,1\nline,2,9\nrake,2,7\nrake,3,");
        fs::write(here.file(), text).unwrap();
        let mut table = here.table().unwrap();
        assert_eq!(table.rows().count(), 2);
        assert_eq!(table.find("line").unwrap().text("mean_us"), "1.5");
        add(&mut table, "rake,3", "8");
        let whole = fs::read_to_string(here.file()).unwrap();
        assert!(whole.ends_with("line,2,1.5\nrake,2,7\nrake,3,8\n"));
    }

    #[test]
    fn a_table_of_an_earlier_version_gets_the_later_columns() {
        let here = Folder::new("earlier");
        let earlier = "# machine: a machine  2 cores\nshape,threads,mean_us\nline,2,1\nline,3\n";
        fs::write(here.file(), earlier).unwrap();
        let head = "shape,threads,mean_us,loadavg,nice";
        for _ in 0..2 {
            let table = Table::open(&here.file(), "a machine, 2 cores", head, 2).unwrap();
            let row = table.rows().next().unwrap();
            assert_eq!((row.text("mean_us"), row.number("loadavg")), ("1", None));
            assert_eq!(table.rows().count(), 1);
        }
        let whole = fs::read_to_string(here.file()).unwrap();
        assert!(whole.ends_with("shape,threads,mean_us,loadavg,nice\nline,2,1,,\n"));
    }

    #[test]
    fn an_incomplete_head_is_written_again() {
        let here = Folder::new("head");
        for head in [
            "",
            "# machine: a mach",
            "# machine: a machine  2 cores\nshape,",
        ] {
            fs::write(here.file(), head).unwrap();
            assert_eq!(here.table().unwrap().rows().count(), 0, "{head:?}");
        }
    }

    #[test]
    fn a_table_of_another_machine_or_experiment_is_refused_and_kept() {
        let here = Folder::new("foreign");
        let other = "# machine: b\nshape,threads,mean_us\nline,2,1\n";
        fs::write(here.file(), other).unwrap();
        assert!(matches!(here.table(), Err(LabError::OtherMachine(_, m)) if m == "b"));
        for other in ["hello", "# machine: a machine  2 cores\nx,y\n", "\u{0}"] {
            fs::write(here.file(), other).unwrap();
            assert!(
                matches!(here.table(), Err(LabError::OtherExperiment(_))),
                "{other:?}"
            );
            assert_eq!(fs::read_to_string(here.file()).unwrap(), other);
        }
    }
}
