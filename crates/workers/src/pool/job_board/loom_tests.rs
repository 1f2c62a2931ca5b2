//! Loom models of the job board.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};

use super::{JobBoard, JobHandle, NextAction};
use crate::{Job, WaitPolicy, WorkerWaker};

/// A job whose work reads a cell and whose drop writes it: loom fails if both overlap.
struct DropCheckedJob {
    alive: UnsafeCell<bool>,
    calls: AtomicU32,
}

// SAFETY: that no thread reads it while it is dropped is what the tests check.
unsafe impl Sync for DropCheckedJob {}

impl DropCheckedJob {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            alive: UnsafeCell::new(true),
            calls: AtomicU32::new(0),
        })
    }
}

impl Job for DropCheckedJob {
    fn work(&self, _worker: usize, _epoch: u32, _: WorkerWaker<'_>) {
        // SAFETY: the board keeps the job while a worker has it; loom fails if not.
        assert!(self.alive.with(|alive| unsafe { *alive }));
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for DropCheckedJob {
    fn drop(&mut self) {
        // SAFETY: it is being dropped, so it is ours alone; loom fails if not.
        self.alive.with_mut(|alive| unsafe { *alive = false });
    }
}

/// Checks every interleaving with at most three preemptions.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn worker(board: &Arc<JobBoard>) -> loom::thread::JoinHandle<u32> {
    let board = board.clone();
    loom::thread::spawn(move || {
        let (mut receiver, mut calls) = (board.receiver(1), 0);
        loop {
            match receiver.next() {
                NextAction::Stop => return calls,
                NextAction::Wait(cycle) => board.wait(1, cycle, (WaitPolicy::Sleep, 0)),
                NextAction::Work(job) => {
                    job.work();
                    calls += 1;
                }
            }
        }
    })
}

fn retire(mut handle: JobHandle) {
    while let Err(busy) = handle.retire() {
        handle = busy;
        loom::thread::yield_now();
    }
}

#[test]
fn a_job_is_freed_only_when_no_worker_has_it() {
    check(|| {
        let board = Arc::new(JobBoard::new(2));
        let worker = worker(&board);
        let first = JobBoard::register(&board, DropCheckedJob::new(), 2);
        first.start(1);
        let second = JobBoard::register(&board, DropCheckedJob::new(), 2);
        second.start(2);
        // Freed while the worker may not have come yet, may be in the job, or may have left.
        retire(first);
        retire(second);
        board.stop();
        assert!(worker.join().unwrap() <= 2);
    });
}

#[test]
fn a_job_dropped_while_a_worker_has_it_is_freed_later() {
    check(|| {
        let board = Arc::new(JobBoard::new(2));
        let worker = worker(&board);
        let handle = JobBoard::register(&board, DropCheckedJob::new(), 2);
        handle.start(1);
        drop(handle);
        board.stop();
        assert!(worker.join().unwrap() <= 1);
    });
}

#[test]
fn a_worker_comes_once_for_each_cycle() {
    check(|| {
        let board = Arc::new(JobBoard::new(2));
        let worker = worker(&board);
        let job = DropCheckedJob::new();
        let handle = JobBoard::register(&board, job.clone(), 2);
        for epoch in 1..=2 {
            handle.start(epoch);
            // The join. If the worker missed the start, this would never end.
            while job.calls.load(Ordering::Relaxed) < epoch {
                loom::thread::yield_now();
            }
        }
        board.stop();
        assert_eq!(worker.join().unwrap(), 2);
        retire(handle);
    });
}

/// Leaves its cycle at once, and records if it has seen the new work.
struct LeavingJob {
    has_new_work: AtomicU32,
    has_seen_it: AtomicU32,
}

impl Job for LeavingJob {
    fn work(&self, _worker: usize, _epoch: u32, _: WorkerWaker<'_>) {
        let sees = self.has_new_work.load(Ordering::Relaxed);
        self.has_seen_it.store(sees, Ordering::Relaxed);
    }
}

#[test]
fn a_worker_that_has_left_a_cycle_can_be_woken() {
    check(|| {
        let board = Arc::new(JobBoard::new(2));
        let job = Arc::new(LeavingJob {
            has_new_work: AtomicU32::new(0),
            has_seen_it: AtomicU32::new(0),
        });
        let handle = JobBoard::register(&board, job.clone(), 2);
        handle.start(1);
        let worker = {
            let (board, job) = (board.clone(), job.clone());
            loom::thread::spawn(move || {
                let mut receiver = board.receiver(1);
                // If the wake is missed, it sleeps for ever: loom reports a deadlock.
                while job.has_seen_it.load(Ordering::Relaxed) == 0 {
                    match receiver.next() {
                        NextAction::Stop => return,
                        NextAction::Wait(cycle) => board.wait(1, cycle, (WaitPolicy::Sleep, 0)),
                        NextAction::Work(job) => job.work(),
                    }
                }
            })
        };
        job.has_new_work.store(1, Ordering::Relaxed);
        handle.waker().wake(1);
        worker.join().unwrap();
        retire(handle);
    });
}
