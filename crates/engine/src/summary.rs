//! The count of what happened, from the notes of the audio thread.

use crate::notes::{Note, What};
use exec::ErrorCounts;
use report::{Histogram, LiveStats, RecentTimes, Report};
use units::Nanos;

/// What happened so far.
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
    counts: ErrorCounts,
}

impl Summary {
    pub(crate) fn add(&mut self, note: &Note) {
        self.counts = note.counts;
        self.xruns += u64::from(note.xruns);
        match note.what {
            What::FellSilent => self.muted += 1,
            What::Silent => {}
            What::Played | What::Missed | What::Abandoned => self.add_cycle(note),
        }
    }

    fn add_cycle(&mut self, note: &Note) {
        self.cycles += 1;
        self.missed += u64::from(note.what == What::Missed);
        self.abandoned += u64::from(note.what == What::Abandoned);
        self.wakes += u64::from(note.wakes);
        self.acquisitions += u64::from(note.acquisitions);
        self.times.record(Nanos(note.took_ns));
        self.recent.add(Nanos(note.took_ns));
    }

    pub(crate) fn glance(&self) -> LiveStats {
        LiveStats {
            cycles: self.cycles,
            missed: self.missed,
            late: self.counts.late_results,
            abandoned: self.abandoned,
            faults: self.counts.node_faults,
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
        report.events_lost = self.counts.lost_events;
        report.not_finite = self.counts.non_finite_samples;
        report.late = self.counts.late_results;
        report.faults = self.counts.node_faults;
        report.wakes_per_cycle = a_cycle(self.wakes);
        report.acquisitions_per_cycle = a_cycle(self.acquisitions);
        report.set_cycles(&self.times);
    }
}
