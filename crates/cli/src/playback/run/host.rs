//! [`PlayHost`]: who plays a session: this process alone, or this one with cells in processes of their own.

use crate::failure::Failure;
use crate::session::load::LoadedSession;
use crate::session::options::PlayOptions;
use divisi::control::{Controller, TapHost};
use divisi::driver::{DriverConfig, DriverInfo, PortConnections};
use divisi::engine::{ChooseOptions, ControllerBinding};
use divisi::prelude::{
    AudioCallback, Engine, EngineCallback, EngineError, EngineOptions, Frames, Graph, Registry,
};
use serde_json::Value;
use std::sync::Arc;

/// The parts of a live run that differ between one process and several. What it does by default is right for one.
pub(crate) trait PlayHost {
    /// Completes the configuration of the driver.
    fn configure(&mut self, _config: &mut DriverConfig) {}

    /// Frames in a block through this device, where neither the call nor the session says it. `None` for the default.
    fn block(&self, _info: &DriverInfo) -> Option<Frames> {
        None
    }

    /// The device is open.
    fn note_device(&mut self, _info: &DriverInfo) -> Result<(), Failure> {
        Ok(())
    }

    /// Chooses the scheduler, if the call names none. Returns the options of that choice.
    fn choose_scheduler(
        &mut self,
        play: &PlayOptions,
        loaded: &LoadedSession,
        options: &mut EngineOptions,
    ) -> Option<ChooseOptions> {
        play.choose_scheduler(loaded, options)
    }

    /// Makes the engine. Mistakes are printed.
    fn make_engine(
        &mut self,
        loaded: &LoadedSession,
        options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure> {
        loaded.make_engine(options)
    }

    /// The callback for the driver. To be called right before it starts, and before [`Self::first_frame`] is asked.
    fn begin(
        &mut self,
        _engine: &mut Engine,
        callback: EngineCallback,
    ) -> Result<Box<dyn AudioCallback>, Failure> {
        Ok(Box::new(callback))
    }

    /// Frames of the run that other processes have played before this one.
    fn first_frame(&self) -> u64 {
        0
    }

    /// Returns true if no sample may be lost with this process: a recording is on the disk at once.
    fn may_be_lost(&self) -> bool {
        false
    }

    /// Length in frames and tail of the session, as [`Engine::length`] and [`Engine::tail`].
    fn ending(&self, engine: &Engine) -> Result<(Option<u64>, u64), Failure> {
        Ok((engine.length(), engine.tail()))
    }

    /// Has live controllers set parameters.
    fn bind_controllers(
        &mut self,
        engine: &mut Engine,
        bindings: Vec<ControllerBinding>,
    ) -> Result<(), EngineError> {
        engine.set_controllers(bindings)
    }

    /// All kinds of nodes, as the engine has them.
    fn registry(&self, loaded: &LoadedSession) -> Arc<Registry> {
        loaded.registry.clone()
    }

    /// The whole graph of the session.
    fn graph(&self, engine: &Engine) -> Graph {
        engine.graph().clone()
    }

    /// Adds what commands can reach.
    fn extend(&self, _controller: &mut Controller) {}

    /// Outputs that stay inside cells, for meters.
    fn taps(&mut self) -> TapHost<'_> {
        None
    }

    /// Looks after what plays, every few milliseconds. Returns lines for the user.
    fn update(&mut self, _engine: &mut Engine) -> Vec<String> {
        Vec::new()
    }

    /// The connections of the device's ports have changed.
    fn note_connections(&mut self, _connections: &[PortConnections]) {}

    /// Its part of the report beside the engine's, with its name.
    fn report(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// Nothing more is to be played: the device may stop at any time.
    fn end_play(&mut self) {}

    /// Says what the sound lacks. Fails if it lacks anything. The driver has stopped.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// This process alone.
pub(crate) struct OneProcess;

impl PlayHost for OneProcess {}
