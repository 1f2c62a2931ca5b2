//! Tests of the job board without threads: who wakes whom, and counts that wrap around.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{FAN_OUT, JobBoard, JobHandle, NextAction};
use crate::{Job, WorkerWaker};

#[derive(Default)]
struct CountingJob(AtomicU32);

impl Job for CountingJob {
    fn work(&self, _worker: usize, _epoch: u32, _: WorkerWaker<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn register(board: &Arc<JobBoard>, workers: usize) -> (Arc<CountingJob>, JobHandle) {
    let job = Arc::new(CountingJob::default());
    (job.clone(), JobBoard::register(board, job, workers))
}

/// Wakes as the board does, where only workers come for which `comes` is true. Returns each worker that was woken, with
/// the number of wakes before its own, one after the other.
fn woken(handle: &JobHandle, comes: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let waker = handle.waker();
    let mut all: Vec<_> = (1..=FAN_OUT).map(|worker| (worker, worker)).collect();
    let mut coming: VecDeque<_> = all.iter().copied().collect();
    while let Some((worker, depth)) = coming.pop_front() {
        if comes(worker) {
            let next = waker.slot.claim_next_to_wake(waker.count);
            let next: Vec<_> = next.zip(depth + 1..).collect();
            coming.extend(&next);
            all.extend(next);
        }
    }
    all
}

#[test]
fn of_127_workers_the_callback_wakes_four_and_the_others_wake_each_other() {
    let board = Arc::new(JobBoard::new(128));
    let (_, handle) = register(&board, 128);
    for epoch in 1..=2 {
        handle.start(epoch);
        let woken = woken(&handle, |_| true);
        // Each once, and the last one after at most 12 wakes, not 127.
        assert!(woken.iter().map(|(worker, _)| *worker).eq(1..128));
        assert_eq!(woken.iter().map(|(_, depth)| *depth).max(), Some(12));
    }
}

#[test]
fn workers_that_do_not_come_leave_no_other_asleep() {
    let board = Arc::new(JobBoard::new(128));
    let (_, handle) = register(&board, 128);
    handle.start(1);
    let woken = woken(&handle, |worker| worker % 4 == 1);
    assert_eq!(woken.len(), 127);
}

#[test]
fn a_thread_without_a_task_wakes_those_whom_the_first_ones_did_not() {
    let board = Arc::new(JobBoard::new(12));
    let (_, handle) = register(&board, 12);
    handle.start(1);
    let waker = handle.waker();
    // None of the first four comes. The host has nothing to do.
    for expected in [5..9, 9..12, 0..0] {
        assert_eq!(waker.slot.claim_next_to_wake(waker.count), expected);
    }
    handle.start(2);
    assert!(waker.slot.claim_next_to_wake(waker.count).is_empty());
}

#[test]
fn the_counts_of_cycles_wrap_around() {
    let board = Arc::new(JobBoard::at_cycle(40, u32::MAX - 2));
    let (job, handle) = register(&board, 40);
    let mut receivers = [1, 35].map(|worker| board.receiver(worker));
    for epoch in 1..=5 {
        handle.start(epoch);
        for receiver in &mut receivers {
            let NextAction::Work(job) = receiver.next() else {
                panic!("a worker missed cycle {epoch}");
            };
            job.work();
            assert!(matches!(receiver.next(), NextAction::Wait(_)));
        }
        assert_eq!(job.0.load(Ordering::Relaxed), 2 * epoch);
        assert!(handle.waker().slot.claim_next_to_wake(0).is_empty() || epoch == 3);
    }
}
