//! The contract between a driver and what it drives.

use std::any::Any;

use units::{Frames, Nanos, SampleRate};

use crate::DriverError;

/// What a driver drives: exactly one engine block a call.
///
/// The driver gives [`DriverConfig::inputs`] inputs and [`DriverConfig::outputs`] outputs, each one block long. Outputs hold
/// anything when the call begins: the player writes every sample. A player that panics ends the sound, not the
/// program: the driver stops calling it and says so in [`RunningDriver::state`].
pub trait AudioCallback: Any + Send {
    /// Plays one block.
    ///
    /// Real-time: hot.
    fn process(&mut self, beat: CallbackInfo, inputs: &[&[f32]], outputs: &mut [&mut [f32]]);
}

/// What a driver knows about the block it asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallbackInfo {
    /// Time until this block must be done; `None` where nobody waits for it (offline, freewheeling).
    pub budget: Option<Nanos>,
    /// Times that sound was lost on the device's side since the last call.
    pub xruns: u32,
}

/// What is asked of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// The name that other programs see.
    pub name: String,
    /// The sample rate, where the driver can choose: a server has its own.
    pub rate: Option<SampleRate>,
    /// The engine's block, from 1 frame to [`DriverConfig::MAX_BLOCK`].
    pub block: Frames,
    /// Channels in, at most [`DriverConfig::MAX_CHANNELS`].
    pub inputs: u16,
    /// Channels out, at most [`DriverConfig::MAX_CHANNELS`].
    pub outputs: u16,
    /// The real-time priority (1 to 99) of a thread that the driver starts itself; `None` for an ordinary thread.
    pub priority: Option<u8>,
    /// The server to play on, where it is not the user's default: a JACK server's name, or a PipeWire socket's path.
    pub server: Option<String>,
    /// Whether to connect to the device's own inputs and outputs, where there is a choice.
    pub auto_connect: bool,
}

impl DriverConfig {
    /// The longest block a driver plays.
    pub const MAX_BLOCK: Frames = Frames(65_536);
    /// The most channels a driver opens each way.
    pub const MAX_CHANNELS: u16 = 256;

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
            auto_connect: true,
        }
    }

    /// Refuses what no driver could do.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        if self.block.0 == 0 || self.block > Self::MAX_BLOCK {
            return Err(DriverError::Block(self.block));
        }
        let most = self.inputs.max(self.outputs);
        if most > Self::MAX_CHANNELS {
            return Err(DriverError::Channels(most));
        }
        Ok(())
    }
}

/// What a driver got, to be known before the plan is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfo {
    /// The driver's own name: `clock`, `jack`.
    pub name: &'static str,
    /// Who answers on the other side, as `jackd 1.9.21` or `PipeWire`; empty where there is nobody.
    pub server: String,
    /// The sample rate that holds.
    pub rate: SampleRate,
    /// The device's buffer.
    pub buffer_size: Frames,
    /// Latency that the adaptation to the engine's block adds.
    pub adapter_latency: Frames,
    /// Latency of the device itself, in and out together, as far as it tells.
    pub device_latency: Frames,
    /// The real-time priority of the thread that will call the player; `None` when it is an ordinary one or when
    /// that is not known before it runs.
    pub priority: Option<i32>,
    /// What was asked and refused, each with what to do about it.
    pub refused: Vec<String>,
}

/// A driver that is open and waits for its player.
pub trait OpenDriver: Send {
    /// What was got.
    fn info(&self) -> &DriverInfo;

    /// Begins to play.
    ///
    /// Real-time: setup.
    fn start(
        self: Box<Self>,
        player: Box<dyn AudioCallback>,
    ) -> Result<Box<dyn RunningDriver>, DriverError>;
}

/// A driver that plays.
pub trait RunningDriver: Send {
    /// Whether it still plays.
    ///
    /// Real-time: setup.
    fn state(&self) -> DriverState;

    /// Latency that the adaptation to the engine's block adds now: a device that changes its buffer may raise it.
    ///
    /// Real-time: setup.
    fn adapter_latency(&self) -> Frames;

    /// Ends the sound and gives the player back.
    ///
    /// Real-time: waits, on the block that is being played and on the server's answer.
    fn stop(self: Box<Self>) -> Box<dyn AudioCallback>;
}

/// Whether a driver still plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverState {
    /// It does.
    Playing,
    /// It does not, and will not again.
    Ended {
        /// Why, and what to do, in one line.
        reason: String,
    },
}
