//! Trackers: what is heard in a sound, found by deferred work.
//!
//! ```text
//! each 10 ms: the last frames ──▶ deferred work ──▶ 10 ms later: signals, events
//! ```
//!
//! The work is done outside the cycle by workers that are idle. It has the time until the next window: its result takes effect
//! then, at the same frame under every scheduler. A result that comes too late is left out, and counted in the report. Requests and
//! replies are plain words, so that another process may do the work (`processor::DeferredWork`).

mod flux;
mod onset;
mod pitch;
mod pitch_job;
mod tempo;
mod tempo_job;
mod window_tracker;
mod words;

use flux::FluxJob;
use pitch_job::PitchJob;
use processor::WorkContext;
use tempo_job::TempoJob;

fn rate(of: &WorkContext<'_>) -> f64 {
    f64::from(of.rate.hz())
}

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(onset::kind(), onset::make);
    registry.add(pitch::kind(), pitch::make);
    registry.add(tempo::kind(), tempo::make);
    registry.add_work("onset_tracker", |of| {
        Ok(vec![Box::new(FluxJob::new(rate(of)))])
    });
    registry.add_work("pitch_tracker", |of| {
        Ok(vec![Box::new(PitchJob::new(rate(of)))])
    });
    registry.add_work("tempo_tracker", |of| {
        Ok(vec![Box::new(TempoJob::new(rate(of)))])
    });
}
