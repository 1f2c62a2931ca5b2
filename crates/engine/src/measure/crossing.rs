//! Cost of data on its way to another core: cache lines, published by a flag.
//!
//! ```text
//!   core A   write block, set flag ──┐                     ┌─▶ see flag, read block     one round
//!   core B                           └─▶ read, write, set ─┘
//! ```
//!
//! Half a round is one crossing. The cost of the same writing and reading on one core is subtracted. The result is a
//! line through several sizes: a base time and a time per KiB.

use super::pair::{StopFlag, await_flag, quartile, run_rounds, stamp_after};
use costs::CoreLink;
use rt::pad::CachePadded;
use rt::stamp::TickScale;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use workers::CoreId;

/// Sizes of the blocks, in bytes.
pub(super) const SIZES: [usize; 5] = [0, 256, 1024, 4096, 16_384];
/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// One cache line. To read one word of it moves the whole line.
#[derive(Default)]
#[repr(align(64))]
struct CacheLine(AtomicU64);

/// A block on its way in one direction.
struct SharedBlock {
    flag: CachePadded<AtomicU32>,
    lines: Box<[CacheLine]>,
}

impl SharedBlock {
    fn new(bytes: usize) -> Self {
        let lines = (0..bytes.div_ceil(CACHE_LINE)).map(|_| CacheLine::default());
        Self {
            flag: CachePadded(AtomicU32::new(0)),
            lines: lines.collect(),
        }
    }

    /// Writes every line.
    fn fill(&self, value: u64) {
        for line in &self.lines {
            // Relaxed: published by the flag.
            line.0.store(value, Ordering::Relaxed);
        }
    }

    /// Reads every line.
    fn sum(&self) -> u64 {
        // Relaxed: the flag was seen before.
        let values = self.lines.iter().map(|l| l.0.load(Ordering::Relaxed));
        std::hint::black_box(values.fold(0, u64::wrapping_add))
    }

    fn send(&self, round: u32) {
        self.fill(round.into());
        // Release pairs with the Acquire in `await_flag`.
        self.flag.store(round, Ordering::Release);
    }

    fn receive(&self, round: u32, stop: &StopFlag) -> bool {
        let came = await_flag(&self.flag, round, stop);
        self.sum();
        came
    }
}

/// Cost of a crossing between two cores, measured within about `limit`; `None` where nothing could be measured.
pub(super) fn crossing(
    cores: (CoreId, CoreId),
    limit: Duration,
    scale: TickScale,
) -> Option<CoreLink> {
    let share = limit / SIZES.len() as u32;
    let measured = SIZES.map(|bytes| crossing_ns(cores, bytes, share, scale));
    let points: Vec<(f64, f64)> = SIZES
        .iter()
        .zip(measured)
        .filter_map(|(b, ns)| Some((*b as f64 / 1024.0, ns?)))
        .collect();
    let (base_ns, per_kib_ns) = fit_line(&points)?;
    Some(CoreLink {
        from: cores.0.0,
        to: cores.1.0,
        base_ns,
        per_kib_ns,
    })
}

/// Time that `bytes` bytes take to the other core beyond the time on one core, in ns.
pub(super) fn crossing_ns(
    cores: (CoreId, CoreId),
    bytes: usize,
    limit: Duration,
    scale: TickScale,
) -> Option<f64> {
    let (forward, backward) = (SharedBlock::new(bytes), SharedBlock::new(bytes));
    let never = StopFlag::default();
    let round = |number| {
        let start = stamp_after();
        forward.send(number);
        backward.receive(number, &never);
        stamp_after() - start
    };
    let other = |stop: &StopFlag| {
        for number in 1.. {
            if !forward.receive(number, stop) {
                return;
            }
            backward.send(number);
        }
    };
    let half = quartile(run_rounds(cores, limit, round, other))? / 2.0;
    let more = (half - same_core_ticks(bytes)?).max(0.0);
    Some(more * nanos_per_tick(scale))
}

/// Time that one core takes to write a block, set the flag, and read the block, in ticks.
fn same_core_ticks(bytes: usize) -> Option<f64> {
    let (block, stop) = (SharedBlock::new(bytes), StopFlag::default());
    let round = |number| {
        let start = stamp_after();
        block.send(number);
        block.receive(number, &stop);
        stamp_after() - start
    };
    quartile((1..=200).map(round).collect())
}

/// Nanoseconds per tick.
pub(super) fn nanos_per_tick(scale: TickScale) -> f64 {
    1e9 / scale.ticks_per_second() as f64
}

/// Least-squares line through the points, weighted by the inverse square of their height, with a slope of at least 0:
/// its height at 0, and its slope.
fn fit_line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let weight = 1.0 / (y * y).max(1.0);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let spread = w * wxx - wx * wx;
    if w == 0.0 {
        return None;
    }
    let slope = if spread > 0.0 {
        (w * wxy - wx * wy) / spread
    } else {
        0.0
    };
    let slope = slope.max(0.0);
    Some((((wy - slope * wx) / w).max(0.0), slope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_points_that_stand_on_one() {
        let points: Vec<_> = [0.0, 0.25, 1.0, 16.0].map(|x| (x, 100.0 + 40.0 * x)).into();
        let (base, slope) = fit_line(&points).unwrap();
        assert!((base - 100.0).abs() < 1e-6 && (slope - 40.0).abs() < 1e-6);
        assert_eq!(fit_line(&[]), None);
        let (base, slope) = fit_line(&[(0.0, 10.0), (1.0, 5.0)]).unwrap();
        assert!(slope == 0.0 && base > 0.0);
    }

    #[test]
    fn what_was_sent_is_received_whole() {
        let block = SharedBlock::new(300);
        block.send(7);
        assert!(await_flag(&block.flag, 7, &StopFlag::default()));
        assert_eq!((block.lines.len(), block.sum()), (5, 35));
    }
}
