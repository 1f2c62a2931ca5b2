//! Checks that every aligner has one step, in every cycle, with ports like the output that it delays.

use crate::{Aligner, DelayedEdge, Plan, Step, StepInput, StepOp, StepOutput};
use graph::Signal;
use std::collections::HashMap;

/// All faults. The arrays have been checked.
pub(super) fn check(plan: &Plan, faults: &mut Vec<String>) {
    let mut steps: Vec<Vec<&Step>> = vec![Vec::new(); plan.aligners.len()];
    for step in &plan.steps {
        if let StepOp::Align { aligner, .. } = step.op {
            steps[aligner.0 as usize].push(step);
        }
    }
    let output = |aligner: &Aligner| (aligner.node, aligner.output);
    if !plan.aligners.is_sorted_by(|a, b| output(a) < output(b)) {
        faults.push("aligners are not in the order of their outputs".into());
    }
    let is_align = |step: &Step| matches!(step.op, StepOp::Align { .. });
    if plan.loop_steps.iter().any(is_align) {
        faults.push("an aligner is part of a loop".into());
    }
    for (index, (aligner, steps)) in plan.aligners.iter().zip(&steps).enumerate() {
        let [step] = steps.as_slice() else {
            faults.push(format!("aligner {index} has not exactly one step"));
            continue;
        };
        if step.every != 1 || step.copy != 0 {
            faults.push(format!("aligner {index} does not run in every cycle"));
        }
        if !fits(plan, aligner, step) {
            faults.push(format!("aligner {index} has ports unlike its output"));
        }
        let taps = aligner.taps.of(&plan.taps);
        if taps.len() > usize::from(u16::MAX) {
            faults.push(format!("aligner {index} has too many taps"));
        }
        if taps.is_empty() || !taps.is_sorted_by(|a, b| a < b) {
            faults.push(format!(
                "the taps of aligner {index} are not in rising order"
            ));
        }
    }
    let ports = plan.aligners.iter().map(|a| ((a.node, a.output), a));
    let ports: HashMap<_, &Aligner> = ports.collect();
    let known = |it: &DelayedEdge| {
        let aligner = ports.get(&(it.from.node, it.from.port));
        aligner.is_some_and(|a| a.taps.of(&plan.taps).contains(&it.tap))
    };
    if !plan.delayed_edges.iter().all(known) {
        faults.push("an edge has a delay that no aligner has".into());
    }
}

/// Returns true if all ports of the step carry the aligner's signal.
fn fits(plan: &Plan, aligner: &Aligner, step: &Step) -> bool {
    let channels = match aligner.signal {
        Signal::Audio(channels) => Some(channels.count()),
        Signal::Control | Signal::Event => None,
    };
    let inputs = step.inputs.of(&plan.inputs).iter().map(|port| match port {
        StepInput::Audio(sources) => Some(sources.len()),
        StepInput::Events(_) => None,
    });
    let outputs = step.outputs.of(&plan.outputs).iter();
    let outputs = outputs.map(|port| match port {
        StepOutput::Audio(slots) => Some(slots.len()),
        StepOutput::Events(_) => None,
    });
    inputs.chain(outputs).all(|port| port == channels)
}
