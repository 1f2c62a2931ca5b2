//! Where jobs are shown to workers: who may touch one, and when it may be freed.
//!
//! A job is posted on a *notice* of its own. `current` points to the notice of the cycle; each worker has a *hand*, in
//! which it holds the notice that it works by.
//!
//! # Who does what with a notice
//!
//! | who | what | so that |
//! |---|---|---|
//! | the callback thread, [`JobHandle::start`] | writes the cycle on the notice, points `current` to it, changes the word that workers sleep on, wakes them | one store and at most one call start a cycle |
//! | worker, [`Place::take`] | puts `current` into its hand, *full fence*, looks whether `current` still is that; then reads and works | what is in a hand and still current will not be freed |
//! | worker, when the work is done | empties its hand | it touches the notice no more |
//! | who works, [`WorkerWaker::wake`] | counts a recall on the notice, changes the word, wakes one worker | one that has left the cycle comes once more |
//! | a control thread, [`JobHandle::retire`] | takes `current` away from the notice, *full fence*, looks into every hand; frees the notice if it is in none | only what no worker has or can get is freed |
//!
//! By the two fences at least one sees what the other did: the worker finds `current` changed and lets go, or the
//! retirer finds the notice in its hand and leaves it for later. A [`JobHandle`] is owned, so nobody starts a job that is
//! being retired. A worker that wakes late holds a notice whose cycle may be over, but whose job is alive; the job
//! itself (by the epoch, which all that can be taken in it carries: `rt::claim`) gives it nothing to do.
//!
//! A notice has no room to be short of, and a start writes no more than four words.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use rt::pad::CachePadded;
use rt::stamp;
use rt::wake::{Futex, WakeMask};

use super::Job;
use crate::WaitPolicy;
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// What a job is posted on.
struct Notice {
    job: Arc<dyn Job>,
    /// For workers below this.
    workers: usize,
    names: Option<WakeMask>,
    /// The crew's count of the cycle in the upper half, the job's epoch in the lower.
    cycle: AtomicU64,
    /// How often workers were called back, in all its cycles.
    recalls: AtomicU32,
}

pub(super) struct Board {
    /// Counts cycles; workers sleep on it.
    cycles: Futex,
    current: CachePadded<AtomicPtr<Notice>>,
    hands: Box<[CachePadded<AtomicPtr<Notice>>]>,
    is_stopping: AtomicBool,
    panics: AtomicU32,
    /// Notices that were dropped while in a hand. Touched by control threads only.
    left: Mutex<Vec<Left>>,
}

/// A notice that waits for a worker to let go of it.
struct Left(*mut Notice);

// SAFETY: a notice is `Send` (its job is `Send + Sync`, the rest are numbers), and this is its only owner.
unsafe impl Send for Left {}

/// A job that the crew has been shown. Retire it, or drop it, on a thread with time; if a worker is stuck in it then,
/// its memory stays until a later post or retirement finds the worker gone, or the crew ends.
#[must_use = "a job that is dropped is retired"]
pub struct JobHandle {
    board: Arc<Board>,
    /// Ours to free; null once that is settled.
    notice: *mut Notice,
}

// SAFETY: what it points to is `Send` and `Sync`, and the table says when it is freed.
unsafe impl Send for JobHandle {}
// SAFETY: as above; by a shared reference it is only read and started, which writes atomics.
unsafe impl Sync for JobHandle {}

/// One worker's place at the board.
pub(super) struct Place<'a> {
    board: &'a Board,
    worker: usize,
    /// The last cycle it took.
    taken: u32,
    /// The recalls that it saw then.
    recalls: u32,
}

/// What a worker is to do.
pub(super) enum Turn<'a> {
    Stop,
    /// Nothing, until the count of cycles differs from this.
    Rest(u32),
    Work(Taken<'a>),
}

/// A notice in a worker's hand. Dropped, the hand is empty.
pub(super) struct Taken<'a> {
    board: &'a Board,
    worker: usize,
    notice: &'a Notice,
    epoch: u32,
}

/// How who works in a job's cycle calls workers back that have left it.
#[derive(Clone, Copy)]
pub struct WorkerWaker<'a> {
    board: &'a Board,
    notice: &'a Notice,
}

impl Board {
    pub(super) fn new(workers: usize) -> Self {
        let hand = |_| CachePadded(AtomicPtr::new(ptr::null_mut()));
        Self {
            cycles: Futex::new(0),
            current: CachePadded(AtomicPtr::new(ptr::null_mut())),
            hands: (0..workers).map(hand).collect(),
            is_stopping: AtomicBool::new(false),
            panics: AtomicU32::new(0),
            left: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn post(board: &Arc<Self>, job: Arc<dyn Job>, workers: usize) -> JobHandle {
        board.sweep();
        let workers = workers.min(board.hands.len());
        let notice = Notice {
            job,
            workers,
            names: (1..workers).map(WakeMask::bit).reduce(WakeMask::union),
            cycle: AtomicU64::new(0),
            recalls: AtomicU32::new(0),
        };
        JobHandle {
            board: board.clone(),
            notice: Box::into_raw(Box::new(notice)),
        }
    }

    pub(super) fn place(&self, worker: usize) -> Place<'_> {
        Place {
            board: self,
            worker,
            taken: 0,
            recalls: 0,
        }
    }

    /// Waits until the count of cycles is not `cycle`; one that may sleep looks for so many `ticks` first.
    pub(super) fn rest(&self, worker: usize, cycle: u32, (wait, ticks): (WaitPolicy, u64)) {
        let begin = if ticks > 0 { stamp::now() } else { 0 };
        while self.cycles.load() == cycle {
            // A counter that goes back, where a machine sleeps in between, ends the looking.
            let lingers = ticks > 0 && stamp::now().wrapping_sub(begin) < ticks;
            match wait {
                WaitPolicy::Hybrid | WaitPolicy::Sleep if !lingers => {
                    self.cycles.wait_masked(cycle, WakeMask::bit(worker));
                }
                _ => std::hint::spin_loop(),
            }
        }
    }

    pub(super) fn stop(&self) {
        // Relaxed: seen with the count below.
        self.is_stopping.store(true, Ordering::Relaxed);
        self.cycles.fetch_add(1);
        self.cycles.wake(u32::MAX);
    }

    pub(super) fn count_panic(&self) {
        // Relaxed: only a count.
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn panics(&self) -> u32 {
        // Relaxed: only a count.
        self.panics.load(Ordering::Relaxed)
    }

    fn start(&self, notice: *mut Notice, epoch: u32) -> u32 {
        // SAFETY: called by its `JobHandle`, which keeps it.
        let Notice { names, cycle, .. } = unsafe { &*notice };
        let count = self.cycles.load().wrapping_add(1);
        // pairs with the load in `take`: what the caller prepared for this epoch goes along.
        cycle.store(u64::from(count) << 32 | u64::from(epoch), Ordering::Release);
        // pairs with the loads in `hold`: the notice is whole.
        self.current.store(notice, Ordering::Release);
        // Whoever sees the new count sees the two stores above. It is added, not set: after a `stop` in between, whoever
        // sees it sees that too.
        self.cycles.fetch_add(1);
        names.map_or(0, |names| self.cycles.wake_masked(names))
    }

    /// Puts the current notice, if there is one, into the worker's hand.
    fn hold(&self, worker: usize) -> Option<&Notice> {
        // pairs with the store in `start`.
        let mut notice = self.current.load(Ordering::Acquire);
        loop {
            // Release pairs with the look in `is_held`, where this empties the hand of another; the fence orders it
            // before the next load.
            self.hands[worker].store(notice, Ordering::Release);
            // pairs with the fence in `is_held`, as the table says.
            fence(Ordering::SeqCst);
            // pairs with the store in `start`.
            let now = self.current.load(Ordering::Acquire);
            if now == notice {
                // SAFETY: it was current when it was in our hand already, so whoever retires it finds it there. It was
                // made by `post` and is never written but for its atomics.
                return unsafe { notice.as_ref() };
            }
            notice = now;
        }
    }

    fn let_go(&self, worker: usize) {
        // pairs with the load in `is_held`: our use of the notice is over.
        self.hands[worker].store(ptr::null_mut(), Ordering::Release);
    }

    /// Makes sure that nobody takes `notice` from now on; whether a worker has it still.
    fn withdraw(&self, notice: *mut Notice) -> bool {
        // Relaxed: the fence in `is_held` orders it. If another notice is current, this one cannot become so again.
        let _ = self.current.compare_exchange(
            notice,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        self.is_held(notice)
    }

    fn is_held(&self, notice: *mut Notice) -> bool {
        // pairs with the fence in `hold`, as the table says.
        fence(Ordering::SeqCst);
        // pairs with the store in `let_go`: the worker's use of the notice is over.
        let in_hand = |hand: &CachePadded<AtomicPtr<_>>| hand.load(Ordering::Acquire) == notice;
        self.hands.iter().any(in_hand)
    }

    /// Frees what was left and is in no hand any more.
    fn sweep(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let held = left.drain(..).filter_map(|Left(notice)| {
            if self.is_held(notice) {
                return Some(Left(notice));
            }
            // SAFETY: it was withdrawn before it was left, no hand holds it, and we took it off the list.
            drop(unsafe { Box::from_raw(notice) });
            None
        });
        *left = held.collect();
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Left(notice) in left.drain(..) {
            // SAFETY: every worker has a share in the board, so none is left to hold it.
            drop(unsafe { Box::from_raw(notice) });
        }
    }
}

impl JobHandle {
    /// Starts the job's cycle `epoch`: every worker below the number it was posted for will call [`Job::work`] once. How
    /// many had to be woken. Only the thread that is worker 0 may, one cycle after the other, for all jobs of a crew.
    ///
    /// Real-time: hot, wakes.
    pub fn start(&self, epoch: u32) -> u32 {
        self.board.start(self.notice, epoch)
    }

    /// How the thread that started it calls workers back.
    ///
    /// Real-time: hot.
    pub fn waker(&self) -> WorkerWaker<'_> {
        WorkerWaker {
            board: &self.board,
            // SAFETY: it is ours to free, and we have not.
            notice: unsafe { &*self.notice },
        }
    }

    /// The job.
    ///
    /// Real-time: hot.
    pub fn job(&self) -> &Arc<dyn Job> {
        // SAFETY: it is ours to free, and we have not.
        unsafe { &(*self.notice).job }
    }

    /// Whether a worker is at it, or about to find out that there is nothing to do.
    ///
    /// Real-time: hot.
    pub fn is_busy(&self) -> bool {
        self.board.is_held(self.notice)
    }

    /// Takes the job back, once the caller has started it for the last time. While a worker is at it still, it comes
    /// back in the error: try again later, or drop it.
    ///
    /// Real-time: setup.
    pub fn retire(mut self) -> Result<Arc<dyn Job>, Self> {
        if self.board.withdraw(self.notice) {
            return Err(self);
        }
        let notice = std::mem::replace(&mut self.notice, ptr::null_mut());
        // SAFETY: withdrawn and in no hand; `replace` made us forget it.
        let notice = unsafe { Box::from_raw(notice) };
        self.board.sweep();
        Ok(notice.job)
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        if self.notice.is_null() {
            return;
        }
        // Nobody takes it from here on; `sweep` frees it, now or when it is in no hand.
        self.board.withdraw(self.notice);
        let mut left = self
            .board
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        left.push(Left(self.notice));
        drop(left);
        self.board.sweep();
    }
}

impl<'a> Place<'a> {
    /// What to do next.
    pub(super) fn take(&mut self) -> Turn<'a> {
        // First the count, then the notice: a start after this look changes the count and ends the rest.
        let seen = self.board.cycles.load();
        // Relaxed: stored before the count was changed.
        if self.board.is_stopping.load(Ordering::Relaxed) {
            return Turn::Stop;
        }
        match self.take_current() {
            Some(taken) => Turn::Work(taken),
            None => {
                self.board.let_go(self.worker);
                Turn::Rest(seen)
            }
        }
    }

    fn take_current(&mut self) -> Option<Taken<'a>> {
        let notice = self.board.hold(self.worker)?;
        // pairs with the store in `start`. It may be of a cycle whose count we have not seen yet: then we come early, and
        // not once more when we see it.
        let cycle = notice.cycle.load(Ordering::Acquire);
        let (count, epoch) = ((cycle >> 32) as u32, cycle as u32);
        // pairs with the addition in `call`. Several recalls may be one turn, and one that was meant for another is a
        // turn too many: the job has nothing to do then.
        let recalls = notice.recalls.load(Ordering::Acquire);
        let is_called = count != self.taken || recalls != self.recalls;
        if !is_called || self.worker >= notice.workers {
            return None;
        }
        self.taken = count;
        self.recalls = recalls;
        Some(Taken {
            board: self.board,
            worker: self.worker,
            notice,
            epoch,
        })
    }
}

impl Taken<'_> {
    /// Real-time: hot.
    pub(super) fn work(self) {
        let recall = WorkerWaker {
            board: self.board,
            notice: self.notice,
        };
        self.notice.job.work(self.worker, self.epoch, recall);
    }
}

impl WorkerWaker<'_> {
    /// Has [`Job::work`] called once more for `worker`, in the cycle that was started last; how many workers had to be
    /// woken for it. Others may be called too.
    ///
    /// Real-time: hot, wakes.
    pub fn wake(self, worker: usize) -> u32 {
        // pairs with the load in `take_current`: what the caller has put where workers look goes along.
        self.notice.recalls.fetch_add(1, Ordering::AcqRel);
        // Whoever sees the new count sees the recall.
        self.board.cycles.fetch_add(1);
        self.board.cycles.wake_masked(WakeMask::bit(worker))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.board.let_go(self.worker);
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
