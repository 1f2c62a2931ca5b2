//! What was chosen, and why.

use crate::{EngineOptions, Scheduler};
use report::Chosen;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use units::Nanos;

/// How a graph is to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How the plan is executed.
    pub scheduler: Scheduler,
    /// By how many workers.
    pub workers: usize,
    /// By how many blocks a pipeline's last stage lags.
    pub ahead: Option<u32>,
    /// The worst cycle and the mean one, where they are known.
    pub times: Option<Tried>,
    /// The same of the sequential code.
    pub sequential: Option<Tried>,
    /// Everyone that was tried.
    pub tried: Vec<Tried>,
    /// How long it took to choose.
    pub took: Duration,
    /// Why this one.
    pub why: Why,
}

/// How one candidate did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// How the plan was executed.
    pub scheduler: Scheduler,
    /// By how many workers.
    pub workers: usize,
    /// The dearest cycle, each cycle taken at its best.
    pub worst: Nanos,
    /// The mean cycle.
    pub mean: Nanos,
}

/// Why a choice was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was the best of those that were tried.
    Measured,
    /// It was chosen before, for the same graph, machine and call.
    Before,
    /// Nobody else may work.
    OneWorker,
    /// A cycle takes less than it costs to wake anyone.
    Small,
    /// There is too little to play to gain the time that trying takes.
    Short,
    /// A cycle takes so long that candidates cannot be tried in the time there is: work stealing needs no foresight.
    TooLong,
    /// Some node did not return.
    NoAnswer,
    /// Trying it broke.
    Broken,
}

impl Choice {
    /// One worker, the plan's order.
    pub(crate) fn sequential(why: Why) -> Self {
        Self::of(Scheduler::Sequential, 1, why)
    }

    pub(crate) fn of(scheduler: Scheduler, workers: usize, why: Why) -> Self {
        Self {
            scheduler,
            workers,
            ahead: None,
            times: None,
            sequential: None,
            tried: Vec::new(),
            took: Duration::ZERO,
            why,
        }
    }

    /// Has an engine play so.
    pub fn apply(&self, options: &mut EngineOptions) {
        options.scheduler = self.scheduler;
        options.is_chosen = true;
        options.workers = self.workers;
        options.ahead = self.ahead.or(options.ahead);
    }

    pub(crate) fn to_keep(&self) -> Chosen {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        Chosen {
            at_s: at.map_or(0, |at| at.as_secs()),
            scheduler: self.scheduler.name().to_owned(),
            workers: self.workers,
            ahead: self.ahead,
            worst_ns: self.times.map(|t| t.worst.0),
            mean_ns: self.times.map(|t| t.mean.0),
            sequential_worst_ns: self.sequential.map(|t| t.worst.0),
            sequential_mean_ns: self.sequential.map(|t| t.mean.0),
        }
    }
}

/// What was chosen before, if it can be read. The file may come from another version.
pub(super) fn kept(chosen: &Chosen) -> Option<Choice> {
    let scheduler: Scheduler = chosen.scheduler.parse().ok()?;
    let workers = chosen.workers.clamp(1, 256);
    let tried = |scheduler, workers, worst: Option<u64>, mean: Option<u64>| {
        Some(Tried {
            scheduler,
            workers,
            worst: Nanos(worst?),
            mean: Nanos(mean?),
        })
    };
    let sequential = (chosen.sequential_worst_ns, chosen.sequential_mean_ns);
    Some(Choice {
        ahead: chosen.ahead.map(|ahead| ahead.min(256)),
        times: tried(scheduler, workers, chosen.worst_ns, chosen.mean_ns),
        sequential: tried(Scheduler::Sequential, 1, sequential.0, sequential.1),
        ..Choice::of(scheduler, workers, Why::Before)
    })
}

/// One line: `etf on 2 workers, 11.2 µs at worst (sequential 19.4 µs), measured in 0.3 s`.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheduler.name())?;
        if self.workers > 1 {
            write!(f, " on {} workers", self.workers)?;
        }
        if let Some(times) = self.times {
            write!(f, ", {:.1} µs at worst", times.worst.micros())?;
        }
        if let Some(sequential) = self.sequential.filter(|_| self.workers > 1) {
            write!(f, " (sequential {:.1} µs)", sequential.worst.micros())?;
        }
        let took = self.took.as_secs_f64();
        match self.why {
            Why::Measured => write!(f, ", measured in {took:.1} s"),
            Why::Before => write!(f, ", as chosen before"),
            Why::OneWorker => write!(f, ", since one worker is all there is"),
            Why::Small => write!(f, ", since a cycle takes less than waking a worker"),
            Why::Short => write!(f, ", since there is little to play"),
            Why::TooLong => write!(f, ", since a cycle takes too long to try others"),
            Why::NoAnswer => write!(f, ", since a node did not return when it was tried"),
            Why::Broken => write!(f, ", since trying it broke"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(scheduler: Scheduler, workers: usize, ns: u64) -> Tried {
        Tried {
            scheduler,
            workers,
            worst: Nanos(ns),
            mean: Nanos(ns / 2),
        }
    }

    #[test]
    fn a_choice_is_told_in_one_line_and_read_back_as_it_was_kept() {
        let mut choice = Choice::of(Scheduler::Stealing, 2, Why::Measured);
        choice.times = Some(tried(Scheduler::Stealing, 2, 11_240));
        choice.sequential = Some(tried(Scheduler::Sequential, 1, 19_000));
        choice.took = Duration::from_millis(310);
        assert_eq!(
            choice.to_string(),
            "stealing on 2 workers, 11.2 µs at worst (sequential 19.0 µs), measured in 0.3 s"
        );
        let again = kept(&choice.to_keep()).unwrap();
        let as_kept = Choice {
            took: Duration::ZERO,
            why: Why::Before,
            ..choice
        };
        assert_eq!(again, as_kept);
        let unknown = Chosen {
            scheduler: "of a later version".into(),
            ..Chosen::default()
        };
        assert_eq!(kept(&unknown), None);
    }
}
