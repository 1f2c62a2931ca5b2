//! Loops compiled once more for wider vectors: the same arithmetic, eight floats at a time where the machine can.
//!
//! A fused multiply-add would round once where the loop says twice, so it is not among the instructions: the bits are the same on every
//! machine.

/// A loop, with the data that it works on.
///
/// Loops over pairs of samples are left to the compiler as they are. Cut into runs of a constant length they look to it, in blocks of 128
/// frames and more, like columns to be transposed.
pub trait Wide {
    /// Its result.
    type Output;

    /// Runs it. Implementations are `#[inline(always)]`, with all that they call, so that they are compiled for the instructions of the
    /// function that calls them.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest vectors that the machine has.
///
/// Real-time: hot if the loop is.
#[inline(always)]
pub fn widest<W: Wide>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has the instructions, as was just asked.
        return unsafe { with_avx2(work) };
    }
    plain(work)
}

/// Not inlined: those who have wider vectors would carry it along.
#[cfg_attr(target_arch = "x86_64", inline(never))]
fn plain<W: Wide>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Wide>(work: W) -> W::Output {
    work.run()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Sum<'s>(&'s [f32], &'s mut [f32]);

    impl Wide for Sum<'_> {
        type Output = usize;

        #[inline(always)]
        fn run(self) -> usize {
            for (to, x) in self.1.iter_mut().zip(self.0) {
                *to += 3.0 * x;
            }
            self.1.len()
        }
    }

    #[test]
    fn wide_vectors_round_as_narrow_ones() {
        let from: Vec<f32> = (0..100_u8).map(|x| 0.1 + f32::from(x)).collect();
        let (mut wide, mut narrow) = (vec![0.3; 100], vec![0.3; 100]);
        assert_eq!(widest(Sum(&from, &mut wide)), 100);
        Sum(&from, &mut narrow).run();
        assert_eq!(wide, narrow);
    }
}
