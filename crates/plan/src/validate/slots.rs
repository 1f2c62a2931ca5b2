//! Follows every slot and every event buffer through the steps that use it.
//!
//! ```text
//!   slot 4    step 2 writes | steps 5, 6 read | step 9 writes | step 11 reads
//!   claims        2 before 5, 2 before 6,   5 before 9, 6 before 9,   9 before 11
//! ```

use super::dependencies::{Claim, Reason};
use crate::{ChannelSource, EventBufferId, Plan, SlotId, Step, StepInput, StepOp, StepOutput};
use std::collections::HashMap;

/// Use of a slot by a step. A loop counts as one step here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Reads what another step wrote.
    Read,
    /// Writes an output.
    Write,
    /// Writes a sum for itself alone: no other step may read it.
    WriteOwn,
    /// Writes an output that must outlast the cycle, or a cycle in which the step does not run.
    WriteKept,
}

/// Collects what must be ordered, and what is wrong in any order.
pub(super) fn check(plan: &Plan, claims: &mut Vec<Claim>, faults: &mut Vec<String>) {
    let mut collector = Collector {
        plan,
        accesses: vec![Vec::new(); plan.slots as usize],
        writers: HashMap::new(),
        claims,
        faults,
    };
    for (index, step) in (0..).zip(&plan.steps) {
        collector.step(index, plan.flatten(step));
    }
    for (slot, accesses) in (0..).zip(&collector.accesses) {
        check_slot(slot, accesses, collector.claims, collector.faults);
    }
    for output in &plan.output_channels {
        let slot = output.slot.0;
        let accesses = collector.accesses[slot as usize].as_slice();
        if !matches!(accesses, [(_, Access::WriteKept)]) {
            let message = format!("an output channel plays slot {slot}, which is not kept");
            collector.faults.push(message);
        }
    }
}

struct Collector<'a> {
    plan: &'a Plan,
    /// By slot: the steps that use it, in order.
    accesses: Vec<Vec<(u32, Access)>>,
    /// By event buffer.
    writers: HashMap<u32, u32>,
    claims: &'a mut Vec<Claim>,
    faults: &'a mut Vec<String>,
}

/// The slots that one step uses.
type StepAccesses = HashMap<SlotId, Access>;

impl Collector<'_> {
    /// One step: itself, or the steps inside it in their order.
    fn step(&mut self, index: u32, members: &[Step]) {
        let mut here = StepAccesses::new();
        for member in members {
            for input in member.inputs.of(&self.plan.inputs) {
                match *input {
                    StepInput::Events(buffers) => {
                        self.read_events(index, buffers.of(&self.plan.event_sources));
                    }
                    StepInput::Audio(sources) => {
                        let sources = sources.of(&self.plan.channel_sources);
                        self.sources(index, sources, &mut here);
                    }
                }
            }
            for output in member.outputs.of(&self.plan.outputs) {
                self.output(index, member, *output, &mut here);
            }
        }
        for (slot, access) in here {
            self.accesses[slot.0 as usize].push((index, access));
        }
    }

    fn sources(&mut self, index: u32, sources: &[ChannelSource], here: &mut StepAccesses) {
        for source in sources {
            match *source {
                ChannelSource::Silence => {}
                ChannelSource::Slot(slot) => self.read(index, slot, here),
                ChannelSource::Sum { from, into } => {
                    for slot in from.of(&self.plan.summed_slots) {
                        self.read(index, *slot, here);
                    }
                    self.write(index, into, Access::WriteOwn, here);
                }
            }
        }
    }

    fn output(&mut self, index: u32, step: &Step, output: StepOutput, here: &mut StepAccesses) {
        match output {
            StepOutput::Events(buffer) => {
                if self.writers.insert(buffer.0, index).is_some() {
                    let message = format!("event buffer {} has two writers", buffer.0);
                    self.faults.push(message);
                }
            }
            StepOutput::Audio(slots) => {
                let is_kept = matches!(step.op, StepOp::Sink { .. }) || step.every > 1;
                let access = match is_kept {
                    true => Access::WriteKept,
                    false => Access::Write,
                };
                for slot in slots.of(&self.plan.written_slots) {
                    self.write(index, *slot, access, here);
                }
            }
        }
    }

    fn read_events(&mut self, index: u32, buffers: &[EventBufferId]) {
        for buffer in buffers {
            match self.writers.get(&buffer.0) {
                // Earlier in the same loop.
                Some(writer) if *writer == index => {}
                Some(writer) => {
                    self.claims
                        .push(Claim::new(*writer, index, Reason::ReadsEvents(buffer.0)))
                }
                None => self.faults.push(format!(
                    "step {index} reads event buffer {}, which no step before it writes",
                    buffer.0
                )),
            }
        }
    }

    fn read(&mut self, index: u32, slot: SlotId, here: &mut StepAccesses) {
        // In a loop a step may read what an earlier one wrote.
        if *here.entry(slot).or_insert(Access::Read) == Access::WriteOwn {
            let slot = slot.0;
            let message = format!("step {index} reads slot {slot}, which belongs to a sum");
            self.faults.push(message);
        }
    }

    fn write(&mut self, index: u32, slot: SlotId, access: Access, here: &mut StepAccesses) {
        if here.insert(slot, access).is_some() {
            let slot = slot.0;
            let message = format!("step {index} writes slot {slot}, which it reads or has written");
            self.faults.push(message);
        }
    }
}

/// Follows one slot through the steps that use it.
fn check_slot(
    slot: u32,
    accesses: &[(u32, Access)],
    claims: &mut Vec<Claim>,
    faults: &mut Vec<String>,
) {
    let mut writer: Option<(u32, Access)> = None;
    let mut readers: Vec<u32> = Vec::new();
    for &(step, access) in accesses {
        if access == Access::Read {
            match writer {
                Some((earlier, Access::Write | Access::WriteKept)) => {
                    claims.push(Claim::new(earlier, step, Reason::ReadsSlot(slot)))
                }
                _ => faults.push(format!(
                    "step {step} reads slot {slot}, which no step before it writes"
                )),
            }
            readers.push(step);
            continue;
        }
        let is_kept = [Some(access), writer.map(|w| w.1)].contains(&Some(Access::WriteKept));
        if is_kept && (writer.is_some() || !readers.is_empty()) {
            faults.push(format!(
                "step {step} overwrites slot {slot}, which must be kept"
            ));
        }
        // Readers run after the writer: it is enough that they have run.
        if readers.is_empty() {
            readers.extend(writer.map(|w| w.0));
        }
        claims.extend(
            readers
                .drain(..)
                .map(|earlier| Claim::new(earlier, step, Reason::OverwritesSlot(slot))),
        );
        writer = Some((step, access));
    }
}
