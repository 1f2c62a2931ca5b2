//! From a plan to the input of schedulers: which task passes how many bytes to which.

use super::Dag;
use crate::{ChannelSource, EventBufferId, Plan, SlotId, Step, StepInput, StepOutput, TaskId};
use std::collections::{HashMap, HashSet};

/// Bytes that an event connection counts as.
const EVENT_BYTES: u32 = 64;

/// Memory that one step writes and another reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Buffer {
    Slot(SlotId),
    Events(EventBufferId),
}

impl Dag {
    /// The tasks of a plan. An edge has the bytes of a block for each slot that the later task reads of the earlier one,
    /// 64 for each event buffer, and none where the later task only waits. No task is duplicable.
    ///
    /// # Panics
    ///
    /// [`Plan::validate`] would refuse the plan.
    pub fn from_plan(plan: &Plan) -> Self {
        let costs = plan.tasks.iter().map(|t| t.cost).collect();
        let tasks = (0..plan.tasks.len() as u32).map(TaskId);
        let waits = tasks.flat_map(|task| {
            let after = plan.task_successors_of(task).iter();
            after.map(move |next| (task, *next, 0))
        });
        let dependent: HashSet<_> = waits.clone().map(|(from, to, _)| (from, to)).collect();
        let transfers = transfers(plan).into_iter();
        let transfers = transfers.filter(|(from, to, _)| dependent.contains(&(*from, *to)));
        let dag = Self::new(costs, waits.chain(transfers));
        dag.expect("tasks are stored after those that they wait for")
    }
}

/// Every buffer that one task writes and another reads: (from, to, bytes).
fn transfers(plan: &Plan) -> Vec<(TaskId, TaskId, u32)> {
    let block_bytes = plan.block.0.saturating_mul(4);
    // Steps are in topological order: the last writer of a slot before a reader is the one whose data it reads.
    let mut writer: HashMap<Buffer, TaskId> = HashMap::new();
    let mut all = Vec::new();
    for (to, task) in (0..).map(TaskId).zip(&plan.tasks) {
        let mut seen = HashSet::new();
        let steps = task.steps.of(&plan.steps).iter();
        for step in steps.flat_map(|step| plan.flatten(step)) {
            for buffer in buffers_read(plan, step) {
                let bytes = match buffer {
                    Buffer::Slot(_) => block_bytes,
                    Buffer::Events(_) => EVENT_BYTES,
                };
                let from = writer.get(&buffer).filter(|from| **from != to);
                let from = from.filter(|from| seen.insert((buffer, **from)));
                all.extend(from.map(|from| (*from, to, bytes)));
            }
            for buffer in buffers_written(plan, step) {
                writer.insert(buffer, to);
            }
        }
    }
    all
}

fn buffers_read(plan: &Plan, step: &Step) -> Vec<Buffer> {
    let mut all = Vec::new();
    for input in step.inputs.of(&plan.inputs) {
        let sources = match *input {
            StepInput::Events(range) => {
                let buffers = range.of(&plan.event_sources).iter();
                all.extend(buffers.map(|buffer| Buffer::Events(*buffer)));
                continue;
            }
            StepInput::Audio(range) => range.of(&plan.channel_sources),
        };
        for source in sources {
            match *source {
                ChannelSource::Silence => {}
                ChannelSource::Slot(slot) => all.push(Buffer::Slot(slot)),
                ChannelSource::Sum { from, .. } => {
                    let slots = from.of(&plan.summed_slots).iter();
                    all.extend(slots.map(|slot| Buffer::Slot(*slot)));
                }
            }
        }
    }
    all
}

fn buffers_written(plan: &Plan, step: &Step) -> Vec<Buffer> {
    let mut all = Vec::new();
    for output in step.outputs.of(&plan.outputs) {
        match *output {
            StepOutput::Events(buffer) => all.push(Buffer::Events(buffer)),
            StepOutput::Audio(range) => {
                let slots = range.of(&plan.written_slots).iter();
                all.extend(slots.map(|slot| Buffer::Slot(*slot)));
            }
        }
    }
    all
}
