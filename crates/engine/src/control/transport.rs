//! The transport, from the user's side: start, stop, locate, tempo, and a range that is repeated.

use super::Engine;
use crate::EngineError;
use crate::clock::{ClockFollower, ClockPorts, ClockSender};
use crate::transport::{COMMANDS, MIN_LOOP, TransportAction, TransportCommand};
use graph::TempoMap;
use std::ops::Range;
use units::SampleRate;

/// Position and state of the transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransportPosition {
    /// True if it rolls.
    pub is_rolling: bool,
    /// Position in frames of the piece.
    pub frame: u64,
    /// The same in beats.
    pub beat: f64,
    /// Bar, counted from 0, and beats from its begin.
    pub bar: (u64, f64),
    /// Beats in a note of the metre there: 1 in 4/4, 0.5 in 7/8.
    pub beat_unit: f64,
    /// Tempo there, in beats a minute.
    pub bpm: f64,
}

impl Engine {
    /// Largest position, in frames of the piece.
    pub const MAX_TRANSPORT_FRAME: u64 = 1 << 53;
    /// Number of commands of the transport that may wait for their frames; beside them as many are on their way.
    pub const MAX_TRANSPORT_COMMANDS: usize = COMMANDS;
    /// Shortest loop of the transport, in frames of the piece.
    pub const MIN_TRANSPORT_LOOP: u64 = MIN_LOOP;

    /// Sample rate.
    pub fn rate(&self) -> SampleRate {
        self.resources.options.rate
    }

    /// Lets the transport roll, from absolute frame `at` on, or from the next block on if that frame has passed.
    ///
    /// # Errors
    ///
    /// [`EngineError::FixedTransport`] offline, unless [`EngineOptions::transport`](crate::EngineOptions::transport) says
    /// where it begins; [`EngineError::Busy`] while too many commands wait.
    ///
    /// Real-time: setup.
    pub fn start_transport(&mut self, at: u64) -> Result<(), EngineError> {
        self.send_transport(at, TransportAction::Start)
    }

    /// Stops the transport at absolute frame `at`. Notes of scores end there; what sounds behind them rings out.
    ///
    /// # Errors
    ///
    /// As [`start_transport`](Self::start_transport).
    ///
    /// Real-time: setup.
    pub fn stop_transport(&mut self, at: u64) -> Result<(), EngineError> {
        self.send_transport(at, TransportAction::Stop)
    }

    /// Moves the transport to `position`, in frames of the piece, at absolute frame `at`. It rolls on if it rolled.
    ///
    /// # Errors
    ///
    /// As [`start_transport`](Self::start_transport), and [`EngineError::TransportOutOfRange`] above
    /// [`MAX_TRANSPORT_FRAME`](Self::MAX_TRANSPORT_FRAME).
    ///
    /// Real-time: setup.
    pub fn locate_transport(&mut self, position: u64, at: u64) -> Result<(), EngineError> {
        check_position(position)?;
        self.send_transport(at, TransportAction::Locate(position as f64))
    }

    /// Sets the tempo to `bpm` at absolute frame `at`. The beat goes on from where it is; later changes of the tempo in the
    /// session are scaled alike.
    ///
    /// # Errors
    ///
    /// As [`start_transport`](Self::start_transport), and [`EngineError::TempoOutOfRange`].
    ///
    /// Real-time: setup.
    pub fn set_tempo(&mut self, bpm: f64, at: u64) -> Result<(), EngineError> {
        if !TempoMap::BPM.contains(&bpm) {
            return Err(EngineError::TempoOutOfRange(bpm));
        }
        let map = self.graph.tempo();
        let rate = self.resources.options.rate;
        let state = self.resources.transport().last();
        let there = state.position_at(at.max(self.position)) as u64;
        self.set_tempo_scale(bpm / map.bpm(map.beat_at(there, rate)), at)
    }

    /// Sets all tempos to `scale` times those of the graph, at absolute frame `at`. The beat goes on from where it is.
    ///
    /// # Errors
    ///
    /// As [`start_transport`](Self::start_transport), and [`EngineError::TempoOutOfRange`] if the scale is no positive number.
    ///
    /// Real-time: setup.
    pub fn set_tempo_scale(&mut self, scale: f64, at: u64) -> Result<(), EngineError> {
        if !(1e-4..=1e4).contains(&scale) {
            return Err(EngineError::TempoOutOfRange(scale));
        }
        self.send_transport(at, TransportAction::Speed(scale))
    }

    /// Repeats a range of positions, in frames of the piece, from absolute frame `at` on; with `None` no more.
    ///
    /// # Errors
    ///
    /// As [`locate_transport`](Self::locate_transport); a range is at least 64 frames long.
    ///
    /// Real-time: setup.
    pub fn loop_transport(
        &mut self,
        range: Option<Range<u64>>,
        at: u64,
    ) -> Result<(), EngineError> {
        if let Some(range) = &range {
            check_position(range.end)?;
            if range.end < range.start.saturating_add(MIN_LOOP) {
                return Err(EngineError::TransportOutOfRange(range.end));
            }
        }
        let ends = |range: &Range<u64>| (range.start as f64, range.end as f64);
        self.send_transport(at, TransportAction::Loop(range.as_ref().map(ends)))?;
        self.transport_loop = range;
        Ok(())
    }

    /// The range that is repeated, as it was set last.
    pub fn transport_loop(&self) -> Option<&Range<u64>> {
        self.transport_loop.as_ref()
    }

    /// Factor by which the tempo is that of the graph's map.
    pub fn tempo_scale(&self) -> f64 {
        self.resources.transport().at(self.position).speed
    }

    /// Position and state of the transport, as far as is known: some milliseconds behind the sound.
    ///
    /// Real-time: setup.
    pub fn transport(&self) -> TransportPosition {
        let state = self.resources.transport().at(self.position);
        let position = state.position_at(self.position);
        let (map, rate) = (self.graph.tempo(), self.resources.options.rate);
        let beat = map.beat(position / f64::from(rate.hz()));
        let bar = map.bar(beat);
        let (_, metre) = map.bar_begin(bar.0);
        TransportPosition {
            is_rolling: state.is_rolling,
            frame: position as u64,
            beat,
            bar,
            beat_unit: 4.0 / f64::from(metre.denominator),
            bpm: map.bpm(beat) * state.speed,
        }
    }

    /// The clock that the options ask for.
    pub(super) fn clock_ports(&self) -> ClockPorts {
        let options = &self.resources.options;
        let map = || self.graph.tempo().clone();
        let follower = |port| (port, ClockFollower::new(map(), options.rate));
        let sender = |port| (port, ClockSender::new(map(), options.rate));
        ClockPorts::new(
            options.clock_input.map(follower),
            options.clock_output.map(sender),
        )
    }

    /// Number of commands of the transport that can be sent now.
    ///
    /// Real-time: setup.
    pub fn transport_room(&self) -> usize {
        self.rings.transport.slots()
    }

    fn send_transport(&mut self, at: u64, action: TransportAction) -> Result<(), EngineError> {
        if !self.resources.transport().can_change() {
            return Err(EngineError::FixedTransport);
        }
        let command = TransportCommand { at, action };
        let pushed = self.rings.transport.push(command);
        pushed.map_err(|_| EngineError::Busy)
    }
}

fn check_position(position: u64) -> Result<(), EngineError> {
    if position > Engine::MAX_TRANSPORT_FRAME {
        return Err(EngineError::TransportOutOfRange(position));
    }
    Ok(())
}
