//! Who does a node's long levels. The same bits from all of them.

use crate::schedule::TimeDistributed;
use crate::{
    Convolver, ConvolverAdapter, ConvolverOptions, Fdl, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Pinning,
};
use processor::{Block, Mode, Setup};
use rt::deferred::DeferredJob;
use std::time::Duration;
use workers::{Priority, cores};

/// What a user calls them.
pub(super) const WAYS: &[&str] = &["deferred", "threads", "spread", "callback"];
/// And where threads run.
pub(super) const PINS: &[&str] = &["free", "levels", "channels"];

/// What the node says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// The graph's workers, by deadline.
    Deferred,
    /// Threads of the node's own.
    Threads {
        /// One of [`PINS`].
        pin: usize,
        /// Of the shortest level's thread; 0 for as little as will do.
        priority: u8,
    },
    /// Some pieces in every step.
    Spread,
    /// All in the step in which the work comes.
    Callback,
}

/// Who does it, while it plays.
pub(super) enum Crew {
    Deferred,
    Threads(Box<LevelThreads>),
    Spread(Box<TimeDistributed>),
    Callback,
}

impl Way {
    /// The way of that place among [`WAYS`].
    pub(super) fn of(place: usize, pin: usize, priority: u8) -> Self {
        match place {
            0 => Self::Deferred,
            1 => Self::Threads { pin, priority },
            2 => Self::Spread,
            _ => Self::Callback,
        }
    }

    /// `options` with pieces as this way wants them.
    pub(super) fn prepare(self, options: ConvolverOptions, channels: usize) -> ConvolverOptions {
        match self {
            Self::Spread => TimeDistributed::adapt_options(&options, channels),
            _ => options,
        }
    }

    /// Engages them for `convolver`. Where no thread can be started the step does the work itself.
    ///
    /// Real-time: setup.
    pub(super) fn engage(self, convolver: &mut Convolver, setup: &mut Setup<'_>) -> Crew {
        match self {
            Self::Deferred => {
                let lines = convolver.fdls().enumerate();
                for (index, _) in lines.filter(|(_, line)| !line.is_in_callback) {
                    setup.services.defer(convolver.job_runner(index));
                }
                Crew::Deferred
            }
            Self::Threads { pin, priority } => {
                let options = options(convolver, pin, priority, setup);
                let threads = LevelThreads::new(convolver, &options);
                threads.map_or(Crew::Callback, |threads| Crew::Threads(Box::new(threads)))
            }
            Self::Spread => Crew::Spread(Box::new(TimeDistributed::new(convolver))),
            Self::Callback => Crew::Callback,
        }
    }
}

/// Where nobody listens threads are ordinary ones and are waited for; else they are waited for half a block at most.
fn options(
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
        max_wait: is_live.then(|| Duration::from_nanos(setup.block.duration(setup.rate).0 / 2)),
    }
}

/// Deferred work of the graph's.
struct Deferred<'a, 'b>(&'b Block<'a>);

impl LevelScheduler for Deferred<'_, '_> {
    fn job_started(&mut self, _line: usize, _work: &mut DeferredJob<Fdl>) {}

    fn finish(&mut self, _line: usize, work: &mut DeferredJob<Fdl>) -> bool {
        self.0.take_deferred(work).is_some()
    }
}

impl Crew {
    /// How many threads of its own it has.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Threads(threads) => threads.len(),
            _ => 0,
        }
    }

    /// Goes on by what has been heard.
    ///
    /// Real-time: hot; with threads of its own it wakes those whose work it starts, and waits for those whose work is due
    /// and not there, for half a block at most where somebody listens.
    pub(super) fn advance(&mut self, adapter: &mut ConvolverAdapter, block: &Block<'_>) {
        match self {
            Self::Deferred => adapter.process(&mut Deferred(block)),
            Self::Callback => adapter.process(&mut Inline),
            Self::Spread(evenly) => adapter.process(evenly.as_mut()),
            Self::Threads(threads) => {
                let late = adapter.convolver().late_count();
                adapter.process(threads.as_mut());
                // Of deferred work the graph counts what is late.
                (late..adapter.convolver().late_count()).for_each(|_| block.count_late());
            }
        }
    }
}
