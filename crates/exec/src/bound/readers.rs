//! [`read_outputs`]: which outputs of a plan's steps are read.

use plan::{ChannelSource, Plan, SlotId, Step, StepOp, StepOutput};

/// For each of the plan's outputs, true if a step reads a channel of it.
///
/// Steps stand in topological order, and a slot is written again only behind all readers of what it had: so a reader reads what was
/// written last before it.
pub(super) fn read_outputs(plan: &Plan) -> Box<[bool]> {
    let mut readers = Readers {
        plan,
        writers: vec![None; plan.slots as usize],
        is_read: vec![false; plan.outputs.len()],
    };
    for step in &plan.steps {
        readers.follow(step);
        if let StepOp::Loop(id) = step.op {
            let steps = plan.loops[id.0 as usize].steps;
            for step in steps.of(&plan.loop_steps) {
                readers.follow(step);
            }
        }
    }
    readers.is_read.into()
}

struct Readers<'a> {
    plan: &'a Plan,
    /// By slot: the output that wrote it last.
    writers: Vec<Option<u32>>,
    is_read: Vec<bool>,
}

impl Readers<'_> {
    fn follow(&mut self, step: &Step) {
        let plan = self.plan;
        for input in step.inputs.of(&plan.inputs) {
            let plan::StepInput::Audio(sources) = input else {
                continue;
            };
            for source in sources.of(&plan.channel_sources) {
                match source {
                    ChannelSource::Silence => {}
                    ChannelSource::Slot(slot) => self.read(*slot),
                    ChannelSource::Sum { from, into } => {
                        let from = from.of(&plan.summed_slots).iter();
                        from.for_each(|slot| self.read(*slot));
                        self.write(*into, None);
                    }
                }
            }
        }
        for (output, number) in step
            .outputs
            .of(&plan.outputs)
            .iter()
            .zip(step.outputs.start..)
        {
            if let StepOutput::Audio(slots) = output {
                let slots = slots.of(&plan.written_slots).iter();
                slots.for_each(|slot| self.write(*slot, Some(number)));
            }
        }
    }

    fn read(&mut self, slot: SlotId) {
        if let Some(Some(output)) = self.writers.get(slot.0 as usize) {
            self.is_read[*output as usize] = true;
        }
    }

    fn write(&mut self, slot: SlotId, output: Option<u32>) {
        if let Some(writer) = self.writers.get_mut(slot.0 as usize) {
            *writer = output;
        }
    }
}
