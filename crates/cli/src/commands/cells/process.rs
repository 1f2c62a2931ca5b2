//! `cell-process`: the process of one cell. `cells` starts it; users do not call it.

use super::{format, split_cells, split_session};
use crate::failure::Failure;
use crate::output::messages;
use crate::session::load::LoadedSession;
use crate::session::options::{parse_block, parse_rate};
use clap::Args;
use divisi::cells::{
    CellJob, CellSpec, Isolation, Policy, Split, begin_process, run_cell, try_to_leave,
};
use divisi::prelude::{EngineOptions, Frames, Mode, SampleRate, Scheduler};
use divisi::workers::Priority;
use std::path::PathBuf;

/// Plays one cell of a session for its supervisor
#[derive(Args)]
pub(crate) struct CellProcess {
    /// The session
    #[arg(required_unless_present = "try_to_leave")]
    file: Option<PathBuf>,
    /// Index of the cell
    #[arg(long, default_value_t = 0)]
    cell: usize,
    /// Name of a cell that is not the session's
    #[arg(long, requires = "keys")]
    name: Option<String>,
    /// Its keys
    #[arg(long, requires = "name")]
    keys: Option<String>,
    /// Cores in place of the session's, with commas between
    #[arg(long)]
    cores: Option<String>,
    /// Ring of requests
    #[arg(long)]
    requests: Option<PathBuf>,
    /// Ring of replies
    #[arg(long)]
    replies: Option<PathBuf>,
    /// Memory for checkpoints
    #[arg(long)]
    state: Option<PathBuf>,
    /// Process of the supervisor
    #[arg(long)]
    parent: i32,
    #[arg(long, value_parser = parse_rate)]
    rate: Option<SampleRate>,
    #[arg(long, value_parser = parse_block)]
    block: Option<Frames>,
    /// Play with a deadline
    #[arg(long)]
    live: bool,
    /// Print what the system refuses
    #[arg(long)]
    notes: bool,
    /// Try to get out of the restrictions of a cell, and print the result of each attempt
    #[arg(long)]
    try_to_leave: bool,
}

impl CellProcess {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        begin_process(self.parent).map_err(Failure::from_error)?;
        let Some(file) = self.file.as_ref().filter(|_| !self.try_to_leave) else {
            return Self::print_attempts(self.parent);
        };
        let loaded = LoadedSession::read(file)?;
        let (rate, block) = format(&loaded, self.rate, self.block);
        let mut split = self.split(&loaded)?;
        let at = if self.keys.is_some() { 0 } else { self.cell };
        if at >= split.cells.len() {
            return Err(Failure::failed("the session has fewer cells than before"));
        }
        let part = split.cells.swap_remove(at);
        let (mut spec, name) = (part.spec.clone(), part.spec.name.clone());
        if let Some(cores) = &self.cores {
            let cores = cores.split(',').filter_map(|core| core.parse().ok());
            spec.cores = cores.collect();
        }
        let priority = match self.live {
            true => spec.policy.priority(spec.precedence),
            false => Priority::Ordinary,
        };
        let is_switched = spec.policy.is_switched();
        let windows = match &spec.policy {
            Policy::TimeTriggered(windows) if self.live => Some(windows.clone()),
            _ => None,
        };
        let mut options = EngineOptions::new(block, rate);
        options.folder.clone_from(&loaded.folder);
        options.workers = spec.process_workers();
        options.scheduler = match options.workers {
            1 => Scheduler::Sequential,
            _ => Scheduler::Stealing,
        };
        options.priority = priority;
        options.prevent_cpu_sleep = false;
        options.mode = match self.live {
            true => Mode::Live,
            false => Mode::Offline,
        };
        let job = CellJob {
            part,
            registry: divisi::registry(),
            options,
            isolation: Isolation {
                cores: spec.cores,
                memory_mib: spec.memory_mib,
                priority,
                is_switched,
            },
            rings: (
                self.requests.unwrap_or_default(),
                self.replies.unwrap_or_default(),
            ),
            state: self.state.unwrap_or_default(),
            parent: self.parent,
            windows,
        };
        let report = |note: &str| {
            if self.notes {
                messages::print_note(&format!("cell `{name}`: {note}"));
            }
        };
        run_cell(job, report).map_err(|why| Failure::failed(format!("cell `{name}`: {why}")))
    }

    /// The session, cut at the borders of its cells, or of this one alone if it is not the session's.
    fn split(&self, loaded: &LoadedSession) -> Result<Split, Failure> {
        let (Some(name), Some(keys)) = (&self.name, &self.keys) else {
            return split_session(loaded);
        };
        let spec = CellSpec::from_text(name, keys);
        let spec = spec.map_err(|why| Failure::bad_input(format!("cell `{name}`: {why}")))?;
        split_cells(loaded, &[spec])
    }

    fn print_attempts(parent: i32) -> Result<(), Failure> {
        let attempts = try_to_leave(parent);
        let line = |(what, failed): &(&str, bool)| {
            let result = if *failed { "refused" } else { "DONE" };
            format!("{what}: {result}\n")
        };
        let lines: String = attempts.iter().map(line).collect();
        messages::print_result(&lines)?;
        match attempts.iter().all(|(_, failed)| *failed) {
            true => Ok(()),
            false => Err(Failure::failed("a cell can be left")),
        }
    }
}
