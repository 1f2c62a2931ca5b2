//! At a beat: whether a contestant is done before the next block, on one core, and who is to blame where it is not.
//!
//! The beat has real-time priority 80, a contestant's threads less, and a probe on the same core 90: it sleeps a
//! quarter of a millisecond at a time, and notes by how much it woke late. Nothing here stands before it, so what it
//! misses is the machine's doing. A miss is explained if the probe's gaps in the block, or in the period of the level
//! that was late, make up for it.

use crate::clock::{now_ns, processor_ns, sleep_until};
use crate::contestant::{Contestant, Late};
use crate::feed::Feed;
use crate::{BLOCK, PERIOD_NS, system};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The beat's priority. A contestant's threads have less, the probe more.
pub const BEAT: i32 = 80;
const PROBE: i32 = 90;
/// How long the probe sleeps, and from which lateness on it notes a gap.
const NAP_NS: u64 = 250_000;
const GAP_NS: u64 = 40_000;
/// Blocks at the beginning that do not count.
const WARM: usize = 2048;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Blocks that count.
    pub blocks: usize,
    /// Misses, and those of them that the probe's gaps do not explain.
    pub missed: usize,
    /// Those that the gaps do not explain.
    pub unexplained: usize,
    /// The longest that a block took in the callback, in ns.
    pub worst_ns: u64,
    /// What all threads used of the processor, as a share of the time.
    pub share: f64,
    /// The probe's gaps: how many, and how long together, in ns.
    pub gaps: (usize, u64),
}

/// A run that used more than this of its core holds nothing: the system stops real-time threads for a while in each second
/// in which they leave it less, and the probe takes that for a gap.
const MOST_BUSY: f64 = 0.93;

impl Seen {
    /// Whether everything was there in time, or the machine was to blame.
    pub fn holds(&self) -> bool {
        self.unexplained == 0 && self.share < MOST_BUSY
    }
}

/// A moment in which the probe did not run.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: u64,
    ns: u64,
}

/// A block that was late: when it should have been done, by how much it was not, since when gaps excuse it.
struct Miss {
    since: u64,
    until: u64,
    ns: u64,
}

/// Plays for so many blocks on the core that this thread is pinned to. `core` is that core.
pub fn play(
    it: &mut dyn Contestant,
    channels: usize,
    feed: &Feed,
    blocks: usize,
    core: usize,
) -> Seen {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let probe = scope.spawn(|| probe(&stop, core));
        let (mut seen, misses) = beat(it, channels, feed, blocks);
        // Relaxed: nothing travels with it.
        stop.store(true, Ordering::Relaxed);
        let gaps = probe.join().unwrap_or_default();
        seen.missed = misses.len();
        seen.unexplained = misses
            .iter()
            .filter(|miss| !is_explained(miss, &gaps))
            .count();
        seen.gaps = (gaps.len(), gaps.iter().map(|g| g.ns).sum());
        seen
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
    if system::pin(core).is_err() || system::prioritise(PROBE).is_err() {
        return gaps;
    }
    let mut at = now_ns();
    while !stop.load(Ordering::Relaxed) {
        at += NAP_NS;
        sleep_until(at);
        let now = now_ns();
        if now > at + GAP_NS && gaps.len() < gaps.capacity() {
            gaps.push(Gap { at, ns: now - at });
        }
        at = now;
    }
    gaps
}

fn beat(it: &mut dyn Contestant, channels: usize, feed: &Feed, blocks: usize) -> (Seen, Vec<Miss>) {
    let mut output = vec![0.0; channels * BLOCK];
    let mut inputs: Vec<&[f32]> = Vec::with_capacity(channels);
    let mut misses = Vec::with_capacity(blocks + 1);
    let mut seen = Seen {
        blocks,
        ..Seen::default()
    };
    let mut due = now_ns() + PERIOD_NS;
    let mut begun = (0, 0);
    for block in 0..WARM + blocks {
        if block == WARM {
            begun = (now_ns(), processor_ns());
        }
        sleep_until(due);
        inputs.clear();
        inputs.extend((0..channels).map(|channel| feed.block(channel, block)));
        let late = it.block(&inputs, &mut output, false);
        let (done, next) = (now_ns(), due + PERIOD_NS);
        let counts = block >= WARM;
        if counts {
            seen.worst_ns = seen.worst_ns.max(done.saturating_sub(due));
            misses.extend(miss(due, done, late));
        }
        // Beats that have passed meanwhile are left out, as a device would.
        due = next.max(next + done.saturating_sub(next) / PERIOD_NS * PERIOD_NS);
    }
    let (time, used) = (now_ns() - begun.0, processor_ns() - begun.1);
    seen.share = used as f64 / time.max(1) as f64;
    (seen, misses)
}

/// What was missed in the block that was to be done a period after `due`.
fn miss(due: u64, done: u64, late: Late) -> Option<Miss> {
    let end = due + PERIOD_NS;
    if done > end {
        return Some(Miss {
            since: due,
            until: done,
            ns: done - end,
        });
    }
    // How late a level was is not known; a block of gaps in its period would do, if that is a twentieth of it.
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
    fn a_miss_is_explained_by_gaps_that_are_long_enough_and_in_its_time() {
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
