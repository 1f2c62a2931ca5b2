//! Doubling partitions: W. G. Gardner, "Efficient convolution without input-output delay" (JAES 43(3), 1995), two partitions of
//! each size. It is far from the optimum where the partitions of a level share their transforms (seed 000, section 2.2).

use super::search::PartitionSpace;
use crate::partition::Partition;

/// The partition whose size doubles every two partitions, up to the largest size of `space`.
///
/// Real-time: setup.
pub fn gardner_partition(space: &PartitionSpace) -> Partition {
    let path: Vec<usize> = (0..space.sizes().count()).collect();
    space.partition(&path)
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::sizes_and_counts;
    use super::*;
    use crate::partition::AddedLatency;

    #[test]
    fn an_impulse_response_of_16128_frames_has_six_levels_of_two() {
        let space = PartitionSpace::new(16128, 128, AddedLatency::OneBlock).unwrap();
        assert_eq!(
            sizes_and_counts(&gardner_partition(&space)),
            [
                (128, 2),
                (256, 2),
                (512, 2),
                (1024, 2),
                (2048, 2),
                (4096, 2)
            ]
        );
    }

    #[test]
    fn without_latency_the_first_level_has_one_more() {
        let space = PartitionSpace::new(1000, 64, AddedLatency::None).unwrap();
        assert_eq!(
            sizes_and_counts(&gardner_partition(&space)),
            [(64, 3), (128, 2), (256, 2), (512, 1)]
        );
        let short = PartitionSpace::new(1, 64, AddedLatency::None).unwrap();
        assert_eq!(sizes_and_counts(&gardner_partition(&short)), [(64, 1)]);
    }
}
