//! An experiment by its name: its runs, its charts, its page.

use crate::definition::Definition;
use crate::page::Page;
use crate::results::Results;
use crate::run::make_missing_runs;
use crate::{Effort, LabError, MachineInfo, RunObserver, Table, state};
use crate::{channels, convolution, graphs, isolation, queues, scale, session};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder of results, beside one for each chart.
const TABLE: &str = "results.csv";
const PAGE: &str = "index.html";

/// An experiment that can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct Experiment(&'static Definition);

/// Outcome of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentResult {
    /// True if all runs are there; otherwise the same call continues.
    pub is_complete: bool,
    /// Number of runs in the table.
    pub runs: usize,
    /// The page to read.
    pub page: PathBuf,
}

impl Experiment {
    /// Every experiment.
    ///
    /// | name | content |
    /// |---|---|
    /// | `graphs` | lines, diamonds and rakes under every scheduler (Chen-yen-su and Delgado 2019) |
    /// | `session` | 500 objects, 64 of them expensive, idle and playing (Robinson 2016) |
    /// | `scale` | cycle times on 1 to 128 cores, simulated from costs measured here |
    /// | `convolution` | partitioned convolution with and without threads (Battenberg and Avižienis 2011) |
    /// | `queues` | FFT filters that read from mirrored rings in place (Allen, Zucknick and Evans) |
    /// | `channels` | round trips between two processes, as between cells (Colmenares et al.) |
    /// | `isolation` | response times beside a load in a cell, a process and a control group (Colmenares et al.) |
    pub fn all() -> impl Iterator<Item = Self> {
        let all = [
            &graphs::DEFINITION,
            &session::DEFINITION,
            &scale::DEFINITION,
            &convolution::DEFINITION,
            &queues::DEFINITION,
            &channels::DEFINITION,
            &isolation::DEFINITION,
        ];
        all.into_iter().map(Self)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Makes the runs that `folder` lacks, then writes its table (`results.csv`), charts and page (`index.html`).
    /// Ends early where `observer` says so; the runs made stay, and the same call continues.
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
        observer: &mut dyn RunObserver,
    ) -> Result<ExperimentResult, LabError> {
        fs::create_dir_all(folder).map_err(LabError::io(folder))?;
        let Definition { runs, import, .. } = self.0;
        let machine = MachineInfo::detect();
        let mut table = self.open_table(folder, &machine)?;
        import(folder, &mut table)?;
        let is_complete = make_missing_runs(&runs(effort), effort, &mut table, observer)?;
        self.write_results(folder, &table, &machine, is_complete)
    }

    /// Writes charts and page again from the runs in `folder`, and from results of other programs that lie there; makes no
    /// runs.
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
        let mut table = self.open_table(folder, &machine)?;
        (self.0.import)(folder, &mut table)?;
        self.write_results(folder, &table, &machine, true)
    }

    fn open_table(self, folder: &Path, machine: &MachineInfo) -> Result<Table, LabError> {
        let Definition { columns, keys, .. } = self.0;
        Table::open(&folder.join(TABLE), &machine.name(), columns, *keys)
    }

    fn write_results(
        self,
        folder: &Path,
        table: &Table,
        machine: &MachineInfo,
        is_complete: bool,
    ) -> Result<ExperimentResult, LabError> {
        let definition = self.0;
        let results = Results { table, machine };
        let mut page = Page::new(definition.title, definition.template);
        state::fill(&results, &mut page);
        (definition.fill)(&results, &mut page);
        let (page, charts) = page.finish();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            divisi::files::replace(&path, text).map_err(LabError::io(&path))?;
            Ok(path)
        };
        for chart in charts {
            write(
                &format!("{}.svg", chart.file),
                &chart.svg.unwrap_or_default(),
            )?;
        }
        Ok(ExperimentResult {
            is_complete,
            runs: table.rows().count(),
            page: write(PAGE, &page)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::page_faults;
    use std::time::Duration;

    /// Counts runs, and never stops them.
    struct RunCounter(usize);

    impl RunObserver for RunCounter {
        fn run_starts(&mut self, at: usize, of: usize, what: &str, _: Duration) {
            assert!(at <= of && !what.is_empty());
            self.0 += 1;
        }

        fn should_stop(&self) -> bool {
            false
        }
    }

    /// Headings and words that every page has.
    const ON_EVERY_PAGE: [&str; 6] = [
        "The machine",
        "What was done",
        "What it shows",
        "What it does not show",
        "The state of the machine",
        "control",
    ];

    #[test]
    fn every_experiment_writes_a_table_and_a_page_that_needs_nothing_else_and_is_done_once() {
        for experiment in Experiment::all() {
            let name = format!("divisi-lab-{}-{}", experiment.name(), std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            let perform = |observer: &mut RunCounter| {
                experiment
                    .perform(Effort::Minimal, &folder, observer)
                    .unwrap()
            };
            let mut first = RunCounter(0);
            let done = perform(&mut first);
            assert!(done.is_complete && done.runs > 0 && first.0 == done.runs);
            let page = fs::read_to_string(&done.page).unwrap();
            assert_eq!(page_faults(&page), Vec::<String>::new());
            for words in ON_EVERY_PAGE {
                assert!(page.contains(words), "{}: {words}", experiment.name());
            }
            let files = 2 + page.matches("<figure>").count();
            assert_eq!(fs::read_dir(&folder).unwrap().count(), files);

            let mut second = RunCounter(0);
            assert_eq!((perform(&mut second).runs, second.0), (done.runs, 0));
            assert_eq!(fs::read_to_string(&done.page).unwrap(), page);

            for file in fs::read_dir(&folder).unwrap().flatten() {
                if file.file_name() != TABLE {
                    fs::remove_file(file.path()).unwrap();
                }
            }
            let again = experiment.write_page(&folder).unwrap();
            assert_eq!(fs::read_to_string(again.page).unwrap(), page);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), files);

            fs::remove_file(folder.join(TABLE)).unwrap();
            let without_table = experiment.write_page(&folder);
            assert!(matches!(without_table, Err(LabError::Io(..))));
            fs::remove_dir_all(&folder).unwrap();
        }
    }

    #[test]
    fn no_two_runs_have_one_key_and_every_key_fits_its_columns() {
        for Experiment(definition) in Experiment::all() {
            for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
                let runs = (definition.runs)(effort);
                let keys: std::collections::HashSet<_> = runs.iter().map(|r| &r.key).collect();
                assert_eq!(keys.len(), runs.len(), "{}", definition.name);
                // A key with a comma within a cell would never be found again.
                let fits = |key: &&String| key.split(',').count() == definition.keys;
                assert!(keys.iter().all(fits));
            }
        }
    }
}
