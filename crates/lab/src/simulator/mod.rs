//! A machine that does not exist: a graph's tasks played on any number of cores, move by move, under each executor's
//! protocol.
//!
//! It knows what tasks cost and what moves cost: giving a task to oneself, handing data to another core, taking a count
//! or a queue that another core had last, stealing, locking, waking. It does not know caches that fill up, cores that are
//! not alike, or memory that is shared by all: on many cores what it says is the least that is to be expected.

mod costs;
mod lanes;
mod shared;
mod stealing;
mod world;

pub use costs::{MoveCosts, Prediction};

use divisi::plan::{Dag, Schedule};
use shared::Shared;
use stealing::Stealing;
use world::World;

/// How tasks come to workers.
#[derive(Clone, Debug)]
pub enum DispatchPolicy<'a> {
    /// One worker, one task after the other.
    Sequential,
    /// Each worker follows its lane.
    Lanes(&'a Schedule),
    /// Own queues, newest first; who has nothing takes the oldest of another's.
    Stealing,
    /// One queue for all, without a lock.
    Global,
    /// One queue, from which as much weight is taken at once as makes a fair share.
    Weighted,
    /// One set for all, the most urgent first.
    Deadline,
    /// One queue behind one lock, which those without work poll.
    Mutex,
}

/// Plays `dag` once on `cores` cores.
pub fn simulate(
    dag: &Dag,
    moves: &MoveCosts,
    cores: usize,
    way: &DispatchPolicy<'_>,
) -> Prediction {
    let cores = match way {
        DispatchPolicy::Sequential => 1,
        DispatchPolicy::Lanes(schedule) => return lanes::play(dag, moves, schedule),
        _ => useful(dag, cores),
    };
    let mut world = World::new(dag, moves, cores);
    match way {
        DispatchPolicy::Sequential | DispatchPolicy::Stealing | DispatchPolicy::Lanes(_) => {
            world.play(&mut Stealing::new(dag, cores));
        }
        DispatchPolicy::Global => world.play(&mut Shared::global(dag)),
        DispatchPolicy::Weighted => world.play(&mut Shared::weighted(dag, cores)),
        DispatchPolicy::Deadline => world.play(&mut Shared::deadline(dag)),
        DispatchPolicy::Mutex => world.play(&mut Shared::mutex(dag)),
    }
    world.predicted()
}

/// More workers than this can never be busy at once on average; the executors wake no more either.
fn useful(dag: &Dag, cores: usize) -> usize {
    let path = path(dag);
    match dag.total_cost().0.div_ceil(path.max(1)) {
        0 => 1,
        most => cores.clamp(1, usize::try_from(most).unwrap_or(usize::MAX)),
    }
}

/// The longest sum of costs along a way through the graph.
fn path(dag: &Dag) -> u64 {
    dag.static_levels().into_iter().max().unwrap_or_default().0
}

#[cfg(test)]
mod tests;
