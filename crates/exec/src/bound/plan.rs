//! [`BoundPlan`]: a plan bound to memory and processors. Its indices have become pointers.

use super::banks::BankPlace;
use super::ring::DelayLineMemory;
use super::step::{BoundStep, Operation, RowWrite};
use super::table::Table;
use super::task::Successor;
use crate::cycle::CycleInfo;
use crate::errors::{ErrorCounters, ErrorKind};
use crate::quarantine_log::QuarantineLog;
use graph::NodeId;
use plan::Task;
use processor::{
    ProcessInfo, ProcessServices, RawChannel, RawEvents, RawPort, RowMember, Transport,
};
use rt::arena::Arena;
use rt::countdown::Countdown;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use units::Frames;
use workers::DeferredJobs;

/// A plan, bound to memory and processors. See the drawing in `bound`.
pub(crate) struct BoundPlan {
    /// ID of its executor in the runtime.
    pub(crate) id: u64,
    /// ID of the executor that owned the runtime before; 0 if there was none, or before the first cycle.
    pub(crate) previous_id: AtomicU64,
    pub(crate) block: Frames,
    /// Number of cycles by which the last pipeline stage is behind; 0 for a plan without stages.
    pub(crate) latency_blocks: u32,
    /// The steps of the plan, in an order in which they may run.
    pub(crate) steps: Box<[BoundStep]>,
    /// The steps inside loops.
    pub(crate) loop_steps: Box<[BoundStep]>,
    /// The members of rows of processors, and the writes of others, in the order of their steps.
    pub(crate) row_members: Box<[RowMember]>,
    pub(crate) row_writes: Box<[RowWrite]>,
    pub(crate) tasks: Box<[Task]>,
    pub(crate) successors: Box<[Successor]>,
    /// By output channel; those of one are added in this order.
    pub(crate) sinks: Box<[SinkChannel]>,
    /// By output channel: its sinks.
    pub(crate) sinks_of_output: Box<[Range<usize>]>,
    /// By node: the step of its processor.
    pub(crate) step_of_node: Box<[Option<StepIndex>]>,
    /// (step of the original, step of the duplicate), sorted.
    pub(crate) copies: Box<[(u32, u32)]>,
    /// Steps of later pipeline stages with events that were queued since the last cycle began (`NO_POSITION`).
    pub(crate) steps_with_new_events: UnsafeCell<Vec<StepIndex>>,
    pub(crate) deferred: DeferredJobs,
    /// Its changes wake steps that sleep.
    pub(crate) transport: Arc<Transport>,
    /// Frame of its last change, as of this cycle: it changes between cycles alone.
    pub(crate) transport_changed_at: AtomicU64,
    pub(crate) quarantined: Arc<QuarantineLog>,
    /// Length of the log when the plan was bound.
    pub(crate) quarantined_before: u64,
    /// The steps that do not run in every cycle.
    pub(crate) seldom_steps: Box<[StepIndex]>,
    /// One of them has kept events from a cycle in which it did not run, now or earlier.
    pub(crate) has_kept_events: AtomicBool,
    pub(crate) errors: ErrorCounters,
    /// Copy of the device's input for this cycle. The device's own buffers would not do: a stuck step may read after
    /// the callback has returned.
    pub(crate) device_inputs: Box<[RawChannel]>,
    pub(crate) _memory: PlanMemory,
}

/// The memory that steps point into: slots, channels, ports, event buffers and delay lines. Kept alive here, and never
/// read through here.
pub(crate) type PlanMemory = (
    Arena,
    Table<RawChannel>,
    Table<RawPort>,
    Box<[UnsafeCell<RawEvents>]>,
    Vec<Arc<DelayLineMemory>>,
);

/// A step of the plan, or a step inside a loop.
#[derive(Clone, Copy)]
pub(crate) enum StepIndex {
    Outer(u32),
    Inner(u32),
}

/// A channel of a sink: its output channel, and its samples.
pub(crate) struct SinkChannel {
    pub(crate) output: u16,
    pub(crate) from: RawChannel,
}

// SAFETY: everything that its pointers lead to is owned by the plan or kept alive by its `Arc`s, and nothing of it
// depends on the thread that made it.
unsafe impl Send for BoundPlan {}
// SAFETY: its cells and pointers are followed in two ways only. `StepClaim` follows those of one step, for the one
// thread that has the claim; `IdlePlan` follows any of them, for the callback thread, while there is no claim.
unsafe impl Sync for BoundPlan {}

impl BoundPlan {
    /// Number of steps in a cycle. A loop counts as one.
    pub(crate) fn len(&self) -> u32 {
        self.steps.len() as u32
    }

    /// The sinks of output `channel`.
    #[inline]
    pub(crate) fn sinks_of(&self, channel: usize) -> &[SinkChannel] {
        let range = self.sinks_of_output.get(channel).cloned();
        range.map_or(&[], |range| &self.sinks[range])
    }

    /// The info of a step in the cycle of `info`.
    #[inline]
    pub(crate) fn process_info<'a>(
        &'a self,
        info: &CycleInfo,
        services: &'a dyn ProcessServices,
    ) -> ProcessInfo<'a> {
        ProcessInfo {
            frames: self.block.0,
            offset: 0,
            position: info.position,
            is_whole_block: true,
            cycle: info.cycle,
            device_inputs: &self.device_inputs,
            services,
        }
    }

    /// The tasks that wait for `task`.
    #[inline]
    pub(crate) fn successors(&self, task: u32) -> &[Successor] {
        self.tasks[task as usize].successors.of(&self.successors)
    }

    /// Counts `task` as done for each of its successors and returns those that are ready now.
    #[inline]
    pub(crate) fn release_successors(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        let successors = self.successors(task).iter();
        // One that waits for one task only is ready when that has run: nothing to count.
        let ready = successors.filter(|s| {
            let pending = &self.steps[s.first_step as usize].pending;
            s.dependencies == 1 || pending.decrement(1, s.dependencies)
        });
        ready.map(|s| s.task)
    }

    /// Number of tasks that `task` still waits for in this cycle. The strategy decides how it counts.
    #[inline]
    pub(crate) fn pending(&self, task: u32) -> &Countdown {
        let first = self.tasks[task as usize].steps.start;
        &self.steps[first as usize].pending
    }

    /// The tasks that wait for no other.
    pub(crate) fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        let tasks = (0..).zip(&self.tasks);
        tasks.filter(|(_, t)| t.activation == 0).map(|(i, _)| i)
    }

    /// Sets the pending count of every task to all its dependencies.
    pub(crate) fn reset_pending(&self) {
        for task in &self.tasks {
            let first = &self.steps[task.steps.start as usize];
            first.pending.reset(task.activation);
        }
    }

    pub(crate) fn step(&self, index: StepIndex) -> &BoundStep {
        match index {
            StepIndex::Outer(step) => &self.steps[step as usize],
            StepIndex::Inner(step) => &self.loop_steps[step as usize],
        }
    }

    /// All steps, those inside loops too.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = &BoundStep> {
        self.steps.iter().chain(&self.loop_steps)
    }

    /// The step of the processor of `node`.
    pub(crate) fn step_of_node(&self, node: NodeId) -> Option<StepIndex> {
        *self.step_of_node.get(node.0 as usize)?
    }

    /// The inner steps of a loop, or the step itself.
    pub(crate) fn members<'a>(&'a self, step: &'a BoundStep) -> &'a [BoundStep] {
        match step.operation {
            Operation::Loop { from, to, .. } => &self.loop_steps[from as usize..to as usize],
            _ => std::slice::from_ref(step),
        }
    }

    /// Steps of the duplicates of the node whose original has the step `original`.
    pub(crate) fn copies_of(&self, original: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.copies.partition_point(|(o, _)| *o < original);
        let copies = self.copies[from..].iter();
        copies
            .take_while(move |(o, _)| *o == original)
            .map(|(_, copy)| *copy)
    }

    /// Quarantines the processors of step `index`, in this plan and the next ones. The step itself is not touched: a
    /// worker may be stuck in it.
    pub(crate) fn quarantine_processor(&self, index: u32) {
        let step = &self.steps[index as usize];
        for member in self.members(step).iter().chain(self.bank_of(step)) {
            self.quarantine_entry(member);
        }
    }

    /// The other steps that the leader of a bank, or a step of a row, may run: a worker that is in its step may be in theirs.
    fn bank_of<'a>(&'a self, step: &'a BoundStep) -> impl Iterator<Item = &'a BoundStep> {
        let others: &[u32] = match &step.cold.bank {
            Some(BankPlace::Leader { others, .. }) => others,
            _ => &[],
        };
        let of_bank = others.iter().map(|index| &self.steps[*index as usize]);
        of_bank.chain(self.row_of(step).iter().skip(1))
    }

    /// The steps that `step` may run as a row, itself the first of them: one, if it is in no row.
    #[inline(always)]
    pub(crate) fn row_of<'a>(&'a self, step: &'a BoundStep) -> &'a [BoundStep] {
        if step.row == 0 {
            return std::slice::from_ref(step);
        }
        // Steps of loops are in no row.
        let bytes = std::ptr::from_ref(step).addr() - self.steps.as_ptr().addr();
        let at = bytes / size_of::<BoundStep>();
        &self.steps[at..at + usize::from(step.row)]
    }

    /// Quarantines `step`, or all members of a loop, or of a bank that it leads: they write silence from now on.
    ///
    /// # Safety
    ///
    /// The caller has the claim on the step, or the plan is idle.
    pub(crate) unsafe fn quarantine(&self, step: &BoundStep) {
        for member in self.members(step).iter().chain(self.bank_of(step)) {
            // SAFETY: no other thread reaches the state, by this function's contract: the claim on the leader of a bank is one on
            // its other steps too (`join_banks`).
            unsafe { (*member.state.get()).is_quarantined = true };
            self.quarantine_entry(member);
        }
    }

    /// Quarantines the processor of `step`, and counts it if it was not before.
    pub(crate) fn quarantine_entry(&self, step: &BoundStep) {
        let is_first = step.cold.processor.as_ref().is_some_and(|p| p.quarantine());
        if let (true, Some(node)) = (is_first, step.cold.node) {
            self.quarantined.add(node);
            self.errors.add(ErrorKind::NodeFault, 1);
        }
    }

    /// Makes all duplicates copy their originals' state before they run again.
    pub(crate) fn mark_copies_stale(&self) {
        for (_, copy) in &self.copies {
            if let Some(processor) = &self.steps[*copy as usize].cold.processor {
                processor.mark_stale();
            }
        }
    }
}
