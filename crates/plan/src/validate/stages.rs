//! Whether the stages of a pipeline are kept apart.

use crate::{InPort, OutPort, Passage, PassageId, Plan, Step, Work};

/// The ends of a passage: by how many cycles each lags, and how wide it is.
#[derive(Clone, Default)]
struct Ends {
    sends: Vec<(u32, usize)>,
    receives: Vec<(u32, usize)>,
}

/// All faults. The shape has been checked.
pub(super) fn check(plan: &Plan, wrong: &mut Vec<String>) {
    let mut lag_of_line = vec![None; plan.lines.len()];
    let mut ends = vec![Ends::default(); plan.passages.len()];
    for (id, step) in plan.ids() {
        let after = plan.after(id).iter();
        if step.lag > plan.ahead {
            wrong.push(format!("step {} lags more than the plan", id.0));
        }
        for next in after.filter(|n| plan.steps[n.0 as usize].lag != step.lag) {
            wrong.push(format!(
                "step {} waits for one of another stage, step {}",
                next.0, id.0
            ));
        }
        if matches!(step.work, Work::Keep { .. }) && step.lag != plan.ahead {
            wrong.push(format!("step {} is a sink and not in the last stage", id.0));
        }
        let members = match step.work {
            Work::Loop(id) => plan.loops[id.0 as usize].steps.of(&plan.inner),
            _ => std::slice::from_ref(step),
        };
        for member in members {
            if let Work::Node {
                line: Some(line), ..
            }
            | Work::Write { line, .. } = member.work
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
    for (index, (ends, passage)) in ends.iter().zip(&plan.passages).enumerate() {
        if !fits(ends, *passage) {
            wrong.push(format!("passage {index} has not the ends it should have"));
        }
    }
}

fn note(plan: &Plan, step: &Step, ends: &mut [Ends]) {
    let width = |id: PassageId| usize::from(plan.passages[id.0 as usize].channels.0);
    match step.work {
        Work::Send { passage, .. } => {
            let is_wide = |p: &InPort| matches!(p, InPort::Audio(s) if s.len() == width(passage));
            let inputs = step.inputs.of(&plan.inputs).iter();
            let found = inputs.filter(|p| is_wide(p)).count();
            ends[passage.0 as usize].sends.push((step.lag, found));
        }
        Work::Receive { passage, .. } => {
            let is_wide = |p: &OutPort| matches!(p, OutPort::Audio(s) if s.len() == width(passage));
            let outputs = step.outputs.of(&plan.outputs).iter();
            let found = outputs.filter(|p| is_wide(p)).count();
            ends[passage.0 as usize].receives.push((step.lag, found));
        }
        _ => {}
    }
}

fn fits(ends: &Ends, passage: Passage) -> bool {
    let Ends { sends, receives } = ends;
    match (sends.as_slice(), receives.as_slice()) {
        ([(from, 1)], [(to, 1)]) => passage.stages > 0 && from + passage.stages == *to,
        _ => false,
    }
}
