//! The commands, one a file.

mod check;
mod play;
mod render;

use crate::failure::Failure;
use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Plays a session in real time
    Play(play::Play),
    /// Plays a session into a file, as fast as it goes
    Render(render::Render),
    /// Reads a session and says what is wrong with it; changes nothing
    Check(check::Check),
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Play(play) => play.run(),
            Self::Render(render) => render.run(),
            Self::Check(check) => check.run(),
        }
    }
}
