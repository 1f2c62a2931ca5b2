//! Who writes and reads which slot and which send.

use super::ancestry::{Claim, Why};
use crate::{ChannelSource, Plan, SlotId, Step, StepInput, StepOp, StepOutput};
use std::collections::HashMap;

/// What a step does to a slot. A loop counts as one step here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// Reads what another step wrote.
    Read,
    /// Writes an output.
    Write,
    /// Writes for itself alone: what it leaves there is nobody's.
    Own,
    /// Writes an output that must outlast the cycle, or a cycle in which the step rests.
    Hold,
}

/// Says what must be ordered, and what is wrong in any order.
pub(super) fn check(plan: &Plan, claims: &mut Vec<Claim>, wrong: &mut Vec<String>) {
    let mut traffic = Traffic {
        plan,
        touches: vec![Vec::new(); plan.slots as usize],
        senders: HashMap::new(),
        claims,
        wrong,
    };
    for (index, step) in plan.steps.iter().enumerate() {
        let one = std::slice::from_ref(step);
        let members = match step.op {
            StepOp::Loop(id) => plan.loops[id.0 as usize].steps.of(&plan.loop_steps),
            _ => one,
        };
        traffic.step(index as u32, members);
    }
    for (slot, touches) in traffic.touches.iter().enumerate() {
        follow(slot as u32, touches, traffic.claims, traffic.wrong);
    }
    for sink in &plan.output_channels {
        let kept = traffic.touches[sink.slot.0 as usize].as_slice();
        if !matches!(kept, [(_, Touch::Hold)]) {
            let slot = sink.slot.0;
            traffic
                .wrong
                .push(format!("an output plays slot {slot}, which is not kept"));
        }
    }
}

struct Traffic<'a> {
    plan: &'a Plan,
    /// By slot, in the order of steps.
    touches: Vec<Vec<(u32, Touch)>>,
    senders: HashMap<u32, u32>,
    claims: &'a mut Vec<Claim>,
    wrong: &'a mut Vec<String>,
}

impl Traffic<'_> {
    /// One step, or all of a loop's in their order.
    fn step(&mut self, index: u32, members: &[Step]) {
        let mut here: HashMap<SlotId, Touch> = HashMap::new();
        for member in members {
            for input in member.inputs.of(&self.plan.inputs) {
                match *input {
                    StepInput::Events(span) => self.hear(index, span.of(&self.plan.event_sources)),
                    StepInput::Audio(span) => {
                        let feeds = span.of(&self.plan.channel_sources);
                        self.feeds(index, feeds, &mut here);
                    }
                }
            }
            for output in member.outputs.of(&self.plan.outputs) {
                self.output(index, member, *output, &mut here);
            }
        }
        for (slot, touch) in here {
            self.touches[slot.0 as usize].push((index, touch));
        }
    }

    fn feeds(&mut self, index: u32, feeds: &[ChannelSource], here: &mut HashMap<SlotId, Touch>) {
        for feed in feeds {
            match *feed {
                ChannelSource::Silence => {}
                ChannelSource::Slot(slot) => self.read(index, slot, here),
                ChannelSource::Sum { from, into } => {
                    for slot in from.of(&self.plan.summed_slots) {
                        self.read(index, *slot, here);
                    }
                    self.write(index, into, Touch::Own, here);
                }
            }
        }
    }

    fn output(
        &mut self,
        index: u32,
        member: &Step,
        output: StepOutput,
        here: &mut HashMap<SlotId, Touch>,
    ) {
        match output {
            StepOutput::Events(send) => {
                if self.senders.insert(send.0, index).is_some() {
                    self.wrong.push(format!("send {} has two senders", send.0));
                }
            }
            StepOutput::Audio(span) => {
                let keeps = matches!(member.op, StepOp::Sink { .. });
                let touch = if keeps || member.every > 1 {
                    Touch::Hold
                } else {
                    Touch::Write
                };
                for slot in span.of(&self.plan.written_slots) {
                    self.write(index, *slot, touch, here);
                }
            }
        }
    }

    fn hear(&mut self, index: u32, sends: &[crate::EventBufferId]) {
        for send in sends {
            match self.senders.get(&send.0) {
                // Earlier in the same loop.
                Some(sender) if *sender == index => {}
                Some(sender) => self.claims.push(Claim {
                    earlier: *sender,
                    later: index,
                    why: Why::Hears(send.0),
                }),
                None => self.wrong.push(format!(
                    "step {index} hears send {}, which nobody sent before",
                    send.0
                )),
            }
        }
    }

    fn read(&mut self, index: u32, slot: SlotId, here: &mut HashMap<SlotId, Touch>) {
        // What the same step wrote before is read within a loop.
        if *here.entry(slot).or_insert(Touch::Read) == Touch::Own {
            let slot = slot.0;
            self.wrong
                .push(format!("step {index} reads slot {slot}, a sum's own"));
        }
    }

    fn write(&mut self, index: u32, slot: SlotId, touch: Touch, here: &mut HashMap<SlotId, Touch>) {
        if here.insert(slot, touch).is_some() {
            let slot = slot.0;
            self.wrong.push(format!(
                "step {index} writes slot {slot}, which it reads or has written"
            ));
        }
    }
}

/// Follows one slot through the steps that touch it.
fn follow(slot: u32, touches: &[(u32, Touch)], claims: &mut Vec<Claim>, wrong: &mut Vec<String>) {
    let mut writer: Option<(u32, Touch)> = None;
    let mut readers: Vec<u32> = Vec::new();
    for &(step, touch) in touches {
        if touch == Touch::Read {
            match writer {
                Some((earlier, Touch::Write | Touch::Hold)) => claims.push(Claim {
                    earlier,
                    later: step,
                    why: Why::Reads(slot),
                }),
                _ => wrong.push(format!(
                    "step {step} reads slot {slot}, which nobody wrote for it"
                )),
            }
            readers.push(step);
            continue;
        }
        let held = touch == Touch::Hold || matches!(writer, Some((_, Touch::Hold)));
        if held && (writer.is_some() || !readers.is_empty()) {
            wrong.push(format!(
                "step {step} shares slot {slot}, which must be held"
            ));
        }
        // Readers come after the writer: it is enough that they are over.
        if readers.is_empty() {
            readers.extend(writer.map(|w| w.0));
        }
        claims.extend(readers.drain(..).map(|earlier| Claim {
            earlier,
            later: step,
            why: Why::Overwrites(slot),
        }));
        writer = Some((step, touch));
    }
}
