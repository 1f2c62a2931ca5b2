//! Whether spans lie in their arrays, ids count something, counts count right.

use crate::{ChannelSource, IndexRange, Plan, SlotId, Step, StepInput, StepOp, StepOutput};

/// All faults of the shape; where there are none, looking up cannot panic.
pub(super) fn check(plan: &Plan) -> Result<(), Vec<String>> {
    let mut shape = Shape {
        plan,
        wrong: Vec::new(),
    };
    shape.arrays();
    for (index, step) in plan.steps.iter().enumerate() {
        shape.step(&format!("step {index}"), step);
    }
    for (index, step) in plan.loop_steps.iter().enumerate() {
        let name = format!("inner step {index}");
        shape.step(&name, step);
        let free = step.activation == 0 && step.successors.is_empty();
        shape.must(free, || format!("{name} waits for its own"));
        let nested = matches!(step.op, StepOp::Loop(_));
        shape.must(!nested, || format!("{name} is a loop"));
    }
    shape.loops();
    if shape.wrong.is_empty() {
        shape.order();
    }
    if shape.wrong.is_empty() {
        Ok(())
    } else {
        Err(shape.wrong)
    }
}

struct Shape<'a> {
    plan: &'a Plan,
    wrong: Vec<String>,
}

impl Shape<'_> {
    fn must(&mut self, holds: bool, words: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(words());
        }
    }

    fn within<T>(&mut self, name: &str, span: IndexRange, all: &[T]) -> bool {
        let holds = span.start <= span.end && span.end as usize <= all.len();
        self.must(holds, || format!("{name} points outside its array"));
        holds
    }

    fn slot(&mut self, name: &str, slot: SlotId) {
        let holds = slot.0 < self.plan.slots;
        self.must(holds, || {
            format!("{name} names slot {}, of {}", slot.0, self.plan.slots)
        });
    }

    fn arrays(&mut self) {
        let plan = self.plan;
        for slot in plan.written_slots.iter().chain(&plan.summed_slots) {
            self.slot("a port", *slot);
        }
        for sink in &plan.output_channels {
            self.slot("an output", sink.slot);
        }
        for send in &plan.event_sources {
            self.must(send.0 < plan.event_buffers, || {
                format!("there is no send {}", send.0)
            });
        }
        for id in &plan.successors {
            let holds = (id.0 as usize) < plan.steps.len();
            self.must(holds, || format!("there is no step {}", id.0));
        }
        for (index, aligner) in plan.aligners.iter().enumerate() {
            self.within(&format!("aligner {index}"), aligner.taps, &plan.taps);
        }
        let levels = plan.static_levels.len() == plan.steps.len();
        self.must(levels, || "not every step has one static level".into());
    }

    fn step(&mut self, name: &str, step: &Step) {
        let plan = self.plan;
        self.must(step.every > 0 && step.phase < step.every, || {
            format!("{name} runs in cycle {} of {}", step.phase, step.every)
        });
        self.within(name, step.successors, &plan.successors);
        let inputs = self.within(name, step.inputs, &plan.inputs);
        let outputs = self.within(name, step.outputs, &plan.outputs);
        if !(inputs && outputs) {
            return;
        }
        for port in step.inputs.of(&plan.inputs) {
            self.input(name, *port);
        }
        for port in step.outputs.of(&plan.outputs) {
            self.output(name, *port);
        }
        self.work(name, step);
    }

    fn output(&mut self, name: &str, port: StepOutput) {
        match port {
            StepOutput::Audio(span) => {
                self.within(name, span, &self.plan.written_slots);
            }
            StepOutput::Events(send) => {
                let holds = send.0 < self.plan.event_buffers;
                self.must(holds, || format!("{name} sends what is no send"));
            }
        }
    }

    fn input(&mut self, name: &str, port: StepInput) {
        let plan = self.plan;
        match port {
            StepInput::Events(span) => {
                self.within(name, span, &plan.event_sources);
            }
            StepInput::Audio(span) => {
                if !self.within(name, span, &plan.channel_sources) {
                    return;
                }
                for feed in span.of(&plan.channel_sources) {
                    match *feed {
                        ChannelSource::Silence => {}
                        ChannelSource::Slot(slot) => self.slot(name, slot),
                        ChannelSource::Sum { from, into } => {
                            self.slot(name, into);
                            self.within(name, from, &plan.summed_slots);
                        }
                    }
                }
            }
        }
    }

    /// What each work has to have.
    fn work(&mut self, name: &str, step: &Step) {
        let plan = self.plan;
        let ports = (step.inputs.len(), step.outputs.len());
        let holds = match step.op {
            StepOp::Process { line: None, .. } => true,
            StepOp::Process {
                line: Some(line), ..
            } => ports == (0, 1) && (line.0 as usize) < plan.delay_lines.len(),
            StepOp::WriteLine { line, .. } => {
                ports == (1, 0) && (line.0 as usize) < plan.delay_lines.len()
            }
            StepOp::Sink { .. } => ports == (1, 1),
            StepOp::Silence { .. } => ports.0 == 0,
            StepOp::Align { aligner, .. } => {
                let aligner = plan.aligners.get(aligner.0 as usize);
                aligner.is_some_and(|a| ports == (1, a.taps.len()))
            }
            StepOp::Loop(id) => ports == (0, 0) && (id.0 as usize) < plan.loops.len(),
            StepOp::Send { passage, .. } => {
                ports == (1, 0) && (passage.0 as usize) < plan.stage_buffers.len()
            }
            StepOp::Receive { passage, .. } => {
                ports == (0, 1) && (passage.0 as usize) < plan.stage_buffers.len()
            }
        };
        self.must(holds, || format!("{name} has not what its work needs"));
    }

    /// Each loop is one step's, each inner step one loop's.
    fn loops(&mut self) {
        let plan = self.plan;
        let mut used = vec![0; plan.loops.len()];
        for step in &plan.steps {
            if let StepOp::Loop(id) = step.op
                && let Some(used) = used.get_mut(id.0 as usize)
            {
                *used += 1;
            }
        }
        self.must(used.iter().all(|n| *n == 1), || {
            "not every loop is the work of one step".into()
        });
        let mut runs = vec![0; plan.loop_steps.len()];
        for (index, it) in plan.loops.iter().enumerate() {
            let name = format!("loop {index}");
            self.must(it.sub_block.0 > 0, || format!("{name} has no frames"));
            if self.within(&name, it.steps, &plan.loop_steps) {
                let range = it.steps.start as usize..it.steps.end as usize;
                runs[range].iter_mut().for_each(|n| *n += 1);
            }
        }
        self.must(runs.iter().all(|n| *n == 1), || {
            "not every inner step is in one loop".into()
        });
    }

    /// Steps stand after those they wait for, and their counts are right.
    fn order(&mut self) {
        let plan = self.plan;
        let mut counts = vec![0; plan.steps.len()];
        for (id, step) in plan.steps_with_ids() {
            let after = plan.successors_of(id);
            let first = after.first().is_none_or(|next| id < *next);
            self.must(first && after.is_sorted_by(|a, b| a < b), || {
                format!("what waits for step {} is not in order after it", id.0)
            });
            after.iter().for_each(|next| counts[next.0 as usize] += 1);
            let alone = step.op;
            if let StepOp::Loop(_) = alone {
                self.must(step.every == 1, || format!("loop step {} rests", id.0));
            }
        }
        for (id, step) in plan.steps_with_ids() {
            let waits = counts[id.0 as usize];
            self.must(step.activation == waits, || {
                format!(
                    "step {} counts {}, and waits for {waits}",
                    id.0, step.activation
                )
            });
        }
    }
}
