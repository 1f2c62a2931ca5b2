//! Checks that the stages of a pipeline are independent of each other.

use crate::{Plan, StageBuffer, StageBufferId, Step, StepId, StepInput, StepOp, StepOutput};

/// The steps at the ends of a stage buffer: the stage of each, and how many of its ports have the buffer's channels.
#[derive(Clone, Default)]
struct Ends {
    sends: Vec<(u32, usize)>,
    receives: Vec<(u32, usize)>,
}

/// All faults. The arrays have been checked.
pub(super) fn check(plan: &Plan, faults: &mut Vec<String>) {
    let mut stage_of_line = vec![None; plan.delay_lines.len()];
    let mut ends = vec![Ends::default(); plan.stage_buffers.len()];
    for (id, step) in plan.steps_with_ids() {
        check_stage(plan, id, step, faults);
        for member in plan.flatten(step) {
            let (StepOp::Process {
                line: Some(line), ..
            }
            | StepOp::WriteLine { line, .. }) = member.op
            else {
                continue;
            };
            let stage = &mut stage_of_line[line.0 as usize];
            if stage.is_some_and(|stage| stage != step.lag) {
                let line = line.0;
                faults.push(format!(
                    "line {line} is written and read in different stages"
                ));
            }
            *stage = Some(step.lag);
        }
        note_end(plan, step, &mut ends);
    }
    for (index, (ends, buffer)) in ends.iter().zip(&plan.stage_buffers).enumerate() {
        if !fits(ends, *buffer) {
            faults.push(format!("stage buffer {index} has wrong ends"));
        }
    }
}

fn check_stage(plan: &Plan, id: StepId, step: &Step, faults: &mut Vec<String>) {
    if step.lag > plan.latency_blocks {
        faults.push(format!("step {} is in a stage behind the last", id.0));
    }
    let after = plan.successors_of(id).iter();
    for next in after.filter(|n| plan.steps[n.0 as usize].lag != step.lag) {
        let (next, id) = (next.0, id.0);
        faults.push(format!("step {next} waits for step {id} of another stage"));
    }
    if matches!(step.op, StepOp::Sink { .. }) && step.lag != plan.latency_blocks {
        faults.push(format!("step {} is a sink and not in the last stage", id.0));
    }
}

fn note_end(plan: &Plan, step: &Step, ends: &mut [Ends]) {
    let channels = |id: StageBufferId| usize::from(plan.stage_buffers[id.0 as usize].channels.0);
    match step.op {
        StepOp::Send { buffer, .. } => {
            let fits =
                |p: &&StepInput| matches!(p, StepInput::Audio(s) if s.len() == channels(buffer));
            let found = step.inputs.of(&plan.inputs).iter().filter(fits).count();
            ends[buffer.0 as usize].sends.push((step.lag, found));
        }
        StepOp::Receive { buffer, .. } => {
            let fits =
                |p: &&StepOutput| matches!(p, StepOutput::Audio(s) if s.len() == channels(buffer));
            let found = step.outputs.of(&plan.outputs).iter().filter(fits).count();
            ends[buffer.0 as usize].receives.push((step.lag, found));
        }
        _ => {}
    }
}

fn fits(ends: &Ends, buffer: StageBuffer) -> bool {
    let Ends { sends, receives } = ends;
    match (sends.as_slice(), receives.as_slice()) {
        ([(from, 1)], [(to, 1)]) => buffer.lag > 0 && from + buffer.lag == *to,
        _ => false,
    }
}
