//! Which partition where nobody says which: the one with the least load at worst, by what was measured on this machine
//! where that is enough to tell, else by the built-in table.
//!
//! A pure function of length, block, latency, number of channels and table: the same machine chooses the same until it is
//! measured again, and by the built-in table all machines choose the same.

use crate::costs::Costs;
use crate::partition::Partition;
use crate::search::Space;
use std::fmt;

/// What a partition was chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user said it.
    Given,
    /// What was measured on this machine.
    Measured,
    /// The built-in table.
    BuiltIn,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "as given",
            Self::Measured => "as measured on this machine",
            Self::BuiltIn => "by the built-in table",
        })
    }
}

/// Chooses among the ways of `space` for so many channels. What was `measured` counts where it knows every size that may
/// be of use: half a table would choose among half the ways.
///
/// Real-time: setup.
pub fn choose(space: &Space, channels: usize, measured: Option<&Costs>) -> (Partition, Source) {
    let measured = measured.filter(|costs| costs.knows(space, channels));
    let found = measured.and_then(|costs| costs.choose(space, channels, 1));
    if let Some(found) = found {
        return (found.partition, Source::Measured);
    }
    let found = Costs::built_in().choose(space, channels, 1);
    let found = found.expect("the table knows every size that a space has");
    (found.partition, Source::BuiltIn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::costs::LevelCost;
    use fft::Packing;

    /// Costs of one channel at which few large partitions are dear, up to a size.
    fn measured(largest: usize) -> Costs {
        let mut costs = Costs::default();
        let mut size = 64;
        while size <= largest {
            for count in [1, 2] {
                let ns = (size * size * count) as f64;
                costs.keep_level(LevelCost {
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
        let space = Space::new(5000, 64, Latency::None).unwrap();
        let (partition, source) = choose(&space, 1, Some(&measured(4096)));
        assert_eq!((partition.levels().len(), source), (1, Source::Measured));
        let (built_in, source) = choose(&space, 1, None);
        assert!(built_in.levels().len() > 1);
        assert_eq!(source, Source::BuiltIn);
        let expected = (built_in, Source::BuiltIn);
        // A size is missing; of sixteen channels nothing is known.
        assert_eq!(choose(&space, 1, Some(&measured(512))), expected);
        assert_eq!(choose(&space, 1, Some(&Costs::default())), expected);
        assert_eq!(choose(&space, 16, Some(&measured(4096))).1, Source::BuiltIn);
    }

    #[test]
    fn there_is_a_choice_for_any_length_and_block() {
        for bits in 0..=12 {
            for length in [1, 15, 1000, 70_000, 1 << 20] {
                for latency in [Latency::None, Latency::OneBlock] {
                    let space = Space::new(length, 1 << bits, latency).unwrap();
                    assert!(choose(&space, 2, None).0.reach() >= length);
                }
            }
        }
    }
}
