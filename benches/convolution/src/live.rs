//! A run in real time on one core: counts the blocks that an engine does not finish in time, and those of them that the
//! machine caused.
//!
//! | thread | real-time priority | work |
//! |---|---|---|
//! | probe | 90 | sleeps 250 µs at a time and records how late it wakes (a gap) |
//! | callback | 80 | runs the engine once each period |
//! | the engine's | below 80 | levels |
//!
//! No thread here precedes the probe, so the machine (its hypervisor) causes its gaps. A miss is *explained* if the gaps in
//! its block, or in the period of the late level, are at least as long as the delay.

use crate::clock::{now_ns, processor_ns, sleep_until};
use crate::engine::{Engine, Late};
use crate::signals::InputSignal;
use crate::{BLOCK, PERIOD_NS, system};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Priority of the callback. The engine's threads have less, the probe has more.
pub const CALLBACK_PRIORITY: i32 = 80;
const PROBE_PRIORITY: i32 = 90;
/// Sleep of the probe, and the shortest delay that it records as a gap.
const SLEEP_NS: u64 = 250_000;
const MIN_GAP_NS: u64 = 40_000;
/// Blocks at the beginning that do not count.
const WARM_UP: usize = 2048;

/// Results of a run.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// Blocks that count.
    pub blocks: usize,
    /// Blocks that were not finished in time.
    pub missed: usize,
    /// Those of them that the probe's gaps do not explain.
    pub unexplained: usize,
    /// Longest time of a block in the callback, in ns.
    pub worst_ns: u64,
    /// Processor time of all threads, as a share of the elapsed time.
    pub share: f64,
    /// Number of the probe's gaps, and their sum in ns.
    pub gaps: (usize, u64),
}

/// The greatest share of a core in a valid run. Beyond it the system throttles real-time threads, which the probe would take
/// for gaps of the machine.
const MAX_SHARE: f64 = 0.93;

impl RunResult {
    /// Returns true if all blocks were in time, or the machine caused the delays.
    pub fn is_in_time(&self) -> bool {
        self.unexplained == 0 && self.share < MAX_SHARE
    }
}

/// A time in which the probe did not run.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: u64,
    ns: u64,
}

/// A late block: the interval in which gaps explain it, and its delay in ns.
struct Miss {
    since: u64,
    until: u64,
    ns: u64,
}

/// Runs an engine for `blocks` blocks on the core that this thread is pinned to. `core` is that core.
pub fn run(
    it: &mut dyn Engine,
    channels: usize,
    signal: &InputSignal,
    blocks: usize,
    core: usize,
) -> RunResult {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let probe = scope.spawn(|| probe(&stop, core));
        let (mut result, misses) = run_callbacks(it, channels, signal, blocks);
        // Relaxed: nothing travels with it.
        stop.store(true, Ordering::Relaxed);
        let gaps = probe.join().unwrap_or_default();
        result.missed = misses.len();
        result.unexplained = misses
            .iter()
            .filter(|miss| !is_explained(miss, &gaps))
            .count();
        result.gaps = (gaps.len(), gaps.iter().map(|g| g.ns).sum());
        result
    })
}

fn is_explained(miss: &Miss, gaps: &[Gap]) -> bool {
    let there = gaps
        .iter()
        .filter(|g| g.at + g.ns > miss.since && g.at < miss.until);
    there.map(|g| g.ns).sum::<u64>() >= miss.ns
}

fn probe(stop: &AtomicBool, core: usize) -> Vec<Gap> {
    let mut gaps = Vec::with_capacity(1 << 16);
    if system::pin(core).is_err() || system::set_priority(PROBE_PRIORITY).is_err() {
        return gaps;
    }
    let mut at = now_ns();
    while !stop.load(Ordering::Relaxed) {
        at += SLEEP_NS;
        sleep_until(at);
        let now = now_ns();
        if now > at + MIN_GAP_NS && gaps.len() < gaps.capacity() {
            gaps.push(Gap { at, ns: now - at });
        }
        at = now;
    }
    gaps
}

fn run_callbacks(
    it: &mut dyn Engine,
    channels: usize,
    signal: &InputSignal,
    blocks: usize,
) -> (RunResult, Vec<Miss>) {
    let mut output = vec![0.0; channels * BLOCK];
    let mut inputs: Vec<&[f32]> = Vec::with_capacity(channels);
    let mut misses = Vec::with_capacity(blocks + 1);
    let mut result = RunResult {
        blocks,
        ..RunResult::default()
    };
    let mut due = now_ns() + PERIOD_NS;
    let mut begun = (0, 0);
    for block in 0..WARM_UP + blocks {
        if block == WARM_UP {
            begun = (now_ns(), processor_ns());
        }
        sleep_until(due);
        inputs.clear();
        inputs.extend((0..channels).map(|channel| signal.block(channel, block)));
        let late = it.block(&inputs, &mut output, false);
        let (done, next) = (now_ns(), due + PERIOD_NS);
        let counts = block >= WARM_UP;
        if counts {
            result.worst_ns = result.worst_ns.max(done.saturating_sub(due));
            misses.extend(miss(due, done, late));
        }
        // Periods that have passed meanwhile are skipped, as a device would.
        due = next.max(next + done.saturating_sub(next) / PERIOD_NS * PERIOD_NS);
    }
    let (time, used) = (now_ns() - begun.0, processor_ns() - begun.1);
    result.share = used as f64 / time.max(1) as f64;
    (result, misses)
}

/// The miss, if any, of the block that begins at `due` and ends a period later.
fn miss(due: u64, done: u64, late: Late) -> Option<Miss> {
    let end = due + PERIOD_NS;
    if done > end {
        return Some(Miss {
            since: due,
            until: done,
            ns: done - end,
        });
    }
    // The delay of a level is not known. Gaps of a block, or of a twentieth of its period if that is longer, explain it.
    let time = u64::from(late.blocks) * PERIOD_NS;
    (late.results > 0).then(|| Miss {
        since: due.saturating_sub(time),
        until: done,
        ns: PERIOD_NS.max(time / 20),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_explained_by_long_gaps_in_its_interval() {
        let late = Late {
            results: 1,
            blocks: 2,
        };
        assert!(miss(0, PERIOD_NS, Late::default()).is_none());
        let over = miss(1_000_000, 1_000_000 + PERIOD_NS + 500, Late::default()).unwrap();
        let gap = |at, ns| [Gap { at, ns }];
        assert!(is_explained(&over, &gap(999_000, 1500)));
        assert!(!is_explained(&over, &gap(999_000, 499)));
        assert!(!is_explained(&over, &gap(over.until, 9000)));
        let level = miss(9 * PERIOD_NS, 9 * PERIOD_NS + 9, late).unwrap();
        assert!(is_explained(&level, &gap(7 * PERIOD_NS, PERIOD_NS)));
        assert!(!is_explained(&level, &gap(5 * PERIOD_NS, PERIOD_NS)));
    }
}
