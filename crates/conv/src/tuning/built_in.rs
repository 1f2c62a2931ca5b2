//! Built-in costs of levels, for machines without measured costs.
//!
//! Made with `benches/distributed` (`table 60`) on 2026-11-21 on a virtual machine with two cores (Xeon, AVX-512, 2 MiB of
//! second-level cache): each number is the least of three runs, since other guests of the machine used its memory meanwhile.

use super::costs::{CostTable, LevelCost};
use fft::Packing;

/// Size of the level; then for some numbers of partitions the worst and the typical cost in µs.
type Row = (usize, &'static [(usize, f64, f64)]);

/// One channel.
#[rustfmt::skip]
const ONE: &[Row] = &[
    (16, &[(3, 3.3, 1.1), (7, 3.6, 1.1), (15, 3.6, 1.4), (31, 4.4, 1.8), (63, 5.4, 2.4)]),
    (32, &[(2, 3.2, 1.1), (6, 3.4, 1.3), (14, 3.7, 1.5), (30, 4.3, 2.1), (62, 5.7, 3.0), (126, 8.1, 4.7)]),
    (64, &[(2, 3.3, 1.4), (6, 4.1, 1.6), (14, 4.0, 2.0), (30, 5.4, 2.8), (62, 7.0, 4.3), (126, 11.8, 7.1)]),
    (128, &[(2, 4.8, 1.9), (6, 5.1, 2.2), (14, 5.9, 3.0), (30, 7.2, 4.3), (62, 10.2, 6.8), (126, 21.4, 12.2)]),
    (256, &[(2, 6.2, 2.6), (6, 6.7, 3.0), (14, 7.1, 4.3), (30, 11.5, 7.0), (62, 18.0, 12.2), (126, 32.5, 22.4)]),
    (512, &[(2, 8.9, 3.6), (6, 7.8, 4.8), (14, 10.3, 7.4), (30, 17.6, 12.7), (62, 27.3, 14.7), (126, 39.8, 25.9)]),
    (1024, &[(2, 12.1, 6.3), (6, 12.0, 8.3), (14, 17.7, 13.2), (30, 24.5, 12.9), (62, 32.0, 19.5), (126, 64.8, 34.3)]),
    (2048, &[(2, 20.0, 11.3), (6, 23.3, 15.9), (14, 30.7, 17.7), (30, 36.1, 22.8), (62, 55.5, 33.7), (126, 94.6, 60.2)]),
    (4096, &[(2, 31.6, 20.4), (6, 38.8, 25.5), (14, 46.5, 32.1), (30, 63.6, 43.2), (62, 92.2, 64.5)]),
    (8192, &[(2, 57.8, 40.1), (6, 78.0, 50.4), (14, 93.6, 63.9), (30, 113.6, 87.4), (63, 170.3, 147.8)]),
    (16384, &[(2, 126.3, 85.6), (6, 166.1, 108.6), (14, 206.7, 137.4), (31, 227.8, 190.7)]),
    (32768, &[(2, 278.4, 184.3), (6, 354.1, 234.9), (15, 388.2, 286.4)]),
    (65536, &[(2, 645.5, 397.9), (7, 660.8, 504.7)]),
    (131072, &[(2, 1080.8, 897.3), (3, 1130.1, 950.8)]),
];

/// Sixteen channels: side by side up to 16384 frames, one after the other above.
#[rustfmt::skip]
const SIXTEEN: &[Row] = &[
    (16, &[(3, 3.8, 1.7), (7, 4.1, 2.3), (15, 6.3, 3.9), (31, 11.4, 6.4), (63, 17.9, 11.6)]),
    (32, &[(2, 5.0, 2.3), (6, 5.7, 3.3), (14, 8.3, 5.8), (30, 19.1, 11.3), (62, 23.6, 13.5), (126, 40.5, 24.3)]),
    (64, &[(2, 8.1, 3.6), (6, 9.0, 5.8), (14, 16.0, 10.7), (30, 20.9, 10.7), (62, 30.6, 17.4), (126, 62.4, 30.6)]),
    (128, &[(2, 12.3, 6.9), (6, 16.4, 11.6), (14, 22.5, 13.2), (30, 28.3, 18.3), (62, 46.0, 28.8), (126, 82.0, 51.8)]),
    (256, &[(2, 24.0, 12.5), (6, 26.9, 17.5), (14, 37.8, 24.4), (30, 51.5, 35.2), (62, 80.6, 56.7), (126, 140.5, 103.7)]),
    (512, &[(2, 43.8, 25.4), (6, 39.3, 35.4), (14, 68.3, 47.4), (30, 97.1, 69.7), (62, 148.9, 119.6), (126, 259.6, 215.8)]),
    (1024, &[(2, 86.3, 52.2), (6, 107.2, 74.1), (14, 148.4, 101.2), (30, 199.9, 150.0), (62, 310.4, 250.2), (126, 500.7, 425.7)]),
    (2048, &[(2, 191.7, 105.8), (6, 240.1, 152.5), (14, 310.2, 209.6), (30, 409.9, 302.2), (62, 606.4, 512.8), (126, 1123.0, 975.8)]),
    (4096, &[(2, 428.3, 241.8), (6, 518.1, 339.4), (14, 635.9, 443.7), (30, 894.9, 685.8), (62, 1372.3, 1286.1)]),
    (8192, &[(2, 964.0, 543.1), (6, 1031.8, 703.2), (14, 1373.1, 961.0), (30, 1906.1, 1602.1), (63, 3197.5, 2709.0)]),
    (16384, &[(2, 1935.0, 1236.8), (6, 2325.2, 1689.0), (14, 2900.7, 2581.2), (31, 4453.6, 3708.4)]),
    (32768, &[(2, 4224.5, 3018.5), (6, 6196.1, 5143.5), (15, 7803.0, 6884.0)]),
    (65536, &[(2, 10758.8, 10318.6), (7, 14866.9, 14185.8)]),
    (131072, &[(2, 23316.3, 22513.9), (3, 25930.1, 25113.5)]),
];

impl CostTable {
    /// Costs on the machine on which the table was made.
    ///
    /// Real-time: setup.
    pub fn built_in() -> Self {
        let mut costs = Self::default();
        for (packing, rows) in [(Packing::Mono, ONE), (Packing::Batch, SIXTEEN)] {
            for &(size, known) in rows {
                for &(count, worst, typical) in known {
                    costs.insert_level(LevelCost {
                        packing,
                        size,
                        count,
                        worst_ns: worst * 1e3,
                        typical_ns: typical * 1e3,
                    });
                }
            }
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::PartitionSpace;
    use super::*;
    use crate::partition::AddedLatency;

    #[test]
    fn there_is_a_partition_for_any_length_block_and_number_of_channels() {
        let costs = CostTable::built_in();
        for length in [1, 100, 16384, 524_288, 1 << 22] {
            for block in [1, 16, 64, 4096] {
                for channels in [1, 32] {
                    let space = PartitionSpace::new(length, block, AddedLatency::None).unwrap();
                    let found = costs.choose(&space, channels, 1).unwrap();
                    assert!(found.partition.max_ir_frames() >= length);
                }
            }
        }
    }

    #[test]
    fn long_responses_have_several_levels_each_longer_than_the_last() {
        for channels in [1, 32] {
            let space = PartitionSpace::new(524_288, 64, AddedLatency::None).unwrap();
            let found = CostTable::built_in().choose(&space, channels, 1).unwrap();
            let levels = found.partition.levels();
            assert!((3..=8).contains(&levels.len()), "{}", found.partition);
        }
    }
}
