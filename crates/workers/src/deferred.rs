//! Deferred jobs: work with a later deadline, done in pieces by idle workers, the earliest deadline first.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rt::deferred::{JobRunner, WaitingJobs};

/// The deferred jobs of a plan. Fixed at setup, shared by all workers.
#[derive(Default)]
pub struct DeferredJobs {
    /// Sorted by their groups.
    runners: Vec<JobRunner>,
    /// By group: the first of its runners. One more: their number.
    starts: Vec<usize>,
    waiting: WaitingJobs,
}

impl DeferredJobs {
    /// A set of these jobs, each of which is attached to `waiting`.
    ///
    /// Real-time: setup.
    pub fn new(mut runners: Vec<JobRunner>, waiting: WaitingJobs) -> Self {
        runners.sort_by_key(JobRunner::group);
        let start = |group| runners.partition_point(|runner| runner.group() < group);
        let starts = (0..=WaitingJobs::GROUPS).map(start).collect();
        Self {
            runners,
            starts,
            waiting,
        }
    }

    /// Runs one piece of the job with the earliest deadline. Returns false if no job has a piece to run. A piece that
    /// panics ends its job, and counts as run.
    ///
    /// Real-time: hot.
    pub fn run_earliest(&self) -> bool {
        self.run_earliest_from(0)
    }

    /// Runs one piece of the job with the earliest deadline, of those whose deadline is frame `from` or later. Returns
    /// false if there is none.
    ///
    /// Real-time: hot.
    pub fn run_earliest_from(&self, from: u64) -> bool {
        // A try fails if another worker took that job first. The next try does not find that job.
        (0..=self.runners.len())
            .map_while(|_| self.earliest(from))
            .any(run_piece)
    }

    /// Returns true if a job has a piece to run and its deadline is frame `from` or later.
    ///
    /// Real-time: hot.
    pub fn has_piece_due_from(&self, from: u64) -> bool {
        self.earliest(from).is_some()
    }

    /// Returns true if there are no jobs at all.
    pub fn is_empty(&self) -> bool {
        self.runners.is_empty()
    }

    /// The jobs of all groups in which one seems to wait for a worker.
    fn candidates(&self) -> impl Iterator<Item = &JobRunner> {
        let groups = self.waiting.groups();
        groups.flat_map(|group| &self.runners[self.starts[group]..self.starts[group + 1]])
    }

    fn earliest(&self, from: u64) -> Option<&JobRunner> {
        if self.runners.is_empty() || self.waiting.is_empty() {
            return None;
        }
        let ready = self.candidates().filter_map(|r| Some((r.deadline()?, r)));
        let ready = ready.filter(|(deadline, _)| *deadline >= from);
        let (_, runner) = ready.min_by_key(|(deadline, _)| *deadline)?;
        Some(runner)
    }
}

fn run_piece(runner: &JobRunner) -> bool {
    catch_unwind(AssertUnwindSafe(|| runner.run_piece())).unwrap_or_else(|payload| {
        // Its destructor may allocate, lock or panic.
        std::mem::forget(payload);
        true
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::DeferredJobs;
    use rt::deferred::{DeferredJob, PiecewiseJob, WaitingJobs};

    struct Steps(u32);
    impl PiecewiseJob for Steps {
        fn run_piece(&mut self) -> bool {
            self.0 = self.0.checked_sub(1).expect("a job with no steps panics");
            self.0 == 0
        }
    }

    fn jobs_of<T: PiecewiseJob>(owners: &[DeferredJob<T>]) -> DeferredJobs {
        let waiting = WaitingJobs::default();
        let runners: Vec<_> = owners.iter().map(DeferredJob::job_runner).collect();
        runners.iter().for_each(|runner| runner.attach(&waiting));
        DeferredJobs::new(runners, waiting)
    }

    #[test]
    fn the_job_with_the_earliest_deadline_is_finished_first() {
        let mut owners = [3, 2, 1].map(|steps| DeferredJob::new(Steps(steps)));
        let jobs = jobs_of(&owners);
        assert!(!jobs.run_earliest());
        for (owner, deadline) in owners.iter_mut().zip([300, 100, 200]) {
            owner.start(deadline);
        }
        assert!(jobs.has_piece_due_from(300) && !jobs.run_earliest_from(301));
        for finished in [[false; 3], [false, true, false], [false, true, true]] {
            assert_eq!(owners.each_ref().map(DeferredJob::is_available), finished);
            // As many pieces as the next job has steps: 2, 1 and 3.
            let pieces = [2, 1, 3][finished.iter().filter(|f| **f).count()];
            (0..pieces).for_each(|_| assert!(jobs.run_earliest()));
        }
        assert!(!jobs.run_earliest() && owners.iter().all(DeferredJob::is_available));
    }

    #[test]
    fn a_look_at_waiting_jobs_does_not_scan_those_that_rest() {
        for (count, max) in [(64, 1), (6400, 100)] {
            let mut owners: Vec<_> = (0..count).map(|_| DeferredJob::new(Steps(1))).collect();
            let jobs = jobs_of(&owners);
            assert_eq!(jobs.candidates().count(), 0);
            owners[17].start(100);
            assert_eq!(jobs.candidates().count(), max, "{count}");
            owners[40].start(50);
            assert_eq!(jobs.candidates().count(), 2 * max, "{count}");
            assert!(jobs.run_earliest() && owners[40].is_available());
            assert!(!owners[17].is_available() && jobs.run_earliest());
            assert_eq!(jobs.candidates().count(), 0);
        }
    }

    #[test]
    fn a_piece_that_panics_ends_only_its_job() {
        let mut owners = [0, 1].map(|steps| DeferredJob::new(Steps(steps)));
        let jobs = jobs_of(&owners);
        owners.iter_mut().for_each(|owner| owner.start(0));
        assert!(jobs.run_earliest() && jobs.run_earliest());
        assert!(!jobs.run_earliest() && owners[1].is_available());
    }
}
