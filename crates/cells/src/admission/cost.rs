//! [`ComputedCosts`]: what nodes cost in a block, and their deferred work until it is due.

use units::Nanos;

/// Costs of a node in one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCost {
    /// The worst one.
    pub worst: Nanos,
    /// The usual one.
    pub usual: Nanos,
    /// Its deferred work, which the two leave out; `None` where they contain it.
    pub work: Option<Vec<JobCost>>,
}

/// Costs of a job of deferred work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCost {
    /// The worst one of a request.
    pub worst: Nanos,
    /// The usual one.
    pub usual: Nanos,
    /// Blocks from a request until its result is due, and at least so many until the next request.
    pub blocks: u32,
}

impl JobCost {
    /// Part of one block that it takes, with its worst cost.
    pub fn load(&self) -> Nanos {
        Nanos(self.worst.0.div_ceil(u64::from(self.blocks.max(1))))
    }

    /// Part of one block that it takes as a rule.
    pub fn usual_load(&self) -> Nanos {
        Nanos(self.usual.0.div_ceil(u64::from(self.blocks.max(1))))
    }

    /// Returns true if another process may leave it to the node's: work that is due in the next block does not travel with every kind.
    fn may_stay(&self) -> bool {
        self.blocks <= 1
    }
}

impl From<Nanos> for NodeCost {
    fn from(worst: Nanos) -> Self {
        Self {
            worst,
            usual: worst,
            work: None,
        }
    }
}

/// Costs of all that one cell computes, or the rest of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComputedCosts {
    /// Of its nodes.
    pub nodes: Vec<NodeCost>,
    /// Of deferred work.
    pub work: Vec<JobCost>,
}

impl ComputedCosts {
    /// Adds a node that it plays; `is_away` says if another process does its deferred work.
    pub fn add_node(&mut self, cost: NodeCost, is_away: bool) {
        let work = cost.work.iter().flatten().copied();
        self.work
            .extend(work.filter(|it| !is_away || it.may_stay()));
        self.nodes.push(cost);
    }

    /// Adds the deferred work of a node elsewhere. Where it is not known by itself, the node counts as a whole.
    pub fn add_work(&mut self, cost: NodeCost) {
        match cost.work {
            Some(work) => self.work.extend(work),
            None => self.nodes.push(cost),
        }
    }

    /// The sum of the worst costs of the nodes.
    pub fn worst(&self) -> Nanos {
        sum(self.nodes.iter().map(|cost| cost.worst))
    }

    /// The sum of the usual costs of the nodes.
    pub fn usual(&self) -> Nanos {
        sum(self.nodes.iter().map(|cost| cost.usual))
    }

    /// The worst cost of the dearest node.
    pub fn longest(&self) -> Nanos {
        let worst = self.nodes.iter().map(|cost| cost.worst);
        worst.max().unwrap_or_default()
    }

    /// The worst costs in one block, with the part of the deferred work that falls to it.
    pub fn per_block(&self) -> Nanos {
        let work = sum(self.work.iter().map(JobCost::load));
        self.worst().saturating_add(work)
    }
}

fn sum(all: impl Iterator<Item = Nanos>) -> Nanos {
    all.fold(Nanos(0), Nanos::saturating_add)
}
