//! Trackers: what is heard in a sound, found by deferred work.

mod pitch;
mod pitch_job;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(pitch::kind(), pitch::make);
}
