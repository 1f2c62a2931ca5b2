//! [`PairedTrial`]: a candidate beside the sequential executor, one cycle of each in turn, at the pace of the later playback.
//!
//! Both play the same blocks, and what disturbs the machine for longer than a cycle meets both. Live each cycle comes a
//! period after the other's: so a worker sleeps before each as it will sleep in earnest, and its wake is in the time.

use super::compare::CycleTimes;
use super::pace::Pacer;
use crate::measure::DryRun;
use rt::stamp::TickScale;
use std::time::{Duration, Instant};

/// Cycles that are not counted: memory is touched for the first time in them.
pub(super) const WARM_UP: u64 = 4;
/// Offline: number of cycles of one executor before it is the other's turn. The first of them is not counted, since
/// offline a cycle follows the one before at once.
const OFFLINE_TURN: u64 = 9;
/// Smallest number of pairs on which a choice rests.
const MIN_PAIRS: usize = 40;
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

    /// Plays pairs for `limit`, but at least 40 where four times the limit is enough. Returns the times of the sequential
    /// executor and of the candidate.
    pub(super) fn play(mut self, limit: Duration) -> (CycleTimes, CycleTimes) {
        let start = Instant::now();
        let deferred = self.settle(limit / 8);
        let skipped = self.skipped(deferred, limit);
        let is_enough = |pairs: usize| {
            let elapsed = start.elapsed();
            elapsed > 4 * limit || (elapsed > limit && pairs >= MIN_PAIRS)
        };
        while !is_enough(self.candidate.times.len()) {
            for one in [&mut self.sequential, &mut self.candidate] {
                one.turn(self.scale, self.pacer.as_mut());
            }
            for one in [&mut self.sequential, &mut self.candidate] {
                for _ in 0..skipped {
                    one.run.cycle();
                }
            }
        }
        (self.sequential.times, self.candidate.times)
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

    /// Number of blocks to leave out after each pair, so that the pairs lie spread over whole periods of deferred work.
    fn skipped(&self, deferred: u64, limit: Duration) -> u64 {
        let Some(pacer) = &self.pacer else {
            return 0;
        };
        let pair = 2 * pacer.period().0.max(1);
        let pairs = (limit.as_nanos() as u64 / pair).max(1);
        (deferred / pairs).saturating_sub(1)
    }
}

impl TimedRun {
    /// Plays one cycle that counts, at its time; offline several at once.
    fn turn(&mut self, scale: TickScale, pacer: Option<&mut Pacer>) {
        let Some(pacer) = pacer else {
            let all = (0..OFFLINE_TURN).map(|_| scale.nanos(self.run.cycle()));
            all.skip(1).for_each(|time| self.times.add(time));
            return;
        };
        pacer.wait();
        self.times.add(scale.nanos(self.run.cycle()));
    }
}
