//! An experiment by its name: its runs, its pictures, its page.

use crate::chart::Chart;
use crate::run::run_all;
use crate::{
    Effort, LabError, MachineInfo, RunObserver, Table, convolution, graphs, queues, scale, session,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder of results.
const TABLE: &str = "results.csv";
const PAGE: &str = "index.html";

/// What can be done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Experiment {
    /// Lines, diamonds and rakes under every schedule (Chen-yen-su and Delgado 2019).
    Graphs,
    /// 500 objects, 64 of them dear, idle and playing (Robinson 2016).
    Session,
    /// What a simulator says of 1 to 128 cores, from costs measured here.
    Scale,
    /// Partitioned convolution on threads and without (Battenberg and Avižienis 2011).
    Convolution,
    /// Filters by FFT straight from mirrored rings (Allen, Zucknick and Evans).
    Queues,
}

/// What has been done.
#[derive(Clone, Debug)]
pub struct ExperimentResult {
    /// Whether all runs are there; otherwise the same call goes on.
    pub is_complete: bool,
    /// How many runs are in the table.
    pub runs: usize,
    /// The page to read.
    pub page: PathBuf,
}

impl Experiment {
    /// Every one that there is.
    pub fn all() -> impl Iterator<Item = Self> {
        [
            Self::Graphs,
            Self::Session,
            Self::Scale,
            Self::Convolution,
            Self::Queues,
        ]
        .into_iter()
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graphs => "graphs",
            Self::Session => "session",
            Self::Scale => "scale",
            Self::Convolution => "convolution",
            Self::Queues => "queues",
        }
    }

    /// Makes the runs that are not in `folder` yet, and writes there what they show: `results.csv`, the plots, and
    /// `index.html`. Ends early where `watch` says so; what has been done stays, and the same call goes on.
    ///
    /// # Errors
    ///
    /// [`LabError`]; the runs made so far are in the table.
    ///
    /// Real-time: waits, for all runs.
    pub fn perform(
        self,
        effort: Effort,
        folder: &Path,
        watch: &mut dyn RunObserver,
    ) -> Result<ExperimentResult, LabError> {
        fs::create_dir_all(folder).map_err(LabError::io(folder))?;
        let machine = MachineInfo::detect();
        let mut table = self.table(folder, &machine)?;
        let is_whole = match self {
            Self::Graphs => run_all(&graphs::cells(effort), effort, &mut table, watch)?,
            Self::Session => run_all(&session::cells(effort), effort, &mut table, watch)?,
            Self::Scale => run_all(&scale::cells(effort), effort, &mut table, watch)?,
            Self::Convolution => {
                convolution::take_peers(folder, &mut table)?;
                run_all(&convolution::cells(effort), effort, &mut table, watch)?
            }
            Self::Queues => run_all(&queues::cells(effort), effort, &mut table, watch)?,
        };
        self.write(folder, &table, &machine)?;
        Ok(done(folder, &table, is_whole))
    }

    /// Writes the plots and the page anew from the runs that are in `folder`, and makes none.
    ///
    /// # Errors
    ///
    /// [`LabError`]; where there is no table, nothing is written.
    ///
    /// Real-time: waits, for the disk.
    pub fn write_page(self, folder: &Path) -> Result<ExperimentResult, LabError> {
        let path = folder.join(TABLE);
        fs::metadata(&path).map_err(LabError::io(&path))?;
        let machine = MachineInfo::detect();
        let table = self.table(folder, &machine)?;
        self.write(folder, &table, &machine)?;
        Ok(done(folder, &table, true))
    }

    fn table(self, folder: &Path, machine: &MachineInfo) -> Result<Table, LabError> {
        let (columns, keys) = match self {
            Self::Graphs => (graphs::COLUMNS, graphs::KEYS),
            Self::Session => (session::COLUMNS, session::KEYS),
            Self::Scale => (scale::COLUMNS, scale::KEYS),
            Self::Convolution => (convolution::COLUMNS, convolution::KEYS),
            Self::Queues => (queues::COLUMNS, queues::KEYS),
        };
        Table::open(&folder.join(TABLE), &machine.name(), columns, keys)
    }

    fn write(self, folder: &Path, table: &Table, machine: &MachineInfo) -> Result<(), LabError> {
        let (page, charts) = match self {
            Self::Graphs => graphs::page(table, machine),
            Self::Session => session::page(table, machine),
            Self::Scale => scale::page(table, machine),
            Self::Convolution => convolution::page(table, machine),
            Self::Queues => queues::page(table, machine),
        };
        write(folder, &page, &charts)
    }
}

fn done(folder: &Path, table: &Table, is_whole: bool) -> ExperimentResult {
    ExperimentResult {
        is_complete: is_whole,
        runs: table.rows().count(),
        page: folder.join(PAGE),
    }
}

fn write(folder: &Path, page: &str, charts: &[Chart]) -> Result<(), LabError> {
    let put = |name: String, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(LabError::io(&path))
    };
    for chart in charts {
        put(format!("{}.svg", chart.file), &chart.svg())?;
    }
    put(PAGE.into(), page)
}

/// When the first and the last run was made.
pub(crate) fn dates(table: &Table) -> Option<(&str, &str)> {
    let dates = || table.rows().map(|row| row.text("date"));
    Some((dates().min()?, dates().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::faults;
    use std::time::Duration;

    struct Patient(usize);

    impl RunObserver for Patient {
        fn run_starts(&mut self, at: usize, of: usize, what: &str, _: Duration) {
            assert!(at <= of && !what.is_empty());
            self.0 += 1;
        }

        fn should_stop(&self) -> bool {
            false
        }
    }

    #[test]
    fn every_experiment_writes_a_table_and_a_page_that_needs_nothing_else_and_is_done_once() {
        for experiment in Experiment::all() {
            let name = format!("divisi-lab-{}-{}", experiment.name(), std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            let mut first = Patient(0);
            let done = experiment
                .perform(Effort::Minimal, &folder, &mut first)
                .unwrap();
            assert!(done.is_complete && done.runs > 0 && first.0 == done.runs);
            let page = fs::read_to_string(&done.page).unwrap();
            assert_eq!(faults(&page), Vec::<String>::new());
            for word in [
                "The machine",
                "What was done",
                "What it shows",
                "What it does not show",
                "The state of the machine",
                "control",
            ] {
                assert!(page.contains(word), "{}: {word}", experiment.name());
            }
            let files = fs::read_dir(&folder).unwrap().flatten();
            let svg = files.filter(|f| f.path().extension().is_some_and(|e| e == "svg"));
            assert_eq!(svg.count(), page.matches("<figure>").count());
            let mut again = Patient(0);
            let twice = experiment
                .perform(Effort::Minimal, &folder, &mut again)
                .unwrap();
            assert_eq!((again.0, twice.runs), (0, done.runs));
            assert_eq!(fs::read_to_string(&done.page).unwrap(), page);
            for file in fs::read_dir(&folder).unwrap().flatten() {
                if file.file_name() != TABLE {
                    fs::remove_file(file.path()).unwrap();
                }
            }
            let anew = experiment.write_page(&folder).unwrap();
            assert_eq!(fs::read_to_string(anew.page).unwrap(), page);
            let files = fs::read_dir(&folder).unwrap();
            assert_eq!(files.count(), 2 + page.matches("<figure>").count());
            fs::remove_file(folder.join(TABLE)).unwrap();
            assert!(matches!(
                experiment.write_page(&folder),
                Err(LabError::Io(..))
            ));
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}
