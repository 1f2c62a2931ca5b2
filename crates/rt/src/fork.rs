//! One step's work spread over idle workers, and joined before the step goes on.
//!
//! A worker that forks offers `lanes` calls of one closure in its cell; it claims lanes itself, and whoever is idle may
//! claim some too. It comes back when all lanes are done.
//!
//! # Who owns what
//!
//! | word | the job pointer | a lane |
//! |---|---|---|
//! | next == lanes | the owner's: nobody reads it | – |
//! | next < lanes | may be read by whoever claims a lane of this round | belongs to whoever moved `next` past it |
//!
//! The word carries the round, so that a claim made on an old look at it fails. The owner writes the job only between
//! rounds: after every lane of the last one is counted in `done`, which each helper does as its last act.

use crate::pad::CachePadded;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

type Job = *const (dyn Fn(u32) + Sync);

/// Where one worker offers lanes.
pub struct ForkCell {
    /// round: 32 bits | next lane: 16 | lanes: 16.
    word: CachePadded<AtomicU64>,
    done: CachePadded<AtomicU32>,
    panicked: AtomicU32,
    job: UnsafeCell<Option<Job>>,
}

// SAFETY: the table above says who may read and write `job`; what it points to is `Sync`.
unsafe impl Sync for ForkCell {}
// SAFETY: as above; between rounds it holds nothing.
unsafe impl Send for ForkCell {}

const LANES: u64 = 0xffff;

fn next(word: u64) -> u32 {
    (word >> 16 & LANES) as u32
}

fn lanes(word: u64) -> u32 {
    (word & LANES) as u32
}

impl Default for ForkCell {
    fn default() -> Self {
        Self::new()
    }
}

impl ForkCell {
    /// Nothing on offer.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        Self {
            word: CachePadded(AtomicU64::new(0)),
            done: CachePadded(AtomicU32::new(0)),
            panicked: AtomicU32::new(0),
            job: UnsafeCell::new(None),
        }
    }

    /// Runs `work(0)` to `work(lanes - 1)`, helped by whoever calls [`help`](Self::help), and comes back when all have
    /// run. Only the cell's owner may, and not from inside `work`. More than 65535 lanes run on the owner alone.
    ///
    /// # Panics
    ///
    /// If a lane panicked, here or elsewhere; all lanes have ended then.
    ///
    /// Real-time: hot; the wait for lanes that others run is part of the cycle's join.
    pub fn fork(&self, lanes: u32, work: &(dyn Fn(u32) + Sync)) {
        if lanes <= 1 || lanes as u64 > LANES {
            return (0..lanes).for_each(work);
        }
        let job: *const (dyn Fn(u32) + Sync + '_) = work;
        // SAFETY: only the lifetime changes; we do not come back before every lane that may use it is done.
        let job: Job = unsafe { std::mem::transmute(job) };
        // SAFETY: between rounds the job is the owner's, and that is us.
        self.job.with_mut(|cell| unsafe { *cell = Some(job) });
        // Relaxed: published by the word.
        self.done.store(0, Ordering::Relaxed);
        self.panicked.store(0, Ordering::Relaxed);
        // Relaxed: only the owner begins rounds.
        let round = (self.word.load(Ordering::Relaxed) >> 32).wrapping_add(1) & 0xffff_ffff;
        // pairs with the exchange in `claim`: the job is there before it can be claimed.
        self.word
            .store(round << 32 | u64::from(lanes), Ordering::Release);
        while self.help() {}
        // pairs with the `Release` of each lane's end: what the lanes wrote is seen, and none reads the job any more.
        while self.done.load(Ordering::Acquire) < lanes {
            spin();
        }
        // Relaxed: ordered by `done`.
        assert!(
            self.panicked.load(Ordering::Relaxed) == 0,
            "a lane of a fork panicked"
        );
    }

    /// Runs one lane, if one is on offer; whether it did.
    ///
    /// Real-time: hot.
    pub fn help(&self) -> bool {
        let Some(lane) = self.claim() else {
            return false;
        };
        let end = LaneEnd(self);
        // SAFETY: we claimed a lane of this round and have not counted it as done, so the owner neither writes the job
        // nor comes back from `fork`.
        let job = self.job.with(|cell| unsafe { (*cell).map(|job| &*job) });
        if let Some(job) = job {
            let run = std::panic::AssertUnwindSafe(|| job(lane));
            if let Err(payload) = std::panic::catch_unwind(run) {
                std::mem::forget(payload);
                // Relaxed: ordered by `done`, which `end` adds to.
                self.panicked.store(1, Ordering::Relaxed);
            }
        }
        drop(end);
        true
    }

    /// Whether a lane seems to be on offer.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn has_branches(&self) -> bool {
        // Relaxed: a hint; the claim decides.
        let word = self.word.load(Ordering::Relaxed);
        next(word) < lanes(word)
    }

    fn claim(&self) -> Option<u32> {
        // Relaxed: the exchange decides.
        let mut word = self.word.load(Ordering::Relaxed);
        while next(word) < lanes(word) {
            // Acquire pairs with the store in `fork`. The round in the word makes an old look fail.
            match self.word.compare_exchange_weak(
                word,
                word + (1 << 16),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(next(word)),
                Err(now) => word = now,
            }
        }
        None
    }
}

/// Counts a lane as done when it ends.
struct LaneEnd<'a>(&'a ForkCell);

impl Drop for LaneEnd<'_> {
    fn drop(&mut self) {
        // pairs with the owner's load at the end of `fork`.
        self.0.done.fetch_add(1, Ordering::Release);
    }
}

fn spin() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::ForkCell;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn each_lane_runs_once_and_none_outlives_the_fork() {
        loom::model(|| {
            let cell = Arc::new(ForkCell::new());
            let helper = {
                let cell = cell.clone();
                loom::thread::spawn(move || {
                    cell.help();
                    cell.help();
                })
            };
            for _ in 0..2 {
                let runs = [AtomicU32::new(0), AtomicU32::new(0)];
                cell.fork(2, &|lane| {
                    runs[lane as usize].fetch_add(1, Ordering::Relaxed);
                });
                assert_eq!(runs.map(|r| r.load(Ordering::Relaxed)), [1, 1]);
            }
            helper.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ForkCell;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn every_lane_runs_once() {
        let cell = ForkCell::new();
        let sum = AtomicU32::new(0);
        cell.fork(5, &|lane| {
            sum.fetch_add(lane, Ordering::Relaxed);
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
        assert!(!cell.has_branches() && !cell.help());
    }

    #[test]
    fn a_panic_in_a_lane_reaches_the_owner_after_all_lanes() {
        let cell = ForkCell::new();
        let runs = AtomicU32::new(0);
        let forked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            cell.fork(3, &|lane| {
                runs.fetch_add(1, Ordering::Relaxed);
                assert_ne!(lane, 1);
            });
        }));
        assert!(forked.is_err());
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }
}
