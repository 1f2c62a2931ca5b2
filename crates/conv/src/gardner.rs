//! Doubling as early as may be, as in Gardner's "Efficient convolution without input-output delay" (1995): two partitions
//! of each size. Far from the optimum where the partitions of a level share their transforms.

use crate::partition::Partition;
use crate::search::Space;

/// Doubles the size every two partitions, up to the largest size that `space` allows.
///
/// Real-time: setup.
pub fn gardner(space: &Space) -> Partition {
    let path: Vec<usize> = (0..space.sizes().count()).collect();
    space.partition(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Latency;
    use crate::search::Space;
    use crate::search::tests::cuts;

    #[test]
    fn an_impulse_response_of_16128_frames_has_six_levels_of_two() {
        let space = Space::new(16128, 128, Latency::OneBlock).unwrap();
        assert_eq!(
            cuts(&gardner(&space)),
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
        let space = Space::new(1000, 64, Latency::None).unwrap();
        assert_eq!(
            cuts(&gardner(&space)),
            [(64, 3), (128, 2), (256, 2), (512, 1)]
        );
        let short = Space::new(1, 64, Latency::None).unwrap();
        assert_eq!(cuts(&gardner(&short)), [(64, 1)]);
    }
}
