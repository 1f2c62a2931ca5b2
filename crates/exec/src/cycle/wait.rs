//! The wait loop of a worker inside a cycle: it looks for a task, helps others, backs off and watches the clock.

use super::slot::{NONE, WorkerSlot};
use super::worker::WorkerContext;
use crate::runtime::{BackoffPolicy, SharedRuntime};
use plan::TraceEvent;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Number of tries before a worker may yield its core.
const TRIES_BEFORE_YIELD: u32 = 4;
/// Number of tries before a patient worker yields its core. They last some 20 µs, longer than what it waits for takes on a core.
const TRIES_BEFORE_PATIENCE: u32 = 256;
/// Maximum number of spins between two tries.
const MAX_SPINS: u32 = 8;
/// Number of tries between two looks at the clock.
const TRIES_PER_CLOCK: u32 = 16;
/// Sleep between two tries, by [`BackoffPolicy::Sleep`].
const SLEEP: Duration = Duration::from_micros(20);

/// For [`WorkerContext::wait_for_task`]: never leaves the cycle before it is over.
pub(crate) fn never_leave(_: &mut WorkerContext<'_>, _: WaitCounts) -> bool {
    false
}

/// Length of a wait, in tries and helps.
#[derive(Clone, Copy, Default)]
pub(crate) struct WaitCounts {
    /// Number of tries that found nothing, neither a task nor a worker to help.
    pub(crate) tries: u32,
    /// Number of times it helped others.
    pub(crate) helps: u32,
}

impl WorkerContext<'_> {
    /// Waits until `find` gives a task, and helps others meanwhile. `None` if there is nothing left to do in this
    /// cycle, or as soon as `leave` returns true. `leave` is called after each try that found nothing.
    #[cold]
    pub(crate) fn wait_for_task(
        &mut self,
        find: impl Fn(&mut Self, WaitCounts) -> Option<u32>,
        leave: impl Fn(&mut Self, WaitCounts) -> bool,
    ) -> Option<u32> {
        self.publish_counts();
        self.slot.set_idle();
        self.trace(TraceEvent::Wait, 0);
        let mut waited = WaitCounts::default();
        while !self.is_over() {
            let found = find(self, waited);
            if found.is_some() {
                self.trace(TraceEvent::Resume, 0);
                return found;
            }
            if self.help_others() {
                waited.helps += 1;
                self.check_clock();
            } else if leave(self, waited) {
                return None;
            } else {
                waited.tries += 1;
                if back_off(&self.cycle.runtime, waited.tries) {
                    self.wake_next();
                    self.check_clock();
                }
            }
        }
        None
    }

    /// Returns true if this worker has nothing left to do in this cycle.
    pub(crate) fn is_over(&self) -> bool {
        self.has_timed_out || self.cycle.progress.is_over(self.epoch)
    }

    /// Ends the wait if the cycle takes too long: the host abandons it, and any other worker leaves. The host itself
    /// may be stuck, and no thread should spin as long as that. Reads the clock only if the cycle has a limit.
    pub(crate) fn check_clock(&mut self) {
        if !self.cycle.is_too_late(self.info.abandon_at) {
            return;
        }
        if self.index == 0 {
            self.cycle.progress.abandon(self.epoch);
            self.trace(TraceEvent::CycleAborted, 0);
        }
        self.has_timed_out = true;
    }

    /// Runs a lane of another worker's fork, or a piece of a deferred job. Returns false if there was neither.
    fn help_others(&mut self) -> bool {
        let begin = self.now_if_traced();
        let (event, index) = match self.help_forks() {
            Some(step) => (TraceEvent::ForkLane, step),
            None if self.plan.deferred.run_earliest() => (TraceEvent::DeferredPiece, 0),
            None => return false,
        };
        self.trace_at(begin, TraceEvent::Resume, 0);
        self.trace(event, index);
        self.trace(TraceEvent::Wait, 0);
        true
    }

    /// Runs a branch of another worker's fork, and returns the step that forked. Looks at the workers only if one of
    /// them forks: what all workers that wait look at again and again should be one line that seldom changes.
    fn help_forks(&mut self) -> Option<u32> {
        // Relaxed: a hint; the claim of a branch decides.
        if self.cycle.open_forks.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut slots = self.cycle.slots.iter().filter(|s| s.fork.has_branches());
        slots.find_map(|slot| self.help_fork(slot))
    }

    /// Runs a branch of the fork of `owner`, and returns the step that forked.
    ///
    /// The helper is in that step meanwhile, as others see it: if the cycle is abandoned, the host waits for it as for a
    /// worker that runs the step.
    fn help_fork(&self, owner: &WorkerSlot) -> Option<u32> {
        // Relaxed, both: only the number matters, and it need not be right before the branch is claimed.
        let step = owner.current.load(Ordering::Relaxed);
        if step == NONE {
            return None;
        }
        self.slot.current.store(step, Ordering::Relaxed);
        // pairs with the heavy fence in `AbandonedCycle::has_workers`, as in `run_step`: either we see that the cycle
        // was abandoned and claim nothing, or the host sees us.
        self.fence.light();
        let mut helped = None;
        if !self.is_abandoned() {
            helped = self.slot.run_branch_of(owner);
        }
        self.slot.set_idle();
        helped
    }

    /// Runs a piece of a deferred job, for a worker that has left the cycle. Returns false if there was none.
    pub(crate) fn run_deferred_piece(&mut self) -> bool {
        let begin = self.now_if_traced();
        let has_run = self.plan.deferred.run_earliest();
        if has_run {
            self.trace_at(begin, TraceEvent::Resume, 0);
            self.trace(TraceEvent::DeferredPiece, 0);
        }
        has_run
    }

    /// Runs deferred pieces in what is left of the period, for a host without other workers.
    pub(crate) fn use_remaining_time(&mut self) {
        let until = self.info.spare_until;
        while until != u64::MAX
            && self.plan.deferred.has_piece_due_from(0)
            && self.cycle.runtime.now() < until
        {
            self.run_deferred_piece();
        }
    }

    /// The current stamp, or 0 if the cycle is not traced.
    fn now_if_traced(&self) -> u64 {
        match self.is_traced {
            true => rt::stamp::now(),
            false => 0,
        }
    }
}

/// Waits a little after `tries` tries without success. Returns true if it is time to look at the clock.
pub(super) fn back_off(runtime: &SharedRuntime, tries: u32) -> bool {
    if tries > TRIES_BEFORE_YIELD && yield_or_sleep(runtime.backoff(), tries) {
        return true;
    }
    for _ in 0..tries.min(MAX_SPINS) {
        std::hint::spin_loop();
    }
    tries.is_multiple_of(TRIES_PER_CLOCK)
}

/// Makes the system call of the backoff policy, the only one inside a cycle. Returns false if the policy has none after `tries` tries.
fn yield_or_sleep(policy: BackoffPolicy, tries: u32) -> bool {
    match policy {
        BackoffPolicy::Spin => return false,
        BackoffPolicy::Patient if tries < TRIES_BEFORE_PATIENCE => return false,
        BackoffPolicy::Patient | BackoffPolicy::Yield => std::thread::yield_now(),
        BackoffPolicy::Sleep => std::thread::sleep(SLEEP),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{TRIES_BEFORE_PATIENCE, yield_or_sleep};
    use crate::runtime::BackoffPolicy;

    #[test]
    fn a_patient_worker_spins_first_and_then_yields_at_each_try() {
        let yields = |policy, tries| yield_or_sleep(policy, tries);
        for tries in [5, TRIES_BEFORE_PATIENCE - 1, TRIES_BEFORE_PATIENCE, 100_000] {
            let is_long = tries >= TRIES_BEFORE_PATIENCE;
            assert_eq!(yields(BackoffPolicy::Patient, tries), is_long, "{tries}");
            assert!(yields(BackoffPolicy::Yield, tries));
            assert!(!yields(BackoffPolicy::Spin, tries));
        }
    }
}
