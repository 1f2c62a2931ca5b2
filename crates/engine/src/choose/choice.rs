//! [`SchedulerChoice`]: the scheduler that was chosen, and why.

use crate::{EngineOptions, Scheduler};
use costs::{ChosenSchedule, MachineProbe};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use units::Nanos;

/// A scheduler, its number of workers, and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerChoice {
    /// Scheduler.
    pub scheduler: Scheduler,
    /// Number of workers.
    pub workers: usize,
    /// Latency of a pipeline, in blocks.
    pub latency_blocks: Option<u32>,
    /// Its times, where they are known.
    pub times: Option<SchedulerTrial>,
    /// The same of the sequential scheduler.
    pub sequential: Option<SchedulerTrial>,
    /// All candidates that were tried.
    pub tried: Vec<SchedulerTrial>,
    /// Time that choosing took.
    pub elapsed: Duration,
    /// Reason for this choice.
    pub reason: ChoiceReason,
    /// True if another choice was kept, but the machine is no longer what it was then.
    pub has_machine_changed: bool,
    /// True if other programs took much of the machine during the trials. It is made again at a start at which the machine
    /// is quiet.
    pub was_disturbed: bool,
    /// State of the machine when the choice was made.
    pub(super) probe: Option<MachineProbe>,
}

/// Result of one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerTrial {
    /// Scheduler.
    pub scheduler: Scheduler,
    /// Number of workers.
    pub workers: usize,
    /// Mean time of a cycle, of the cycles up to `upper`.
    pub mean: Nanos,
    /// 95th percentile of the cycle times.
    pub upper: Nanos,
}

/// Reason for a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceReason {
    /// It was the best of those that were tried.
    Measured,
    /// It was kept, for the same graph, machine and options.
    Cached,
    /// There is one worker only.
    OneWorker,
    /// A cycle takes less than waking a worker.
    CycleTooShort,
    /// There is too little to play to gain the time that trials take.
    RunTooShort,
    /// A cycle takes so long that candidates cannot be tried in the time there is. Work stealing needs no measurements.
    CycleTooLong,
    /// The trials did not end in time: a node did not return, or the graph is very large.
    Unresponsive,
    /// The trial panicked.
    Panicked,
    /// The trials were ended by [`ChooseOptions::stop`](crate::ChooseOptions::stop).
    Interrupted,
}

impl SchedulerChoice {
    /// The sequential scheduler on one worker.
    pub(crate) fn sequential(reason: ChoiceReason) -> Self {
        Self::of(Scheduler::Sequential, 1, reason)
    }

    pub(crate) fn of(scheduler: Scheduler, workers: usize, reason: ChoiceReason) -> Self {
        Self {
            scheduler,
            workers,
            latency_blocks: None,
            times: None,
            sequential: None,
            tried: Vec::new(),
            elapsed: Duration::ZERO,
            reason,
            has_machine_changed: false,
            was_disturbed: false,
            probe: None,
        }
    }

    /// The choice where no candidate could be tried.
    pub(super) fn untried(requested: &EngineOptions, reason: ChoiceReason) -> Self {
        match requested.use_all_workers {
            true => Self::of(Scheduler::Stealing, requested.workers, reason),
            false => Self::sequential(reason),
        }
    }

    /// Returns true if the choice is new and rests on the graph and the machine alone: then it is kept for the next start.
    pub fn is_to_keep(&self) -> bool {
        matches!(
            self.reason,
            ChoiceReason::Measured | ChoiceReason::CycleTooShort
        )
    }

    /// Writes the choice into the options of an engine.
    pub fn apply(&self, options: &mut EngineOptions) {
        options.scheduler = self.scheduler;
        options.is_chosen = true;
        // An engine that starts with one worker may go over to as many as were asked for while it plays.
        options.max_workers = match self.workers {
            1 => options.workers,
            chosen => chosen,
        };
        options.workers = self.workers;
        options.sequential_mean = self.sequential.map(|sequential| sequential.mean);
        options.latency_blocks = self.latency_blocks.or(options.latency_blocks);
    }

    pub(crate) fn to_costs(&self) -> ChosenSchedule {
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        ChosenSchedule {
            at_s: at.map_or(0, |at| at.as_secs()),
            scheduler: self.scheduler.name().to_owned(),
            workers: self.workers,
            latency_blocks: self.latency_blocks,
            upper_ns: self.times.map(|t| t.upper.0),
            mean_ns: self.times.map(|t| t.mean.0),
            sequential_upper_ns: self.sequential.map(|t| t.upper.0),
            sequential_mean_ns: self.sequential.map(|t| t.mean.0),
            probe: self.probe,
            was_disturbed: self.was_disturbed,
        }
    }
}

/// The choice that was kept, if it can be read. The file may come from another version.
pub(super) fn from_costs(chosen: &ChosenSchedule) -> Option<SchedulerChoice> {
    let scheduler: Scheduler = chosen.scheduler.parse().ok()?;
    if scheduler == Scheduler::Auto {
        return None;
    }
    let workers = chosen.workers.clamp(1, 256);
    let tried = |scheduler, workers, mean: Option<u64>, upper: Option<u64>| {
        Some(SchedulerTrial {
            scheduler,
            workers,
            mean: Nanos(mean?),
            upper: Nanos(upper?),
        })
    };
    let sequential = (chosen.sequential_mean_ns, chosen.sequential_upper_ns);
    Some(SchedulerChoice {
        latency_blocks: chosen.latency_blocks.map(|ahead| ahead.min(256)),
        times: tried(scheduler, workers, chosen.mean_ns, chosen.upper_ns),
        sequential: tried(Scheduler::Sequential, 1, sequential.0, sequential.1),
        was_disturbed: chosen.was_disturbed,
        probe: chosen.probe,
        ..SchedulerChoice::of(scheduler, workers, ChoiceReason::Cached)
    })
}

/// In one line: `etf on 2 workers, 11.2 µs a cycle (sequential 19.4 µs), measured in 0.3 s`.
impl fmt::Display for SchedulerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheduler.name())?;
        if self.workers > 1 {
            write!(f, " on {} workers", self.workers)?;
        }
        if let Some(times) = self.times {
            write!(f, ", {:.1} µs a cycle", times.mean.micros())?;
        }
        if let Some(sequential) = self.sequential.filter(|_| self.workers > 1) {
            write!(f, " (sequential {:.1} µs)", sequential.mean.micros())?;
        }
        let elapsed = self.elapsed.as_secs_f64();
        match self.reason {
            ChoiceReason::Measured if self.has_machine_changed => write!(
                f,
                ", measured again in {elapsed:.1} s, since the machine has changed"
            ),
            ChoiceReason::Measured => write!(f, ", measured in {elapsed:.1} s"),
            ChoiceReason::Cached => write!(f, ", as chosen before"),
            ChoiceReason::OneWorker => write!(f, ", since one worker is all there is"),
            ChoiceReason::CycleTooShort => {
                write!(f, ", since a cycle takes less than waking a worker")
            }
            ChoiceReason::RunTooShort => write!(f, ", since there is little to play"),
            ChoiceReason::CycleTooLong => write!(f, ", since a cycle takes too long to try others"),
            ChoiceReason::Unresponsive => {
                write!(f, ", since the trials did not end in time")
            }
            ChoiceReason::Panicked => write!(f, ", since trying it broke"),
            ChoiceReason::Interrupted => write!(f, ", since the trials were interrupted"),
        }?;
        match self.was_disturbed {
            true => write!(f, ", on a busy machine"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(scheduler: Scheduler, workers: usize, ns: u64) -> SchedulerTrial {
        SchedulerTrial {
            scheduler,
            workers,
            mean: Nanos(ns),
            upper: Nanos(2 * ns),
        }
    }

    #[test]
    fn a_choice_is_one_line_and_is_read_back_as_it_was_stored() {
        let mut choice = SchedulerChoice::of(Scheduler::Stealing, 2, ChoiceReason::Measured);
        choice.times = Some(tried(Scheduler::Stealing, 2, 11_240));
        choice.sequential = Some(tried(Scheduler::Sequential, 1, 19_000));
        choice.elapsed = Duration::from_millis(310);
        choice.probe = Some(MachineProbe::default());
        assert_eq!(
            choice.to_string(),
            "stealing on 2 workers, 11.2 µs a cycle (sequential 19.0 µs), measured in 0.3 s"
        );
        choice.has_machine_changed = true;
        assert!(choice.to_string().ends_with(
            "(sequential 19.0 µs), measured again in 0.3 s, since the machine has changed"
        ));
        choice.was_disturbed = true;
        assert!(
            choice
                .to_string()
                .ends_with("the machine has changed, on a busy machine")
        );
        let again = from_costs(&choice.to_costs()).unwrap();
        let as_kept = SchedulerChoice {
            elapsed: Duration::ZERO,
            reason: ChoiceReason::Cached,
            has_machine_changed: false,
            ..choice
        };
        assert_eq!(again, as_kept);
        let unknown = ChosenSchedule {
            scheduler: "of a later version".into(),
            ..ChosenSchedule::default()
        };
        assert_eq!(from_costs(&unknown), None);
    }
}
