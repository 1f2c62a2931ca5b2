//! The contract between a driver and the callback that it calls.

use std::any::Any;

use units::{Frames, Nanos, SampleRate};

use crate::{DriverError, MidiEvent, MidiLosses};

/// A function that a driver calls for each block: exactly one engine block a call.
///
/// The driver gives [`DriverConfig::inputs`] inputs and [`DriverConfig::outputs`] outputs, each one block long. Outputs
/// hold anything when the call begins: the callback writes every sample. A callback that panics ends the sound, not the
/// program: the driver stops calling it and says so in [`RunningDriver::state`].
pub trait AudioCallback: Any + Send {
    /// Plays one block. Inputs and outputs are channels x frames.
    ///
    /// Real-time: hot.
    fn process(&mut self, info: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]);

    /// Takes a MIDI message for a frame of the next block. The messages of a port come in the order of their frames.
    ///
    /// Real-time: hot.
    fn push_midi(&mut self, _event: MidiEvent<'_>) {}

    /// Passes the MIDI messages before frame `end` of the last block to `send`, in the order of their frames for each
    /// port, each of them once.
    ///
    /// Real-time: hot, if `send` is.
    fn pop_midi(&mut self, _end: u32, _send: &mut dyn FnMut(MidiEvent<'_>)) {}
}

/// Facts about the block that a driver asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallbackInfo {
    /// Time until this block must be done; `None` where nobody waits for it (offline, freewheeling).
    pub budget: Option<Nanos>,
    /// Number of times that the device lost sound since the last call.
    pub xruns: u32,
    /// Movement of the server's transport in this block; nothing where none is followed.
    pub transport: HostTransport,
}

/// Position of a frame in bars and beats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BarPosition {
    /// Bar, counted from 0.
    pub bar: u64,
    /// Beats of the metre from the begin of the bar.
    pub beat: f64,
    /// Beats of the metre from the begin of the piece to that of the bar.
    pub bar_begin: f64,
    /// Beats of the metre in the bar.
    pub beats: u8,
    /// Note value of a beat: 4 for quarters.
    pub unit: u8,
    /// Beats a minute.
    pub bpm: f64,
}

/// Bar and beat of a frame, for a server whose transport we give them to. It is called on an audio thread, so it is hot.
pub type Timebase = Box<dyn Fn(u64) -> BarPosition + Send + Sync>;

/// Commands to the transport of a server.
pub trait ServerTransport: Send {
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

/// Changes of a server's transport within one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTransport {
    changes: [HostTransportChange; Self::MAX],
    count: u8,
}

/// State of a server's transport from a frame of the block on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTransportChange {
    /// Frame of the block.
    pub offset: u32,
    /// Position of the server's transport there, in frames.
    pub position: u64,
    /// True if it rolls.
    pub is_rolling: bool,
}

impl HostTransport {
    /// Most changes within a block; of further ones the last holds.
    const MAX: usize = 4;

    /// The changes, by frame.
    ///
    /// Real-time: hot.
    pub fn changes(&self) -> &[HostTransportChange] {
        &self.changes[..usize::from(self.count)]
    }

    /// Appends a change. It replaces the last one where there is no more room.
    ///
    /// Real-time: hot.
    pub fn push(&mut self, change: HostTransportChange) {
        let at = usize::from(self.count).min(Self::MAX - 1);
        self.changes[at] = change;
        self.count = at as u8 + 1;
    }
}

/// Configuration of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// Name that other programs see.
    pub name: String,
    /// Sample rate, where the driver can choose: a server has its own.
    pub rate: Option<SampleRate>,
    /// The engine's block, from 1 frame to [`DriverConfig::MAX_BLOCK`].
    pub block: Frames,
    /// Number of input channels, at most [`DriverConfig::MAX_CHANNELS`].
    pub inputs: u16,
    /// Number of output channels, at most [`DriverConfig::MAX_CHANNELS`].
    pub outputs: u16,
    /// Real-time priority (1 to 99) of a thread that the driver starts itself; `None` for an ordinary thread.
    pub priority: Option<u8>,
    /// Server or device to play on, if it is not the user's default: a JACK server's name, a PipeWire socket's path, or
    /// the name of an ALSA PCM.
    pub server: Option<String>,
    /// Names of the MIDI input ports, at most [`DriverConfig::MAX_MIDI_PORTS`].
    pub midi_inputs: Vec<String>,
    /// Names of the MIDI output ports, at most [`DriverConfig::MAX_MIDI_PORTS`].
    pub midi_outputs: Vec<String>,
    /// Connections of our ports to those of other programs, made whenever these are there. A port that is named here is
    /// connected to nothing else.
    pub connections: Vec<PortConnections>,
    /// True to connect to the device's own inputs and outputs, where there is a choice.
    pub auto_connect: bool,
    /// True to follow the server's transport, where it has one: the callback is passed its changes.
    pub follow_transport: bool,
}

/// Connections of one of our ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConnections {
    /// Name of our port, without the client's: `keys`, `in_1`, `out_1`.
    pub port: String,
    /// Full names of the ports of other programs: `system:playback_1`.
    pub others: Vec<String>,
}

impl DriverConfig {
    /// Largest block that a driver plays.
    pub const MAX_BLOCK: Frames = Frames(65_536);
    /// Largest number of channels that a driver opens in each direction.
    pub const MAX_CHANNELS: u16 = 256;
    /// Largest number of MIDI ports that a driver opens in each direction.
    pub const MAX_MIDI_PORTS: usize = 64;

    /// Two outputs, no inputs, connected, at real-time priority 70 where that is allowed.
    pub fn new(name: &str, block: Frames) -> Self {
        Self {
            name: name.to_owned(),
            rate: None,
            block,
            inputs: 0,
            outputs: 2,
            priority: Some(70),
            server: None,
            midi_inputs: Vec::new(),
            midi_outputs: Vec::new(),
            connections: Vec::new(),
            auto_connect: true,
            follow_transport: false,
        }
    }

    /// Returns true if MIDI ports are asked for.
    pub(crate) fn has_midi(&self) -> bool {
        !(self.midi_inputs.is_empty() && self.midi_outputs.is_empty())
    }

    /// Refuses what no driver can do.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        if self.block.0 == 0 || self.block > Self::MAX_BLOCK {
            return Err(DriverError::Block(self.block));
        }
        let channels = self.inputs.max(self.outputs);
        if channels > Self::MAX_CHANNELS {
            return Err(DriverError::Channels(channels));
        }
        let ports = self.midi_inputs.len().max(self.midi_outputs.len());
        if ports > Self::MAX_MIDI_PORTS {
            return Err(DriverError::MidiPorts(ports));
        }
        Ok(())
    }
}

/// Facts about a driver that is open. The engine makes its plan from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// Name of the driver: `clock`, `jack`, `alsa`.
    pub name: &'static str,
    /// Server or device that answered, as `jackd 1.9.21`, `PipeWire` or `ALSA's plughw:0`; empty where there is none.
    pub server: String,
    /// Sample rate of the device.
    pub rate: SampleRate,
    /// Buffer size of the device.
    pub buffer_size: Frames,
    /// Latency that the adaptation to the engine's block adds.
    pub adapter_latency: Frames,
    /// Latency of the device, input and output together, as far as it tells.
    pub device_latency: Frames,
    /// Real-time priority of the thread that will call the callback; `None` if it is an ordinary thread, or if its
    /// priority is not known before it runs.
    pub priority: Option<i32>,
    /// True if the MIDI ports that were asked for exist.
    pub has_midi: bool,
    /// Requests that were refused, each with what to do about it.
    pub refused: Vec<String>,
}

/// A driver that is open and waits for its callback.
pub trait OpenDriver: Send {
    /// Facts about the open driver.
    fn info(&self) -> &DriverInfo;

    /// Gives bars and beats to the server's transport, from the start on.
    ///
    /// # Errors
    ///
    /// The driver has no server with a transport.
    ///
    /// Real-time: setup.
    fn give_timebase(&mut self, _timebase: Timebase) -> Result<(), DriverError> {
        Err(DriverError::Refused("a transport"))
    }

    /// Begins to play.
    ///
    /// # Errors
    ///
    /// The server refuses.
    ///
    /// Real-time: setup.
    fn start(
        self: Box<Self>,
        callback: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError>;
}

/// A driver that plays.
pub trait RunningDriver: Send {
    /// State of the driver: a server may have gone away.
    ///
    /// Real-time: setup.
    fn state(&self) -> DriverState;

    /// Makes the wanted connections to ports that have appeared. Returns all connections that there are, if they have
    /// changed since the last call. To be called every few milliseconds.
    ///
    /// Real-time: setup.
    fn update_connections(&self) -> Option<Vec<PortConnections>> {
        None
    }

    /// Numbers of MIDI messages that were left out until now.
    ///
    /// Real-time: hot.
    fn midi_losses(&self) -> MidiLosses {
        MidiLosses::default()
    }

    /// Latency that the adaptation to the engine's block adds now: a device that changes its buffer may raise it.
    ///
    /// Real-time: setup.
    fn adapter_latency(&self) -> Frames;

    /// Commands to the server's transport, if that is followed.
    ///
    /// Real-time: setup.
    fn server_transport(&self) -> Option<Box<dyn ServerTransport>> {
        None
    }

    /// Ends the sound and gives the callback back.
    ///
    /// Real-time: waits, on the block that is being played and on the server's answer.
    fn stop(self: Box<Self>) -> Box<dyn AudioCallback>;
}

/// State of a driver that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// It plays.
    Playing,
    /// It has ended and will not play again.
    Ended {
        /// Reason and remedy, in one line.
        reason: String,
    },
}
