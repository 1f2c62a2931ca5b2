//! [`Wide`]: ordinary code, compiled for the widest vectors of this machine.
//!
//! ```text
//!  Wide::run(work) ─┬─ plain    work.run()      what every processor of its kind has
//!                   ├─ avx2     work.run()      four numbers of 64 bits at once
//!                   └─ avx512   work.run()      eight of them
//! ```
//!
//! The compiler lays loops into vectors by itself. It neither fuses a product and a sum nor changes the order of sums, so the bits
//! are the same on every machine. Kernels, whose bits depend on the set, are another thing: [`Kernels`](crate::Kernels).

/// Work whose loops run in vectors.
pub trait WideWork {
    /// Its result.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, with all that they call: what is a function of its own is compiled for
    /// plain instructions.
    fn run(self) -> Self::Output;
}

/// The widest vectors of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide(Level);

/// A value is made only where the machine has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Wide {
    /// Those of this machine.
    ///
    /// Real-time: setup.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if has_avx512() {
                return Self(Level::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                return Self(Level::Avx2);
            }
        }
        Self(Level::Plain)
    }

    /// All that this machine has, the narrowest first: for tests.
    ///
    /// Real-time: setup.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let more = [
            is_x86_feature_detected!("avx2").then_some(Self(Level::Avx2)),
            has_avx512().then_some(Self(Level::Avx512)),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let more = [None::<Self>; 0];
        std::iter::once(Self(Level::Plain)).chain(more.into_iter().flatten())
    }

    /// Returns true if a vector has products of whole numbers of 64 bits.
    #[inline]
    pub fn has_wide_products(self) -> bool {
        match self.0 {
            Level::Plain => false,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => false,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => true,
        }
    }

    /// Does `work`.
    ///
    /// Real-time: hot if the work is.
    #[inline(always)]
    pub fn run<W: WideWork>(self, work: W) -> W::Output {
        match self.0 {
            Level::Plain => work.run(),
            // SAFETY: `best` and `available` have found the instructions on this machine before they made the value.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { with_avx512(work) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: WideWork>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2")]
fn with_avx512<W: WideWork>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and products that a fused multiply-add would round in another way.
    struct Polynomial<'a>(&'a [f64; 64], &'a mut [f64; 64]);

    impl WideWork for Polynomial<'_> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            for (y, x) in self.1.iter_mut().zip(self.0) {
                *y = 0.1 + x * (0.7 + x * (-0.3 + x * 0.9));
            }
        }
    }

    #[test]
    fn all_widths_give_the_same_bits() {
        let from: [f64; 64] = std::array::from_fn(|i| 1.0 / (i as f64 + 1.3));
        let run = |wide: Wide| {
            let mut to = [0.0; 64];
            wide.run(Polynomial(&from, &mut to));
            to.map(f64::to_bits)
        };
        let plain = run(Wide(Level::Plain));
        assert!(Wide::available().all(|wide| run(wide) == plain));
        assert_eq!(Wide::available().last(), Some(Wide::best()));
    }
}
