//! The cost table that decides on a partition: the one measured on this machine if it covers all sizes, else the built-in one.
//!
//! A pure function of length, block, latency, number of channels and table: a machine chooses the same until it is measured
//! again, and by the built-in table all machines choose the same.

use super::costs::CostTable;
use super::search::PartitionSpace;
use crate::partition::Partition;
use std::fmt;

/// Origin of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionOrigin {
    /// Given by the user.
    Given,
    /// Chosen by costs measured on this machine.
    Measured,
    /// Chosen by the built-in costs.
    BuiltIn,
}

impl fmt::Display for PartitionOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "as given",
            Self::Measured => "as measured on this machine",
            Self::BuiltIn => "by the built-in table",
        })
    }
}

/// A partition and its origin. The bits of the output depend on the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionChoice {
    /// The partition.
    pub partition: Partition,
    /// Its origin.
    pub origin: PartitionOrigin,
}

impl PartitionChoice {
    /// A partition that the user gave.
    pub fn given(partition: Partition) -> Self {
        Self {
            partition,
            origin: PartitionOrigin::Given,
        }
    }
}

/// Chooses the partition with the least worst-case load for `channels` channels. `measured` decides if it covers every size that
/// may be of use: half a table would choose among half the partitions.
///
/// Real-time: setup.
pub fn choose_partition(
    space: &PartitionSpace,
    channels: usize,
    measured: Option<&CostTable>,
) -> PartitionChoice {
    let choice = |costs: &CostTable, origin| {
        let found = costs.choose(space, channels, 1)?;
        Some(PartitionChoice {
            partition: found.partition,
            origin,
        })
    };
    let measured = measured.filter(|costs| costs.covers(space, channels));
    let found = measured.and_then(|costs| choice(costs, PartitionOrigin::Measured));
    found.unwrap_or_else(|| {
        let built_in = choice(&CostTable::built_in(), PartitionOrigin::BuiltIn);
        built_in.expect("the built-in table covers every size of a space")
    })
}

#[cfg(test)]
mod tests {
    use super::super::costs::LevelCost;
    use super::*;
    use crate::partition::AddedLatency;
    use fft::Packing;

    /// Costs of one channel up to a size, at which large partitions are expensive.
    fn measured(largest: usize) -> CostTable {
        let mut costs = CostTable::default();
        let mut size = 64;
        while size <= largest {
            for count in [1, 2] {
                let ns = (size * size * count) as f64;
                costs.insert_level(LevelCost {
                    packing: Packing::Mono,
                    size,
                    count,
                    worst_ns: ns,
                    typical_ns: ns,
                });
            }
            size *= 2;
        }
        costs
    }

    #[test]
    fn measured_costs_decide_if_they_cover_every_size() {
        let space = PartitionSpace::new(5000, 64, AddedLatency::None).unwrap();
        let costs = measured(4096);
        let chosen = choose_partition(&space, 1, Some(&costs));
        assert_eq!(chosen.partition.levels().len(), 1);
        assert_eq!(chosen.origin, PartitionOrigin::Measured);
        let built_in = choose_partition(&space, 1, None);
        assert!(built_in.partition.levels().len() > 1);
        assert_eq!(built_in.origin, PartitionOrigin::BuiltIn);
        // A size is missing; there are no costs of sixteen channels.
        assert_eq!(choose_partition(&space, 1, Some(&measured(512))), built_in);
        assert_eq!(
            choose_partition(&space, 1, Some(&CostTable::default())),
            built_in
        );
        let sixteen = choose_partition(&space, 16, Some(&costs));
        assert_eq!(sixteen.origin, PartitionOrigin::BuiltIn);
    }

    #[test]
    fn there_is_a_choice_for_any_length_and_block() {
        for bits in 0..=12 {
            for length in [1, 15, 1000, 70_000, 1 << 20] {
                for latency in [AddedLatency::None, AddedLatency::OneBlock] {
                    let space = PartitionSpace::new(length, 1 << bits, latency).unwrap();
                    assert!(choose_partition(&space, 2, None).partition.max_ir_frames() >= length);
                }
            }
        }
    }
}
