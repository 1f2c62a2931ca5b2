//! [`Watchdog`]: finds steps that do not return, from a control thread.
//!
//! Audio threads only publish the step that they run, by one store. A control thread reads it every few milliseconds. A
//! step that it sees in the same cycle for longer than the limit is marked as overdue. The host quarantines overdue
//! steps when the cycle that they held up is over.

use super::context::CycleContext;
use super::slot::{NONE, WorkerSlot, WorkerSlots};
use graph::NodeId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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
    since: Instant,
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

    /// Marks steps that have run for longer than `limit` as overdue. Returns those that were not marked before.
    ///
    /// Real-time: setup.
    pub fn find_stuck(&mut self, limit: Duration) -> Vec<StuckStep> {
        let now = Instant::now();
        let mut stuck = Vec::new();
        for (worker, (slot, observed)) in self.slots.iter().zip(&mut self.observed).enumerate() {
            *observed = observe(slot, *observed, now);
            let Some(observed) = observed.as_mut().filter(|o| !o.is_overdue) else {
                continue;
            };
            if now - observed.since > limit {
                observed.is_overdue = true;
                slot.mark_overdue(observed.step);
                let node = self.nodes[observed.step as usize];
                stuck.push(StuckStep { worker, node });
            }
        }
        stuck
    }
}

fn observe(slot: &WorkerSlot, last: Option<Observed>, now: Instant) -> Option<Observed> {
    // Relaxed, both: only the numbers matter. If they belong to two cycles, the time begins anew.
    let step = slot.current.load(Ordering::Relaxed);
    let cycle = slot.cycle.load(Ordering::Relaxed);
    if step == NONE {
        return None;
    }
    let same = last.filter(|o| (o.step, o.cycle) == (step, cycle));
    Some(same.unwrap_or(Observed {
        step,
        cycle,
        since: now,
        is_overdue: false,
    }))
}
