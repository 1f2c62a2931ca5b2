//! Going through the cells of an experiment: those that are not in the table yet, one after another.

use crate::bench::Bench;
use crate::load::Load;
use crate::state::State;
use crate::{LabError, Table};
use std::time::{Duration, Instant};

/// Who looks on while an experiment runs.
pub trait RunObserver {
    /// Run number `at` of `of` begins, counted from 1; about so much time is left.
    fn run_starts(&mut self, at: usize, of: usize, what: &str, left: Duration);

    /// Whether to end after the run that is being made.
    fn should_stop(&self) -> bool;
}

/// How thorough an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Everything, for minutes.
    Full,
    /// What shows that it works, in under a minute.
    Quick,
    /// As little as can be, for tests.
    Minimal,
}

impl Effort {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quick => "quick",
            Self::Minimal => "least",
        }
    }

    /// One of three.
    pub(crate) fn choose<T>(self, full: T, quick: T, least: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Minimal => least,
        }
    }
}

/// One run of an experiment.
pub(crate) trait Cell {
    /// What says which one it is: the table's first columns.
    fn key(&self) -> Vec<String>;

    /// Whether the machine is to be loaded meanwhile.
    fn is_loaded(&self) -> bool;

    /// About how long it lasts.
    fn lasts(&self) -> Duration;

    /// Makes it; gives the other columns, but those of the machine's state.
    fn run(&self, bench: &mut Bench, table: &Table) -> Result<Vec<String>, LabError>;
}

/// How long a load is there before anything is measured.
const SETTLE: Duration = Duration::from_millis(100);

/// Makes every run that `table` has not. Whether all are there now.
pub(crate) fn run_all(
    cells: &[impl Cell],
    effort: Effort,
    table: &mut Table,
    watch: &mut dyn RunObserver,
) -> Result<bool, LabError> {
    let begun = Instant::now();
    let mut load = None;
    let mut bench = Bench::new(effort);
    let to_do = cells.iter().enumerate();
    let to_do: Vec<_> = to_do.filter(|(_, c)| !table.has(&c.key())).collect();
    let all: Duration = to_do.iter().map(|(_, c)| c.lasts()).sum();
    let mut done = Duration::ZERO;
    for (at, cell) in to_do {
        if watch.should_stop() {
            return Ok(false);
        }
        let key = cell.key();
        let left = left(begun.elapsed(), done, all);
        watch.run_starts(at + 1, cells.len(), &key.join(" "), left);
        if !cell.is_loaded() {
            load = None;
        } else if load.is_none() {
            load = Some(Load::begin(divisi::workers::cores().len()));
            std::thread::sleep(SETTLE);
        }
        let state = State::begin();
        let figures = cell.run(&mut bench, table)?;
        let cells = key.into_iter().chain(figures).chain(state.end());
        table.add(cells.collect())?;
        done += cell.lasts();
    }
    Ok(true)
}

/// How long it will go on, where `done` of `all` was thought to be done by now and took `took`.
fn left(took: Duration, done: Duration, all: Duration) -> Duration {
    let rest = all.saturating_sub(done);
    if done.is_zero() {
        return rest;
    }
    rest.mul_f64((took.as_secs_f64() / done.as_secs_f64()).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const COLUMNS: &[&str] = &["n", "state", "loadavg", "nice", "others_ms"];

    struct Numbered<'a>(u32, &'a RefCell<Vec<u32>>);

    impl Cell for Numbered<'_> {
        fn key(&self) -> Vec<String> {
            vec![self.0.to_string()]
        }

        fn is_loaded(&self) -> bool {
            false
        }

        fn lasts(&self) -> Duration {
            Duration::from_secs(1)
        }

        fn run(&self, _: &mut Bench, _: &Table) -> Result<Vec<String>, LabError> {
            self.1.borrow_mut().push(self.0);
            Ok(vec!["done".into()])
        }
    }

    struct Until(usize, Vec<(usize, usize)>);

    impl RunObserver for Until {
        fn run_starts(&mut self, at: usize, of: usize, _: &str, _: Duration) {
            self.1.push((at, of));
        }

        fn should_stop(&self) -> bool {
            self.1.len() >= self.0
        }
    }

    #[test]
    fn what_was_done_is_not_done_again_and_an_interrupted_row_is_gone_on_with() {
        let name = format!("divisi-lab-run-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let ran = RefCell::new(Vec::new());
        let cells: Vec<_> = (0..5).map(|n| Numbered(n, &ran)).collect();
        let open = || Table::open(&path, "m", COLUMNS, 1).unwrap();
        let mut some = Until(2, Vec::new());
        assert!(!run_all(&cells, Effort::Minimal, &mut open(), &mut some).unwrap());
        let mut rest = Until(9, Vec::new());
        assert!(run_all(&cells, Effort::Minimal, &mut open(), &mut rest).unwrap());
        assert_eq!(rest.1, [(3, 5), (4, 5), (5, 5)]);
        assert!(run_all(&cells, Effort::Minimal, &mut open(), &mut rest).unwrap());
        assert_eq!(*ran.borrow(), [0, 1, 2, 3, 4]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn time_left_follows_how_fast_it_goes() {
        let s = Duration::from_secs;
        assert_eq!(left(s(0), s(0), s(10)), s(10));
        assert_eq!(left(s(4), s(2), s(10)), s(16));
        assert_eq!(left(s(9), s(10), s(10)), s(0));
    }
}
