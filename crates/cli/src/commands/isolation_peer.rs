//! `isolation-peer`: the processes of the experiment `isolation`. Users do not call it.

use crate::failure::Failure;
use clap::Args;
use lab::{Load, MusicApp};
use std::path::PathBuf;

/// Plays the application of the experiment `isolation`, or is the load beside it
#[derive(Args)]
pub(crate) struct IsolationPeer {
    /// The application, session or patch, or the load, cell, process or container
    role: String,
    /// Process of the experiment
    #[arg(long)]
    parent: i32,
    /// Rings of packets and of answers
    #[arg(long, num_args = 2)]
    rings: Vec<String>,
    /// Core of a cell; without it, the last
    #[arg(long)]
    cores: Vec<usize>,
    /// Folder of the patch
    #[arg(long, default_value = ".")]
    folder: PathBuf,
}

impl IsolationPeer {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::failed(error.to_string());
        let last = || vec![divisi::workers::cores().len().saturating_sub(1)];
        let cores = Some(self.cores).filter(|it| !it.is_empty());
        let cores = cores.unwrap_or_else(last);
        if let (Some(app), [requests, replies]) = (MusicApp::from_name(&self.role), &*self.rings) {
            let rings = (requests.as_str(), replies.as_str());
            return lab::serve_music(app, &self.folder, rings, cores, self.parent).map_err(failed);
        }
        match Load::from_name(&self.role) {
            Some(load) => lab::serve_load(load, cores, self.parent).map_err(failed),
            None => Err(Failure::bad_input("this process has no such role")),
        }
    }
}
