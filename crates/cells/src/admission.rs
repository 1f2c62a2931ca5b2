//! [`admit`]: the cells that fit the cores beside each other, and by how much the others do not.
//!
//! Each cell may use its cores in any shares, so a set of cells fits if and only if no group of them needs more than the
//! cores that the group may use can give. That is a flow of time from cells to cores; a cell whose flow is not whole is
//! refused with the rest as its excess. It is a bound on load: it does not prove that each block is in time.

use crate::section::{CellLatency, CellSpec};
use std::collections::VecDeque;
use std::fmt;
use units::Nanos;

/// Time that a cell needs for one block, and the cores that can give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellDemand {
    /// Worst cost of all its nodes.
    pub total: Nanos,
    /// Worst cost of the dearest of its nodes, which no second core makes shorter.
    pub longest: Nanos,
    /// Cores that it may use; empty for all.
    pub cores: Vec<usize>,
    /// Number of its workers, at least 1.
    pub workers: usize,
    /// A higher one is admitted before a lower one.
    pub precedence: u8,
    /// Part of a block that it may take, in percent.
    pub budget_percent: u8,
}

impl CellDemand {
    /// Demand of the cell `spec`, whose nodes have these worst costs.
    ///
    /// Real-time: setup.
    pub fn new(spec: &CellSpec, costs: &[Nanos]) -> Self {
        Self {
            cores: spec.cores.clone(),
            workers: spec.cores.len().max(1),
            precedence: spec.precedence,
            // The graph waits for a cell without latency for half a block at most.
            budget_percent: match spec.latency {
                CellLatency::None => 50,
                CellLatency::OneBlock => 100,
            },
            ..Self::of_rest(costs)
        }
    }

    /// Demand of the nodes in no cell. They are admitted before every cell.
    ///
    /// Real-time: setup.
    pub fn of_rest(costs: &[Nanos]) -> Self {
        Self {
            total: costs.iter().copied().fold(Nanos(0), Nanos::saturating_add),
            longest: costs.iter().copied().max().unwrap_or_default(),
            cores: Vec::new(),
            workers: 1,
            precedence: u8::MAX,
            budget_percent: 100,
        }
    }

    /// Lower bound on the time from the begin of its block to its result.
    fn response(&self) -> Nanos {
        let share = self.total.0.div_ceil(self.workers.max(1) as u64);
        self.longest.max(Nanos(share))
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
    fn usable(&self, percent: u8) -> Nanos {
        let kept = u128::from(100 - self.reserve_percent.min(100));
        let usable = u128::from(self.period.0) * u128::from(percent.min(100)) * kept / 10_000;
        Nanos(usable as u64)
    }
}

/// Reason why a cell does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// Its result would come too late even if nothing else ran: give it latency, cores or fewer nodes.
    TooSlow {
        /// Time that it needs for one block at least.
        needed: Nanos,
        /// Time that it has.
        budget: Nanos,
    },
    /// Its cores have no time left for it: give it other cores, or take something from them.
    Overload {
        /// Time that it needs in one block, on all of its cores together.
        needed: Nanos,
        /// Part of that for which there is no room.
        excess: Nanos,
        /// The full cores.
        cores: Vec<usize>,
        /// Indices of the demands that were admitted to them before.
        others: Vec<usize>,
    },
}

impl Misfit {
    /// Time that is missing in each block.
    pub fn excess(&self) -> Nanos {
        match self {
            Self::TooSlow { needed, budget } => Nanos(needed.0.saturating_sub(budget.0)),
            Self::Overload { excess, .. } => *excess,
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excess = self.excess();
        match self {
            Self::TooSlow { needed, budget } => write!(
                f,
                "it needs {needed} of each block and may take {budget}: {excess} too much"
            ),
            Self::Overload { needed, cores, .. } => {
                let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
                let noun = if cores.len() == 1 { "core" } else { "cores" };
                let cores = cores.join(", ");
                write!(
                    f,
                    "it needs {needed} of each block on {noun} {cores}: {excess} too much"
                )
            }
        }
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
    let mut refused = Vec::new();
    for at in order {
        let demand = &demands[at];
        let (needed, budget) = (demand.response(), capacity.usable(demand.budget_percent));
        let misfit = match needed > budget {
            true => Some(Misfit::TooSlow { needed, budget }),
            false => shares.place(at, demand.total),
        };
        refused.extend(misfit.map(|why| (at, why)));
    }
    refused
}

/// Time of each core that each demand has.
struct CoreShares<'a> {
    capacity: &'a CoreCapacity,
    /// By demand: indices of its cores.
    allowed: Vec<Vec<usize>>,
    /// By demand, then by core.
    given: Vec<Vec<u64>>,
    /// By core.
    free: Vec<u64>,
}

impl<'a> CoreShares<'a> {
    fn new(demands: &[CellDemand], capacity: &'a CoreCapacity) -> Self {
        let count = capacity.cores.len();
        let allowed = demands.iter().map(|demand| {
            let is_allowed = |at: &usize| demand.cores.contains(&capacity.cores[*at]);
            let named: Vec<usize> = (0..count).filter(is_allowed).collect();
            match named.is_empty() {
                true => (0..count).collect(),
                false => named,
            }
        });
        Self {
            capacity,
            allowed: allowed.collect(),
            given: vec![vec![0; count]; demands.len()],
            free: vec![capacity.usable(100).0; count],
        }
    }

    /// Finds room for `needed` of the demand `at`, by moving others between their cores. Without enough room it gets none.
    fn place(&mut self, at: usize, needed: Nanos) -> Option<Misfit> {
        let mut missing = needed.0;
        while missing > 0 {
            let search = self.search(at);
            let Some(core) = search.free_core else {
                for (core, given) in self.given[at].iter_mut().enumerate() {
                    self.free[core] += std::mem::take(given);
                }
                let others = (0..self.given.len())
                    .filter(|it| *it != at && search.demands[*it])
                    .collect();
                let full = (0..self.free.len()).filter(|it| search.cores[*it].is_some());
                return Some(Misfit::Overload {
                    needed,
                    excess: Nanos(missing),
                    cores: full.map(|it| self.capacity.cores[it]).collect(),
                    others,
                });
            };
            missing -= self.augment(at, core, &search, missing);
        }
        None
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
mod tests {
    use super::*;

    fn demand(total: u64, cores: &[usize]) -> CellDemand {
        CellDemand {
            cores: cores.to_vec(),
            // Only the load is under test.
            workers: usize::MAX,
            precedence: 0,
            ..CellDemand::of_rest(&vec![Nanos(1); total as usize])
        }
    }

    fn machine(cores: usize, period: u64, reserve_percent: u8) -> CoreCapacity {
        CoreCapacity {
            cores: (0..cores).collect(),
            period: Nanos(period),
            reserve_percent,
        }
    }

    /// Hall's condition, over every group of demands.
    fn fits(demands: &[CellDemand], capacity: &CoreCapacity) -> bool {
        (0..1_u32 << demands.len()).all(|group| {
            let is_in = |at: &usize| group >> at & 1 == 1;
            let members: Vec<_> = (0..demands.len()).filter(is_in).collect();
            let needed: u64 = members.iter().map(|at| demands[*at].total.0).sum();
            let may_use = |core: &&usize| {
                members.iter().any(|at| {
                    let cores = &demands[*at].cores;
                    cores.is_empty() || cores.contains(core)
                })
            };
            let usable = capacity.cores.iter().filter(may_use).count() as u64;
            needed <= usable * capacity.usable(100).0
        })
    }

    #[test]
    fn exactly_the_sets_below_the_bound_are_accepted() {
        let mut state = 5_u64;
        let mut random = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut accepted = 0;
        for _ in 0..3000 {
            let capacity = machine(1 + random(4) as usize, 20, 0);
            let count = 1 + random(6);
            let demands: Vec<_> = (0..count)
                .map(|_| {
                    let mask = random(1 << capacity.cores.len());
                    let cores = capacity.cores.iter().copied();
                    let cores: Vec<_> = cores.filter(|core| mask >> core & 1 == 1).collect();
                    demand(random(24), &cores)
                })
                .collect();
            let refused = admit(&demands, &capacity);
            assert_eq!(refused.is_empty(), fits(&demands, &capacity), "{demands:?}");
            accepted += usize::from(refused.is_empty());
            // Those that stay fit, and each refused one fits as soon as its excess is gone.
            let mut kept = demands.clone();
            refused
                .iter()
                .for_each(|(at, _)| kept[*at].total = Nanos(0));
            assert!(fits(&kept, &capacity), "{demands:?}");
            for (at, why) in &refused {
                let before = |other: &usize| other < at;
                let mut smaller = kept.clone();
                (0..smaller.len())
                    .filter(|it| !before(it))
                    .for_each(|it| smaller[it].total = Nanos(0));
                smaller[*at].total = Nanos(demands[*at].total.0 - why.excess().0);
                assert!(fits(&smaller, &capacity), "{demands:?} {why:?}");
                smaller[*at].total.0 += 1;
                assert!(!fits(&smaller, &capacity), "{demands:?} {why:?}");
            }
        }
        assert!((500..2500).contains(&accepted), "{accepted}");
    }

    #[test]
    fn the_lowest_precedence_yields_and_the_excess_is_named() {
        let mut demands = vec![demand(60, &[1]), demand(50, &[1]), demand(90, &[0])];
        demands[1].precedence = 3;
        let refused = admit(&demands, &machine(2, 100, 0));
        let why = Misfit::Overload {
            needed: Nanos(60),
            excess: Nanos(10),
            cores: vec![1],
            others: vec![1],
        };
        assert_eq!(refused, [(0, why)]);
    }

    #[test]
    fn the_reserve_stays_free_on_every_core() {
        let demands = [demand(90, &[0]), demand(91, &[1])];
        assert!(admit(&demands, &machine(2, 100, 9)).is_empty());
        let refused = admit(&demands, &machine(2, 100, 10));
        assert_eq!((refused[0].0, refused[0].1.excess()), (1, Nanos(1)));
        assert_eq!(admit(&demands, &machine(2, 100, 100)).len(), 2);
    }

    #[test]
    fn a_node_longer_than_the_budget_is_refused_on_any_number_of_cores() {
        let mut slow = demand(60, &[]);
        slow.longest = Nanos(60);
        assert!(admit(std::slice::from_ref(&slow), &machine(4, 100, 0)).is_empty());
        slow.budget_percent = 50;
        let refused = admit(&[slow], &machine(4, 100, 0));
        let (needed, budget) = (Nanos(60), Nanos(50));
        assert_eq!(refused, [(0, Misfit::TooSlow { needed, budget })]);
    }
}
