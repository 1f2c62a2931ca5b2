//! The partition with the fewest operations: G. García, "Optimal filter partition for efficient convolution with short
//! input/output delay" (AES 113, 2002).

use super::search::{PartitionSpace, min_total_load};
use crate::partition::Partition;

/// Operations of a real transform of n points, divided by n log2 n.
const TRANSFORM: f64 = 2.5;
/// Operations of a complex multiply-add.
const MULTIPLY_ADD: f64 = 8.0;

/// Floating-point operations of a level of `count` partitions of `size` frames for one of its periods: a forward and an inverse
/// real transform of twice the size, and a multiply-add for every bin of every partition. Size 1 is a direct head of `count`
/// taps, for one frame of output.
///
/// Real-time: setup.
pub fn level_operations(size: usize, count: usize) -> f64 {
    if size == 1 {
        return 2.0 * count as f64;
    }
    let points = 2.0 * size as f64;
    2.0 * TRANSFORM * points * points.log2() + MULTIPLY_ADD * size as f64 * count as f64
}

/// The partition with the fewest operations per frame.
///
/// Real-time: setup.
pub fn garcia_partition(space: &PartitionSpace) -> Partition {
    let found = min_total_load(space, &|size, count| Some(level_operations(size, count)));
    found.expect("every size has a cost").partition
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::sizes_and_counts;
    use super::*;
    use crate::partition::AddedLatency;

    #[test]
    fn an_impulse_response_of_16128_frames_has_two_levels_of_fourteen() {
        let space = PartitionSpace::new(16128, 128, AddedLatency::OneBlock).unwrap();
        assert_eq!(
            sizes_and_counts(&garcia_partition(&space)),
            [(128, 14), (1024, 14)]
        );
    }

    #[test]
    fn it_never_takes_more_operations_than_doubling() {
        for length in [1, 64, 1000, 16384, 65536, 524_288, 1 << 20] {
            for block in [16, 64, 1024] {
                for latency in [AddedLatency::None, AddedLatency::OneBlock] {
                    let space = PartitionSpace::new(length, block, latency).unwrap();
                    let load = |size: usize, count: usize| Some(level_operations(size, count));
                    let sum = |partition: &Partition| space.total_load(partition, &load).unwrap();
                    let doubling = sum(&super::super::gardner_partition(&space));
                    assert!(sum(&garcia_partition(&space)) <= doubling * (1.0 + 1e-12));
                }
            }
        }
    }
}
