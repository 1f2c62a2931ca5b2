//! [`Summary`]: counts what happened, from the audio thread's messages.

use crate::messages::{CycleMessage, CycleOutcome};
use exec::ErrorCounts;
use report::{Histogram, LiveStats, RecentTimes, Report};
use units::Nanos;

/// Counts and times since the start.
#[derive(Default)]
pub(crate) struct Summary {
    cycles: u64,
    missed: u64,
    abandoned: u64,
    muted: u64,
    xruns: u64,
    wakes: u64,
    acquisitions: u64,
    times: Histogram,
    recent: RecentTimes,
    errors: ErrorCounts,
}

impl Summary {
    pub(crate) fn add(&mut self, message: &CycleMessage) {
        self.xruns += u64::from(message.xruns);
        match message.outcome {
            CycleOutcome::MuteBegins => self.muted += 1,
            CycleOutcome::Muted => {}
            CycleOutcome::InTime | CycleOutcome::Missed | CycleOutcome::Abandoned => {
                self.add_cycle(message)
            }
        }
    }

    /// Takes note of the errors so far.
    pub(crate) fn set_errors(&mut self, errors: ErrorCounts) {
        self.errors = errors;
    }

    fn add_cycle(&mut self, message: &CycleMessage) {
        self.cycles += 1;
        self.missed += u64::from(message.outcome == CycleOutcome::Missed);
        self.abandoned += u64::from(message.outcome == CycleOutcome::Abandoned);
        self.wakes += u64::from(message.wakes);
        self.acquisitions += u64::from(message.acquisitions);
        self.times.record(Nanos(message.duration_ns));
        self.recent.add(Nanos(message.duration_ns));
    }

    /// Number of nodes that panicked or did not return.
    pub(crate) fn faults(&self) -> u64 {
        self.errors.node_faults
    }

    pub(crate) fn live_stats(&self) -> LiveStats {
        LiveStats {
            cycles: self.cycles,
            missed: self.missed,
            late: self.errors.late_results,
            abandoned: self.abandoned,
            faults: self.errors.node_faults,
            muted: self.muted,
            xruns: self.xruns,
            wakes: self.wakes,
            acquisitions: self.acquisitions,
            recent: self.recent.summary(),
            max_ns: self.times.summary().max,
            ..LiveStats::default()
        }
    }

    pub(crate) fn write(&self, report: &mut Report) {
        let a_cycle = |count: u64| count as f64 / self.cycles.max(1) as f64;
        report.cycles = self.cycles;
        report.missed = self.missed;
        report.abandoned = self.abandoned;
        report.muted = self.muted;
        report.xruns = self.xruns;
        report.events_lost = self.errors.lost_events;
        report.not_finite = self.errors.non_finite_samples;
        report.late = self.errors.late_results;
        report.faults = self.errors.node_faults;
        report.wakes_per_cycle = a_cycle(self.wakes);
        report.acquisitions_per_cycle = a_cycle(self.acquisitions);
        report.set_cycles(&self.times);
    }
}
