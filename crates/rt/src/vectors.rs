//! Ordinary code compiled once more for wider vectors: the same arithmetic, eight or sixteen floats at a time where the machine can.
//!
//! ```text
//!  widest(work) ─┬─ plain    work.run()      what every processor of its kind has
//!                ├─ avx2     work.run()      eight floats at once
//!                └─ avx512   work.run()      sixteen of them
//! ```
//!
//! The compiler lays loops into vectors by itself. It neither fuses a product and a sum nor changes the order of sums, so the bits are the
//! same on every machine. Kernels whose bits depend on the set are another thing (`Kernels` of the room `fft`).

mod turn;

pub use turn::{four, turned};

use std::sync::atomic::{AtomicU8, Ordering};

/// Work whose loops run in vectors.
///
/// Loops over pairs of samples are left to the compiler as they are. Cut into runs of a constant length they look to it, in blocks of 128
/// frames and more, like columns to be transposed.
pub trait WideWork {
    /// Its result.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`, with all that they call, so that they are compiled for the instructions of the
    /// function that calls them: what is a function of its own is compiled for plain ones.
    fn run(self) -> Self::Output;
}

/// Vectors of this machine.
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

/// The result of [`Wide::best`], one more than the level's number; 0 before.
static BEST: AtomicU8 = AtomicU8::new(0);

impl Wide {
    /// The widest ones of this machine.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn best() -> Self {
        // Relaxed: the number says all, and whoever misses it finds the same one.
        #[cfg(target_arch = "x86_64")]
        match BEST.load(Ordering::Relaxed) {
            3 => return Self(Level::Avx512),
            2 => return Self(Level::Avx2),
            _ => {}
        }
        match BEST.load(Ordering::Relaxed) {
            0 => Self::find(),
            _ => Self(Level::Plain),
        }
    }

    /// Asks the machine.
    #[cold]
    fn find() -> Self {
        let best = Self::available().last().unwrap_or(Self(Level::Plain));
        BEST.store(best.0 as u8 + 1, Ordering::Relaxed);
        best
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
            Level::Plain => plain(work),
            // SAFETY: `available` has found the instructions on this machine before it made the value.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { with_avx512(work) },
        }
    }
}

/// Does work with the widest vectors that the machine has.
///
/// Real-time: hot if the work is.
#[inline(always)]
pub fn widest<W: WideWork>(work: W) -> W::Output {
    Wide::best().run(work)
}

/// Does work with vectors of at most eight floats. Two kinds are slower in wider ones: what reads a table at the places that a vector
/// holds, since gathering takes longer than eight loads, and lanes of eight, among which the compiler would look for other sixteen.
///
/// Real-time: hot if the work is.
#[inline(always)]
pub fn in_eights<W: WideWork>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if Wide::best().0 != Level::Plain {
        // SAFETY: a machine with wider vectors than plain ones has AVX2, as `best` has found.
        return unsafe { with_avx2(work) };
    }
    plain(work)
}

/// Copies as many samples as both have. Returns true if `mark` is not 0 for one of them. For use in a [`WideWork`].
///
/// Real-time: hot if `mark` is.
#[inline(always)]
pub fn copy_any(from: &[f32], to: &mut [f32], mark: impl Fn(f32) -> u32) -> bool {
    // Blocks of 64 frames are the most frequent ones: their number is asked for once.
    let whole = <&mut [f32; COPIED]>::try_from(&mut *to);
    if let (Ok(from), Ok(to)) = (<&[f32; COPIED]>::try_from(from), whole) {
        let samples = *from;
        return copy_marked(&samples, to, mark);
    }
    copy_marked(from, to, mark)
}

#[inline(always)]
fn copy_marked(from: &[f32], to: &mut [f32], mark: impl Fn(f32) -> u32) -> bool {
    let mut any = 0;
    for (to, x) in to.iter_mut().zip(from) {
        *to = *x;
        any |= mark(*x);
    }
    any != 0
}

/// Samples that [`copy_any`] copies in registers.
const COPIED: usize = 64;

/// Not inlined: those who have wider vectors would carry it along.
#[cfg_attr(target_arch = "x86_64", inline(never))]
fn plain<W: WideWork>(work: W) -> W::Output {
    work.run()
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Sums and products that a fused multiply-add would round in another way.
    struct Polynomial<'a>(&'a [f64; 64], &'a mut [f64; 64]);

    impl WideWork for Polynomial<'_> {
        type Output = usize;

        #[inline(always)]
        fn run(self) -> usize {
            for (y, x) in self.1.iter_mut().zip(self.0) {
                *y = 0.1 + x * (0.7 + x * (-0.3 + x * 0.9));
            }
            self.1.len()
        }
    }

    #[test]
    fn a_copy_finds_what_is_marked() {
        for count in [1, 16, 63, 64, 65, 128] {
            let mut from = vec![1.0; count];
            let mut to = vec![0.0; count];
            let mut copy = |from: &[f32]| {
                let any = copy_any(from, &mut to, |x| u32::from(x > 1.0));
                assert_eq!(to, from);
                any
            };
            assert!(!copy(&from));
            for at in 0..count {
                from[at] = 2.0;
                assert!(copy(&from), "{at} of {count}");
                from[at] = 1.0;
            }
        }
    }

    #[test]
    fn all_widths_give_the_same_bits() {
        let from: [f64; 64] = std::array::from_fn(|i| 1.0 / (i as f64 + 1.3));
        let run = |wide: Wide| {
            let mut to = [0.0; 64];
            assert_eq!(wide.run(Polynomial(&from, &mut to)), 64);
            to.map(f64::to_bits)
        };
        let plain = run(Wide(Level::Plain));
        assert!(Wide::available().all(|wide| run(wide) == plain));
        let best = Wide::available().last();
        assert_eq!([Some(Wide::best()), Some(Wide::best())], [best; 2]);
    }
}
