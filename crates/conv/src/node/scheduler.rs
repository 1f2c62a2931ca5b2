//! Scheduler of a node's levels, by its parameters `work`, `pin` and `priority`. All give the same bits.

use super::away::travel;
use crate::schedule::TimeDistributed;
use crate::{
    Convolver, ConvolverAdapter, ConvolverOptions, Fdl, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Pinning,
};
use processor::{Block, Mode, Setup, WorkSeat};
use rt::deferred::DeferredJob;
use std::time::Duration;
use workers::{Priority, cores};

/// Values of the parameter `work`.
pub(super) const WORK: &[&str] = &["deferred", "threads", "spread", "callback"];
/// Values of the parameter `pin`.
pub(super) const PINS: &[&str] = &["free", "levels", "channels"];

/// Scheduler that the node's parameters ask for.
#[derive(Clone, Copy, Debug)]
pub(super) enum SchedulerChoice {
    /// The graph's workers, earliest deadline first.
    Deferred,
    /// Threads of the node.
    Threads {
        /// Place in [`PINS`].
        pin: usize,
        /// Priority of the shortest level's thread; 0: as low as possible.
        priority: u8,
    },
    /// The node's step, some pieces in each.
    Spread,
    /// The node's step in which the job arrives.
    Callback,
}

/// Scheduler of a node that runs.
pub(super) enum NodeScheduler {
    Deferred,
    Threads(Box<LevelThreads>),
    Spread(Box<TimeDistributed>),
    Callback,
}

impl SchedulerChoice {
    /// Value at a place of [`WORK`].
    pub(super) fn new(place: usize, pin: usize, priority: u8) -> Self {
        match place {
            0 => Self::Deferred,
            1 => Self::Threads { pin, priority },
            2 => Self::Spread,
            _ => Self::Callback,
        }
    }

    /// Adapts the size of pieces.
    pub(super) fn adapt_options(
        self,
        options: ConvolverOptions,
        channels: usize,
    ) -> ConvolverOptions {
        match self {
            Self::Spread => TimeDistributed::adapt_options(&options, channels),
            _ => options,
        }
    }

    /// Starts the scheduler for `convolver`. If no thread can be started, the step does the work.
    ///
    /// Real-time: setup.
    pub(super) fn start(
        self,
        (convolver, seat): (&mut Convolver, (&WorkSeat, usize)),
        setup: &mut Setup<'_>,
    ) -> NodeScheduler {
        match self {
            Self::Deferred => {
                for index in travel(convolver, seat, setup) {
                    setup.services.defer(convolver.job_runner(index));
                }
                NodeScheduler::Deferred
            }
            Self::Threads { pin, priority } => {
                let options = thread_options(convolver, pin, priority, setup);
                let threads = LevelThreads::new(convolver, &options);
                threads.map_or(NodeScheduler::Callback, |threads| {
                    NodeScheduler::Threads(Box::new(threads))
                })
            }
            Self::Spread => NodeScheduler::Spread(Box::new(TimeDistributed::new(convolver))),
            Self::Callback => NodeScheduler::Callback,
        }
    }
}

/// Options of threads. Offline they have ordinary priority. The cycle says how long its steps may wait.
fn thread_options(
    convolver: &Convolver,
    pin: usize,
    priority: u8,
    setup: &Setup<'_>,
) -> LevelThreadsOptions {
    let pinning = match pin {
        0 => Pinning::Free,
        1 => Pinning::ByLevel(cores().to_vec()),
        _ => Pinning::ByChannels(cores().to_vec()),
    };
    let levels = convolver.partition().levels().len() as u8;
    let top = match priority {
        0 => levels,
        priority => priority,
    };
    let is_live = setup.mode == Mode::Live;
    LevelThreadsOptions {
        pinning,
        priority: match is_live {
            true => Priority::RealTime(top),
            false => Priority::Ordinary,
        },
        max_wait: None,
    }
}

/// Scheduler for the graph's workers.
struct Deferred<'a, 'b>(&'b Block<'a>);

impl LevelScheduler for Deferred<'_, '_> {
    fn job_started(&mut self, _fdl: usize, _job: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, _fdl: usize, job: &mut DeferredJob<Fdl>) -> bool {
        let line = self.0.take_deferred(job);
        let is_missing = line.as_ref().is_some_and(|line| line.is_missing());
        if is_missing {
            self.0.count_late();
        }
        line.is_some()
    }
}

impl NodeScheduler {
    /// Number of the node's own threads.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Threads(threads) => threads.len(),
            _ => 0,
        }
    }

    /// Ends a chunk of the adapter outside of any cycle: the work that begins is done here, but for that of a scheduler that
    /// counts blocks.
    ///
    /// Real-time: setup.
    pub(super) fn process_now(&mut self, adapter: &mut ConvolverAdapter) {
        match self {
            Self::Spread(spread) => adapter.process(spread.as_mut()),
            _ => adapter.process(&mut Inline),
        }
    }

    /// Ends a chunk of the adapter.
    ///
    /// Real-time: hot; with threads of its own it wakes those whose jobs it starts, and waits for those whose jobs are due and not
    /// done, as long as all steps of the cycle together may wait for late results.
    pub(super) fn process(&mut self, adapter: &mut ConvolverAdapter, block: &Block<'_>) {
        match self {
            Self::Deferred => adapter.process(&mut Deferred(block)),
            Self::Callback => adapter.process(&mut Inline),
            Self::Spread(spread) => adapter.process(spread.as_mut()),
            Self::Threads(threads) => {
                let late = adapter.convolver().late_count();
                let limit = block.time_for_late_results();
                threads.set_time_to_wait(limit.map(|time| Duration::from_nanos(time.0)));
                adapter.process(threads.as_mut());
                // The graph counts late jobs; those of its own workers it knows already.
                (late..adapter.convolver().late_count()).for_each(|_| block.count_late());
            }
        }
    }
}
