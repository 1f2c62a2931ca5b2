//! [`JobBoard`]: passes a cycle's job to the workers without a lock, and frees jobs that no worker uses.
//!
//! A job is registered in a *slot* of its own. `current` points to the slot of the cycle. Each worker has a *hazard
//! pointer* (Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects", 2004): the slot that it works
//! on.
//!
//! ```text
//!   JobHandle ──owns──> JobSlot <── current           one for all
//!   JobHandle ──owns──> JobSlot <── hazards[1]        worker 1 still works on the job before
//!                               <── hazards[2]
//! ```
//!
//! # Who does what with a slot
//!
//! | who | what | so that |
//! |---|---|---|
//! | the callback thread, [`JobHandle::start`] | writes the cycle into the slot, points `current` to it, changes the words that workers sleep on, wakes the first of them | few stores and at most one system call start a cycle |
//! | a worker that comes | wakes the next ones that no thread has woken yet ([`WorkerWaker::wake_next`]) | the callback wakes 4 of 127 workers, and no worker must wait for a certain other one |
//! | worker, [`JobReceiver::next`] | stores `current` as its hazard, *full fence*, checks that `current` is still the same; then reads the slot and works | a slot that became a hazard while it was current is not freed |
//! | worker, when the work is done | clears its hazard | it does not touch the slot any more |
//! | a worker in the job, [`WorkerWaker::wake`] | counts a request in the slot, changes the word, wakes one worker | a worker that has left the cycle runs the job once more |
//! | a control thread, [`JobHandle::retire`] | removes the slot from `current`, *full fence*, reads every hazard pointer; frees the slot if none points to it | a slot is freed only if no worker has it or can get it |
//!
//! By the two fences at least one of them sees what the other did: the worker finds `current` changed and clears its
//! hazard, or the control thread finds the slot among the hazards and leaves it for later. A [`JobHandle`] is owned, so
//! no thread starts a job that is being retired. A worker that wakes late gets a slot whose cycle may be over, but
//! whose job is alive. Such a job gives it nothing to do: all that can be taken in a cycle carries its epoch
//! (`rt::claim`).
//!
//! # Waking
//!
//! Workers sleep on a word that 32 of them share, each with a bit of its own. A start changes every word. So a worker
//! that is about to sleep does not. One that sleeps is woken by the thread that moves `next_to_wake` of the slot past it: the
//! callback thread by the start, and then each thread that takes part, [`FAN_OUT`] workers at a time. 127 workers are
//! awake after four rounds; a wake costs its thread a microsecond or two for each sleeper.
//!
//! Any number of jobs can be registered. A start writes five words, and one for each 32 workers.

use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rt::pad::CachePadded;
use rt::stamp;
use rt::wake::{Futex, WakeMask};

use super::options::WaitPolicy;
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// Number of workers that one thread wakes at a time.
const FAN_OUT: usize = 4;
/// Number of workers that sleep on one word: each has a bit of a [`WakeMask`].
const WORKERS_PER_WORD: usize = 32;

/// Work that a pool does in a cycle.
pub trait Job: Send + Sync + 'static {
    /// Does the part of `worker` in the cycle `epoch`.
    ///
    /// Each worker except 0 (the thread that started the cycle) calls it at most once per start, and once more if
    /// `waker` was used to wake it. A call may come late, when that cycle is over: the job must check that.
    ///
    /// Real-time: hot.
    fn work(&self, worker: usize, epoch: u32, waker: WorkerWaker<'_>);
}

/// A registered job.
struct JobSlot {
    job: Arc<dyn Job>,
    /// The job is for workers below this number.
    workers: usize,
    /// The pool's count of the cycle in the upper half; in the lower the first worker that no thread has woken for it.
    next_to_wake: CachePadded<AtomicU64>,
    /// The pool's count of the cycle in the upper half, the job's epoch in the lower.
    cycle: AtomicU64,
    /// Number of calls of [`WorkerWaker::wake`], in all cycles.
    wake_requests: AtomicU32,
}

/// The jobs of one pool, as its threads see them.
pub(super) struct JobBoard {
    /// Count cycles and wake requests. Workers sleep on them: worker w on the one at w / [`WORKERS_PER_WORD`].
    cycles: Box<[Futex]>,
    /// The count before the first cycle.
    first_cycle: u32,
    current: CachePadded<AtomicPtr<JobSlot>>,
    /// By worker: the slot that it works on, or null.
    hazards: Box<[CachePadded<AtomicPtr<JobSlot>>]>,
    is_stopping: AtomicBool,
    /// Slots that were retired while a hazard pointer pointed to them. Touched by control threads only.
    retired: Mutex<Vec<RetiredSlot>>,
}

/// A slot that is freed when no hazard pointer points to it any more.
struct RetiredSlot(*mut JobSlot);

// SAFETY: a slot is `Send` (its job is `Send + Sync`, the rest are numbers), and this is its only owner.
unsafe impl Send for RetiredSlot {}

/// A job that is registered with a pool. Retire or drop it on a thread that may free memory. If a worker is stuck in
/// the job, its memory stays until a later registration, retirement or [`WorkerPool::free_unused`](crate::WorkerPool::free_unused) finds the worker gone, or the pool ends.
#[must_use = "a job whose handle is dropped is retired"]
pub struct JobHandle {
    board: Arc<JobBoard>,
    /// Owned by this handle; null after `retire` has taken it.
    slot: *mut JobSlot,
}

// SAFETY: the slot is `Send` and `Sync`, and the table says when it is freed.
unsafe impl Send for JobHandle {}
// SAFETY: by a shared reference the slot is only read and started, and a start writes atomics.
unsafe impl Sync for JobHandle {}

/// A worker's end of the board.
pub(super) struct JobReceiver<'a> {
    board: &'a JobBoard,
    worker: usize,
    /// Count of the last cycle that it took.
    last_cycle: u32,
    /// Wake requests at that time.
    last_requests: u32,
}

/// Result of [`JobReceiver::next`].
pub(super) enum NextAction<'a> {
    /// End: the pool stops.
    Stop,
    /// Wait until the count of cycles differs from this one.
    Wait(u32),
    Work(JobGuard<'a>),
}

/// A slot to which the hazard pointer of a worker points. Dropping it clears the pointer.
pub(super) struct JobGuard<'a> {
    board: &'a JobBoard,
    worker: usize,
    slot: &'a JobSlot,
    /// The pool's count of the cycle, and the job's epoch.
    cycle: (u32, u32),
}

/// Wakes workers that have left a job's current cycle.
#[derive(Clone, Copy)]
pub struct WorkerWaker<'a> {
    board: &'a JobBoard,
    slot: &'a JobSlot,
    /// The pool's count of the cycle.
    count: u32,
    /// Number of workers that were woken when this one came.
    woken: u32,
}

impl JobBoard {
    pub(super) fn new(workers: usize) -> Self {
        Self::at_cycle(workers, 0)
    }

    /// A board whose first cycle is the one after `count`.
    fn at_cycle(workers: usize, count: u32) -> Self {
        let words = workers.div_ceil(WORKERS_PER_WORD).max(1);
        let null = |_| CachePadded(AtomicPtr::new(ptr::null_mut()));
        Self {
            cycles: (0..words).map(|_| Futex::new(count)).collect(),
            first_cycle: count,
            current: CachePadded(AtomicPtr::new(ptr::null_mut())),
            hazards: (0..workers).map(null).collect(),
            is_stopping: AtomicBool::new(false),
            retired: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn register(board: &Arc<Self>, job: Arc<dyn Job>, workers: usize) -> JobHandle {
        board.free_unprotected();
        let workers = workers.min(board.hazards.len());
        let slot = JobSlot {
            job,
            workers,
            next_to_wake: CachePadded(AtomicU64::new(0)),
            cycle: AtomicU64::new(0),
            wake_requests: AtomicU32::new(0),
        };
        JobHandle {
            board: board.clone(),
            slot: Box::into_raw(Box::new(slot)),
        }
    }

    pub(super) fn receiver(&self, worker: usize) -> JobReceiver<'_> {
        JobReceiver {
            board: self,
            worker,
            last_cycle: self.first_cycle,
            last_requests: 0,
        }
    }

    /// Waits until the count of cycles is not `cycle`. A worker that may sleep spins for `spin_ticks` first.
    pub(super) fn wait(&self, worker: usize, cycle: u32, (policy, spin_ticks): (WaitPolicy, u64)) {
        let begin = if spin_ticks > 0 { stamp::now() } else { 0 };
        let word = self.word(worker);
        while word.load() == cycle {
            // A time-stamp counter that runs backwards, where a machine sleeps in between, ends the spinning.
            let spins = spin_ticks > 0 && stamp::now().wrapping_sub(begin) < spin_ticks;
            match policy {
                WaitPolicy::Hybrid | WaitPolicy::Sleep if !spins => {
                    word.wait_masked(cycle, WakeMask::bit(worker));
                }
                _ => std::hint::spin_loop(),
            }
        }
    }

    pub(super) fn stop(&self) {
        // Relaxed: seen with the count below.
        self.is_stopping.store(true, Ordering::Relaxed);
        for word in &self.cycles {
            word.fetch_add(1);
            word.wake(u32::MAX);
        }
    }

    /// The word that `worker` sleeps on.
    fn word(&self, worker: usize) -> &Futex {
        &self.cycles[worker / WORKERS_PER_WORD]
    }

    fn start(&self, slot: *mut JobSlot, epoch: u32) -> u32 {
        // SAFETY: called by its `JobHandle`, which keeps it alive.
        let to_start = unsafe { &*slot };
        let count = self.cycles[0].load().wrapping_add(1);
        let first = 1..to_start.workers.min(1 + FAN_OUT);
        // Relaxed: published by the cycle. A worker that is still in an older one finds that the count is another.
        to_start
            .next_to_wake
            .store(pack(count, first.end as u32), Ordering::Relaxed);
        // pairs with the load in `next_job`: what the caller prepared for this epoch travels.
        to_start.cycle.store(pack(count, epoch), Ordering::Release);
        // pairs with the loads in `protect_current`: the content of the slot travels.
        self.current.store(slot, Ordering::Release);
        // A worker that sees a new count sees the stores above. It is added, not set: after a `stop` in between, a
        // worker that sees it sees that too.
        for word in &self.cycles {
            word.fetch_add(1);
        }
        self.wake(first)
    }

    /// Wakes these workers, with one call for each word. Returns the number of workers that slept.
    fn wake(&self, workers: Range<usize>) -> u32 {
        let words = workers.start / WORKERS_PER_WORD..workers.end.div_ceil(WORKERS_PER_WORD);
        let wake = |word: usize| {
            let first = word * WORKERS_PER_WORD;
            let of_word = workers.start.max(first)..workers.end.min(first + WORKERS_PER_WORD);
            let mask = of_word.map(WakeMask::bit).reduce(WakeMask::union);
            mask.map_or(0, |mask| self.cycles[word].wake_masked(mask))
        };
        words.map(wake).sum()
    }

    /// Points the worker's hazard pointer to the current slot, if there is one.
    fn protect_current(&self, worker: usize) -> Option<&JobSlot> {
        // pairs with the store in `start`.
        let mut slot = self.current.load(Ordering::Acquire);
        loop {
            // Release pairs with the load in `is_protected`, if this store clears another slot; the fence orders it
            // before the next load.
            self.hazards[worker].store(slot, Ordering::Release);
            // pairs with the fence in `is_protected`, as the table says.
            fence(Ordering::SeqCst);
            // pairs with the store in `start`.
            let now = self.current.load(Ordering::Acquire);
            if now == slot {
                // SAFETY: it was current while it was our hazard, so the thread that retires it finds it there.
                // `register` made it, and only its atomics are written.
                return unsafe { slot.as_ref() };
            }
            slot = now;
        }
    }

    fn clear_hazard(&self, worker: usize) {
        // pairs with the load in `is_protected`: our use of the slot is over.
        self.hazards[worker].store(ptr::null_mut(), Ordering::Release);
    }

    /// Removes `slot` from `current`: no thread takes it from now on. Returns true if a worker still has it.
    fn withdraw(&self, slot: *mut JobSlot) -> bool {
        // Relaxed: the fence in `is_protected` orders it. If another slot is current, this one cannot become so again.
        let _ = self.current.compare_exchange(
            slot,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        self.is_protected(slot)
    }

    /// Returns true if the hazard pointer of a worker points to `slot`.
    fn is_protected(&self, slot: *mut JobSlot) -> bool {
        // pairs with the fence in `protect_current`, as the table says.
        fence(Ordering::SeqCst);
        // Acquire pairs with the store in `clear_hazard`: the worker's use of the slot is over.
        let protects = |hazard: &CachePadded<AtomicPtr<_>>| hazard.load(Ordering::Acquire) == slot;
        self.hazards.iter().any(protects)
    }

    /// Frees retired slots to which no hazard pointer points any more.
    pub(super) fn free_unprotected(&self) {
        let is_free = |slot: &mut RetiredSlot| !self.is_protected(slot.0);
        let free: Vec<_> = self.lock_retired().extract_if(.., is_free).collect();
        for RetiredSlot(slot) in free {
            // SAFETY: it was withdrawn before it was retired, it is no hazard, and it is off the list.
            drop(unsafe { Box::from_raw(slot) });
        }
    }

    /// The list is whole even if the lock is poisoned: slots are freed when they are off it.
    fn lock_retired(&self) -> MutexGuard<'_, Vec<RetiredSlot>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for JobBoard {
    fn drop(&mut self) {
        for RetiredSlot(slot) in self.lock_retired().drain(..) {
            // SAFETY: every worker has a share in the board, so none is left that could use the slot.
            drop(unsafe { Box::from_raw(slot) });
        }
    }
}

impl JobHandle {
    /// Starts the job's cycle `epoch`: every worker below the number that it was registered for calls [`Job::work`]
    /// once. Returns the number of workers that had to be woken. Only the thread that is worker 0 may call it, one
    /// cycle after the other, for all jobs of a pool.
    ///
    /// Real-time: hot, wakes.
    pub fn start(&self, epoch: u32) -> u32 {
        self.board.start(self.slot, epoch)
    }

    /// Wakes workers, for the thread that starts cycles.
    ///
    /// Real-time: hot.
    pub fn waker(&self) -> WorkerWaker<'_> {
        // SAFETY: it is ours to free, and we have not.
        let slot = unsafe { &*self.slot };
        WorkerWaker {
            board: &self.board,
            slot,
            // Relaxed: the thread that starts cycles wrote it.
            count: (slot.cycle.load(Ordering::Relaxed) >> 32) as u32,
            woken: 0,
        }
    }

    /// Takes the job back, after it was started for the last time.
    ///
    /// # Errors
    ///
    /// Gives the handle back while a worker still works on the job: try again later, or drop it.
    ///
    /// Real-time: setup.
    pub fn retire(mut self) -> Result<Arc<dyn Job>, Self> {
        if self.board.withdraw(self.slot) {
            return Err(self);
        }
        let slot = std::mem::replace(&mut self.slot, ptr::null_mut());
        // SAFETY: it is withdrawn and no hazard, and `replace` made us forget it.
        let slot = unsafe { Box::from_raw(slot) };
        self.board.free_unprotected();
        Ok(slot.job)
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        if self.slot.is_null() {
            return;
        }
        // No thread takes it from here on. It is freed now, or when it is no hazard any more.
        self.board.withdraw(self.slot);
        self.board.lock_retired().push(RetiredSlot(self.slot));
        self.board.free_unprotected();
    }
}

impl<'a> JobReceiver<'a> {
    /// Next action of the worker.
    pub(super) fn next(&mut self) -> NextAction<'a> {
        // First the count, then the slot: a start after this load changes the count and ends the wait.
        let seen = self.board.word(self.worker).load();
        // Relaxed: stored before the count was changed.
        if self.board.is_stopping.load(Ordering::Relaxed) {
            return NextAction::Stop;
        }
        match self.next_job() {
            Some(job) => NextAction::Work(job),
            None => {
                self.board.clear_hazard(self.worker);
                NextAction::Wait(seen)
            }
        }
    }

    fn next_job(&mut self) -> Option<JobGuard<'a>> {
        let slot = self.board.protect_current(self.worker)?;
        // pairs with the store in `start`. It may belong to a cycle whose count we have not seen yet: then we come
        // early, and not once more when we see it.
        let cycle = slot.cycle.load(Ordering::Acquire);
        let (count, epoch) = ((cycle >> 32) as u32, cycle as u32);
        // pairs with the addition in `WorkerWaker::wake`. Several requests may cause one call, and one that was meant
        // for another worker causes a call too many: the job has nothing to do then.
        let requests = slot.wake_requests.load(Ordering::Acquire);
        let is_called = count != self.last_cycle || requests != self.last_requests;
        if !is_called || self.worker >= slot.workers {
            return None;
        }
        self.last_cycle = count;
        self.last_requests = requests;
        Some(JobGuard {
            board: self.board,
            worker: self.worker,
            slot,
            cycle: (count, epoch),
        })
    }
}

impl JobGuard<'_> {
    /// Wakes the next workers, and calls the job.
    ///
    /// Real-time: hot, wakes.
    pub(super) fn work(self) {
        let (count, epoch) = self.cycle;
        let mut waker = WorkerWaker {
            board: self.board,
            slot: self.slot,
            count,
            woken: 0,
        };
        waker.woken = waker.wake_next();
        self.slot.job.work(self.worker, epoch, waker);
    }
}

impl Drop for JobGuard<'_> {
    fn drop(&mut self) {
        self.board.clear_hazard(self.worker);
    }
}

impl WorkerWaker<'_> {
    /// Requests one more call of [`Job::work`] for `worker`, in the cycle that was started last. Returns the number of
    /// workers that had to be woken. Other workers may be called too.
    ///
    /// Real-time: hot, wakes.
    pub fn wake(self, worker: usize) -> u32 {
        // pairs with the load in `next_job`: what the caller has put where workers look travels.
        self.slot.wake_requests.fetch_add(1, Ordering::AcqRel);
        // A worker that sees the new count sees the request.
        self.board.word(worker).fetch_add(1);
        self.board.wake(worker..worker + 1)
    }

    /// Wakes the next workers that no thread has woken for this cycle. Returns the number of workers that slept.
    ///
    /// A worker calls it when it comes, and each worker that finds no task calls it again: the first ones that were
    /// woken may not come for a while.
    ///
    /// Real-time: hot, wakes.
    pub fn wake_next(self) -> u32 {
        let next = self.slot.claim_next_to_wake(self.count);
        if next.is_empty() {
            return 0;
        }
        self.board.wake(next)
    }

    /// Number of workers that slept and were woken when this worker came.
    ///
    /// Real-time: hot.
    pub fn woken(self) -> u32 {
        self.woken
    }
}

impl JobSlot {
    /// The next workers to be woken for the cycle `count`, which nobody else wakes. Empty if all have been, or if
    /// another cycle has begun.
    fn claim_next_to_wake(&self, count: u32) -> Range<usize> {
        // Relaxed, here and below: nothing travels. The words that the workers sleep on have changed before the caller
        // came, and `Futex` orders its look at them.
        let mut seen = self.next_to_wake.load(Ordering::Relaxed);
        loop {
            let next = seen as u32 as usize;
            if (seen >> 32) as u32 != count || next >= self.workers {
                return 0..0;
            }
            let end = self.workers.min(next + FAN_OUT);
            match self.next_to_wake.compare_exchange_weak(
                seen,
                pack(count, end as u32),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return next..end,
                Err(now) => seen = now,
            }
        }
    }
}

/// The word of a cycle: the pool's count of it, and a number.
const fn pack(count: u32, low: u32) -> u64 {
    (count as u64) << 32 | low as u64
}

#[cfg(all(test, loom))]
mod loom_tests;

#[cfg(all(test, not(loom)))]
mod tests;
