//! [`ControllerMap`]: MIDI controllers that set parameters of nodes.
//!
//! The audio thread applies a map at the frame of each message. The control thread has the same map and follows the same
//! messages a little later, so that the graph has the values too.

use crate::messages::EventMessage;
use processor::EventBody;

/// Largest number of bindings at one time: each controller message looks at all of them.
pub const MAX_CONTROLLERS: usize = 256;

/// A controller that sets a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerBinding {
    /// Name of the live MIDI input port; empty for any.
    pub port: String,
    /// MIDI channel from 1; 0 for any.
    pub channel: u8,
    /// The controller.
    pub source: ControllerSource,
    /// Name of the node.
    pub node: String,
    /// Name of its parameter.
    pub param: String,
    /// Values of the parameter at the controller's lowest and highest position.
    pub range: (f64, f64),
    /// True to go from one to the other in equal ratios, not in equal steps. Both values are above 0 then.
    pub is_exponential: bool,
}

/// A parameter of a node that is not in the graph, but that a node of the graph plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteParam {
    /// Name of the node.
    pub node: String,
    /// Name of its parameter.
    pub param: String,
    /// Name of the node of the graph that plays it.
    pub through: String,
    /// Index of the parameter there.
    pub index: u16,
}

/// The controller of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerSource {
    /// A controller of 7 bits.
    Controller(u8),
    /// A controller of 14 bits, 0 to 31: its low bits are those of the controller 32 above it.
    Controller14(u8),
    /// The pitch bend wheel.
    PitchBend,
}

/// A binding whose names are resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundController {
    /// `None` for any port.
    pub(crate) port: Option<u16>,
    /// Counted from 0; `None` for any.
    pub(crate) channel: Option<u8>,
    pub(crate) source: ControllerSource,
    pub(crate) range: (f64, f64),
    pub(crate) is_exponential: bool,
    /// Sets the parameter; its value and its frame are filled in.
    pub(crate) message: EventMessage,
    /// Bits of the controller so far: 14.
    position: u16,
}

/// Bindings that are applied.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControllerMap(pub(crate) Vec<BoundController>);

impl BoundController {
    pub(crate) fn new(binding: &ControllerBinding, port: Option<u16>, set: EventMessage) -> Self {
        Self {
            port,
            channel: binding.channel.checked_sub(1),
            source: binding.source,
            range: binding.range,
            is_exponential: binding.is_exponential,
            message: set,
            position: 0,
        }
    }

    /// The position from 0 to 1 after `message`, if it is of this controller.
    fn position(&mut self, port: u16, [status, a, b]: [u8; 3]) -> Option<f64> {
        let is_of = self.port.is_none_or(|own| own == port)
            && self.channel.is_none_or(|channel| channel == status & 15);
        if !is_of {
            return None;
        }
        let (a, b) = (a & 127, b & 127);
        let bits = |high: u8, low: u8| u16::from(high) << 7 | u16::from(low);
        match (status & 0xf0, self.source) {
            (0xb0, ControllerSource::Controller(number)) if a == number => {
                Some(f64::from(b) / 127.0)
            }
            (0xb0, ControllerSource::Controller14(number)) if a == number => {
                // As the standard says: new high bits set the low ones to 0.
                self.position = bits(b, 0);
                Some(self.share())
            }
            (0xb0, ControllerSource::Controller14(number)) if a == number + 32 => {
                self.position = bits((self.position >> 7) as u8, b);
                Some(self.share())
            }
            (0xe0, ControllerSource::PitchBend) => {
                self.position = bits(b, a);
                Some(self.share())
            }
            _ => None,
        }
    }

    fn share(&self) -> f64 {
        f64::from(self.position) / 16_383.0
    }

    /// Value of the parameter at a position.
    fn value(&self, position: f64) -> f32 {
        let (low, high) = self.range;
        let value = match self.is_exponential {
            true => low * (high / low).powf(position),
            false => low + (high - low) * position,
        };
        value.clamp(low.min(high), low.max(high)) as f32
    }
}

impl ControllerMap {
    /// Passes the changes that `message` of port `port` makes to `set`.
    ///
    /// Real-time: hot, if `set` is.
    pub(crate) fn apply(&mut self, port: u16, message: [u8; 3], mut set: impl FnMut(EventMessage)) {
        for bound in &mut self.0 {
            if let Some(position) = bound.position(port, message) {
                let mut change = bound.message;
                change.event.body = EventBody::Value(bound.value(position));
                set(change);
            }
        }
    }
}

/// Returns true for a message that a controller or the bend wheel sends.
pub(crate) fn is_controller(message: &[u8]) -> bool {
    message.len() == 3 && matches!(message[0], 0xb0..0xc0 | 0xe0..0xf0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::NodeId;
    use processor::{Event, EventTarget};

    fn values(source: ControllerSource, is_exponential: bool, messages: &[[u8; 3]]) -> Vec<f32> {
        let binding = ControllerBinding {
            port: String::new(),
            channel: 2,
            source,
            node: "a".into(),
            param: "b".into(),
            range: (10.0, 1000.0),
            is_exponential,
        };
        let event = Event {
            frame: 0,
            target: EventTarget::Param(0),
            body: EventBody::Value(0.0),
        };
        let set = EventMessage {
            node: NodeId(1),
            event,
            at: 0,
            ramp: None,
            after_swap: 0,
        };
        let mut map = ControllerMap(vec![BoundController::new(&binding, Some(3), set)]);
        let mut values = Vec::new();
        for message in messages {
            map.apply(4, *message, |_| panic!("another port"));
            map.apply(3, *message, |change| {
                if let EventBody::Value(value) = change.event.body {
                    values.push(value);
                }
            });
        }
        values
    }

    #[test]
    fn a_controller_goes_from_end_to_end_in_steps_or_ratios_on_its_channel() {
        let messages = [[0xb1, 7, 0], [0xb0, 7, 9], [0xb1, 8, 9], [0xb1, 7, 127]];
        let controller = ControllerSource::Controller(7);
        assert_eq!(values(controller, false, &messages), [10.0, 1000.0]);
        let middle = values(ControllerSource::PitchBend, true, &[[0xe1, 0, 64]]);
        assert!((middle[0] - 100.0).abs() < 0.1, "{middle:?}");
    }

    #[test]
    fn the_low_bits_of_a_controller_of_14_bits_follow_its_high_ones() {
        let messages = [[0xb1, 1, 127], [0xb1, 33, 127], [0xb1, 1, 0]];
        let found = values(ControllerSource::Controller14(1), false, &messages);
        assert!(
            found[0] < 1000.0 && found[1] == 1000.0 && found[2] == 10.0,
            "{found:?}"
        );
    }
}
