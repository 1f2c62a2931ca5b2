//! [`SharedRuntime`]: state shared by all executors of one engine: which of them may run, and the trace.
//!
//! Executors of different plans share processors and delay lines. So only one of them at a time *owns* the runtime. An
//! executor acquires it with its first cycle and releases it when no worker is in one of its steps, except in steps
//! that are stuck and whose processors are quarantined.
//!
//! [`rt::owner`] has the protocol.

use crate::quarantine_log::QuarantineLog;
use plan::{TraceEvent, TraceRecord};
use rt::fence::AsymmetricFence;
use rt::owner::{Acquired, Owner};
use rt::pad::CachePadded;
use rt::trace::TraceWriter;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// State shared by all executors of one engine; see the module.
pub struct SharedRuntime {
    /// The executor that may run.
    owner: Owner,
    /// The executor that has owned it last.
    last_owner: AtomicU64,
    is_traced: AtomicBool,
    wakes_all: AtomicBool,
    backoff: AtomicU8,
    fence: AsymmetricFence,
    clock: fn() -> u64,
    /// Epoch before the first cycle of each executor.
    first_epoch: u32,
    pub(crate) quarantined: Arc<QuarantineLog>,
    /// One per worker, written by that worker alone, inside a cycle of the owner.
    trace: Box<[CachePadded<UnsafeCell<TraceWriter<TraceRecord>>>]>,
}

/// Behaviour of a worker inside a cycle while it finds no task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum BackoffPolicy {
    /// Spins and makes no system call. Right where every worker has a core of its own.
    #[default]
    Spin,
    /// Yields its core after a few tries. Needed where workers outnumber cores: the scheduler would otherwise leave a
    /// spinning worker on its core for milliseconds while the worker that all wait for has none.
    Yield,
    /// Spins for some 20 µs, then yields its core at each try. Right offline: another program may take the core of a worker for
    /// milliseconds, and where the system has put both workers on one core, the one that all wait for goes on at once.
    Patient,
    /// Sleeps for 20 µs after a few tries. Leaves the most time to other programs, and is the slowest.
    Sleep,
}

// SAFETY: a trace writer is reached only through `trace_at`, whose contract allows one thread per writer.
unsafe impl Sync for SharedRuntime {}
// SAFETY: it owns all its parts; only the cells of the trace writers are not `Send` by themselves.
unsafe impl Send for SharedRuntime {}

impl SharedRuntime {
    /// Runtime for as many workers as there are trace `writers`.
    ///
    /// Real-time: setup.
    pub fn new(writers: Vec<TraceWriter<TraceRecord>>) -> Self {
        let cell = |writer| CachePadded(UnsafeCell::new(writer));
        Self {
            owner: Owner::new(),
            last_owner: AtomicU64::new(0),
            is_traced: AtomicBool::new(false),
            wakes_all: AtomicBool::new(false),
            backoff: AtomicU8::new(BackoffPolicy::Spin as u8),
            fence: AsymmetricFence::within_process(),
            clock: rt::stamp::now,
            first_epoch: 0,
            quarantined: Arc::new(QuarantineLog::new()),
            trace: writers.into_iter().map(cell).collect(),
        }
    }

    /// Replaces the clock (`rt::stamp::now`) for tests with simulated time. It decides when a cycle is abandoned and
    /// for how long workers help with deferred work. It must be hot.
    ///
    /// Real-time: setup.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = clock;
        self
    }

    /// Makes executors number their cycles from `epoch` on (from 0 by default), for tests of what happens when the 32-bit
    /// numbers wrap around.
    ///
    /// Real-time: setup.
    #[must_use]
    pub fn with_first_epoch(mut self, epoch: u32) -> Self {
        self.first_epoch = epoch;
        self
    }

    pub(crate) fn first_epoch(&self) -> u32 {
        self.first_epoch
    }

    /// Current time of the clock, as a stamp.
    pub(crate) fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Maximum number of workers, the callback thread included.
    ///
    /// Real-time: hot.
    pub fn workers(&self) -> usize {
        self.trace.len()
    }

    /// Sets what workers do from now on while they find no task inside a cycle.
    ///
    /// Real-time: hot.
    pub fn set_backoff(&self, policy: BackoffPolicy) {
        // Relaxed: no other memory depends on it.
        self.backoff.store(policy as u8, Ordering::Relaxed);
    }

    pub(crate) fn backoff(&self) -> BackoffPolicy {
        // Relaxed: no other memory depends on it.
        match self.backoff.load(Ordering::Relaxed) {
            y if y == BackoffPolicy::Yield as u8 => BackoffPolicy::Yield,
            p if p == BackoffPolicy::Patient as u8 => BackoffPolicy::Patient,
            s if s == BackoffPolicy::Sleep as u8 => BackoffPolicy::Sleep,
            _ => BackoffPolicy::Spin,
        }
    }

    pub(crate) fn fence(&self) -> AsymmetricFence {
        self.fence
    }

    /// Makes executors that are created from now on wake every worker in every cycle, even if the plan cannot keep all
    /// of them busy. Off by default.
    ///
    /// Real-time: hot.
    pub fn set_wake_all(&self, on: bool) {
        // Relaxed: no other memory depends on it.
        self.wakes_all.store(on, Ordering::Relaxed);
    }

    pub(crate) fn wakes_all(&self) -> bool {
        // Relaxed: no other memory depends on it.
        self.wakes_all.load(Ordering::Relaxed)
    }

    /// Switches the trace on or off, from the next cycle on.
    ///
    /// Real-time: hot.
    pub fn set_traced(&self, on: bool) {
        // Relaxed: no other memory depends on it.
        self.is_traced.store(on, Ordering::Relaxed);
    }

    /// Returns true if cycles are traced.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn is_traced(&self) -> bool {
        // Relaxed: no other memory depends on it.
        self.is_traced.load(Ordering::Relaxed)
    }

    /// ID for a new executor. No two are equal.
    pub(crate) fn new_id(&self) -> u64 {
        self.owner.new_id()
    }

    /// Makes executor `id` the owner if the runtime is free.
    #[inline]
    pub(crate) fn try_acquire(&self, id: u64) -> Acquired {
        self.owner.try_acquire(id)
    }

    /// Notes executor `id`, which has just become the owner; returns the owner before it, 0 if there was none.
    pub(crate) fn succeed(&self, id: u64) -> u64 {
        // Relaxed: written by owners alone, one after the other.
        self.last_owner.swap(id, Ordering::Relaxed)
    }

    /// Returns true if executor `id` is the owner.
    #[inline]
    pub(crate) fn is_owner(&self, id: u64) -> bool {
        self.owner.is_owner(id)
    }

    /// Frees the runtime if executor `id` is the owner.
    pub(crate) fn release(&self, id: u64) {
        self.owner.release(id);
    }

    /// Writes one record to the trace: `event` happened at `stamp`.
    ///
    /// # Safety
    ///
    /// The caller is the thread of `worker`, in a cycle of the executor that owns the runtime.
    #[inline]
    pub(crate) unsafe fn trace_at(
        &self,
        stamp: u64,
        (worker, cycle): (usize, u64),
        event: TraceEvent,
        index: u32,
    ) {
        let record = TraceRecord {
            stamp,
            cycle: cycle as u32,
            index,
            worker: worker as u16,
            event,
        };
        // SAFETY: each worker has a writer of its own and is one thread, and one executor at a time has cycles.
        unsafe { (*self.trace[worker].get()).record(record) };
    }
}
