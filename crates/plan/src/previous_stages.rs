//! The pipeline stages of the plan before, which bound those of a plan that takes over from it.

use crate::{Plan, StepOp};
use graph::NodeId;
use std::collections::HashMap;

/// A holder of state in a pipeline: the operations of a node, or the aligner of one of its outputs.
pub(crate) type StageKey = (NodeId, Option<u16>);

/// The stage of each node and aligner in the plan that plays until now.
///
/// While its pipeline drains, the next plan's fills. In each cycle the old plan runs first. So a node may begin with the
/// first block of the new plan in the cycle in which it ends with the last block of the old one, and not before: its new
/// stage is at least its old one less 1. Such stages always exist: none of the bounds is beyond the last stage but one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousStages(HashMap<StageKey, u32>);

impl PreviousStages {
    /// The stages of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let mut stages = HashMap::new();
        if plan.latency_blocks > 1 {
            for (_, step) in plan.steps_with_ids() {
                for member in plan.flatten(step) {
                    if let Some(key) = key(plan, member.op) {
                        stages.insert(key, step.lag);
                    }
                }
            }
        }
        Self(stages)
    }

    /// First stage in which `key` may be.
    pub(crate) fn min(&self, key: StageKey) -> u32 {
        self.0.get(&key).map_or(0, |stage| stage.saturating_sub(1))
    }
}

fn key(plan: &Plan, op: StepOp) -> Option<StageKey> {
    match op {
        StepOp::Process { node, .. } | StepOp::WriteLine { node, .. } => Some((node, None)),
        StepOp::Align { node, aligner } => {
            let output = plan.aligners[aligner.0 as usize].output;
            Some((node, Some(output)))
        }
        _ => None,
    }
}
