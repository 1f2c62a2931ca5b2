//! The built-in table of costs, for machines on which nobody has measured.
//!
//! Made with `benches/distributed` on 2026-11-21 on a virtual machine with two cores (Xeon, AVX-512, 2 MiB of second-level
//! cache), which was busy: two runs, averaged and rounded. Of sixteen channels, sizes from 16384 on are sixteen times those
//! of one.

use crate::costs::{Costs, LevelCost, TransformCost};
use fft::Packing;

/// A size; then at worst and typically what a level costs without its partitions, and what each partition adds, in ns.
type Row = (usize, [f64; 2], [f64; 2]);

/// One channel.
const ONE: &[Row] = &[
    (16, [4700.0, 17.0], [3150.0, 12.0]),
    (32, [4900.0, 33.0], [3200.0, 25.0]),
    (64, [4950.0, 62.0], [3500.0, 39.0]),
    (128, [6100.0, 94.0], [3800.0, 71.0]),
    (256, [6700.0, 247.0], [4700.0, 150.0]),
    (512, [7900.0, 446.0], [5600.0, 309.0]),
    (1024, [11000.0, 742.0], [6900.0, 625.0]),
    (2048, [13500.0, 1580.0], [10200.0, 1258.0]),
    (4096, [24500.0, 2830.0], [16600.0, 2496.0]),
    (8192, [35000.0, 5700.0], [31400.0, 4660.0]),
    (16384, [75000.0, 12200.0], [60000.0, 9330.0]),
    (32768, [193_000.0, 24000.0], [125_000.0, 19900.0]),
    (65536, [430_000.0, 50000.0], [288_000.0, 41400.0]),
    (131_072, [1_170_000.0, 105_000.0], [720_000.0, 84000.0]),
];

/// Sixteen channels: side by side up to 256 frames, one after the other above.
const SIXTEEN: &[Row] = &[
    (16, [5000.0, 256.0], [2730.0, 154.0]),
    (32, [5500.0, 455.0], [3180.0, 302.0]),
    (64, [7200.0, 783.0], [4040.0, 557.0]),
    (128, [9600.0, 1404.0], [5160.0, 1243.0]),
    (256, [17700.0, 2960.0], [7240.0, 2520.0]),
    (512, [25200.0, 5110.0], [18900.0, 4960.0]),
    (1024, [48000.0, 9700.0], [32300.0, 9750.0]),
    (2048, [81500.0, 20800.0], [66000.0, 19200.0]),
    (4096, [217_000.0, 37000.0], [161_000.0, 39200.0]),
    (8192, [514_000.0, 78000.0], [354_000.0, 77600.0]),
    (16384, [1_200_000.0, 190_000.0], [960_000.0, 150_000.0]),
    (32768, [3_000_000.0, 380_000.0], [2_000_000.0, 320_000.0]),
    (65536, [6_900_000.0, 790_000.0], [4_600_000.0, 662_000.0]),
    (
        131_072,
        [18_700_000.0, 1_680_000.0],
        [11_500_000.0, 1_340_000.0],
    ),
];

impl Costs {
    /// What levels cost on the machine on which the table was made.
    ///
    /// Real-time: setup.
    pub fn built_in() -> Self {
        let mut costs = Self::default();
        for (packing, rows) in [(Packing::Mono, ONE), (Packing::Batch, SIXTEEN)] {
            for (size, worst, typical) in rows {
                let at = |[fixed, each]: &[f64; 2], count: usize| fixed + each * count as f64;
                for count in [1, 2] {
                    costs.keep_level(LevelCost {
                        packing,
                        size: *size,
                        count,
                        worst_ns: at(worst, count),
                        typical_ns: at(typical, count),
                    });
                }
                costs.keep_transform(TransformCost {
                    packing,
                    bins: *size,
                    backend: "own".to_owned(),
                    ns: typical[0],
                });
            }
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Latency;
    use crate::search::Space;

    #[test]
    fn it_knows_a_way_of_cutting_for_any_length_block_and_number_of_channels() {
        let costs = Costs::built_in();
        for length in [1, 100, 16384, 524_288, 1 << 22] {
            for block in [1, 16, 64, 4096] {
                for channels in [1, 32] {
                    let space = Space::new(length, block, Latency::None).unwrap();
                    let found = costs.choose(&space, channels, 1).unwrap();
                    assert!(found.partition.reach() >= length);
                }
            }
        }
    }

    #[test]
    fn long_responses_have_several_levels_each_longer_than_the_last() {
        for channels in [1, 32] {
            let space = Space::new(524_288, 64, Latency::None).unwrap();
            let found = Costs::built_in().choose(&space, channels, 1).unwrap();
            let levels = found.partition.levels();
            assert!((3..=8).contains(&levels.len()), "{}", found.partition);
        }
    }
}
