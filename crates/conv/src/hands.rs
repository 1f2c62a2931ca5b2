//! Whose hands do the work of the levels. The same bits from all of them: only who and when differs.
//!
//! A level's work is started when its input is complete and must be done when its output is first heard, at least one of
//! its periods later ([`Level::slack`](crate::Level::slack)). In between it is a job in pieces ([`rt::deferred`]), and
//! whoever holds its runner may do one.
//!
//! | way | who does the pieces |
//! |---|---|
//! | [`Inline`] | the callback, all at once: offline, and where nothing else is wanted |
//! | `Deferred` in `unit.rs` | the engine's workers, earliest deadline first; late ones are helped |
//! | [`LevelThreads`](crate::Threads) | threads of the convolver's own, one a level |
//! | `distributed/` | the callback, some pieces in each |

use crate::fdl::Fdl;
use rt::deferred::DeferredJob;

/// One line of work: a level of one group of channels. What [`Convolver::fdls`](crate::Convolver::fdls) tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdlInfo {
    /// The level's place among the partition's.
    pub level: usize,
    /// The level's size, which is also its period.
    pub size: usize,
    /// How many partitions.
    pub count: usize,
    /// Which group of channels.
    pub group: usize,
    /// How many channels it gives.
    pub outputs: usize,
    /// How many pieces its work has.
    pub piece_count: usize,
    /// Whether it runs inside the callback in any case.
    pub is_in_callback: bool,
    /// How many frames after the start of playing its first period ends: phases may be staggered.
    pub phase: usize,
    /// The line whose spectra it makes its own from.
    pub takes_from: Option<usize>,
}

/// A way of doing the levels' work.
pub trait LevelScheduler {
    /// The work of line `line` has just been started.
    ///
    /// Real-time: hot.
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>);

    /// Everything that can be started before the callback's own part has been.
    ///
    /// Real-time: hot, wakes.
    fn wake(&mut self) {}

    /// The work of `line` is due now: whether it is here. Waits, helps or gives up, as the way of working has it.
    ///
    /// Real-time: hot.
    fn finish(&mut self, line: usize, work: &mut DeferredJob<Fdl>) -> bool;

    /// A callback is over: what is done a little in each can be done now.
    ///
    /// Real-time: hot.
    fn after_block(&mut self, _lines: &mut dyn Iterator<Item = (usize, &mut DeferredJob<Fdl>)>) {}
}

/// The caller's own: each line's work is done when it is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl LevelScheduler for Inline {
    fn job_started(&mut self, line: usize, work: &mut DeferredJob<Fdl>) {
        self.finish(line, work);
    }

    fn finish(&mut self, _line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        while !work.is_available() {
            if work.has_panicked() {
                return false;
            }
            work.run_piece();
        }
        true
    }
}
