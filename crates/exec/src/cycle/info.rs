//! [`CycleInfo`], the input of a cycle, and [`CycleResult`], its result.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::Frames;

/// Description of one cycle, from the driver's callback down to every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleInfo {
    /// Absolute frame at which this cycle's block begins.
    pub position: u64,
    /// Number of the cycle; counts up by one.
    pub cycle: u64,
    /// First frame that this executor processes. Earlier blocks are skipped. It matters for a pipelined plan, whose
    /// later stages have no block in the first cycles.
    pub first_frame: u64,
    /// Frame after the last one that is processed; `u64::MAX` if there is no end. With `end_frame` equal to
    /// [`position`](Self::position) a pipeline is drained: blocks in flight come out and no new one goes in.
    pub end_frame: u64,
    /// Stamp (`rt::stamp`) at which the cycle is abandoned; `u64::MAX` for never.
    pub abandon_at: u64,
    /// Stamp until which steps help or wait for late results; `u64::MAX` where nobody waits for the cycle.
    pub help_until: u64,
    /// Stamp until which a host without other workers does deferred work that is not due yet; `u64::MAX` for none: its
    /// next cycle begins at once.
    pub spare_until: u64,
    /// First deadline, an absolute frame, that threads of low priority may serve. Such a thread may lose its core
    /// within a piece of a job, and then no other thread can finish that job in time. Never earlier than two blocks ahead.
    pub low_priority_from: u64,
}

impl CycleInfo {
    /// Cycle `cycle`, whose block begins at `position`, without limits: every block is processed, and the cycle is
    /// never abandoned.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn unlimited(position: u64, cycle: u64) -> Self {
        Self {
            position,
            cycle,
            first_frame: 0,
            end_frame: u64::MAX,
            abandon_at: u64::MAX,
            help_until: u64::MAX,
            spare_until: u64::MAX,
            low_priority_from: 0,
        }
    }

    /// Returns true if a stage that is `lag` blocks behind has a block to process in this cycle.
    #[inline]
    pub(crate) fn has_block(&self, lag: u32, block: Frames) -> bool {
        let lag = u64::from(lag) * u64::from(block.0);
        let position = self.position.checked_sub(lag);
        position.is_some_and(|p| self.first_frame <= p && p < self.end_frame)
    }

    /// Returns true if some stages of a pipeline of `latency` blocks have no block to process in this cycle: it fills
    /// or drains.
    #[inline]
    pub(crate) fn is_partial(&self, latency: u32, block: Frames) -> bool {
        let lag = u64::from(latency) * u64::from(block.0);
        let is_filling = self.position < self.first_frame.saturating_add(lag);
        latency > 0 && (is_filling || self.end_frame <= self.position)
    }
}

/// Outcome of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleStatus {
    /// Every step ran.
    Complete,
    /// A step did not return in time. Either this cycle was abandoned, or an earlier one was and its step is still
    /// running.
    Abandoned,
    /// Another executor still owns the runtime. Nothing ran.
    Refused,
}

/// Result of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleResult {
    /// Outcome.
    pub status: CycleStatus,
    /// Number of workers that a wake call was made for.
    pub wakes: u32,
    /// Accesses to queues that several workers take from: every take, and every put into a queue that all share. For
    /// `mutex`, acquisitions of the lock.
    pub acquisitions: u32,
    /// Errors of all kinds since the executor was made: the sum of its
    /// [`error_counts`](crate::Executor::error_counts).
    pub errors: u64,
}

impl CycleResult {
    /// Result without wakes and queue accesses, after as many errors.
    #[inline]
    pub(crate) fn new(status: CycleStatus, errors: u64) -> Self {
        Self {
            status,
            wakes: 0,
            acquisitions: 0,
            errors,
        }
    }
}

/// The current [`CycleInfo`] as atomic words, with the trace switch.
///
/// A worker that is still in an older cycle may read them while the host changes them. Then it reads a mixture of two
/// cycles. That does no harm: it gets no task any more.
#[derive(Default)]
pub(crate) struct SharedCycleInfo {
    words: [AtomicU64; 8],
    is_traced: AtomicBool,
}

impl SharedCycleInfo {
    /// Replaces the info. For the host, before it starts the cycle.
    pub(crate) fn set(&self, info: &CycleInfo, is_traced: bool) {
        let words = [
            info.position,
            info.cycle,
            info.first_frame,
            info.end_frame,
            info.abandon_at,
            info.help_until,
            info.spare_until,
            info.low_priority_from,
        ];
        // Relaxed, all: the pool's start publishes them (Release of the cycle's count, Acquire where a worker takes
        // it).
        for (cell, word) in self.words.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        self.is_traced.store(is_traced, Ordering::Relaxed);
    }

    /// The info and the trace switch.
    pub(crate) fn get(&self) -> (CycleInfo, bool) {
        // Relaxed, all: ordered by the pool's start for a worker of this cycle; for others see the type.
        let word = |index: usize| self.words[index].load(Ordering::Relaxed);
        let info = CycleInfo {
            position: word(0),
            cycle: word(1),
            first_frame: word(2),
            end_frame: word(3),
            abandon_at: word(4),
            help_until: word(5),
            spare_until: word(6),
            low_priority_from: word(7),
        };
        (info, self.is_traced.load(Ordering::Relaxed))
    }
}
