//! [`Misfit`]: the reason of a refusal, in words.

use std::fmt;
use units::Nanos;

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
    /// The result of deferred work would come too late even if nothing else ran: give it cores, or less work.
    WorkTooSlow {
        /// Time that it needs in so many blocks at least.
        needed: Nanos,
        /// Time that it has.
        budget: Nanos,
        /// Blocks until the result is due.
        blocks: u32,
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
            Self::TooSlow { needed, budget } | Self::WorkTooSlow { needed, budget, .. } => {
                Nanos(needed.0.saturating_sub(budget.0))
            }
            Self::Overload { excess, .. } => *excess,
            Self::WindowsMeet { overlap, .. } => *overlap,
        }
    }

    /// Indices of the demands that are in its way.
    pub fn others(&self) -> &[usize] {
        match self {
            Self::TooSlow { .. } | Self::WorkTooSlow { .. } => &[],
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
            Self::WorkTooSlow {
                needed,
                budget,
                blocks,
            } => {
                let noun = if *blocks == 1 { "block" } else { "blocks" };
                write!(
                    f,
                    "with deferred work it needs {needed} of {blocks} {noun} and may take {budget}: {excess} too much"
                )
            }
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
