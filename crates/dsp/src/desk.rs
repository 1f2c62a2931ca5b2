//! The desk: channel strips and buses, with two channels each.

mod bus;
mod strip;

use graph::{PortCount, PortSignal, PortSpec};
use units::Channels;

/// Adds the kinds of this folder to `registry`.
pub(crate) fn register(registry: &mut processor::Registry) {
    registry.add(strip::kind(), strip::make);
    registry.add(bus::kind(), bus::make);
}

/// A port of two channels.
const fn stereo(name: &'static str) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::Fixed(Channels(2)),
        count: PortCount::One,
    }
}
