//! Scores, sequencers and curves: sources that follow the tempo and the transport.
//!
//! None has a state: what a block holds is a function of its position. So a node that comes while a graph plays is in time
//! with the others.

pub(crate) mod curve;
pub(crate) mod events;
pub(crate) mod line;
mod sounding;
pub(crate) mod steps;
pub(crate) mod timing;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(events::kind(), events::make);
    registry.add(steps::kind(), steps::make);
    registry.add(curve::kind(), curve::make);
}
