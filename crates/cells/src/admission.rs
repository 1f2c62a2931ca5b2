//! [`admit`]: the cells that fit the cores beside each other, and by how much the others do not.
//!
//! Each cell may use its cores in any shares, so a set of cells fits if and only if no group of them needs more than the
//! cores that the group may use can give. That is a flow of time from cells to cores; a cell whose flow is not whole is
//! refused with the rest as its excess. It is a bound on load: it does not prove that each block is in time.
//!
//! | policy | its block is in time if | takes from its cores |
//! |---|---|---|
//! | best effort, none | its work, spread over its workers, fits the budget | its work, in any shares; with a latency of several blocks its usual work |
//! | time-triggered | its windows give as much in the worst stretch of its budget | what its windows have in the best block, on each core |
//! | event-triggered | the periods that its work takes fit the budget | its share of a block, in any shares |
//!
//! Deferred work has as many blocks as there are until its result is due (`work`). It counts where it is done, once.
//!
//! | file | holds |
//! |---|---|
//! | `cost` | what nodes and their deferred work cost |
//! | `work` | whether deferred work is done when it is due |
//! | `misfit` | the reasons of a refusal |

mod cost;
mod misfit;
mod work;

pub use cost::{ComputedCosts, JobCost, NodeCost};
pub use misfit::Misfit;

use crate::policy::{Policy, Windows};
use crate::section::CellSpec;
use std::collections::VecDeque;
use units::Nanos;

/// Time that a cell needs for one block, and the cores that can give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellDemand {
    /// Worst cost of all its nodes.
    pub total: Nanos,
    /// Usual cost of a block, where the cell has several blocks for a result. None: the worst cost.
    pub usual: Option<Nanos>,
    /// Worst cost of the dearest of its nodes, which no second core makes shorter.
    pub longest: Nanos,
    /// Deferred work that it does, of its own nodes and of others.
    pub work: Vec<JobCost>,
    /// Cores that it may use; empty for all.
    pub cores: Vec<usize>,
    /// Number of its workers, at least 1.
    pub workers: usize,
    /// A higher one is admitted before a lower one.
    pub precedence: u8,
    /// Part of a block that it may take, in percent; above 100 with a latency of several blocks.
    pub budget_percent: u16,
    /// Rule by which it shares its cores.
    pub policy: Policy,
}

impl CellDemand {
    /// Demand of the cell `spec`, which computes what has these costs.
    ///
    /// Real-time: setup.
    pub fn new(spec: &CellSpec, costs: ComputedCosts) -> Self {
        let usual = costs.usual();
        let rest = Self::of_rest(costs);
        let blocks = spec.latency.blocks();
        Self {
            cores: spec.cores.clone(),
            workers: spec.workers(),
            policy: spec.policy.clone(),
            precedence: spec.precedence,
            // The graph waits for a cell without latency for half a block at most.
            budget_percent: match blocks {
                0 => 50,
                blocks => 100 * blocks as u16,
            },
            usual: (blocks > 1).then_some(usual.min(rest.total)),
            ..rest
        }
    }

    /// Demand of the nodes in no cell. They are admitted before every cell.
    ///
    /// Real-time: setup.
    pub fn of_rest(costs: ComputedCosts) -> Self {
        Self {
            total: costs.worst(),
            usual: None,
            longest: costs.longest(),
            work: costs.work,
            cores: Vec::new(),
            workers: 1,
            precedence: u8::MAX,
            budget_percent: 100,
            policy: Policy::BestEffort,
        }
    }

    /// Lower bound on the time that each of its workers needs for a block.
    fn work(&self) -> Nanos {
        let share = self.total.0.div_ceil(self.workers.max(1) as u64);
        self.longest.max(Nanos(share))
    }

    /// What it needs of a block, and has, if that is too little. The block gives `budget` to the end of its time.
    fn too_slow(&self, budget: Nanos) -> Option<Misfit> {
        let (needed, budget) = match &self.policy {
            Policy::TimeTriggered(windows) => (self.work(), windows.min_supply(budget)),
            Policy::EventTriggered(server) => (server.response(self.work()), budget),
            _ => (self.work(), budget),
        };
        (needed > budget).then_some(Misfit::TooSlow { needed, budget })
    }

    /// Its windows, if it has some.
    fn windows(&self) -> Option<&Windows> {
        match &self.policy {
            Policy::TimeTriggered(windows) => Some(windows),
            _ => None,
        }
    }

    /// What it takes of each block: cores by their indices, and time of them in any shares.
    fn parts(&self, cores: &[usize], period: Nanos) -> Vec<(Vec<usize>, Nanos)> {
        let named = (0..cores.len()).filter(|at| self.cores.contains(&cores[*at]));
        let named: Vec<usize> = named.collect();
        let allowed = match named.is_empty() {
            true => (0..cores.len()).collect(),
            false => named,
        };
        match &self.policy {
            Policy::TimeTriggered(windows) => {
                let taken = windows.max_supply(period);
                allowed
                    .into_iter()
                    .map(|core| (vec![core], taken))
                    .collect()
            }
            Policy::EventTriggered(server) => vec![(allowed, server.share_of(period))],
            _ => {
                let work = self.work.iter().map(|it| match self.usual {
                    Some(_) => it.usual_load(),
                    None => it.load(),
                });
                let nodes = self.usual.unwrap_or(self.total);
                vec![(allowed, work.fold(nodes, Nanos::saturating_add))]
            }
        }
    }
}

/// The cores of a machine, and the time that they give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreCapacity {
    /// Numbers of the cores.
    pub cores: Vec<usize>,
    /// Length of a block.
    pub period: Nanos,
    /// Part of each block that stays idle, in percent.
    pub reserve_percent: u8,
}

impl CoreCapacity {
    /// Time of one block that `percent` of it leaves without the reserve.
    fn usable(&self, percent: u64) -> Nanos {
        let kept = u128::from(100 - self.reserve_percent.min(100));
        let usable = u128::from(self.period.0) * u128::from(percent) * kept / 10_000;
        Nanos(usable.min(u128::from(u64::MAX)) as u64)
    }
}

/// Returns the indices of the demands that do not fit, with the reasons, in the order of precedence. Those that are not
/// returned fit together; a demand that fits beside those before it is never refused. A demand none of whose cores is
/// among those of the machine may use all, as its process will.
///
/// Real-time: setup.
pub fn admit(demands: &[CellDemand], capacity: &CoreCapacity) -> Vec<(usize, Misfit)> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(demands[*at].precedence));
    let mut shares = CoreShares::new(demands, capacity);
    let (mut refused, mut admitted) = (Vec::new(), Vec::new());
    for at in order {
        let budget = capacity.usable(demands[at].budget_percent.into());
        let misfit = demands[at].too_slow(budget);
        let misfit = misfit.or_else(|| demands[at].work_too_slow(capacity));
        let misfit = misfit.or_else(|| windows_meet(at, &admitted, demands, &shares));
        let misfit = misfit.or_else(|| shares.place(at));
        match misfit {
            Some(why) => refused.push((at, why)),
            None => admitted.push(at),
        }
    }
    refused
}

/// The first of `admitted` whose windows meet those of the demand `at`.
fn windows_meet(
    at: usize,
    admitted: &[usize],
    demands: &[CellDemand],
    shares: &CoreShares<'_>,
) -> Option<Misfit> {
    let windows = demands[at].windows()?;
    admitted.iter().find_map(|other| {
        let overlap = windows.overlap(demands[*other].windows()?);
        let core = shares.common_core(at, *other)?;
        (overlap > Nanos(0)).then_some(Misfit::WindowsMeet {
            other: *other,
            overlap,
            core,
        })
    })
}

/// Time of each core that each part of a demand has.
struct CoreShares<'a> {
    capacity: &'a CoreCapacity,
    /// By part: its demand.
    owners: Vec<usize>,
    /// By part: what it needs.
    needed: Vec<Nanos>,
    /// By part: indices of its cores.
    allowed: Vec<Vec<usize>>,
    /// By part, then by core.
    given: Vec<Vec<u64>>,
    /// By core.
    free: Vec<u64>,
}

impl<'a> CoreShares<'a> {
    fn new(demands: &[CellDemand], capacity: &'a CoreCapacity) -> Self {
        let count = capacity.cores.len();
        let mut shares = Self {
            capacity,
            owners: Vec::new(),
            needed: Vec::new(),
            allowed: Vec::new(),
            given: Vec::new(),
            free: vec![capacity.usable(100).0; count],
        };
        for (at, demand) in demands.iter().enumerate() {
            for (allowed, needed) in demand.parts(&capacity.cores, capacity.period) {
                shares.owners.push(at);
                shares.needed.push(needed);
                shares.allowed.push(allowed);
                shares.given.push(vec![0; count]);
            }
        }
        shares
    }

    /// Parts of the demand `owner`.
    fn parts(&self, owner: usize) -> Vec<usize> {
        let parts = (0..self.owners.len()).filter(|part| self.owners[*part] == owner);
        parts.collect()
    }

    /// Number of a core that both demands may use.
    fn common_core(&self, a: usize, b: usize) -> Option<usize> {
        let cores = |owner| {
            let parts = self.parts(owner).into_iter();
            parts.flat_map(|part| self.allowed[part].iter().copied())
        };
        let common = cores(a).find(|core| cores(b).any(|other| other == *core));
        Some(self.capacity.cores[common?])
    }

    /// Finds room for all parts of the demand `owner`. Without enough room none has any.
    fn place(&mut self, owner: usize) -> Option<Misfit> {
        let parts = self.parts(owner);
        let misfit = parts.iter().find_map(|part| self.place_part(*part));
        if misfit.is_some() {
            parts.into_iter().for_each(|part| self.release(part));
        }
        misfit
    }

    fn release(&mut self, part: usize) {
        for (core, given) in self.given[part].iter_mut().enumerate() {
            self.free[core] += std::mem::take(given);
        }
    }

    /// Finds room for a part, by moving others between their cores.
    fn place_part(&mut self, at: usize) -> Option<Misfit> {
        let mut missing = self.needed[at].0;
        while missing > 0 {
            let search = self.search(at);
            let Some(core) = search.free_core else {
                let full = (0..self.free.len()).filter(|it| search.cores[*it].is_some());
                return Some(Misfit::Overload {
                    needed: self.needed[at],
                    excess: Nanos(missing),
                    cores: full.map(|it| self.capacity.cores[it]).collect(),
                    others: self.owners_of(&search, self.owners[at]),
                });
            };
            missing -= self.augment(at, core, &search, missing);
        }
        None
    }

    /// The demands that a search has reached, but `own`.
    fn owners_of(&self, search: &ShareSearch, own: usize) -> Vec<usize> {
        let reached = (0..self.owners.len()).filter(|part| search.demands[*part]);
        let mut owners: Vec<usize> = reached.map(|part| self.owners[part]).collect();
        owners.retain(|owner| *owner != own);
        owners.dedup();
        owners
    }

    /// Searches the shortest chain of moves from the demand `from` to a core with free time.
    fn search(&self, from: usize) -> ShareSearch {
        let mut found = ShareSearch {
            free_core: None,
            demands: vec![false; self.given.len()],
            cores: vec![None; self.free.len()],
            via: vec![None; self.given.len()],
        };
        let mut queue = VecDeque::from([from]);
        found.demands[from] = true;
        while let Some(demand) = queue.pop_front() {
            for &core in &self.allowed[demand] {
                if found.cores[core].is_some() {
                    continue;
                }
                found.cores[core] = Some(demand);
                if self.free[core] > 0 {
                    found.free_core = Some(core);
                    return found;
                }
                for other in 0..self.given.len() {
                    if self.given[other][core] > 0 && !found.demands[other] {
                        (found.demands[other], found.via[other]) = (true, Some(core));
                        queue.push_back(other);
                    }
                }
            }
        }
        found
    }

    /// Moves as much as the chain that ends at `core` allows, `limit` at most. Returns that.
    fn augment(&mut self, from: usize, core: usize, search: &ShareSearch, limit: u64) -> u64 {
        let chain = search.chain(from, core);
        let movable = chain.iter().filter_map(|(demand, _, left)| {
            let left = (*left)?;
            Some(self.given[*demand][left])
        });
        let amount = movable.fold(limit.min(self.free[core]), u64::min);
        for (demand, taken, left) in chain {
            self.given[demand][taken] += amount;
            if let Some(left) = left {
                self.given[demand][left] -= amount;
            }
        }
        self.free[core] -= amount;
        amount
    }
}

/// Result of a search for free time.
struct ShareSearch {
    /// Core with free time, at the end of the chain.
    free_core: Option<usize>,
    /// By demand: it was reached.
    demands: Vec<bool>,
    /// By core: the demand from which it was reached.
    cores: Vec<Option<usize>>,
    /// By demand: the full core on which it was found.
    via: Vec<Option<usize>>,
}

impl ShareSearch {
    /// Moves along the chain, last first: a demand, the core that it takes more of, and the core that it leaves.
    fn chain(&self, from: usize, core: usize) -> Vec<(usize, usize, Option<usize>)> {
        let (mut chain, mut next) = (Vec::new(), Some(core));
        while let Some(core) = next {
            let Some(demand) = self.cores[core] else {
                break;
            };
            next = self.via[demand].filter(|_| demand != from);
            chain.push((demand, core, next));
        }
        chain
    }
}

#[cfg(test)]
mod tests;
