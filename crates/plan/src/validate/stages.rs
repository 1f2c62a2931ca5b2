//! Whether the stages of a pipeline are kept apart.

use crate::{Plan, StageBuffer, StageBufferId, Step, StepInput, StepOp, StepOutput};

/// The ends of a passage: by how many cycles each lags, and how wide it is.
#[derive(Clone, Default)]
struct Ends {
    sends: Vec<(u32, usize)>,
    receives: Vec<(u32, usize)>,
}

/// All faults. The shape has been checked.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    let mut lag_of_line = vec![None; plan.delay_lines.len()];
    let mut ends = vec![Ends::default(); plan.stage_buffers.len()];
    for (id, step) in plan.steps_with_ids() {
        let after = plan.successors_of(id).iter();
        if step.lag > plan.latency_blocks {
            wrong.push(format!("step {} lags more than the plan", id.0));
        }
        for next in after.filter(|n| plan.steps[n.0 as usize].lag != step.lag) {
            wrong.push(format!(
                "step {} waits for one of another stage, step {}",
                next.0, id.0
            ));
        }
        if matches!(step.op, StepOp::Sink { .. }) && step.lag != plan.latency_blocks {
            wrong.push(format!("step {} is a sink and not in the last stage", id.0));
        }
        let members = match step.op {
            StepOp::Loop(id) => plan.loops[id.0 as usize].steps.of(&plan.loop_steps),
            _ => std::slice::from_ref(step),
        };
        for member in members {
            if let StepOp::Process {
                line: Some(line), ..
            }
            | StepOp::WriteLine { line, .. } = member.op
            {
                let there = &mut lag_of_line[line.0 as usize];
                if there.is_some_and(|lag| lag != step.lag) {
                    wrong.push(format!(
                        "line {} is written and read in different stages",
                        line.0
                    ));
                }
                *there = Some(step.lag);
            }
        }
        note(plan, step, &mut ends);
    }
    for (index, (ends, passage)) in ends.iter().zip(&plan.stage_buffers).enumerate() {
        if !fits(ends, *passage) {
            wrong.push(format!("passage {index} has not the ends it should have"));
        }
    }
}

fn note(plan: &Plan, step: &Step, ends: &mut [Ends]) {
    let width = |id: StageBufferId| usize::from(plan.stage_buffers[id.0 as usize].channels.0);
    match step.op {
        StepOp::Send { passage, .. } => {
            let is_wide =
                |p: &StepInput| matches!(p, StepInput::Audio(s) if s.len() == width(passage));
            let inputs = step.inputs.of(&plan.inputs).iter();
            let found = inputs.filter(|p| is_wide(p)).count();
            ends[passage.0 as usize].sends.push((step.lag, found));
        }
        StepOp::Receive { passage, .. } => {
            let is_wide =
                |p: &StepOutput| matches!(p, StepOutput::Audio(s) if s.len() == width(passage));
            let outputs = step.outputs.of(&plan.outputs).iter();
            let found = outputs.filter(|p| is_wide(p)).count();
            ends[passage.0 as usize].receives.push((step.lag, found));
        }
        _ => {}
    }
}

fn fits(ends: &Ends, passage: StageBuffer) -> bool {
    let Ends { sends, receives } = ends;
    match (sends.as_slice(), receives.as_slice()) {
        ([(from, 1)], [(to, 1)]) => passage.lag > 0 && from + passage.lag == *to,
        _ => false,
    }
}
