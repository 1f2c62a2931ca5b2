//! [`WorkReadings`]: the times of deferred work, job by job, from many repeats of one run.

use super::costs::{MeasuredWork, StepCost};
use super::dry_run::DryRun;
use super::readings::times;
use graph::NodeId;
use rt::cache_sweep::CacheSweep;
use rt::stamp::TickScale;
use std::collections::BTreeMap;

/// Most requests of a job whose times are held.
const MAX_REQUESTS: usize = 512;

/// A job: its node, and its number among those of the node.
type JobKey = (NodeId, usize);

/// Times of one job in ticks.
#[derive(Default)]
struct JobReadings {
    /// By request: all readings with warm caches.
    warm: Vec<Vec<u32>>,
    polluted: Vec<Vec<u32>>,
    /// Fewest blocks from a request until its result is due.
    blocks: u64,
}

/// Times of deferred work, in ticks.
#[derive(Default)]
pub(super) struct WorkReadings(BTreeMap<JobKey, JobReadings>);

/// Requests of each job so far in one run.
#[derive(Default)]
pub(super) struct RunRequests(BTreeMap<JobKey, usize>);

impl WorkReadings {
    /// Does the work that waits in `run`, between two cycles: no step has a part of it. With `sweep` its caches are polluted.
    pub(super) fn read(
        &mut self,
        run: &DryRun,
        requests: &mut RunRequests,
        sweep: Option<&CacheSweep>,
    ) {
        let prepare = || {
            if let Some(sweep) = sweep {
                sweep.read();
            }
        };
        run.run_deferred(prepare, |key, ticks, blocks| {
            let request = requests.0.entry(key).or_default();
            let all = self.0.entry(key).or_default();
            all.blocks = match all.blocks {
                0 => blocks,
                before => before.min(blocks),
            };
            let of_job = match sweep {
                Some(_) => &mut all.polluted,
                None => &mut all.warm,
            };
            if *request < MAX_REQUESTS {
                of_job.resize(of_job.len().max(*request + 1), Vec::new());
                of_job[*request].push(u32::try_from(ticks).unwrap_or(u32::MAX));
            }
            *request += 1;
        });
    }

    /// The costs of the jobs of `node`.
    pub(super) fn of_node(&self, node: NodeId, scale: TickScale) -> Vec<MeasuredWork> {
        let jobs = self.0.range((node, 0)..=(node, usize::MAX));
        let costs = jobs.map(|(_, job)| {
            let of = |all: &[Vec<u32>]| times(all, scale, 0.0, |_| true);
            MeasuredWork {
                cost: StepCost::new(of(&job.warm), of(&job.polluted)),
                blocks: job.blocks,
            }
        });
        costs.collect()
    }
}
