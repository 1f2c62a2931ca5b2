//! A list scheduler without a strategy: the control that the others are compared with.

use super::list::list_schedule;
use super::{Dag, Schedule};

/// Starts ready tasks in a pseudo-random order; the same order for the same seed. Real-time: setup.
pub fn random(dag: &Dag, workers: usize, seed: u64) -> Schedule {
    list_schedule(dag, workers, |task| {
        (split_mix(seed ^ split_mix(u64::from(task.0))), 0)
    })
}

/// One step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
