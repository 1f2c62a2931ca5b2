//! A list scheduler without a strategy: the control that the others are compared with.

use super::list::list_schedule;
use super::{Dag, Schedule};
use units::SplitMix64;

/// Starts ready tasks in a pseudo-random order; the same order for the same seed. Real-time: setup.
pub fn random(dag: &Dag, workers: usize, seed: u64) -> Schedule {
    let mix = |seed| SplitMix64(seed).bits();
    list_schedule(dag, workers, |task| (mix(seed ^ mix(u64::from(task.0))), 0))
}
