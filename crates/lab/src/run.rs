//! Making the runs of an experiment: those that its table lacks, one after another.
//!
//! ```text
//! for each run without a row:  load the machine, or stop that  ->  measure  ->  add a row to the table
//! ```
//!
//! An experiment that was interrupted continues with the first run that has no row.

use crate::background_load::BackgroundLoad;
use crate::calibration::Calibration;
use crate::record::Record;
use crate::state::StateProbe;
use crate::{Effort, LabError, Table};
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Observer of an experiment while it runs.
pub trait RunObserver {
    /// Run number `at` of `of` starts, counted from 1; about `left` remains for all.
    fn run_starts(&mut self, at: usize, of: usize, what: &str, left: Duration);

    /// Returns true if the experiment is to end after the current run.
    fn should_stop(&self) -> bool;
}

/// Makes a run and records its columns. The table has the rows of the runs before.
type Measure = dyn Fn(&mut Calibration, &Table, &mut Record) -> Result<(), LabError>;

/// One run of an experiment: a row of its table.
pub(crate) struct Run {
    /// Cells of the table's first columns, which identify the run, with commas between them.
    pub(crate) key: String,
    /// True if the machine is to be under load meanwhile.
    is_loaded: bool,
    /// Expected duration, for the time left that an observer shows.
    duration: Duration,
    measure: Box<Measure>,
}

impl Run {
    /// A run on a machine at rest. Its key is its settings, and then its length: milliseconds, or a number of turns.
    pub(crate) fn new(
        settings: impl Display,
        length: impl Display,
        duration: Duration,
        measure: impl Fn(&mut Calibration, &Table, &mut Record) -> Result<(), LabError> + 'static,
    ) -> Self {
        Self {
            key: format!("{settings},{length}"),
            is_loaded: false,
            duration,
            measure: Box::new(measure),
        }
    }

    /// The same run, on a machine under load if `is_loaded`.
    pub(crate) fn loaded(self, is_loaded: bool) -> Self {
        Self { is_loaded, ..self }
    }
}

/// Time under load before the first measurement: the load's threads fault their memory in first.
const SETTLING: Duration = Duration::from_millis(100);

/// Makes every run that `table` lacks. Returns true if it lacks none now, false if the observer stopped it.
pub(crate) fn make_missing_runs(
    runs: &[Run],
    effort: Effort,
    table: &mut Table,
    observer: &mut dyn RunObserver,
) -> Result<bool, LabError> {
    let begun = Instant::now();
    let mut load = None;
    let mut calibration = Calibration::new(effort);
    let missing = runs.iter().enumerate();
    let missing: Vec<_> = missing.filter(|(_, r)| !table.has(&r.key)).collect();
    let expected: Duration = missing.iter().map(|(_, r)| r.duration).sum();
    let mut done = Duration::ZERO;
    for (at, run) in missing {
        if observer.should_stop() {
            return Ok(false);
        }
        let left = time_left(begun.elapsed(), done, expected);
        observer.run_starts(at + 1, runs.len(), &run.key.replace(',', " "), left);
        if !run.is_loaded {
            load = None;
        } else if load.is_none() {
            load = Some(BackgroundLoad::start(divisi::workers::cores().len()));
            std::thread::sleep(SETTLING);
        }
        let probe = StateProbe::start();
        let mut record = Record::default();
        (run.measure)(&mut calibration, table, &mut record)?;
        probe.finish(&mut record);
        table.add(&run.key, &record)?;
        done += run.duration;
    }
    Ok(true)
}

/// Time left, where runs expected to take `done` of `expected` took `elapsed`. Never below what was expected.
fn time_left(elapsed: Duration, done: Duration, expected: Duration) -> Duration {
    let rest = expected.saturating_sub(done);
    if done.is_zero() {
        return rest;
    }
    rest.mul_f64((elapsed.as_secs_f64() / done.as_secs_f64()).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    struct StopAfter(usize, Vec<(usize, usize)>);

    impl RunObserver for StopAfter {
        fn run_starts(&mut self, at: usize, of: usize, _: &str, _: Duration) {
            self.1.push((at, of));
        }

        fn should_stop(&self) -> bool {
            self.1.len() >= self.0
        }
    }

    #[test]
    fn an_interrupted_experiment_continues_and_repeats_no_run() {
        let name = format!("divisi-lab-run-{}.csv", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let made = Rc::new(RefCell::new(Vec::new()));
        let numbered = |n| {
            let made = made.clone();
            Run::new(n, 1, Duration::from_secs(1), move |_, _, _| {
                made.borrow_mut().push(n);
                Ok(())
            })
        };
        let runs: Vec<Run> = (0..5).map(numbered).collect();
        let make = |observer: &mut StopAfter| {
            let mut table = Table::open(&path, "m", "n,ms,loadavg,nice,others_ms", 2).unwrap();
            make_missing_runs(&runs, Effort::Minimal, &mut table, observer).unwrap()
        };
        assert!(!make(&mut StopAfter(2, Vec::new())));
        let mut rest = StopAfter(9, Vec::new());
        assert!(make(&mut rest) && make(&mut rest));
        assert_eq!(rest.1, [(3, 5), (4, 5), (5, 5)]);
        assert_eq!(*made.borrow(), [0, 1, 2, 3, 4]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn time_left_follows_the_speed_so_far() {
        let s = Duration::from_secs;
        assert_eq!(time_left(s(0), s(0), s(10)), s(10));
        assert_eq!(time_left(s(4), s(2), s(10)), s(16));
        assert_eq!(time_left(s(9), s(10), s(10)), s(0));
    }
}
