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

use crate::policy::{Policy, Windows};
use crate::section::CellSpec;
use std::collections::VecDeque;
use std::fmt;
use units::Nanos;

/// Costs of a node in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCost {
    /// The worst one.
    pub worst: Nanos,
    /// The usual one.
    pub usual: Nanos,
}

impl From<Nanos> for NodeCost {
    fn from(worst: Nanos) -> Self {
        let usual = worst;
        Self { worst, usual }
    }
}

/// Time that a cell needs for one block, and the cores that can give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellDemand {
    /// Worst cost of all its nodes.
    pub total: Nanos,
    /// Usual cost of a block, where the cell has several blocks for a result. None: the worst cost.
    pub usual: Option<Nanos>,
    /// Worst cost of the dearest of its nodes, which no second core makes shorter.
    pub longest: Nanos,
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
    /// Demand of the cell `spec`, whose nodes have these costs: the worst one of each, and the usual one.
    ///
    /// Real-time: setup.
    pub fn new(spec: &CellSpec, costs: &[NodeCost]) -> Self {
        let rest = Self::of_rest(costs);
        let blocks = spec.latency.blocks();
        let usual = costs.iter().map(|cost| cost.usual);
        let usual = usual.fold(Nanos(0), Nanos::saturating_add);
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
    pub fn of_rest(costs: &[NodeCost]) -> Self {
        let worst = costs.iter().map(|cost| cost.worst);
        let total = worst.clone().fold(Nanos(0), Nanos::saturating_add);
        Self {
            total,
            usual: None,
            longest: worst.max().unwrap_or_default(),
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
            _ => vec![(allowed, self.usual.unwrap_or(self.total))],
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
    fn usable(&self, percent: u16) -> Nanos {
        let kept = u128::from(100 - self.reserve_percent.min(100));
        let usable = u128::from(self.period.0) * u128::from(percent) * kept / 10_000;
        Nanos(usable.min(u128::from(u64::MAX)) as u64)
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
    /// Its windows meet those of another: give one of them other windows or cores.
    WindowsMeet {
        /// Index of the other demand.
        other: usize,
        /// Longest time in which both are open.
        overlap: Nanos,
        /// A core of both.
        core: usize,
    },
}

impl Misfit {
    /// Time that is missing in each block.
    pub fn excess(&self) -> Nanos {
        match self {
            Self::TooSlow { needed, budget } => Nanos(needed.0.saturating_sub(budget.0)),
            Self::Overload { excess, .. } => *excess,
            Self::WindowsMeet { overlap, .. } => *overlap,
        }
    }

    /// Indices of the demands that are in its way.
    pub fn others(&self) -> &[usize] {
        match self {
            Self::TooSlow { .. } => &[],
            Self::Overload { others, .. } => others,
            Self::WindowsMeet { other, .. } => std::slice::from_ref(other),
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
            Self::WindowsMeet { core, .. } => write!(
                f,
                "its windows on core {core} meet those of another for {excess}"
            ),
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
    let (mut refused, mut admitted) = (Vec::new(), Vec::new());
    for at in order {
        let budget = capacity.usable(demands[at].budget_percent);
        let misfit = demands[at].too_slow(budget);
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
mod tests {
    use super::*;
    use crate::policy::{Server, TimeWindow};

    fn demand(total: u64, cores: &[usize]) -> CellDemand {
        CellDemand {
            cores: cores.to_vec(),
            // Only the load is under test.
            workers: usize::MAX,
            precedence: 0,
            ..CellDemand::of_rest(&vec![Nanos(1).into(); total as usize])
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
        let parts = demands.iter().map(|it| (it.cores.clone(), it.total.0));
        parts_fit(&parts.collect::<Vec<_>>(), capacity)
    }

    /// The same of parts: cores, or none for all, and time.
    fn parts_fit(parts: &[(Vec<usize>, u64)], capacity: &CoreCapacity) -> bool {
        (0..1_u32 << parts.len()).all(|group| {
            let is_in = |at: &usize| group >> at & 1 == 1;
            let members: Vec<_> = (0..parts.len()).filter(is_in).collect();
            let needed: u64 = members.iter().map(|at| parts[*at].1).sum();
            let may_use = |core: &&usize| {
                members.iter().any(|at| {
                    let cores = &parts[*at].0;
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

    /// The demand and the windows of a table in units of 20 us, which a server needs at least.
    fn random_demand(random: &mut impl FnMut(u64) -> u64, cores: usize) -> CellDemand {
        const UNIT: u64 = 20_000;
        let mask = 1 + random((1 << cores) - 1);
        let named: Vec<_> = (0..cores).filter(|core| mask >> core & 1 == 1).collect();
        let policy = match random(4) {
            0 => {
                let period = [5, 10, 20][random(3) as usize];
                let length = 1 + random(period / 2);
                let offset = random(period - length + 1);
                let at = |units: u64| Nanos(units * UNIT);
                Policy::TimeTriggered(
                    Windows::new(vec![TimeWindow {
                        period: at(period),
                        offset: at(offset),
                        length: at(length),
                    }])
                    .unwrap(),
                )
            }
            1 => {
                let period = 2 + random(8);
                let budget = 1 + random(period);
                let server = Server::new(Nanos(budget * UNIT), Nanos(period * UNIT));
                Policy::EventTriggered(server.unwrap())
            }
            _ => Policy::BestEffort,
        };
        let total = Nanos(random(10) * UNIT);
        CellDemand {
            total,
            usual: None,
            longest: total,
            cores: named,
            workers: 1,
            precedence: 0,
            budget_percent: [50, 100][random(2) as usize],
            policy,
        }
    }

    /// The bound, moment by moment: each block alone in time, no windows that meet, and Hall's condition.
    fn fits_by_force(demands: &[CellDemand], capacity: &CoreCapacity) -> bool {
        const UNIT: usize = 20_000;
        let block = capacity.period.0 as usize / UNIT;
        let is_open = |windows: &Windows, at: usize| {
            let (at, it) = (at as u64 * UNIT as u64, windows.table()[0]);
            (it.offset.0..it.offset.0 + it.length.0).contains(&(at % it.period.0))
        };
        let open = |windows: &Windows, from: usize, len: usize| {
            (from..from + len)
                .filter(|at| is_open(windows, *at))
                .count()
        };
        let mut parts = Vec::new();
        for demand in demands {
            let (budget, work) = (
                block * usize::from(demand.budget_percent) / 100,
                demand.total.0 as usize / UNIT,
            );
            match &demand.policy {
                Policy::TimeTriggered(windows) => {
                    if (0..20).any(|from| open(windows, from, budget) < work) {
                        return false;
                    }
                    let most = (0..20)
                        .map(|from| open(windows, from, block))
                        .max()
                        .unwrap();
                    let most = (most * UNIT) as u64;
                    parts.extend(demand.cores.iter().map(|core| (vec![*core], most)));
                }
                Policy::EventTriggered(server) => {
                    let (mut left, mut periods) = (demand.total.0, 0);
                    while left > 0 {
                        left = left.saturating_sub(server.budget.0);
                        periods += 1;
                    }
                    if periods * server.period.0 > (budget * UNIT) as u64 {
                        return false;
                    }
                    let share = server.budget.0 as f64 / server.period.0 as f64;
                    let share = (share * capacity.period.0 as f64 - 1e-3).ceil() as u64;
                    parts.push((demand.cores.clone(), share));
                }
                _ if work > budget => return false,
                _ => parts.push((demand.cores.clone(), demand.total.0)),
            }
        }
        let pairs = demands.iter().enumerate();
        let meet = pairs.flat_map(|(at, a)| demands[..at].iter().map(move |b| (a, b)));
        let meet = meet.filter(|(a, b)| a.cores.iter().any(|core| b.cores.contains(core)));
        let mut meet = meet.filter_map(|(a, b)| Some((a.windows()?, b.windows()?)));
        let is_both =
            |(a, b): (&Windows, &Windows)| (0..20).any(|at| is_open(a, at) && is_open(b, at));
        !meet.any(is_both) && parts_fit(&parts, capacity)
    }

    #[test]
    fn exactly_the_sets_below_the_bound_are_accepted_under_every_policy() {
        let mut state = 17_u64;
        let mut random = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let (mut accepted, mut kinds) = (0, [0; 3]);
        for _ in 0..4000 {
            let cores = 1 + random(3) as usize;
            let capacity = machine(cores, 20 * 20_000, 0);
            let count = 1 + random(4);
            let demands: Vec<_> = (0..count)
                .map(|_| random_demand(&mut random, cores))
                .collect();
            let refused = admit(&demands, &capacity);
            assert_eq!(
                refused.is_empty(),
                fits_by_force(&demands, &capacity),
                "{demands:?} {refused:?}"
            );
            accepted += usize::from(refused.is_empty());
            for (_, why) in &refused {
                assert!(why.excess() > Nanos(0), "{why:?}");
                kinds[match why {
                    Misfit::TooSlow { .. } => 0,
                    Misfit::Overload { .. } => 1,
                    Misfit::WindowsMeet { .. } => 2,
                }] += 1;
            }
            // Those that stay fit.
            let is_kept = |at: &usize| refused.iter().all(|(other, _)| other != at);
            let kept = (0..demands.len())
                .filter(is_kept)
                .map(|at| demands[at].clone());
            assert!(
                fits_by_force(&kept.collect::<Vec<_>>(), &capacity),
                "{demands:?}"
            );
        }
        assert!((400..3600).contains(&accepted), "{accepted}");
        assert!(kinds.iter().all(|count| *count > 50), "{kinds:?}");
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
        slow.budget_percent = 200;
        assert!(admit(std::slice::from_ref(&slow), &machine(4, 40, 0)).is_empty());
        slow.budget_percent = 50;
        let refused = admit(&[slow], &machine(4, 100, 0));
        let (needed, budget) = (Nanos(60), Nanos(50));
        assert_eq!(refused, [(0, Misfit::TooSlow { needed, budget })]);
    }
}
