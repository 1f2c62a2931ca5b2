//! The table of every run: a CSV file that grows by a line a run, and from which an experiment goes on.
//!
//! The first line names the machine, the second the columns. Cells hold neither commas nor line ends. What is not a whole
//! line of as many cells as there are columns (a run that was broken off) is dropped when the file is opened. A table of an
//! earlier version, which has not the last columns yet, gets them, and they are empty.

use crate::LabError;
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The largest table that is read; a real one has a megabyte or two.
const LARGEST: u64 = 64 << 20;
/// How the first line begins.
const MACHINE: &str = "# machine: ";

/// Every run of an experiment.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    columns: &'static [&'static str],
    /// So many columns, the first ones, say which run it is.
    keys: usize,
    known: HashSet<Vec<String>>,
    rows: Vec<Vec<String>>,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    columns: &'static [&'static str],
    cells: &'a [String],
}

impl<'a> Row<'a> {
    /// What stands in a column; nothing where there is no such column.
    pub fn text(&self, column: &str) -> &'a str {
        let at = self.columns.iter().position(|name| *name == column);
        at.map_or("", |at| &self.cells[at])
    }

    /// The same as a number; `None` where it is none.
    pub fn number(&self, column: &str) -> Option<f64> {
        let number: f64 = self.text(column).parse().ok()?;
        number.is_finite().then_some(number)
    }
}

impl Table {
    /// Opens the table `path`, or begins it. The first `keys` columns say which run a line is.
    ///
    /// # Errors
    ///
    /// It is of another machine or of another experiment, or the system refuses.
    pub fn open(
        path: &Path,
        machine: &str,
        columns: &'static [&'static str],
        keys: usize,
    ) -> Result<Self, LabError> {
        let mut table = Self {
            path: path.to_path_buf(),
            columns,
            keys,
            known: HashSet::new(),
            rows: Vec::new(),
        };
        let head = format!("{MACHINE}{}\n{}\n", clean(machine), columns.join(","));
        let there = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(LabError::Io(path.into(), error)),
        };
        let missing = table.missing(&there, &head);
        if missing.is_none() && !head.starts_with(&there) {
            return Err(whose(path, &there, &head));
        }
        let body = there.splitn(3, '\n').nth(2).unwrap_or_default();
        let kept = table.take(body, missing.unwrap_or(0));
        let whole = format!("{head}{kept}");
        if whole != there {
            replace(path, &whole).map_err(LabError::io(path))?;
        }
        Ok(table)
    }

    /// How many of the last columns are not in the table yet that begins as `there`; `None` if it is not this one.
    fn missing(&self, there: &str, head: &str) -> Option<usize> {
        let mut lines = there.split_inclusive('\n');
        let machine = lines.next()?;
        let columns = lines.next()?.strip_suffix('\n')?;
        let count = columns.split(',').count();
        let is_it = head.starts_with(machine)
            && count > self.keys
            && count <= self.columns.len()
            && self.columns[..count].join(",") == columns;
        is_it.then(|| self.columns.len() - count)
    }

    /// Takes every whole line that is not there yet, with so many cells less than there are columns; gives these lines.
    fn take(&mut self, body: &str, missing: usize) -> String {
        let mut kept = String::with_capacity(body.len());
        for line in body.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                break;
            };
            let line = format!("{line}{}", ",".repeat(missing));
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if cells.len() == self.columns.len() && self.known.insert(cells[..self.keys].to_vec()) {
                kept.push_str(&line);
                kept.push('\n');
                self.rows.push(cells);
            }
        }
        kept
    }

    /// Whether the run that `key` names has been done.
    pub fn has(&self, key: &[String]) -> bool {
        self.known.contains(key)
    }

    /// Adds a run, to the file at once. Commas and line ends in a cell become spaces.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    ///
    /// # Panics
    ///
    /// The run has not as many cells as the table has columns.
    pub fn add(&mut self, cells: Vec<String>) -> Result<(), LabError> {
        assert_eq!(cells.len(), self.columns.len(), "a cell a column");
        let cells: Vec<String> = cells.iter().map(|cell| clean(cell)).collect();
        let line = format!("{}\n", cells.join(","));
        let opened = OpenOptions::new().append(true).open(&self.path);
        opened
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(LabError::io(&self.path))?;
        self.known.insert(cells[..self.keys].to_vec());
        self.rows.push(cells);
        Ok(())
    }

    /// Every run, in the order in which they were done.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let columns = self.columns;
        self.rows.iter().map(move |cells| Row { columns, cells })
    }

    /// The last run whose columns have these values.
    pub fn find(&self, wanted: &[(&str, &str)]) -> Option<Row<'_>> {
        let fits = |row: &Row<'_>| wanted.iter().all(|(name, is)| row.text(name) == *is);
        self.rows().filter(fits).last()
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// At once and whole: who reads it meanwhile sees the old one or the new one.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, text).and_then(|()| fs::rename(&new, path))
}

/// Why the table that begins as `there` cannot be gone on with.
fn whose(path: &Path, there: &str, head: &str) -> LabError {
    let columns = head.lines().nth(1).unwrap_or_default();
    match there.lines().next().and_then(|l| l.strip_prefix(MACHINE)) {
        Some(machine) if there.lines().nth(1) == Some(columns) => {
            LabError::Elsewhere(path.into(), machine.chars().take(200).collect())
        }
        _ => LabError::Foreign(path.into()),
    }
}

fn clean(cell: &str) -> String {
    let bad = |c: char| c == ',' || c.is_control();
    cell.replace(bad, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[&str] = &["shape", "threads", "mean_us"];

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
            Table::open(&self.file(), "a machine, 2 cores", COLUMNS, 2)
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

    fn cells(shape: &str, threads: &str, mean: &str) -> Vec<String> {
        [shape, threads, mean].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_was_added_is_there_when_it_is_opened_again() {
        let here = Folder::new("again");
        let mut table = here.table().unwrap();
        table.add(cells("line", "2", "1.5")).unwrap();
        table.add(cells("a,b\nc", "3", "x")).unwrap();
        let table = here.table().unwrap();
        assert_eq!(table.rows().count(), 2);
        assert!(table.has(&cells("line", "2", "")[..2]));
        assert!(!table.has(&cells("line", "3", "")[..2]));
        let row = table.find(&[("shape", "line")]).unwrap();
        assert_eq!(row.number("mean_us"), Some(1.5));
        let odd = table.find(&[("threads", "3")]).unwrap();
        assert_eq!(
            (odd.text("shape"), odd.number("mean_us"), odd.text("no")),
            ("a b c", None, "")
        );
    }

    #[test]
    fn a_broken_last_line_and_lines_of_nonsense_cost_only_themselves() {
        let here = Folder::new("broken");
        here.table()
            .unwrap()
            .add(cells("line", "2", "1.5"))
            .unwrap();
        let mut text = fs::read(here.file()).unwrap();
        text.extend(b"\n,,,,,\n\xff\xfe,1\nline,2,9\nrake,2,7\nrake,3,");
        fs::write(here.file(), text).unwrap();
        let mut table = here.table().unwrap();
        assert_eq!(table.rows().count(), 2);
        assert_eq!(
            table.find(&[("shape", "line")]).unwrap().text("mean_us"),
            "1.5"
        );
        table.add(cells("rake", "3", "8")).unwrap();
        let whole = fs::read_to_string(here.file()).unwrap();
        assert!(
            whole.ends_with("line,2,1.5\nrake,2,7\nrake,3,8\n"),
            "{whole}"
        );
    }

    #[test]
    fn a_table_of_an_earlier_version_gets_the_columns_that_came_later() {
        let here = Folder::new("earlier");
        let earlier = "# machine: a machine  2 cores\nshape,threads,mean_us\nline,2,1\nline,3\n";
        fs::write(here.file(), earlier).unwrap();
        let columns = &["shape", "threads", "mean_us", "loadavg", "nice"];
        let open = || Table::open(&here.file(), "a machine, 2 cores", columns, 2).unwrap();
        for _ in 0..2 {
            let table = open();
            let row = table.rows().next().unwrap();
            assert_eq!((row.text("mean_us"), row.number("loadavg")), ("1", None));
            assert_eq!(table.rows().count(), 1);
        }
        let whole = fs::read_to_string(here.file()).unwrap();
        assert!(whole.ends_with("shape,threads,mean_us,loadavg,nice\nline,2,1,,\n"));
    }

    #[test]
    fn a_head_that_was_broken_off_is_begun_anew() {
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
    fn a_table_of_another_machine_or_of_something_else_is_refused_and_kept() {
        let here = Folder::new("foreign");
        let other = "# machine: b\nshape,threads,mean_us\nline,2,1\n";
        fs::write(here.file(), other).unwrap();
        assert!(matches!(here.table(), Err(LabError::Elsewhere(_, m)) if m == "b"));
        for other in ["hello", "# machine: a machine  2 cores\nx,y\n", "\u{0}"] {
            fs::write(here.file(), other).unwrap();
            assert!(
                matches!(here.table(), Err(LabError::Foreign(_))),
                "{other:?}"
            );
            assert_eq!(fs::read_to_string(here.file()).unwrap(), other);
        }
    }
}
