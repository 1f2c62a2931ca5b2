//! [`PlayedCells`]: parts of a session that play in processes of their own, beside a live run that plays the rest.

use crate::failure::Failure;
use crate::session::load::LoadedSession;
use divisi::control::CellHost;
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Frames, SampleRate};

/// Starts the cells of a session.
pub(crate) trait StartCells {
    /// Looks for mistakes before a device is opened.
    fn check(&self, loaded: &LoadedSession) -> Result<(), Failure>;

    /// Starts a process for each cell, for this rate and block.
    fn start(
        &self,
        loaded: &LoadedSession,
        format: (SampleRate, Frames),
    ) -> Result<Box<dyn PlayedCells>, Failure>;
}

/// Cells that have come up.
pub(crate) trait PlayedCells {
    /// Makes the engine of the rest of the session. Mistakes are printed.
    fn make_engine(
        &self,
        loaded: &LoadedSession,
        options: EngineOptions,
    ) -> Result<(Engine, EngineCallback), Failure>;

    /// What carries out commands that concern cells.
    fn host(&self) -> Box<dyn CellHost>;

    /// Lines for the user about what has happened since the last call.
    fn news(&self) -> Vec<String>;

    /// Prints what the sound lacks of each cell. Fails if it lacks anything.
    fn end(&self) -> Result<(), Failure>;
}
