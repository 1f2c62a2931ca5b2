//! [`DeferredJob`]: work outside the steps of a cycle, in small pieces, with a deadline in frames.
//!
//! Its owner (a processor) fills the job with data, [starts](DeferredJob::start) it with its deadline, and takes it
//! back when it is done. In between, any idle worker runs one piece at a time, through a [`JobRunner`].
//!
//! # Who owns the job
//!
//! ```text
//!              start()                  run_piece()
//!   AVAILABLE ─────────▶ WAITING ─────────────────────▶ RUNNING
//!       ▲                   ▲    one worker's exchange   │ │ │
//!       │                   └────────────────────────────┘ │ │
//!       │                         there is more to do      │ │
//!       └──────────────────────────────────────────────────┘ │ the piece panicked
//!                          it is done                         ▼
//!                                                         PANICKED
//! ```
//!
//! | state | the job belongs to | who leaves the state |
//! |---|---|---|
//! | `AVAILABLE` | the owner | the owner, in [`DeferredJob::start`] |
//! | `WAITING` | no thread | the worker whose exchange in `run_piece` succeeds |
//! | `RUNNING` | that worker, for one piece | that worker, at the end of the piece |
//! | `PANICKED` | no thread | no thread: the owner sees that the job never comes back |
//!
//! Each change of owner is a `Release` store that is seen by an `Acquire` load or exchange of the same word. The job
//! travels with it.

use crate::pad::CachePadded;
use crate::sync::Arc;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;

/// Groups of jobs in which some job waits for a worker, of all that were [attached](JobRunner::attach). Workers without a
/// task look at this word again and again, instead of at each job.
///
/// Each job belongs to one of 64 groups, in the order in which they are attached. Where some job waits, only the jobs of its
/// group are looked at: up to 64 jobs, that is the job alone.
///
/// ```text
///   mask    0 0 1 0 0 1 0 …       a bit for each group
///   groups  0 0 2 0 0 1 0 …       job n is in group n mod 64
///               │     └─▶ jobs 5, 69, 133, …
///               └───────▶ jobs 2, 66, 130, …
/// ```
///
/// # Protocol
///
/// The mask is two words of 32 bits, each with a number in its upper half that every new job changes.
///
/// | who | what it does |
/// |---|---|
/// | adds a job | counts it, then changes the number, then sets the bit if it was not set |
/// | takes a job | counts it off; if it was the last one, reads the word, then the count, and clears the bit if both are as they were |
///
/// A job that is added before the word is read is seen in the count. One that is added later has changed the number. So the
/// bit of a job that waits is never cleared, not even for a moment, and a bit stays set only while a job of its group waits.
#[derive(Clone)]
pub struct WaitingJobs(Arc<WaitingCounts>);

struct WaitingCounts {
    mask: CachePadded<[AtomicU64; WaitingJobs::GROUPS / WORD]>,
    groups: CachePadded<[AtomicU32; WaitingJobs::GROUPS]>,
    /// Number of jobs that were attached.
    attached: AtomicU32,
}

/// Number of groups in one word of the mask.
const WORD: usize = 32;
/// The lower half of such a word: its bits.
const BITS: u64 = u32::MAX as u64;

impl Default for WaitingJobs {
    fn default() -> Self {
        Self(Arc::new(WaitingCounts {
            mask: CachePadded(std::array::from_fn(|_| AtomicU64::new(0))),
            groups: CachePadded(std::array::from_fn(|_| AtomicU32::new(0))),
            attached: AtomicU32::new(0),
        }))
    }
}

impl WaitingJobs {
    /// Number of groups.
    pub const GROUPS: usize = 64;

    /// Returns true if no attached job seems to wait for a worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: a hint; the exchange in `run_piece` decides.
        let mut words = self.0.mask.iter();
        words.all(|word| word.load(Ordering::Relaxed) & BITS == 0)
    }

    /// The groups in which a job seems to wait for a worker.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn groups(&self) -> impl Iterator<Item = usize> {
        // Relaxed: as in `is_empty`.
        let words = self.0.mask.iter();
        let words = words.map(|word| word.load(Ordering::Relaxed) & BITS);
        words.enumerate().flat_map(|(index, mut bits)| {
            std::iter::from_fn(move || {
                let first = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(index * WORD + first)
            })
        })
    }

    fn next_group(&self) -> usize {
        // Relaxed: nothing travels with the number.
        self.0.attached.fetch_add(1, Ordering::Relaxed) as usize % Self::GROUPS
    }

    /// Counts a job of `group` that waits from now on. Its state says so only later, so no count is ever below 0.
    fn add(&self, group: usize) {
        let (word, bit) = (&self.0.mask[group / WORD], 1 << (group % WORD));
        // Relaxed: the count travels with the word.
        self.0.groups[group].fetch_add(1, Ordering::Relaxed);
        // pairs with the load in `remove`: the count goes along. The number wraps around.
        if word.fetch_add(BITS + 1, Ordering::Release) & bit == 0 {
            // Release keeps what the exchange above released.
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// Counts a job of `group` off, which waits no more. Called by the one worker that changes its state.
    fn remove(&self, group: usize) {
        let (word, bit) = (&self.0.mask[group / WORD], 1 << (group % WORD));
        // Acquire and Release: whoever counts the last one off has seen the bits of all that were counted.
        if self.0.groups[group].fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        // pairs with `add`: the counts of the jobs in this word come with it.
        let mut seen = word.load(Ordering::Acquire);
        // Each further round follows a job of the word that another thread has added or taken.
        while seen & bit != 0 && self.0.groups[group].load(Ordering::Relaxed) == 0 {
            let cleared = seen & !bit;
            match word.compare_exchange(seen, cleared, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

const AVAILABLE: u8 = 0;
const WAITING: u8 = 1;
const RUNNING: u8 = 2;
const PANICKED: u8 = 3;

/// A job that can be done in pieces.
pub trait PiecewiseJob: Send + 'static {
    /// Does one piece, of about 20 µs at most, and returns true if that was the last.
    ///
    /// Real-time: hot.
    fn run_piece(&mut self) -> bool;
}

struct JobCell<T> {
    state: AtomicU8,
    deadline: AtomicU64,
    /// Where it is counted when it waits, and its group there.
    waiting: OnceLock<(WaitingJobs, usize)>,
    job: UnsafeCell<T>,
}

// SAFETY: the table above lets one thread at a time reach `job`, and `T: Send` lets it travel.
unsafe impl<T: Send> Sync for JobCell<T> {}

/// The owner's end of a job: fills it with data, starts it and takes it back.
pub struct DeferredJob<T>(Arc<JobCell<T>>);

/// The workers' end of a job of any type; see [`DeferredJob::job_runner`].
#[derive(Clone)]
pub struct JobRunner(std::sync::Arc<dyn Run>);

trait Run: Send + Sync {
    fn attach(&self, waiting: &WaitingJobs);
    fn group(&self) -> usize;
    fn deadline(&self) -> Option<u64>;
    fn run_piece(&self) -> bool;
}

impl<T: PiecewiseJob> DeferredJob<T> {
    /// The owner's end of `job`, which is available and not started.
    ///
    /// Real-time: setup.
    pub fn new(job: T) -> Self {
        Self(Arc::new(JobCell {
            state: AtomicU8::new(AVAILABLE),
            deadline: AtomicU64::new(0),
            waiting: OnceLock::new(),
            job: UnsafeCell::new(job),
        }))
    }

    /// The workers' end.
    ///
    /// Real-time: setup.
    pub fn job_runner(&self) -> JobRunner {
        JobRunner(std::sync::Arc::new(JobCellRunner(self.0.clone())))
    }

    /// Returns true if the job is done or was not started: then it is the owner's.
    ///
    /// Real-time: hot.
    pub fn is_available(&self) -> bool {
        // pairs with the store at the end of the last piece: the job comes with it.
        self.0.state.load(Ordering::Acquire) == AVAILABLE
    }

    /// Returns true if a piece of the job has panicked: it never comes back.
    ///
    /// Real-time: hot.
    pub fn has_panicked(&self) -> bool {
        // Relaxed: nothing travels, since nobody touches the job again.
        self.0.state.load(Ordering::Relaxed) == PANICKED
    }

    /// The job, while it is available.
    ///
    /// Real-time: hot.
    pub fn get(&mut self) -> Option<&mut T> {
        if !self.is_available() {
            return None;
        }
        // SAFETY: the state is `AVAILABLE`, so the job is ours, and only `&mut self` can start it again.
        Some(self.0.job.with_mut(|job| unsafe { &mut *job }))
    }

    /// Gives the job to the workers, to be done by frame `deadline`. Does nothing if the job is not available.
    ///
    /// Real-time: hot.
    pub fn start(&mut self, deadline: u64) {
        if self.is_available() {
            // Relaxed: travels with the state below.
            self.0.deadline.store(deadline, Ordering::Relaxed);
            self.0.count_waiting();
            // pairs with the exchange in `run_piece`: what the owner filled in goes along.
            self.0.state.store(WAITING, Ordering::Release);
        }
    }

    /// Runs one piece on this thread, unless another worker is in one.
    ///
    /// Real-time: hot.
    pub fn run_piece(&mut self) {
        self.0.run_piece();
    }
}

impl JobRunner {
    /// Counts the job in `waiting` whenever it waits for a worker from now on. Once per job, before other threads know it.
    ///
    /// Real-time: setup.
    pub fn attach(&self, waiting: &WaitingJobs) {
        self.0.attach(waiting);
    }

    /// Group of the job among those with which it was attached; 0 before.
    ///
    /// Real-time: hot.
    pub fn group(&self) -> usize {
        self.0.group()
    }

    /// Frame by which the job must be done, if a piece of it can be run now.
    ///
    /// Real-time: hot.
    pub fn deadline(&self) -> Option<u64> {
        self.0.deadline()
    }

    /// Runs one piece and returns true, unless the job is not waiting for one.
    ///
    /// Real-time: hot.
    pub fn run_piece(&self) -> bool {
        self.0.run_piece()
    }
}

struct JobCellRunner<T>(Arc<JobCell<T>>);

impl<T: PiecewiseJob> Run for JobCellRunner<T> {
    fn attach(&self, waiting: &WaitingJobs) {
        let group = waiting.next_group();
        let is_first = self.0.waiting.set((waiting.clone(), group)).is_ok();
        // Relaxed: no other thread knows the job.
        if is_first && self.0.state.load(Ordering::Relaxed) == WAITING {
            waiting.add(group);
        }
    }

    fn group(&self) -> usize {
        self.0.waiting.get().map_or(0, |(_, group)| *group)
    }

    fn deadline(&self) -> Option<u64> {
        // pairs with `start`, for the deadline. It may be old; then the exchange in `run_piece` fails, or a piece of
        // the job's next round is run, which is as good.
        (self.0.state.load(Ordering::Acquire) == WAITING)
            .then(|| self.0.deadline.load(Ordering::Relaxed))
    }

    fn run_piece(&self) -> bool {
        self.0.run_piece()
    }
}

impl<T> Drop for JobCell<T> {
    fn drop(&mut self) {
        // Relaxed: no other thread has it any more.
        if self.state.load(Ordering::Relaxed) == WAITING {
            self.count_off();
        }
    }
}

impl<T> JobCell<T> {
    fn count_waiting(&self) {
        if let Some((waiting, group)) = self.waiting.get() {
            waiting.add(*group);
        }
    }

    fn count_off(&self) {
        if let Some((waiting, group)) = self.waiting.get() {
            waiting.remove(*group);
        }
    }
}

impl<T: PiecewiseJob> JobCell<T> {
    fn run_piece(&self) -> bool {
        // Acquire pairs with `start` and with the end of the piece before: the job comes with it.
        let won =
            self.state
                .compare_exchange(WAITING, RUNNING, Ordering::Acquire, Ordering::Relaxed);
        if won.is_err() {
            return false;
        }
        self.count_off();
        let mut piece = PieceGuard {
            state: &self.state,
            next: PANICKED,
        };
        // SAFETY: we moved the state to `RUNNING`, so the job is ours until `piece` moves it on.
        let done = self.job.with_mut(|job| unsafe { (*job).run_piece() });
        piece.next = if done { AVAILABLE } else { WAITING };
        if !done {
            self.count_waiting();
        }
        true
    }
}

/// Ends a piece when it is dropped, by a panic too.
struct PieceGuard<'a> {
    state: &'a AtomicU8,
    next: u8,
}

impl Drop for PieceGuard<'_> {
    fn drop(&mut self) {
        // pairs with the loads in `is_available` and `deadline` and with the exchange in `run_piece`: the work of the
        // piece goes along.
        self.state.store(self.next, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{DeferredJob, PiecewiseJob, WaitingJobs};

    struct Count(u32);
    impl PiecewiseJob for Count {
        fn run_piece(&mut self) -> bool {
            self.0 += 1;
            self.0 == 2
        }
    }

    #[test]
    fn owner_and_worker_do_each_piece_once() {
        loom::model(|| {
            let mut owner = DeferredJob::new(Count(0));
            let runner = owner.job_runner();
            owner.start(1);
            let worker = loom::thread::spawn(move || {
                runner.run_piece();
                runner.run_piece();
            });
            while !owner.is_available() {
                owner.run_piece();
                loom::thread::yield_now();
            }
            assert_eq!(owner.get().unwrap().0, 2);
            worker.join().unwrap();
        });
    }

    /// Two jobs of one group come and go on two threads; a third job stays if `stays`.
    fn a_group_with(stays: bool) {
        loom::model(move || {
            let waiting = WaitingJobs::default();
            let other = waiting.clone();
            let thread = loom::thread::spawn(move || {
                other.add(3);
                // Its own job is seen, whatever the others do.
                assert!(other.groups().eq([3]));
                other.remove(3);
            });
            waiting.add(3);
            waiting.remove(3);
            if stays {
                waiting.add(3);
                assert!(waiting.groups().eq([3]));
            }
            thread.join().unwrap();
            assert_eq!(waiting.is_empty(), !stays);
        });
    }

    #[test]
    fn a_group_is_marked_exactly_while_a_job_of_it_waits() {
        a_group_with(false);
        a_group_with(true);
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

    #[test]
    fn jobs_are_counted_while_they_wait_for_a_worker() {
        let waiting = WaitingJobs::default();
        let mut owners =
            [vec![1, 2], vec![13], vec![3]].map(|parts| DeferredJob::new(Parts(parts)));
        // One that was started before it is attached.
        owners[2].start(0);
        owners
            .iter()
            .for_each(|owner| owner.job_runner().attach(&waiting));
        let counts = || waiting.0.groups.iter();
        let count = || counts().map(|it| it.load(Ordering::Relaxed)).sum::<u32>();
        assert!(count() == 1 && waiting.groups().eq([2]));
        owners[0].start(0);
        owners[1].start(0);
        assert_eq!(count(), 3);
        owners[0].run_piece();
        assert_eq!(count(), 3);
        owners[0].run_piece();
        assert_eq!(count(), 2);
        let panics = std::panic::AssertUnwindSafe(|| owners[1].run_piece());
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(count(), 1);
        // One that is dropped while it waits.
        drop(owners);
        assert!(waiting.is_empty());
    }
}
