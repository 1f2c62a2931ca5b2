//! What all executors of one engine share: the right to run, and the trace.
//!
//! Executors of different plans share processors and delay lines. So only one at a time has the *turn*: it takes it
//! with its first cycle and gives it back when it comes to rest, with nobody in a task but those that are stuck for good. The exchange of the turn carries
//! all that the last executor did to the next one.

use plan::{TraceEvent, TraceRecord};
use rt::fence::AsymmetricFence;
use rt::pad::CachePadded;
use rt::trace::TraceWriter;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// See the module.
pub struct SharedRuntime {
    /// Whose turn it is; 0 for nobody's.
    turn: AtomicU64,
    names: AtomicU64,
    traced: AtomicBool,
    wakes_all: AtomicBool,
    idle: AtomicU8,
    fence: AsymmetricFence,
    clock: fn() -> u64,
    /// One a worker: written by that worker alone, inside a cycle of the executor that has the turn.
    pens: Box<[CachePadded<UnsafeCell<TraceWriter<TraceRecord>>>]>,
}

/// What a worker does inside a cycle while it finds nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum BackoffPolicy {
    /// It looks again and again, and never enters the kernel: right where every worker has a core.
    #[default]
    Spin,
    /// After a few looks it offers its core to whoever else wants it: more workers than cores must do so, or the one
    /// that all wait for gets no core before the system takes it from one that waits, milliseconds later.
    Yield,
    /// After a few looks it sleeps a little: kind to other programs, and slow.
    Sleep,
}

/// What became of asking for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It was the asker's already.
    Ours,
    /// It is the asker's now.
    New,
    /// Somebody else has it.
    Refused,
}

// SAFETY: a pen is reached only through `write`, under its rule.
unsafe impl Sync for SharedRuntime {}
// SAFETY: as above.
unsafe impl Send for SharedRuntime {}

impl SharedRuntime {
    /// A floor for as many workers as there are `pens`.
    ///
    /// Real-time: setup.
    pub fn new(pens: Vec<TraceWriter<TraceRecord>>) -> Self {
        Self {
            turn: AtomicU64::new(0),
            names: AtomicU64::new(1),
            traced: AtomicBool::new(false),
            wakes_all: AtomicBool::new(false),
            idle: AtomicU8::new(BackoffPolicy::Spin as u8),
            fence: AsymmetricFence::within_process(),
            clock: rt::stamp::now,
            pens: pens
                .into_iter()
                .map(|p| CachePadded(UnsafeCell::new(p)))
                .collect(),
        }
    }

    /// With another clock than `rt::stamp`, for tests in which time is made: by it cycles are given up and deferred work is
    /// helped. It must be hot.
    ///
    /// Real-time: setup.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }

    /// What the clock says.
    pub(crate) fn now(&self) -> u64 {
        (self.clock)()
    }

    /// How many workers there are at most, the callback thread included.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> usize {
        self.pens.len()
    }

    /// What workers do from now on while they find nothing to do inside a cycle.
    ///
    /// Real-time: hot.
    pub fn set_backoff(&self, idle: BackoffPolicy) {
        // Relaxed: nothing travels with it.
        self.idle.store(idle as u8, Ordering::Relaxed);
    }

    pub(crate) fn idle(&self) -> BackoffPolicy {
        // Relaxed: as above.
        match self.idle.load(Ordering::Relaxed) {
            y if y == BackoffPolicy::Yield as u8 => BackoffPolicy::Yield,
            s if s == BackoffPolicy::Sleep as u8 => BackoffPolicy::Sleep,
            _ => BackoffPolicy::Spin,
        }
    }

    pub(crate) fn fence(&self) -> AsymmetricFence {
        self.fence
    }

    /// Whether all workers take part in every cycle of the executors that are made from now on, be it that there cannot be
    /// work for so many. Off by default.
    ///
    /// Real-time: hot.
    pub fn set_wake_all(&self, on: bool) {
        // Relaxed: nothing travels with it.
        self.wakes_all.store(on, Ordering::Relaxed);
    }

    pub(crate) fn wakes_all(&self) -> bool {
        // Relaxed: as above.
        self.wakes_all.load(Ordering::Relaxed)
    }

    /// Switches the trace on or off, from the next cycle on.
    ///
    /// Real-time: hot.
    pub fn set_traced(&self, on: bool) {
        // Relaxed: nothing travels with it.
        self.traced.store(on, Ordering::Relaxed);
    }

    /// Whether cycles are traced.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_traced(&self) -> bool {
        // Relaxed: as above.
        self.traced.load(Ordering::Relaxed)
    }

    /// A name for an executor.
    pub(crate) fn name(&self) -> u64 {
        // Relaxed: a number that is not given twice.
        self.names.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes the turn for `name`, if nobody else has it.
    #[inline]
    pub(crate) fn take_turn(&self, name: u64) -> Turn {
        // Relaxed: if it is ours, we took it ourselves.
        if self.turn.load(Ordering::Relaxed) == name {
            return Turn::Ours;
        }
        // Acquire pairs with `give_turn`: all that the last executor did is seen.
        let taken = self
            .turn
            .compare_exchange(0, name, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            Turn::New
        } else {
            Turn::Refused
        }
    }

    /// Whether it is `name`'s turn.
    pub(crate) fn has_turn(&self, name: u64) -> bool {
        // Relaxed: a number to look at.
        self.turn.load(Ordering::Relaxed) == name
    }

    /// Gives the turn back, if `name` has it.
    pub(crate) fn give_turn(&self, name: u64) {
        // Release pairs with `take_turn`.
        let _ = self
            .turn
            .compare_exchange(name, 0, Ordering::Release, Ordering::Relaxed);
    }

    /// Records one line.
    ///
    /// # Safety
    ///
    /// The caller is `worker` of a cycle that runs now, of the executor that has the turn.
    #[inline]
    pub(crate) unsafe fn write(&self, worker: usize, cycle: u64, mark: TraceEvent, index: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.write_of(rt::stamp::now(), worker, cycle, mark, index) };
    }

    /// As [`write`](Self::write), of something that was at `stamp`.
    ///
    /// # Safety
    ///
    /// As [`write`](Self::write).
    #[inline]
    pub(crate) unsafe fn write_of(
        &self,
        stamp: u64,
        worker: usize,
        cycle: u64,
        mark: TraceEvent,
        index: u32,
    ) {
        let record = TraceRecord {
            stamp,
            cycle: cycle as u32,
            index,
            worker: worker as u16,
            event: mark,
        };
        // SAFETY: each worker has its own pen, and is one thread, however often it comes to a cycle.
        unsafe { (*self.pens[worker].get()).record(record) };
    }
}
