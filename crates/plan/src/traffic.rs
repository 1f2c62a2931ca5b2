//! From a plan's tasks to what schedulers see: who hands how many bytes to whom.

use crate::{
    ChannelSource, Dag, EventBufferId, Plan, SlotId, Step, StepInput, StepOp, StepOutput, TaskId,
};
use std::collections::{HashMap, HashSet};

/// What an event connection is counted as.
const EVENT_BYTES: u32 = 64;

/// Something that one step leaves for another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Thing {
    Slot(SlotId),
    Send(EventBufferId),
}

impl Dag {
    /// One node a task. An edge has the bytes of a block for each slot that the later task reads of the earlier one,
    /// and 64 for each room of events; none where the later one only waits. No task is duplicable.
    ///
    /// The plan is one that [`Plan::validate`] finds no broken shape in.
    pub fn from_plan(plan: &Plan) -> Self {
        let costs = plan.tasks.iter().map(|t| t.cost).collect();
        let ids = || (0..plan.tasks.len() as u32).map(TaskId);
        let waits = ids().flat_map(|task| {
            plan.task_successors_of(task)
                .iter()
                .map(move |to| (task, *to, 0))
        });
        let handed = handed(plan);
        let waiting: HashSet<_> = waits.clone().map(|(from, to, _)| (from, to)).collect();
        let handed = handed
            .into_iter()
            .filter(|(from, to, _)| waiting.contains(&(*from, *to)));
        Self::new(costs, waits.chain(handed)).expect("tasks stand after those that they wait for")
    }
}

/// What tasks hand to others, thing by thing: (from, to, bytes).
fn handed(plan: &Plan) -> Vec<(TaskId, TaskId, u32)> {
    let block = plan.block.0.saturating_mul(4);
    // The plan's order is one in which steps may run: who wrote a slot last before a reader is the one that it reads.
    let mut writer: HashMap<Thing, TaskId> = HashMap::new();
    let mut all = Vec::new();
    for (to, task) in (0..).map(TaskId).zip(&plan.tasks) {
        let mut seen = HashSet::new();
        let steps = task.steps.of(&plan.steps).iter();
        for step in steps.flat_map(|step| members(plan, step)) {
            for thing in things_read(plan, step) {
                let bytes = match thing {
                    Thing::Slot(_) => block,
                    Thing::Send(_) => EVENT_BYTES,
                };
                let from = writer.get(&thing).filter(|from| **from != to);
                let from = from.filter(|from| seen.insert((thing, **from)));
                all.extend(from.map(|from| (*from, to, bytes)));
            }
            for thing in things_written(plan, step) {
                writer.insert(thing, to);
            }
        }
    }
    all
}

/// The step itself, or a loop's.
fn members<'a>(plan: &'a Plan, step: &'a Step) -> &'a [Step] {
    match step.op {
        StepOp::Loop(id) => plan.loops[id.0 as usize].steps.of(&plan.loop_steps),
        _ => std::slice::from_ref(step),
    }
}

fn things_read(plan: &Plan, step: &Step) -> Vec<Thing> {
    let mut all = Vec::new();
    for input in step.inputs.of(&plan.inputs) {
        let feeds = match *input {
            StepInput::Events(span) => {
                let sends = span.of(&plan.event_sources).iter();
                all.extend(sends.map(|send| Thing::Send(*send)));
                continue;
            }
            StepInput::Audio(span) => span.of(&plan.channel_sources),
        };
        for feed in feeds {
            match *feed {
                ChannelSource::Silence => {}
                ChannelSource::Slot(slot) => all.push(Thing::Slot(slot)),
                ChannelSource::Sum { from, .. } => {
                    let slots = from.of(&plan.summed_slots).iter();
                    all.extend(slots.map(|slot| Thing::Slot(*slot)));
                }
            }
        }
    }
    all
}

fn things_written(plan: &Plan, step: &Step) -> Vec<Thing> {
    let mut all = Vec::new();
    for output in step.outputs.of(&plan.outputs) {
        match *output {
            StepOutput::Events(send) => all.push(Thing::Send(send)),
            StepOutput::Audio(span) => {
                let slots = span.of(&plan.written_slots).iter();
                all.extend(slots.map(|slot| Thing::Slot(*slot)));
            }
        }
    }
    all
}
