//! The board under every interleaving.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};

use super::{Board, Posted, Turn};
use crate::{Job, Recall, Wait};

/// A job that loom watches: work reads it, its end writes it.
struct Watched {
    alive: UnsafeCell<bool>,
    calls: AtomicU32,
}

// SAFETY: that nobody reads it while it is dropped is what the tests are about.
unsafe impl Sync for Watched {}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            alive: UnsafeCell::new(true),
            calls: AtomicU32::new(0),
        })
    }
}

impl Job for Watched {
    fn work(&self, _worker: usize, _epoch: u32, _: Recall<'_>) {
        // SAFETY: the board keeps the job while a worker has it; loom says if not.
        assert!(self.alive.with(|alive| unsafe { *alive }));
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: dropped, so ours alone; loom says if not.
        self.alive.with_mut(|alive| unsafe { *alive = false });
    }
}

/// Every way of switching threads at most three times.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn worker(board: &Arc<Board>) -> loom::thread::JoinHandle<u32> {
    let board = board.clone();
    loom::thread::spawn(move || {
        let (mut place, mut turns) = (board.place(1), 0);
        loop {
            match place.take() {
                Turn::Stop => return turns,
                Turn::Rest(cycle) => board.rest(1, cycle, (Wait::Sleep, 0)),
                Turn::Work(taken) => {
                    taken.work();
                    turns += 1;
                }
            }
        }
    })
}

fn retire(mut posted: Posted) {
    while let Err(busy) = posted.retire() {
        posted = busy;
        loom::thread::yield_now();
    }
}

#[test]
fn a_job_is_freed_only_when_no_worker_has_it() {
    check(|| {
        let board = Arc::new(Board::new(2));
        let worker = worker(&board);
        let first = Board::post(&board, Watched::new(), 2);
        first.start(1);
        let second = Board::post(&board, Watched::new(), 2);
        second.start(2);
        // Handed back and freed while the worker may be late, in it, or gone.
        retire(first);
        retire(second);
        board.stop();
        assert!(worker.join().unwrap() <= 2);
    });
}

#[test]
fn a_job_dropped_in_a_workers_hand_is_freed_later() {
    check(|| {
        let board = Arc::new(Board::new(2));
        let worker = worker(&board);
        let posted = Board::post(&board, Watched::new(), 2);
        posted.start(1);
        drop(posted);
        board.stop();
        assert!(worker.join().unwrap() <= 1);
    });
}

#[test]
fn a_worker_comes_once_for_each_cycle_that_waits_for_it() {
    check(|| {
        let board = Arc::new(Board::new(2));
        let worker = worker(&board);
        let job = Watched::new();
        let posted = Board::post(&board, job.clone(), 2);
        for epoch in 1..=2 {
            posted.start(epoch);
            // The join: were the start missed, this would never end.
            while job.calls.load(Ordering::Relaxed) < epoch {
                loom::thread::yield_now();
            }
        }
        board.stop();
        assert_eq!(worker.join().unwrap(), 2);
        retire(posted);
    });
}

/// Leaves its cycle at once, and says when it has seen what it is called back for.
struct Leaves {
    there_is_more: AtomicU32,
    has_seen: AtomicU32,
}

impl Job for Leaves {
    fn work(&self, _worker: usize, _epoch: u32, _: Recall<'_>) {
        let sees = self.there_is_more.load(Ordering::Relaxed);
        self.has_seen.store(sees, Ordering::Relaxed);
    }
}

#[test]
fn who_has_left_a_cycle_is_called_back() {
    check(|| {
        let board = Arc::new(Board::new(2));
        let job = Arc::new(Leaves {
            there_is_more: AtomicU32::new(0),
            has_seen: AtomicU32::new(0),
        });
        let posted = Board::post(&board, job.clone(), 2);
        posted.start(1);
        let worker = {
            let (board, job) = (board.clone(), job.clone());
            loom::thread::spawn(move || {
                let mut place = board.place(1);
                // A recall that is missed leaves it asleep: loom calls that a deadlock.
                while job.has_seen.load(Ordering::Relaxed) == 0 {
                    match place.take() {
                        Turn::Stop => return,
                        Turn::Rest(cycle) => board.rest(1, cycle, (Wait::Sleep, 0)),
                        Turn::Work(taken) => taken.work(),
                    }
                }
            })
        };
        job.there_is_more.store(1, Ordering::Relaxed);
        posted.recall().call(1);
        worker.join().unwrap();
        retire(posted);
    });
}
