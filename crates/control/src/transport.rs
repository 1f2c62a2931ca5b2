//! [`TransportStep`]: a command of the transport, checked before anything is sent; [`FollowedTransport`]: a server's.

use crate::{Command, ControlError, PositionArg, PositionUnit};
use engine::{Engine, EngineError};
use graph::{PiecePosition, TempoMap};
use std::ops::Range;
use units::SampleRate;

/// The transport of a server that the engine follows. The engine follows what it is told here as what any other
/// client tells it.
pub trait FollowedTransport {
    /// Lets it roll.
    ///
    /// Real-time: setup.
    fn start(&self);

    /// Stops it.
    ///
    /// Real-time: setup.
    fn stop(&self);

    /// Moves it to a frame.
    ///
    /// Real-time: setup.
    fn locate(&self, frame: u64);
}

/// A command of the transport, with the absolute frame at which it takes effect; 0 is the next block.
#[derive(Clone, Debug)]
pub(crate) struct TransportStep {
    action: Action,
    at: u64,
}

#[derive(Clone, Debug)]
enum Action {
    Start,
    Stop,
    Locate(u64),
    Loop(Option<Range<u64>>),
    Tempo(f64),
}

impl TransportStep {
    /// The step that `command` is; `None` if it is none.
    pub(crate) fn new(
        command: &Command,
        place: (&TempoMap, SampleRate),
    ) -> Result<Option<Self>, ControlError> {
        let (action, at) = match command {
            Command::Start { at } => (Action::Start, at),
            Command::Stop { at } => (Action::Stop, at),
            Command::Tempo { bpm, at } if TempoMap::BPM.contains(bpm) => (Action::Tempo(*bpm), at),
            Command::Tempo { bpm, .. } => return Err(EngineError::TempoOutOfRange(*bpm).into()),
            Command::Locate { to, unit, at } => (Action::Locate(frame(to, *unit, place)?), at),
            Command::Loop { range, unit, at } => {
                let frame = |position| frame(position, *unit, place);
                let range = match range {
                    Some([begin, end]) => Some(checked(frame(begin)?..frame(end)?)?),
                    None => None,
                };
                (Action::Loop(range), at)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { action, at: *at }))
    }

    /// The frame at which it takes effect; 0 for the next block.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Refuses what the transport of a server cannot do.
    pub(crate) fn check_followed(&self) -> Result<(), ControlError> {
        match self.action {
            Action::Tempo(_) => Err(ControlError::Followed("a tempo")),
            Action::Loop(_) => Err(ControlError::Followed("a loop")),
            Action::Locate(to) if to > u64::from(u32::MAX) => {
                Err(ControlError::Followed("a frame above 4294967295"))
            }
            _ if self.at != 0 => Err(ControlError::Followed("a frame at which it changes")),
            _ => Ok(()),
        }
    }

    /// Sends it to the server, if the engine follows one, else to the engine.
    pub(crate) fn send(
        &self,
        engine: &mut Engine,
        followed: Option<&dyn FollowedTransport>,
    ) -> Result<(), EngineError> {
        match (&self.action, followed) {
            (Action::Start, Some(server)) => server.start(),
            (Action::Stop, Some(server)) => server.stop(),
            (Action::Locate(to), Some(server)) => server.locate(*to),
            (Action::Start, None) => engine.start_transport(self.at)?,
            (Action::Stop, None) => engine.stop_transport(self.at)?,
            (Action::Locate(to), None) => engine.locate_transport(*to, self.at)?,
            (Action::Loop(range), _) => engine.loop_transport(range.clone(), self.at)?,
            (Action::Tempo(bpm), _) => engine.set_tempo(*bpm, self.at)?,
        }
        Ok(())
    }
}

/// The frame of a position.
fn frame(
    position: &PositionArg,
    unit: PositionUnit,
    (tempo, rate): (&TempoMap, SampleRate),
) -> Result<u64, ControlError> {
    let hz = f64::from(rate.hz());
    let (frame, words) = match position {
        PositionArg::Text(text) => {
            let piece: PiecePosition = text
                .parse()
                .map_err(|_| ControlError::Position(format!("`{text}`")))?;
            (piece.frame(tempo, rate) as f64, text.clone())
        }
        PositionArg::Number(number) => {
            let frame = match unit {
                PositionUnit::Frames => *number,
                PositionUnit::Seconds => number * hz,
                PositionUnit::Beats if *number < 0.0 => *number,
                PositionUnit::Beats => tempo.seconds(*number) * hz,
            };
            (frame, number.to_string())
        }
    };
    match (0.0..=Engine::MAX_TRANSPORT_FRAME as f64).contains(&frame) {
        true => Ok(frame.round() as u64),
        false => Err(ControlError::Position(words)),
    }
}

fn checked(range: Range<u64>) -> Result<Range<u64>, ControlError> {
    match range.end >= range.start.saturating_add(Engine::MIN_TRANSPORT_LOOP) {
        true => Ok(range),
        false => Err(ControlError::Loop(range.start, range.end)),
    }
}
