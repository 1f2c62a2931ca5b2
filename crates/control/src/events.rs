//! [`NodeEvent`]: a number or a MIDI message for an event input; [`TransportStep`]. Both are checked before anything is sent.

use crate::target::required;
use crate::{Command, ControlError, PositionUnit};
use engine::{Engine, EngineError};
use graph::{Graph, NodeId, TempoMap};
use units::SampleRate;

/// An event of a request.
pub(crate) struct NodeEvent {
    node: NodeId,
    input: String,
    body: Body,
    at: u64,
}

enum Body {
    Value(f32),
    Midi([u8; 3]),
}

/// A command of the transport.
#[derive(Clone, Copy)]
pub(crate) enum TransportStep {
    Start(u64),
    Stop(u64),
    Locate(u64, u64),
    Tempo(f64, u64),
}

impl TransportStep {
    /// The step that `command` is; `None` if it is none.
    pub(crate) fn new(
        command: &Command,
        (tempo, rate): (&TempoMap, SampleRate),
    ) -> Result<Option<Self>, ControlError> {
        Ok(Some(match command {
            Command::Start { at } => Self::Start(*at),
            Command::Stop { at } => Self::Stop(*at),
            Command::Tempo { bpm, at } if TempoMap::BPM.contains(bpm) => Self::Tempo(*bpm, *at),
            Command::Tempo { bpm, .. } => return Err(EngineError::TempoOutOfRange(*bpm).into()),
            Command::Locate { to, unit, at } => {
                let hz = f64::from(rate.hz());
                let frame = match unit {
                    PositionUnit::Frames => *to,
                    PositionUnit::Seconds => to * hz,
                    PositionUnit::Beats => tempo.seconds(*to) * hz,
                };
                if !(0.0..=Engine::MAX_TRANSPORT_FRAME as f64).contains(&frame) {
                    return Err(ControlError::Position(*to));
                }
                Self::Locate(frame.round() as u64, *at)
            }
            _ => return Ok(None),
        }))
    }

    /// The frame at which it takes effect; 0 for the next block.
    pub(crate) fn at(self) -> u64 {
        match self {
            Self::Start(at) | Self::Stop(at) | Self::Locate(_, at) | Self::Tempo(_, at) => at,
        }
    }

    pub(crate) fn send(self, engine: &mut Engine) -> Result<(), EngineError> {
        match self {
            Self::Start(at) => engine.start_transport(at),
            Self::Stop(at) => engine.stop_transport(at),
            Self::Locate(to, at) => engine.locate_transport(to, at),
            Self::Tempo(bpm, at) => engine.set_tempo(bpm, at),
        }
    }
}

impl NodeEvent {
    /// The event that `command` is; `None` if it is none.
    pub(crate) fn new(command: &Command, graph: &Graph) -> Result<Option<Self>, ControlError> {
        let (to, body, at) = match command {
            Command::Value { to, value, at } => (to, Body::Value(*value), *at),
            Command::Midi { to, bytes, at } => (to, Body::Midi(*bytes), *at),
            _ => return Ok(None),
        };
        let (node, there, input) = required(graph, to, "an event input")?;
        let mut inputs = there.kind_inputs().iter();
        let is_there = inputs.any(|port| {
            let takes_events = matches!(port.signal, graph::Signal::Event | graph::Signal::Control);
            port.name == input && takes_events
        });
        match body {
            Body::Midi(bytes)
                if bytes[0] & 0x80 == 0 || bytes[0] >= 0xf0 || (bytes[1] | bytes[2]) >= 0x80 =>
            {
                Err(EngineError::NotMidi(bytes).into())
            }
            Body::Value(value) if !value.is_finite() => Err(ControlError::Value(value.to_string())),
            _ if !is_there => Err(EngineError::NoParam(input.to_owned()).into()),
            body => Ok(Some(Self {
                node,
                input: input.to_owned(),
                body,
                at,
            })),
        }
    }

    /// The frame for which it is meant; 0 for the next block.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    pub(crate) fn send(&self, engine: &mut Engine) -> Result<(), EngineError> {
        match self.body {
            Body::Value(value) => engine.send_value(self.node, &self.input, value, self.at),
            Body::Midi(bytes) => engine.send_midi(self.node, &self.input, bytes, self.at),
        }
    }
}
