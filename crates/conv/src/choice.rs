//! Which partition, and which transforms, where nobody says which: the one with the least load at worst, by what was measured on this machine
//! where that is enough to tell, else by the built-in table.
//!
//! A pure function of length, block, latency, number of channels and table: the same machine chooses the same until it is
//! measured again, and by the built-in table all machines choose the same.

use crate::backends::Backends;
use crate::costs::CostTable;
use crate::partition::Partition;
use crate::search::PartitionSpace;
use std::fmt;

/// What a partition was chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionOrigin {
    /// The user said it.
    Given,
    /// What was measured on this machine.
    Measured,
    /// The built-in table.
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

/// What was chosen, and by what. The bits hang on partition and transforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionChoice {
    /// How impulse responses are cut.
    pub partition: Partition,
    /// Who transforms.
    pub backends: Backends,
    /// By what both were chosen.
    pub source: PartitionOrigin,
}

impl PartitionChoice {
    /// A partition that somebody said; transforms are as by the built-in table, so that the same is heard everywhere.
    pub fn given(partition: Partition) -> Self {
        Self {
            partition,
            backends: Backends::default(),
            source: PartitionOrigin::Given,
        }
    }
}

/// Chooses among the ways of `space` for so many channels. What was `measured` counts where it knows every size that may
/// be of use: half a table would choose among half the ways.
///
/// Real-time: setup.
pub fn choose_partition(
    space: &PartitionSpace,
    channels: usize,
    measured: Option<&CostTable>,
) -> PartitionChoice {
    let choice = |costs: &CostTable, source| {
        let found = costs.choose(space, channels, 1)?;
        Some(PartitionChoice {
            partition: found.partition,
            backends: costs.backends(),
            source,
        })
    };
    let measured = measured.filter(|costs| costs.covers(space, channels));
    let found = measured.and_then(|costs| choice(costs, PartitionOrigin::Measured));
    found.unwrap_or_else(|| {
        let built_in = choice(&CostTable::built_in(), PartitionOrigin::BuiltIn);
        built_in.expect("the table knows every size that a space has")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AddedLatency;
    use crate::costs::{LevelCost, TransformCost};
    use fft::Packing;

    /// Costs of one channel at which few large partitions are dear, up to a size.
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
    fn what_was_measured_decides_where_it_knows_every_size() {
        let space = PartitionSpace::new(5000, 64, AddedLatency::None).unwrap();
        let mut costs = measured(4096);
        for (backend, ns) in [("own", 2.0), ("realfft", 1.0)] {
            costs.keep_transform(TransformCost {
                packing: Packing::Mono,
                bins: 256,
                backend: backend.into(),
                ns,
            });
        }
        let chosen = choose_partition(&space, 1, Some(&costs));
        assert_eq!(chosen.partition.levels().len(), 1);
        assert_eq!(chosen.source, PartitionOrigin::Measured);
        assert_eq!(chosen.backends.to_string(), "own, but realfft for 256");
        let built_in = choose_partition(&space, 1, None);
        assert!(built_in.partition.levels().len() > 1);
        assert_eq!(built_in.source, PartitionOrigin::BuiltIn);
        assert_eq!(built_in.backends, Backends::default());
        // A size is missing; of sixteen channels nothing is known.
        assert_eq!(choose_partition(&space, 1, Some(&measured(512))), built_in);
        assert_eq!(
            choose_partition(&space, 1, Some(&CostTable::default())),
            built_in
        );
        let sixteen = choose_partition(&space, 16, Some(&costs));
        assert_eq!(sixteen.source, PartitionOrigin::BuiltIn);
        assert_eq!(sixteen.backends, Backends::default());
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
