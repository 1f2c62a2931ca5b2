//! Shows the states of a plan's nodes to a [`StateVisitor`] between two cycles: processors, delay lines, aligners.

use super::idle_plan::IdlePlan;
use crate::bound::{BoundStep, LineState, NEVER, Operation, StepState};
use crate::processors::AWAKE;
use graph::NodeId;
use processor::{Past, Processor, RawDelayLine};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Looks at what the nodes of a plan hold, or puts something else in its place. The order is the plan's: two executors of
/// the same plan show the same things in the same order.
pub trait StateVisitor {
    /// Returns true if it changes what it is shown.
    fn loads(&self) -> bool;

    /// The processor of `node`. One that panics is quarantined if the visitor loads.
    fn processor(&mut self, node: NodeId, processor: &mut dyn Processor);

    /// Returns true if [`line`](Self::line) is to show what processors have heard too.
    fn wants_past(&self) -> bool {
        false
    }

    /// Returns true if processors are to begin now to keep what they hear.
    fn begins_past(&self) -> bool {
        false
    }

    /// A delay line, a line that compensates latency, or what a processor has heard ([`Processor::past`]).
    fn line(&mut self, line: &mut HeldLine<'_>);
}

/// One line: a ring of samples for each channel. Frame `position` is at `position & (capacity - 1)`.
pub struct HeldLine<'a> {
    /// The node to which it belongs.
    pub node: Option<NodeId>,
    /// The rings, one channel after the other.
    pub samples: &'a mut [f32],
    /// Frames of a ring, a power of two.
    pub capacity: usize,
    /// The positions that bound the content of a line that compensates latency, or what a past has beside its samples. Those that a visitor leaves are checked;
    /// wrong ones change nothing.
    pub bounds: Option<[u64; 4]>,
    /// True for what the processor of the node has heard.
    pub is_past: bool,
}

impl IdlePlan<'_> {
    /// Shows `visitor` what the nodes hold, at absolute frame `position`.
    ///
    /// Real-time: hot if the visitor is.
    pub(crate) fn visit_states(&mut self, visitor: &mut dyn StateVisitor, position: u64) {
        let plan = self.plan();
        for step in plan.all_steps().filter(|step| step.cold.copy == 0) {
            // SAFETY: no step is claimed, and `&mut self` makes this the only way to it.
            let state = unsafe { &mut *step.state.get() };
            match &step.operation {
                Operation::Process(_) => self.visit_processor(visitor, (step, state), position),
                Operation::WriteLine(line) => {
                    visitor.line(&mut held(step.cold.node, line, None));
                }
                Operation::Align(op) => {
                    // SAFETY: the line belongs to this step, which is not claimed.
                    let bounds = unsafe { &mut *op.line.state.get() };
                    let words = [
                        bounds.known_from,
                        bounds.begins_at,
                        bounds.next,
                        bounds.silent_from,
                    ];
                    let mut line = held(step.cold.node, &op.ring, Some(words));
                    visitor.line(&mut line);
                    if let Some(words) = line.bounds.filter(|_| visitor.loads()) {
                        *bounds = checked(words, position).unwrap_or(*bounds);
                    }
                }
                _ => {}
            }
        }
        if visitor.loads() {
            plan.mark_copies_stale();
        }
    }

    fn visit_processor(
        &self,
        visitor: &mut dyn StateVisitor,
        (step, state): (&BoundStep, &mut StepState),
        position: u64,
    ) {
        let (Some(entry), Some(node)) = (&step.cold.processor, step.cold.node) else {
            return;
        };
        if state.is_quarantined || entry.is_quarantined() {
            return;
        }
        // SAFETY: no step is claimed, so no worker runs it.
        let processor = unsafe { &mut *entry.pointer() };
        let loads = visitor.loads();
        let visited = catch_unwind(AssertUnwindSafe(|| {
            visitor.processor(node, processor);
            visit_past(visitor, (node, processor), position);
        }));
        if let Err(payload) = visited {
            std::mem::forget(payload);
            if loads {
                self.plan().quarantine_entry(step);
                state.is_quarantined = true;
            }
        } else if loads {
            (state.is_asleep, state.is_new) = (false, false);
            entry.set_asleep_in(AWAKE);
        }
    }
}

/// Shows what a processor has heard, if both sides want it.
fn visit_past(
    visitor: &mut dyn StateVisitor,
    (node, processor): (NodeId, &mut dyn Processor),
    position: u64,
) {
    if visitor.begins_past() {
        processor.keep_past();
    }
    let past = visitor.wants_past().then(|| processor.past()).flatten();
    let Some(Past {
        samples,
        capacity,
        bounds,
    }) = past
    else {
        return;
    };
    let mut line = HeldLine {
        node: Some(node),
        samples,
        capacity,
        bounds: Some(bounds),
        is_past: true,
    };
    visitor.line(&mut line);
    if let Some(bounds) = line.bounds.filter(|_| visitor.loads()) {
        processor.load_past(bounds, position);
    }
}

/// The samples of a line whose step is not claimed.
fn held(node: Option<NodeId>, line: &RawDelayLine, bounds: Option<[u64; 4]>) -> HeldLine<'_> {
    let count = line.channels as usize * line.capacity as usize;
    let samples = match count {
        0 => &mut [],
        // SAFETY: a line has so many samples for as long as the plan lives, and no step that reaches them is claimed: the
        // plan is idle. The caller drops one line before it asks for the next.
        count => unsafe { std::slice::from_raw_parts_mut(line.data, count) },
    };
    HeldLine {
        node,
        samples,
        capacity: line.capacity as usize,
        bounds,
        is_past: false,
    }
}

/// The bounds of a line at `position`, if they can be true.
fn checked(
    [known_from, begins_at, next, silent_from]: [u64; 4],
    position: u64,
) -> Option<LineState> {
    let is_past = [known_from, begins_at, silent_from]
        .into_iter()
        .all(|it| it <= position);
    let is_right = is_past && known_from <= begins_at && (next == position || next == NEVER);
    is_right.then_some(LineState {
        known_from,
        begins_at,
        next,
        silent_from,
    })
}
