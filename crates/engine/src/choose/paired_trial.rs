//! [`PairedTrial`]: a candidate beside the sequential executor, in rounds of some cycles of each, at the pace of the later
//! playback.
//!
//! Both play the same blocks, and what disturbs the machine for longer than a round meets both. Live each cycle comes a period
//! after the one before: so a worker sleeps before each as it will sleep later, and its wake is in the time. In a round each plays
//! ten cycles, of which the first two are not counted: they find the caches full of the other executor's data. With one
//! cycle a round that would burden the sequential executor most, which has one core's cache for all of its data.
//!
//! Between two rounds both play many blocks at once, which are not counted. So the rounds lie spread over seconds of sound, or
//! over a whole period of deferred work: all drums play on the first beat of a piece, and few of them between the beats.

use super::compare::CycleTimes;
use super::pace::Pacer;
use crate::measure::DryRun;
use rt::stamp::TickScale;
use std::time::{Duration, Instant};
use units::Nanos;

/// Cycles that are not counted: memory is touched for the first time in them.
pub(super) const WARM_UP: u64 = 4;
/// Number of cycles of each executor in a round.
const ROUND: u64 = 10;
/// Number of those, from the first on, that are not counted.
const UNCOUNTED: u64 = 2;
/// Smallest number of counted cycles of each on which a choice rests.
pub(super) const MIN_CYCLES: usize = 40;
/// Sound over which the rounds lie spread, in nanoseconds.
const SPREAD: Nanos = Nanos(4_000_000_000);
/// Largest number of blocks until deferred work falls due regularly.
const MAX_SETTLE: u64 = 8192;

/// A run with its times.
struct TimedRun {
    run: DryRun,
    times: CycleTimes,
}

/// Two runs of one graph that are compared.
pub(super) struct PairedTrial {
    sequential: TimedRun,
    candidate: TimedRun,
    scale: TickScale,
    /// `None` offline.
    pacer: Option<Pacer>,
}

impl PairedTrial {
    pub(super) fn new(
        sequential: DryRun,
        candidate: DryRun,
        scale: TickScale,
        pacer: Option<Pacer>,
    ) -> Self {
        let timed = |run| TimedRun {
            run,
            times: CycleTimes::default(),
        };
        Self {
            sequential: timed(sequential),
            candidate: timed(candidate),
            scale,
            pacer,
        }
    }

    /// Plays rounds for `limit`, but at least 40 counted cycles of each where four times the limit is enough. Returns the times of the sequential
    /// executor and of the candidate.
    pub(super) fn play(mut self, limit: Duration) -> (CycleTimes, CycleTimes) {
        let start = Instant::now();
        let deferred = self.settle(limit / 8);
        let skipped = self.skipped(deferred, limit);
        let is_enough = |cycles: usize| {
            let elapsed = start.elapsed();
            elapsed > 4 * limit || (elapsed > limit && cycles >= MIN_CYCLES)
        };
        while !is_enough(self.candidate.times.len()) {
            for one in [&mut self.sequential, &mut self.candidate] {
                one.play_round(self.scale, self.pacer.as_mut());
            }
            self.skip(skipped);
        }
        (self.sequential.times, self.candidate.times)
    }

    /// Plays at most `blocks` at once, for at most as long as a round takes.
    fn skip(&mut self, blocks: u64) {
        let Some(pacer) = &self.pacer else {
            return;
        };
        let (start, limit) = (Instant::now(), 2 * ROUND * pacer.period().0);
        for _ in 0..blocks {
            if start.elapsed().as_nanos() as u64 > limit {
                break;
            }
            for one in [&mut self.sequential, &mut self.candidate] {
                one.run.cycle();
            }
        }
    }

    /// Plays the first blocks at once, until deferred work falls due as it will all the time. Returns the number of blocks
    /// over which the longest of it extends; 0 without any.
    fn settle(&mut self, limit: Duration) -> u64 {
        let (start, mut longest) = (Instant::now(), 0);
        for played in 0..MAX_SETTLE {
            let has_deferred = self.sequential.run.has_deferred();
            let is_settled = !has_deferred || (longest > 0 && played > 2 * longest);
            if played >= WARM_UP && (is_settled || start.elapsed() > limit) {
                break;
            }
            for one in [&mut self.sequential, &mut self.candidate] {
                one.run.cycle();
            }
            longest = longest.max(self.sequential.run.deferred_blocks());
        }
        longest
    }

    /// Number of blocks to leave out after each round.
    fn skipped(&self, deferred: u64, limit: Duration) -> u64 {
        let Some(pacer) = &self.pacer else {
            return 0;
        };
        let period = pacer.period().0.max(1);
        let blocks = deferred.max(SPREAD.0 / period);
        let played = (limit.as_nanos() as u64 / (2 * period)).max(1);
        (ROUND * blocks / played).saturating_sub(ROUND)
    }
}

impl TimedRun {
    /// Plays the cycles of one round, live each at its time.
    fn play_round(&mut self, scale: TickScale, mut pacer: Option<&mut Pacer>) {
        for number in 0..ROUND {
            if let Some(pacer) = &mut pacer {
                pacer.wait();
            }
            let time = scale.nanos(self.run.cycle());
            if number >= UNCOUNTED {
                self.times.add(time);
            }
        }
    }
}
