//! Schedulers: free functions from a plan and a number of workers to lanes.

use crate::levels::sum;
use crate::{Plan, StepId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// One step in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which.
    pub step: StepId,
    /// When it starts, from the start of the cycle.
    pub start: Nanos,
    /// When it is over.
    pub finish: Nanos,
}

/// Which worker runs what when, if every step takes exactly what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// A worker's steps, in order.
    pub lanes: Vec<Vec<Placed>>,
    /// When the last one is over.
    pub makespan: Nanos,
}

impl Schedule {
    /// The order alone: what [`Plan::lanes`] has.
    pub fn steps(&self) -> Vec<Vec<StepId>> {
        let ids = |lane: &Vec<Placed>| lane.iter().map(|p| p.step).collect();
        self.lanes.iter().map(ids).collect()
    }
}

/// Highest level first: of the steps that are ready the one with the highest static level (node costs only), of equal
/// ones that with more immediate successors, then the one first in the plan; on the worker that is free first.
pub fn hlfet(plan: &Plan, workers: usize) -> Schedule {
    list(plan, workers, |id| {
        let step = &plan.steps[id.0 as usize];
        (
            plan.static_levels[id.0 as usize].0,
            step.successors.len() as u64,
        )
    })
}

/// Steps that are ready in an order that only chance knows: a control for the others. Equal for an equal seed.
pub fn random(plan: &Plan, workers: usize, seed: u64) -> Schedule {
    list(plan, workers, |id| {
        let key = mix(seed ^ mix(u64::from(id.0)));
        (key, 0)
    })
}

/// List scheduling: whenever a worker is free and a step is ready, the ready step of the highest `priority` starts.
fn list(plan: &Plan, workers: usize, priority: impl Fn(StepId) -> (u64, u64)) -> Schedule {
    let workers = workers.max(1);
    let mut lanes = vec![Vec::new(); workers];
    let mut waits: Vec<u32> = plan.steps.iter().map(|s| s.activation).collect();
    let entry = |id: StepId| (priority(id), Reverse(id));
    let starts = plan.ids().filter(|(_, s)| s.activation == 0);
    let mut ready: BinaryHeap<_> = starts.map(|(id, _)| entry(id)).collect();
    let mut idle: BinaryHeap<Reverse<usize>> = (0..workers).map(Reverse).collect();
    let mut busy: BinaryHeap<Reverse<(Nanos, usize, StepId)>> = BinaryHeap::new();
    let mut now = Nanos(0);
    loop {
        while !ready.is_empty() && !idle.is_empty() {
            let (Some((_, Reverse(step))), Some(Reverse(worker))) = (ready.pop(), idle.pop())
            else {
                break;
            };
            let finish = sum(now, plan.steps[step.0 as usize].cost);
            lanes[worker].push(Placed {
                step,
                start: now,
                finish,
            });
            busy.push(Reverse((finish, worker, step)));
        }
        let Some(Reverse((finish, ..))) = busy.peek().copied() else {
            break;
        };
        now = finish;
        while let Some(Reverse((_, worker, step))) = busy.peek().copied().filter(|b| b.0.0 == now) {
            busy.pop();
            idle.push(Reverse(worker));
            for next in plan.after(step) {
                waits[next.0 as usize] -= 1;
                if waits[next.0 as usize] == 0 {
                    ready.push(entry(*next));
                }
            }
        }
    }
    Schedule {
        lanes,
        makespan: now,
    }
}

/// One round of SplitMix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
