//! Threads that run the [deferred jobs](crate::deferred) of one caller. The caller notifies them of work, and waits for
//! a job when it is due.
//!
//! | word | written by | read by |
//! |---|---|---|
//! | `start` | the caller, after it has started work: counts up | threads: they look for work, and sleep while it stays the same |
//! | `done`, one per thread | its thread, after each job it worked on: counts up | the caller, while it waits for a job of that thread |
//!
//! [`deferred`](crate::deferred) hands the work itself over. The two words only keep a thread from sleeping while there
//! is work. A thread reads the word, then looks for work, and sleeps only if the word still has the value that it read.
//! A thread counts up `done` when it *has worked*, not when it found work: another job may be started in between, and
//! the caller that waits for that job would not be woken.

use crate::deferred::{DeferredJob, JobRunner, PiecewiseJob};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::wake::{Futex, WakeMask};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use units::Nanos;

/// The words that a caller and its threads share.
#[derive(Debug)]
pub struct JobService {
    start: Futex,
    done: Box<[Futex]>,
    stop: AtomicBool,
}

impl JobService {
    /// A service for `threads` threads, none of which serves yet.
    ///
    /// Real-time: setup.
    pub fn new(threads: usize) -> Self {
        Self {
            start: Futex::new(0),
            done: (0..threads).map(|_| Futex::new(0)).collect(),
            stop: AtomicBool::new(false),
        }
    }

    /// Tells the threads of this mask ([`WakeMask::bit`] of their numbers) that jobs were started, and returns how many
    /// were asleep and are woken.
    ///
    /// Real-time: hot, wakes.
    pub fn notify(&self, threads: WakeMask) -> u32 {
        self.start.fetch_add(1);
        self.start.wake_masked(threads)
    }

    /// Waits until `thread`, which was notified, has completed `job`, and returns true. Returns false if a piece of it
    /// panicked, or if `timeout` is over.
    ///
    /// Real-time: waits, on that thread, for `timeout`; without one, until the job is complete or has panicked.
    pub fn wait<T: PiecewiseJob>(
        &self,
        thread: usize,
        job: &DeferredJob<T>,
        timeout: Option<Duration>,
    ) -> bool {
        let done = &self.done[thread];
        let mut until = None;
        loop {
            let seen = done.load();
            if job.is_available() {
                return true;
            }
            if job.has_panicked() {
                return false;
            }
            let Some(timeout) = timeout else {
                done.wait(seen);
                continue;
            };
            let now = Instant::now();
            let until = *until.get_or_insert(now + timeout);
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            done.wait_timeout(seen, Nanos(left.as_nanos() as u64));
        }
    }

    /// Runs the jobs of these runners each time they are started, on thread number `thread`, until the service is
    /// [stopped](Self::stop). A panic in a piece ends its own job only.
    ///
    /// Real-time: waits, on the caller.
    pub fn serve(&self, thread: usize, runners: &[JobRunner]) {
        loop {
            let seen = self.start.load();
            // Relaxed: travels with the count.
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let mut has_worked = false;
            for runner in runners {
                has_worked |= self.run_pieces(thread, runner);
            }
            if !has_worked {
                self.start.wait_masked(seen, WakeMask::bit(thread));
            }
        }
    }

    /// Runs all pieces that a job has now, and returns true if there were any.
    fn run_pieces(&self, thread: usize, runner: &JobRunner) -> bool {
        let mut has_worked = false;
        let all = AssertUnwindSafe(|| {
            while runner.run_piece() {
                has_worked = true;
            }
        });
        // A thread that waits sees that the job has panicked.
        has_worked |= catch_unwind(all).is_err();
        if has_worked {
            self.done[thread].fetch_add(1);
            self.done[thread].wake(1);
        }
        has_worked
    }

    /// Stops all threads, after the jobs that they run.
    ///
    /// Real-time: hot, wakes.
    pub fn stop(&self) {
        // Relaxed: travels with the count.
        self.stop.store(true, Ordering::Relaxed);
        self.start.fetch_add(1);
        self.start.wake(u32::MAX >> 1);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::Arc;

    struct Count(u32);
    impl PiecewiseJob for Count {
        fn run_piece(&mut self) -> bool {
            self.0 += 1;
            self.0.is_multiple_of(2)
        }
    }

    /// Every way of switching threads at most twice. A wake that is missed leaves somebody asleep: loom calls that a
    /// deadlock.
    fn model(check: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(check);
    }

    #[test]
    fn what_is_started_while_a_thread_looks_for_work_is_done_and_waited_for() {
        model(|| {
            let service = Arc::new(JobService::new(1));
            let mut job = DeferredJob::new(Count(0));
            let (serving, runner) = (service.clone(), job.job_runner());
            let thread = loom::thread::spawn(move || serving.serve(0, &[runner]));
            for round in 1..=2 {
                job.start(0);
                service.notify(WakeMask::bit(0));
                assert!(service.wait(0, &job, None));
                assert_eq!(job.get().unwrap().0, 2 * round);
            }
            service.stop();
            thread.join().unwrap();
        });
    }

    #[test]
    fn two_jobs_of_one_thread_are_each_waited_for_in_either_order() {
        model(|| {
            let service = Arc::new(JobService::new(1));
            let (mut one, mut two) = (DeferredJob::new(Count(0)), DeferredJob::new(Count(0)));
            let (serving, runners) = (service.clone(), [one.job_runner(), two.job_runner()]);
            let thread = loom::thread::spawn(move || serving.serve(0, &runners));
            one.start(0);
            service.notify(WakeMask::bit(0));
            two.start(0);
            service.notify(WakeMask::bit(0));
            assert!(service.wait(0, &two, None) && service.wait(0, &one, None));
            service.stop();
            thread.join().unwrap();
        });
    }

    #[test]
    fn two_threads_are_each_told_and_stopped() {
        model(|| {
            let service = Arc::new(JobService::new(2));
            let mut jobs = [0, 1].map(|_| DeferredJob::new(Count(1)));
            let threads = [0, 1].map(|thread| {
                let (serving, runner) = (service.clone(), jobs[thread].job_runner());
                loom::thread::spawn(move || serving.serve(thread, &[runner]))
            });
            jobs.iter_mut().for_each(|job| job.start(0));
            service.notify(WakeMask::bit(0).union(WakeMask::bit(1)));
            for (thread, job) in jobs.iter().enumerate() {
                assert!(service.wait(thread, job, None));
            }
            service.stop();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Number of pieces that are left; `None` to fail.
    struct Left(Option<u32>);
    impl PiecewiseJob for Left {
        fn run_piece(&mut self) -> bool {
            let left = self.0.as_mut().expect("it is to fail");
            *left -= 1;
            *left == 0
        }
    }

    #[test]
    fn a_job_that_is_lost_is_given_up_and_others_of_its_thread_are_waited_for() {
        let service = Arc::new(JobService::new(1));
        // Miri is some thousand times slower.
        let pieces = if cfg!(miri) { 200 } else { 20_000 };
        let mut jobs = [None, Some(pieces), None].map(|left| DeferredJob::new(Left(left)));
        let runners = jobs.each_ref().map(DeferredJob::job_runner);
        let serving = service.clone();
        let thread = std::thread::spawn(move || serving.serve(0, &runners));
        for _ in 0..3 {
            jobs.iter_mut().for_each(|job| job.start(0));
            service.notify(WakeMask::bit(0));
            for (job, is_sound) in jobs.iter().zip([false, true, false]) {
                assert_eq!(service.wait(0, job, None), is_sound);
                assert_eq!(job.has_panicked(), !is_sound);
            }
            jobs[1].get().unwrap().0 = Some(7);
        }
        service.stop();
        thread.join().unwrap();
    }

    #[test]
    fn a_wait_times_out() {
        let service = JobService::new(1);
        let mut job = DeferredJob::new(Left(Some(1)));
        job.start(0);
        // Nobody serves.
        for timeout in [Duration::ZERO, Duration::from_micros(50)] {
            assert!(!service.wait(0, &job, Some(timeout)));
        }
        assert!(!job.has_panicked());
        job.run_piece();
        assert!(service.wait(0, &job, Some(Duration::ZERO)));
    }
}
