//! Trackers: what is heard in a sound, found by deferred work.
//!
//! ```text
//! each 10 ms: the last frames ──▶ deferred work ──▶ 10 ms later: signals, events
//! ```
//!
//! The work is done outside the cycle by workers that are idle. It has the time until the next window: its result takes effect
//! then, at the same frame under every scheduler. A result that comes too late is left out, and counted in the report.

mod flux;
mod onset;
mod pitch;
mod pitch_job;
mod tempo;
mod tempo_job;
mod window_tracker;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(onset::kind(), onset::make);
    registry.add(pitch::kind(), pitch::make);
    registry.add(tempo::kind(), tempo::make);
}
