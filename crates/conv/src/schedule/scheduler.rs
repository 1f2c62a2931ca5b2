//! [`LevelScheduler`]: the trait of what runs the levels' jobs. Schedulers differ in the thread and the time of the work; all
//! give the same bits.
//!
//! A level's job starts when its input is complete, and is due when its output is first needed, at least one of the level's
//! periods later ([`Level::slack`](crate::Level::slack)). In between it is a job in pieces ([`rt::deferred`]), and any
//! thread that holds its runner may do a piece.

use crate::level::Fdl;
use crate::level::stream::run_to_end;
use rt::deferred::DeferredJob;

/// Runs the jobs of a convolver's levels.
///
/// `fdl` is a line's place in [`Convolver::fdls`](crate::Convolver::fdls).
pub trait LevelScheduler {
    /// Notes that the job of a line has just been started.
    ///
    /// Real-time: hot.
    fn job_started(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>);

    /// Wakes the threads of started jobs. Called once all jobs have been started that can be before the callback's own work.
    ///
    /// Real-time: hot, wakes.
    fn wake(&mut self) {}

    /// Finishes the job of a line, which is due: waits for it, helps or gives up. Returns true if the job is done.
    ///
    /// Real-time: hot.
    fn finish(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) -> bool;

    /// Runs some pieces of each job, if the scheduler likes: the callback's own work is done.
    ///
    /// Real-time: hot.
    fn after_block(&mut self, _jobs: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {}
}

/// Runs each job in the callback, when it is started: for rendering offline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl LevelScheduler for Inline {
    fn job_started(&mut self, fdl: usize, job: &mut DeferredJob<Fdl>) {
        self.finish(fdl, job);
    }

    fn finish(&mut self, _fdl: usize, job: &mut DeferredJob<Fdl>) -> bool {
        run_to_end(job)
    }
}
