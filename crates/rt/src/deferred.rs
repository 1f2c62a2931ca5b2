//! The deferred piece: what to run, on what, by when.
//!
//! A job is a value that can be worked on in small pieces. Its owner (a processor) fills it in, [starts](Owner::start)
//! it with the frame by which it is due, and takes it back when it is done; in between any worker with nothing better
//! to do runs one piece at a time through the [`JobRunner`].
//!
//! # Who owns the job
//!
//! | state | the job belongs to | who leaves the state, by |
//! |---|---|---|
//! | `HERE` | the owner | owner, [`DeferredJob::start`]: to `WAITING` |
//! | `WAITING` | nobody | whoever wins the exchange in `run_piece`: to `RUNNING` |
//! | `RUNNING` | the winner, for one piece | winner, at the end of the piece: to `WAITING` or to `HERE` |
//!
//! Each hand-over is a `Release` store seen by an `Acquire` load or exchange of the same word, and the job travels with
//! it. A piece that panics leaves the job in `LOST`: nobody touches it again, and the owner sees it never arrive.

use crate::sync::Arc;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU8, AtomicU64, Ordering};

const HERE: u8 = 0;
const WAITING: u8 = 1;
const RUNNING: u8 = 2;
const LOST: u8 = 3;

/// Work that can be done in pieces.
pub trait PiecewiseJob: Send + 'static {
    /// Does one piece, of about 20 µs at most; whether that was the last.
    ///
    /// Real-time: hot.
    fn run_piece(&mut self) -> bool;
}

struct Shared<T> {
    state: AtomicU8,
    due: AtomicU64,
    job: UnsafeCell<T>,
}

// SAFETY: the table above lets one thread at a time reach `job`, and `T: Send` lets it travel.
unsafe impl<T: Send> Sync for Shared<T> {}

/// The end that fills a job in and takes it back.
pub struct DeferredJob<T>(Arc<Shared<T>>);

/// The end that works on a job, whatever it is. What [`DeferredJob::job_runner`] gives.
#[derive(Clone)]
pub struct JobRunner(std::sync::Arc<dyn Run>);

trait Run: Send + Sync {
    fn due(&self) -> Option<u64>;
    fn run_piece(&self) -> bool;
}

impl<T: PiecewiseJob> DeferredJob<T> {
    /// A job that is here and not started.
    ///
    /// Real-time: setup.
    pub fn new(job: T) -> Self {
        Self(Arc::new(Shared {
            state: AtomicU8::new(HERE),
            due: AtomicU64::new(0),
            job: UnsafeCell::new(job),
        }))
    }

    /// What workers need.
    ///
    /// Real-time: setup.
    pub fn job_runner(&self) -> JobRunner {
        JobRunner(std::sync::Arc::new(Link(self.0.clone())))
    }

    /// Whether the job is done or not started.
    ///
    /// Real-time: hot.
    pub fn is_available(&self) -> bool {
        // pairs with the store at the end of the last piece: the job comes with it.
        self.0.state.load(Ordering::Acquire) == HERE
    }

    /// Whether a piece of it has panicked: it never comes back.
    ///
    /// Real-time: hot.
    pub fn has_panicked(&self) -> bool {
        // Relaxed: nothing travels, since nobody touches the job again.
        self.0.state.load(Ordering::Relaxed) == LOST
    }

    /// The job, while it is here.
    ///
    /// Real-time: hot.
    pub fn get(&mut self) -> Option<&mut T> {
        if !self.is_available() {
            return None;
        }
        // SAFETY: the state is `HERE`, so the job is ours, and only `&mut self` can start it again.
        Some(self.0.job.with_mut(|job| unsafe { &mut *job }))
    }

    /// Gives the job to the workers, to be done by frame `due`. Nothing happens if it is still out.
    ///
    /// Real-time: hot.
    pub fn start(&mut self, due: u64) {
        if self.is_available() {
            // Relaxed: travels with the state below.
            self.0.due.store(due, Ordering::Relaxed);
            // pairs with the exchange in `run_piece`: what we filled in goes along.
            self.0.state.store(WAITING, Ordering::Release);
        }
    }

    /// Does one piece oneself, unless somebody else is at it.
    ///
    /// Real-time: hot.
    pub fn run_piece(&mut self) {
        self.0.run_piece();
    }
}

impl JobRunner {
    /// By which frame the job must be done, if a piece of it can be run now.
    ///
    /// Real-time: hot.
    pub fn deadline(&self) -> Option<u64> {
        self.0.due()
    }

    /// Runs one piece, unless the job is not out or somebody else is at it; whether one was run.
    ///
    /// Real-time: hot.
    pub fn run_piece(&self) -> bool {
        self.0.run_piece()
    }
}

struct Link<T>(Arc<Shared<T>>);

impl<T: PiecewiseJob> Run for Link<T> {
    fn due(&self) -> Option<u64> {
        // pairs with `start`, for the due frame; it may be stale, then the exchange in `run_piece` fails or a piece
        // of the job's next round is run, which is as good.
        (self.0.state.load(Ordering::Acquire) == WAITING)
            .then(|| self.0.due.load(Ordering::Relaxed))
    }

    fn run_piece(&self) -> bool {
        self.0.run_piece()
    }
}

impl<T: PiecewiseJob> Shared<T> {
    fn run_piece(&self) -> bool {
        // Acquire pairs with `start` and with the end of the piece before: the job comes with it.
        let won =
            self.state
                .compare_exchange(WAITING, RUNNING, Ordering::Acquire, Ordering::Relaxed);
        if won.is_err() {
            return false;
        }
        let mut piece = Piece {
            state: &self.state,
            next: LOST,
        };
        // SAFETY: we moved the state to `RUNNING`, so the job is ours until `piece` moves it on.
        let done = self.job.with_mut(|job| unsafe { (*job).run_piece() });
        piece.next = if done { HERE } else { WAITING };
        true
    }
}

/// Ends a piece when it is dropped, by a panic too.
struct Piece<'a> {
    state: &'a AtomicU8,
    next: u8,
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        // pairs with the loads in `is_here` and `due` and with the exchange in `run_piece`: our work goes along.
        self.state.store(self.next, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{Owner, Pieces};

    struct Count(u32);
    impl PiecewiseJob for Count {
        fn piece(&mut self) -> bool {
            self.0 += 1;
            self.0 == 2
        }
    }

    #[test]
    fn owner_and_worker_do_each_piece_once() {
        loom::model(|| {
            let mut owner = DeferredJob::new(Count(0));
            let runner = owner.runner();
            owner.start(1);
            let worker = loom::thread::spawn(move || {
                runner.run_piece();
                runner.run_piece();
            });
            while !owner.is_here() {
                owner.help();
                loom::thread::yield_now();
            }
            assert_eq!(owner.get().unwrap().0, 2);
            worker.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Parts(Vec<u32>);
    impl PiecewiseJob for Parts {
        fn run_piece(&mut self) -> bool {
            assert_ne!(self.0.pop(), Some(13), "a piece that panics");
            self.0.is_empty()
        }
    }

    #[test]
    fn a_job_comes_back_after_its_last_piece() {
        let mut owner = DeferredJob::new(Parts(vec![1, 2]));
        let runner = owner.job_runner();
        assert_eq!(runner.deadline(), None);
        owner.start(640);
        assert_eq!(runner.deadline(), Some(640));
        assert!(owner.get().is_none());
        assert!(runner.run_piece());
        owner.run_piece();
        assert!(owner.get().unwrap().0.is_empty());
        assert!(!runner.run_piece() && !owner.has_panicked());
    }

    #[test]
    fn a_job_whose_piece_panics_never_comes_back() {
        let mut owner = DeferredJob::new(Parts(vec![1, 13]));
        owner.start(0);
        let runner = owner.job_runner();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runner.run_piece()));
        assert!(caught.is_err());
        assert!(owner.get().is_none() && owner.has_panicked() && !runner.run_piece());
    }
}
