//! Checks that ranges lie in their arrays, ids exist and counts are right. Then looking up cannot panic.

use crate::{
    ChannelSource, DelayLineId, IndexRange, Plan, SlotId, StageBufferId, Step, StepInput, StepOp,
    StepOutput,
};

/// All faults.
pub(super) fn check(plan: &Plan) -> Result<(), Vec<String>> {
    let mut check = Check {
        plan,
        faults: Vec::new(),
    };
    check.arrays();
    for (index, step) in plan.steps.iter().enumerate() {
        check.step(&format!("step {index}"), step);
    }
    for (index, step) in plan.loop_steps.iter().enumerate() {
        let name = format!("loop step {index}");
        check.step(&name, step);
        let is_free = step.activation == 0 && step.successors.is_empty();
        check.must(is_free, || format!("{name} has dependencies of its own"));
        let is_nested = matches!(step.op, StepOp::Loop(_));
        check.must(!is_nested, || format!("{name} is a loop"));
    }
    check.loops();
    if check.faults.is_empty() {
        check.order();
    }
    if check.faults.is_empty() {
        Ok(())
    } else {
        Err(check.faults)
    }
}

struct Check<'a> {
    plan: &'a Plan,
    faults: Vec<String>,
}

impl Check<'_> {
    fn must(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(message());
        }
    }

    fn range<T>(&mut self, name: &str, range: IndexRange, array: &[T]) -> bool {
        let holds = range.start <= range.end && range.end as usize <= array.len();
        self.must(holds, || format!("{name} points outside its array"));
        holds
    }

    fn slot(&mut self, name: &str, slot: SlotId) {
        let count = self.plan.slots;
        self.must(slot.0 < count, || {
            format!("{name} names slot {}, of {count}", slot.0)
        });
    }

    fn arrays(&mut self) {
        let plan = self.plan;
        for slot in plan.written_slots.iter().chain(&plan.summed_slots) {
            self.slot("a port", *slot);
        }
        for output in &plan.output_channels {
            self.slot("an output channel", output.slot);
        }
        for buffer in &plan.event_sources {
            self.must(buffer.0 < plan.event_buffers, || {
                format!("there is no event buffer {}", buffer.0)
            });
        }
        for id in &plan.successors {
            let exists = (id.0 as usize) < plan.steps.len();
            self.must(exists, || format!("there is no step {}", id.0));
        }
        for (index, aligner) in plan.aligners.iter().enumerate() {
            self.range(&format!("aligner {index}"), aligner.taps, &plan.taps);
        }
        let levels = plan.static_levels.len() == plan.steps.len();
        self.must(levels, || "not every step has one static level".into());
    }

    fn step(&mut self, name: &str, step: &Step) {
        let plan = self.plan;
        self.must(step.every > 0 && step.phase < step.every, || {
            format!("{name} runs in cycle {} of {}", step.phase, step.every)
        });
        self.range(name, step.successors, &plan.successors);
        let inputs = self.range(name, step.inputs, &plan.inputs);
        let outputs = self.range(name, step.outputs, &plan.outputs);
        if !(inputs && outputs) {
            return;
        }
        for port in step.inputs.of(&plan.inputs) {
            self.input(name, *port);
        }
        for port in step.outputs.of(&plan.outputs) {
            self.output(name, *port);
        }
        let inputs = step.inputs.of(&plan.inputs).iter();
        let mut events = inputs.filter(|input| matches!(input, StepInput::Events(_)));
        let has_room = step.event_room > 0 || events.next().is_none();
        self.must(has_room, || {
            format!("{name} receives events without room for them")
        });
        self.op(name, step);
    }

    fn output(&mut self, name: &str, port: StepOutput) {
        match port {
            StepOutput::Audio(slots) => {
                self.range(name, slots, &self.plan.written_slots);
            }
            StepOutput::Events(buffer) => {
                let exists = buffer.0 < self.plan.event_buffers;
                self.must(exists, || format!("{name} names no event buffer"));
            }
        }
    }

    fn input(&mut self, name: &str, port: StepInput) {
        let plan = self.plan;
        match port {
            StepInput::Events(buffers) => {
                self.range(name, buffers, &plan.event_sources);
            }
            StepInput::Audio(sources) => {
                if !self.range(name, sources, &plan.channel_sources) {
                    return;
                }
                for source in sources.of(&plan.channel_sources) {
                    match *source {
                        ChannelSource::Silence => {}
                        ChannelSource::Slot(slot) => self.slot(name, slot),
                        ChannelSource::Sum { from, into } => {
                            self.slot(name, into);
                            self.range(name, from, &plan.summed_slots);
                        }
                    }
                }
            }
        }
    }

    /// Numbers of ports, and the memory, that each operation needs.
    fn op(&mut self, name: &str, step: &Step) {
        let plan = self.plan;
        let ports = (step.inputs.len(), step.outputs.len());
        let is_line = |id: DelayLineId| (id.0 as usize) < plan.delay_lines.len();
        let is_buffer = |id: StageBufferId| (id.0 as usize) < plan.stage_buffers.len();
        let holds = match step.op {
            StepOp::Process { line: None, .. } => true,
            StepOp::Process {
                line: Some(line), ..
            } => ports.1 == 1 && is_line(line),
            StepOp::WriteLine { line, .. } => ports == (1, 0) && is_line(line),
            StepOp::Sink { .. } => ports == (1, 1),
            StepOp::Silence { .. } => ports.0 == 0,
            StepOp::Align { aligner, .. } => {
                let aligner = plan.aligners.get(aligner.0 as usize);
                aligner.is_some_and(|a| ports == (1, a.taps.len()))
            }
            StepOp::Loop(id) => ports == (0, 0) && (id.0 as usize) < plan.loops.len(),
            StepOp::Send { buffer, .. } => ports == (1, 0) && is_buffer(buffer),
            StepOp::Receive { buffer, .. } => ports == (0, 1) && is_buffer(buffer),
        };
        self.must(holds, || {
            format!("{name} has wrong ports for its operation")
        });
    }

    /// Each loop belongs to one step, each step of a loop to one loop.
    fn loops(&mut self) {
        let plan = self.plan;
        let mut uses = vec![0; plan.loops.len()];
        for step in &plan.steps {
            if let StepOp::Loop(id) = step.op
                && let Some(uses) = uses.get_mut(id.0 as usize)
            {
                *uses += 1;
            }
        }
        self.must(uses.iter().all(|n| *n == 1), || {
            "not every loop belongs to one step".into()
        });
        let mut uses = vec![0; plan.loop_steps.len()];
        for (index, it) in plan.loops.iter().enumerate() {
            let name = format!("loop {index}");
            self.must(it.sub_block.0 > 0, || format!("{name} has no frames"));
            if self.range(&name, it.steps, &plan.loop_steps) {
                let steps = it.steps.start as usize..it.steps.end as usize;
                uses[steps].iter_mut().for_each(|n| *n += 1);
            }
        }
        self.must(uses.iter().all(|n| *n == 1), || {
            "not every loop step is in one loop".into()
        });
    }

    /// Steps are stored after those that they wait for, and their counts are right.
    fn order(&mut self) {
        let plan = self.plan;
        let mut counts = vec![0; plan.steps.len()];
        for (id, step) in plan.steps_with_ids() {
            let after = plan.successors_of(id);
            let is_after = after.first().is_none_or(|next| id < *next);
            self.must(is_after && after.is_sorted_by(|a, b| a < b), || {
                format!("the successors of step {} are not in order after it", id.0)
            });
            after.iter().for_each(|next| counts[next.0 as usize] += 1);
            if let StepOp::Loop(_) = step.op {
                self.must(step.every == 1, || {
                    format!("loop step {} does not run in every cycle", id.0)
                });
            }
        }
        for ((id, step), count) in plan.steps_with_ids().zip(counts) {
            self.must(step.activation == count, || {
                let stated = step.activation;
                format!("step {} counts {stated}, and waits for {count}", id.0)
            });
        }
    }
}
