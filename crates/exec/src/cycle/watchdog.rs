//! [`Watchdog`]: finds steps that do not return, from a control thread.
//!
//! Audio threads only publish the step that they run, by one store. A control thread reads it every few milliseconds. A
//! step is accused by what it has used itself, not by the clock on the wall: a worker that has lost its core (to another
//! program, a signal, a pause of the machine) holds the cycle up too, but its node is innocent.
//!
//! | between two looks, the worker's thread | the step is charged |
//! |---|---|
//! | ran | its processor time |
//! | was blocked in the kernel (it sleeps, reads, waits for a page) | the time between the looks |
//! | was ready without a core, or stopped | nothing |
//! | waited for branches of its fork | nothing: the helper is charged |
//! | is in a cycle without a limit (offline, or a server that freewheels) | nothing: steps may wait for a disk there |
//! | cannot be asked, on other systems | the time between the looks |
//!
//! One pair of looks is charged a quarter of the limit at most: a machine that stands still for a while counts its pause
//! as a thread's time, or not, as it likes. A step that exceeds the limit is marked as overdue. The host quarantines
//! overdue steps when the cycle that they held up is over.

use super::context::CycleContext;
use super::slot::{NONE, WorkerSlot, WorkerSlots};
use graph::NodeId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use workers::{ThreadId, ThreadUsage};

/// Observer of the workers of one executor; see the module.
pub struct Watchdog {
    slots: WorkerSlots,
    /// By step: the node that is named if the step is stuck.
    nodes: Arc<[Option<NodeId>]>,
    observed: Vec<Option<Observed>>,
}

/// A step that was seen running.
#[derive(Clone, Copy)]
struct Observed {
    step: u32,
    cycle: u32,
    last_look: Instant,
    last_usage: Option<ThreadUsage>,
    charged: Duration,
    is_overdue: bool,
}

/// A step that has not returned within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckStep {
    /// Worker that runs it; 0 is the callback thread.
    pub worker: usize,
    /// Node of the step. `None` for a loop, and for a step that only transports a node's input or output.
    pub node: Option<NodeId>,
}

impl Watchdog {
    pub(crate) fn new(context: &CycleContext) -> Self {
        let steps = context.plan.steps.iter();
        // A step that only transports samples has lost its core for a while. No node is to blame for that.
        let nodes = steps.map(|s| s.cold.node.filter(|_| s.operation.is_node_work()));
        Self {
            observed: vec![None; context.slots.len()],
            slots: context.slots.clone(),
            nodes: nodes.collect(),
        }
    }

    /// Thread of the host; `None` before its first cycle.
    ///
    /// Real-time: setup.
    pub fn host_thread(&self) -> Option<ThreadId> {
        self.slots.first().and_then(|slot| thread_of(slot))
    }

    /// Marks steps that have used more than `limit` as overdue. Returns those that were not marked before. Call it
    /// several times within `limit`.
    ///
    /// Real-time: setup.
    pub fn find_stuck(&mut self, limit: Duration) -> Vec<StuckStep> {
        self.find_stuck_at(Instant::now(), limit, ThreadId::usage)
    }

    fn find_stuck_at(
        &mut self,
        now: Instant,
        limit: Duration,
        usage: impl Fn(ThreadId) -> Option<ThreadUsage>,
    ) -> Vec<StuckStep> {
        let mut stuck = Vec::new();
        for (worker, (slot, observed)) in self.slots.iter().zip(&mut self.observed).enumerate() {
            let Some(seen) = look(slot, now, &usage) else {
                *observed = None;
                continue;
            };
            let known = observed.get_or_insert(seen);
            if (known.step, known.cycle) != (seen.step, seen.cycle) {
                *known = seen;
            }
            known.charge(&seen, limit / 4);
            if known.is_overdue || known.charged <= limit || !slot.mark_overdue(known.step) {
                continue;
            }
            known.is_overdue = true;
            let node = self.nodes[known.step as usize];
            stuck.push(StuckStep { worker, node });
        }
        stuck
    }
}

impl Observed {
    /// Charges the time since the last look, at most `max`.
    fn charge(&mut self, seen: &Self, max: Duration) {
        let passed = seen.last_look.saturating_duration_since(self.last_look);
        let used = match (self.last_usage, seen.last_usage) {
            (Some(_), Some(now)) if now.is_blocked => passed,
            (Some(before), Some(now)) => {
                let used = now.processor_time.0.saturating_sub(before.processor_time.0);
                Duration::from_nanos(used)
            }
            _ => passed,
        };
        self.charged += used.min(max);
        self.last_look = seen.last_look;
        self.last_usage = seen.last_usage;
    }
}

/// The step in which a worker is; `None` if it is in none, waits for branches of its fork, or may take its time.
fn look(
    slot: &WorkerSlot,
    now: Instant,
    usage: impl Fn(ThreadId) -> Option<ThreadUsage>,
) -> Option<Observed> {
    // Relaxed, both: only the numbers matter. If they belong to two cycles, the time begins anew.
    let step = slot.current.load(Ordering::Relaxed);
    let cycle = slot.cycle.load(Ordering::Relaxed);
    // Relaxed: as above.
    let has_limit = slot.has_limit.load(Ordering::Relaxed);
    if step == NONE || !has_limit || slot.is_joining() {
        return None;
    }
    Some(Observed {
        step,
        cycle,
        last_look: now,
        last_usage: thread_of(slot).and_then(usage),
        charged: Duration::ZERO,
        is_overdue: false,
    })
}

fn thread_of(slot: &WorkerSlot) -> Option<ThreadId> {
    // Relaxed: only the number matters.
    ThreadId::from_number(slot.thread.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::super::slot::worker_slots;
    use super::*;
    use units::Nanos;

    const LIMIT: Duration = Duration::from_millis(20);
    const LOOK: Duration = Duration::from_millis(2);

    /// A worker that is in step 0 for as long as the test takes.
    struct Watched {
        watchdog: Watchdog,
        now: Instant,
        processor_time: Duration,
    }

    impl Watched {
        fn new() -> Self {
            let slots = worker_slots(1);
            slots[0].current.store(0, Ordering::Relaxed);
            slots[0].thread.store(7, Ordering::Relaxed);
            slots[0].has_limit.store(true, Ordering::Relaxed);
            Self {
                watchdog: Watchdog {
                    slots,
                    nodes: vec![Some(NodeId(3))].into(),
                    observed: vec![None],
                },
                now: Instant::now(),
                processor_time: Duration::ZERO,
            }
        }

        /// Looks after `passed`, of which the thread had a core for `used`. Returns true if the step is accused.
        fn look(&mut self, passed: Duration, used: Duration, is_blocked: bool) -> bool {
            self.now += passed;
            self.processor_time += used;
            let usage = ThreadUsage {
                processor_time: Nanos(self.processor_time.as_nanos() as u64),
                is_blocked,
            };
            let stuck = self
                .watchdog
                .find_stuck_at(self.now, LIMIT, |_| Some(usage));
            !stuck.is_empty()
        }
    }

    #[test]
    fn a_worker_that_has_no_core_accuses_no_node() {
        let mut watched = Watched::new();
        for _ in 0..1000 {
            assert!(!watched.look(LOOK, Duration::ZERO, false));
        }
        // Nor does a pause of the machine, however it is counted.
        let pause = Duration::from_secs(10);
        assert!(!watched.look(pause, pause, false));
        assert!(!watched.look(pause, Duration::ZERO, true));
    }

    #[test]
    fn a_step_that_computes_without_end_is_accused_once_by_its_own_time() {
        let mut watched = Watched::new();
        // It has its core half of the time.
        let looks = (0..100).position(|_| watched.look(LOOK, LOOK / 2, false));
        assert_eq!(looks, Some(21));
        assert!((0..100).all(|_| !watched.look(LOOK, LOOK, false)));
        assert!(watched.watchdog.slots[0].is_overdue(0));
    }

    #[test]
    fn a_step_that_sleeps_is_accused_by_the_time_it_sleeps() {
        let mut watched = Watched::new();
        let looks = (0..100).position(|_| watched.look(LOOK, Duration::ZERO, true));
        assert_eq!(looks, Some(11));
    }

    #[test]
    fn an_owner_that_waits_for_a_helper_is_not_accused() {
        let mut watched = Watched::new();
        watched.watchdog.slots[0].set_joining(true);
        assert!((0..100).all(|_| !watched.look(LOOK, LOOK, false)));
    }

    #[test]
    fn a_step_of_a_cycle_without_a_limit_may_wait_as_long_as_it_likes() {
        let mut watched = Watched::new();
        watched.watchdog.slots[0]
            .has_limit
            .store(false, Ordering::Relaxed);
        assert!((0..100).all(|_| !watched.look(LOOK, LOOK, true)));
    }

    #[test]
    fn each_cycle_begins_a_new_count() {
        let mut watched = Watched::new();
        for cycle in 0..100 {
            watched.watchdog.slots[0]
                .cycle
                .store(cycle, Ordering::Relaxed);
            assert!((0..5).all(|_| !watched.look(LOOK, LOOK, false)));
        }
    }

    #[test]
    fn on_a_system_that_tells_nothing_the_time_that_passes_counts() {
        let mut watched = Watched::new();
        watched.watchdog.slots[0].thread.store(0, Ordering::Relaxed);
        let looks = (0..100).position(|_| watched.look(LOOK, Duration::ZERO, false));
        assert_eq!(looks, Some(11));
    }
}
