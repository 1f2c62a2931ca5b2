//! `play`: plays a session in real time, in one process.

use crate::failure::Failure;
use crate::playback::nsm::NsmSession;
use crate::playback::run::{LiveOptions, OneProcess};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  divisi play examples/01-beep.ag --seconds 3
  divisi play session.toml --seconds 30 --record session.wav
  divisi play session.toml --driver clock --workers 2 --times --json report.json
  divisi play session.toml --driver alsa --device plughw:0
  divisi play session.toml --watch
  divisi play session.toml --seconds 10 --trace trace.json
  divisi play session.toml --reload --socket
  divisi play session.toml --from 17.1

Without --seconds it plays until every node has ended, or until Ctrl-C. Then it prints a report, whose histogram has bars
of logarithmic length. A cycle that ends after its deadline is `missed`: the sound may have clicked, but the file of
--record is complete.";

/// Plays a session in real time
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Play {
    #[command(flatten)]
    live: LiveOptions,
}

impl Play {
    /// Runs the command.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let nsm = NsmSession::join(&self.live.options.file)?;
        if let Some(nsm) = &nsm {
            self.live.options.file = nsm.file().to_owned();
        }
        let loaded = self.live.read()?;
        self.live.run(&loaded, nsm, &mut OneProcess)
    }
}
