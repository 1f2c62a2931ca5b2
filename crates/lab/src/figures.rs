//! What a run cost, and how that stands in a table.

use crate::machine::period_us;
use divisi::report::{Bucket, TimeSummary};
use divisi::units::Frames;

/// What it cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// Cycles that count.
    pub(crate) cycles: u64,
    /// How long they took.
    pub(crate) took: TimeSummary,
    pub(crate) bars: Vec<Bucket>,
    /// Cycles over the deadline.
    pub(crate) missed: u64,
    /// Beats that were left out because those before came too late, and cycles that the watchdog gave up.
    pub(crate) lost: u64,
    /// Takes from shared queues, and workers woken, a cycle.
    pub(crate) takes: f64,
    pub(crate) wakes: f64,
    /// Of its threads: on a core, and ready without one, as a share of the time.
    pub(crate) ran: f64,
    pub(crate) waited: f64,
    /// What the host took from the machine, in ms.
    pub(crate) stolen_ms: f64,
    /// Whether it had real-time priority.
    pub(crate) is_real_time: bool,
}

impl Figures {
    /// As [`columns`] names them, for a run that began at `date`.
    pub(crate) fn cells(&self, date: String, block: Frames) -> Vec<String> {
        let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
        let priority = if self.is_real_time {
            "real-time"
        } else {
            "ordinary"
        };
        vec![
            date,
            priority.into(),
            self.cycles.to_string(),
            format!("{:.1}", period_us(block)),
            format!("{:.2}", self.took.mean / 1e3),
            us(self.took.p50),
            us(self.took.p99),
            us(self.took.max),
            self.missed.to_string(),
            self.lost.to_string(),
            format!("{:.2}", self.takes),
            format!("{:.2}", self.wakes),
            format!("{:.3}", self.ran),
            format!("{:.3}", self.waited),
            format!("{:.0}", self.stolen_ms),
        ]
    }
}

/// Joins the columns that say which run it is, these, others behind, and those of the machine's state.
macro_rules! columns {
    ($($key:literal),* ; $($more:literal),*) => {
        &[
            $($key,)*
            "date", "priority", "cycles", "period_us", "mean_us", "p50_us", "p99_us", "worst_us", "missed", "lost",
            "takes", "wakes", "ran", "waited", "stolen_ms",
            $($more,)*
            "loadavg", "nice", "others_ms",
        ]
    };
}
pub(crate) use columns;
