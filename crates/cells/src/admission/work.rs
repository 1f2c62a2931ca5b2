//! Deferred work that is done when it is due: the time that is needed until then, and that there is.
//!
//! Until the result of a job is due, its cell plays as many blocks, and does the requests of other jobs that begin and are due in
//! them. What that takes is at most what its workers can give.

use super::{CellDemand, CoreCapacity, Misfit};
use crate::policy::Policy;
use units::Nanos;

impl CellDemand {
    /// Need until the result of deferred work is due, if that is too much.
    pub(super) fn work_too_slow(&self, capacity: &CoreCapacity) -> Option<Misfit> {
        self.work.iter().find_map(|job| {
            let blocks = job.blocks.max(1);
            let needed = self.needed_in(blocks);
            let given = capacity.usable(100 * u64::from(blocks));
            let (needed, budget) = match &self.policy {
                Policy::TimeTriggered(windows) => (needed, windows.min_supply(given)),
                Policy::EventTriggered(server) => (server.response(needed), given),
                _ => (needed, given),
            };
            (needed > budget).then_some(Misfit::WorkTooSlow {
                needed,
                budget,
                blocks,
            })
        })
    }

    /// Lower bound on the time that each of its workers needs in so many blocks.
    fn needed_in(&self, blocks: u32) -> Nanos {
        let due = self.work.iter().filter(|job| job.blocks.max(1) <= blocks);
        let longest = due.clone().map(|job| job.worst).max().unwrap_or_default();
        let requests = |of: u32| u64::from(blocks / of.max(1));
        let work = due.map(|job| job.worst.0.saturating_mul(requests(job.blocks)));
        let nodes = self.usual.unwrap_or(self.total);
        let nodes = nodes.0.saturating_mul(blocks.into());
        let all = work.fold(nodes, u64::saturating_add);
        longest.max(Nanos(all.div_ceil(self.workers.max(1) as u64)))
    }
}
