//! Work that is due later, done in pieces by whoever has nothing better to do: the earliest first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use rt::deferred::JobRunner;

/// The jobs that may have pieces to run. Fixed at setup; shared by all workers.
#[derive(Default)]
pub struct DeferredJobs {
    runners: Vec<JobRunner>,
    panicked: AtomicU32,
}

impl DeferredJobs {
    /// A table of these jobs.
    ///
    /// Real-time: setup.
    pub fn new(runners: Vec<JobRunner>) -> Self {
        Self {
            runners,
            panicked: AtomicU32::new(0),
        }
    }

    /// By which frame the earliest job that can be worked on is due.
    ///
    /// Real-time: hot.
    pub fn earliest_due(&self) -> Option<u64> {
        self.earliest(0).map(|(due, _)| due)
    }

    /// Runs one piece of the job that is due first; whether there was one. A piece that panics loses its job, and counts
    /// as run.
    ///
    /// Real-time: hot.
    pub fn run_earliest(&self) -> bool {
        self.run_earliest_from(0)
    }

    /// As [`run_earliest`](Self::run_earliest), but only of jobs that are not due before frame `from`.
    ///
    /// Real-time: hot.
    pub fn run_earliest_from(&self, from: u64) -> bool {
        // Each failed try means that another worker took that job first; it then takes part in no further look.
        (0..=self.runners.len())
            .map_while(|_| self.earliest(from))
            .any(|(_, runner)| self.run_piece(runner))
    }

    /// How many jobs were lost by a panic.
    ///
    /// Real-time: hot.
    pub fn panicked(&self) -> u32 {
        // Relaxed: only a count.
        self.panicked.load(Ordering::Relaxed)
    }

    /// Whether a job can be worked on that is not due before frame `from`.
    ///
    /// Real-time: hot.
    pub fn has_due_from(&self, from: u64) -> bool {
        self.earliest(from).is_some()
    }

    /// Whether there are no jobs at all.
    pub fn is_empty(&self) -> bool {
        self.runners.is_empty()
    }

    fn earliest(&self, from: u64) -> Option<(u64, &JobRunner)> {
        let waiting = self.runners.iter().filter_map(|r| Some((r.deadline()?, r)));
        let waiting = waiting.filter(|(due, _)| *due >= from);
        waiting.min_by_key(|(due, _)| *due)
    }

    fn run_piece(&self, runner: &JobRunner) -> bool {
        catch_unwind(AssertUnwindSafe(|| runner.run_piece())).unwrap_or_else(|panic| {
            // To free it here might do anything.
            std::mem::forget(panic);
            // Relaxed: only a count.
            self.panicked.fetch_add(1, Ordering::Relaxed);
            true
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::DeferredJobs;
    use rt::deferred::{DeferredJob, PiecewiseJob};

    struct Steps(u32);
    impl PiecewiseJob for Steps {
        fn run_piece(&mut self) -> bool {
            self.0 = self.0.checked_sub(1).expect("a job with no steps panics");
            self.0 == 0
        }
    }

    #[test]
    fn the_earliest_job_is_finished_first() {
        let mut owners = [3, 2, 1].map(|steps| DeferredJob::new(Steps(steps)));
        let deferred = DeferredJobs::new(owners.iter().map(DeferredJob::job_runner).collect());
        assert!(!deferred.run_earliest());
        for (owner, due) in owners.iter_mut().zip([300, 100, 200]) {
            owner.start(due);
        }
        let mut finished = Vec::new();
        assert!(deferred.has_due_from(300) && !deferred.run_earliest_from(301));
        while let Some(due) = deferred.earliest_due() {
            assert!(deferred.run_earliest());
            let here = owners.iter().filter(|o| o.is_available()).count();
            if here > finished.len() {
                finished.push(due);
            }
        }
        assert_eq!(finished, [100, 200, 300]);
    }

    #[test]
    fn a_piece_that_panics_costs_only_its_job() {
        let mut owners = [0, 1].map(|steps| DeferredJob::new(Steps(steps)));
        let deferred = DeferredJobs::new(owners.iter().map(DeferredJob::job_runner).collect());
        owners.iter_mut().for_each(|owner| owner.start(0));
        assert!(deferred.run_earliest() && deferred.run_earliest());
        assert!(!deferred.run_earliest() && owners[1].is_available());
        assert_eq!(deferred.panicked(), 1);
    }
}
