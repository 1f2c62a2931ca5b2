//! `cell-process`: the process of one cell. `cells` starts it; users do not call it.

use super::marks::FileMarks;
use super::{format, split_cells};
use crate::failure::Failure;
use crate::output::messages;
use crate::session::load::{LoadedSession, new_registry};
use crate::session::options::{parse_block, parse_rate};
use clap::Args;
use divisi::cells::{
    CellJob, CellPart, CellSpec, HandedSession, Isolation, Policy, ReadPart, WorkOfCell,
    begin_process, read_cells, run_cell, split, try_to_leave,
};
use divisi::graph::Diagnostic;
use divisi::prelude::{EngineOptions, Frames, Mode, SampleRate, Scheduler};
use divisi::rt::stamp::TickScale;
use divisi::workers::Priority;
use std::path::{Path, PathBuf};

/// Plays one cell of a session for its supervisor
#[derive(Args)]
pub(crate) struct CellProcess {
    /// The session
    #[arg(required_unless_present = "try_to_leave")]
    file: Option<PathBuf>,
    /// Name of the cell
    #[arg(long, default_value = "")]
    name: String,
    /// Cores in place of the session's, with commas between
    #[arg(long)]
    cores: Option<String>,
    /// Ring of requests
    #[arg(long)]
    requests: Option<PathBuf>,
    /// Ring of replies
    #[arg(long)]
    replies: Option<PathBuf>,
    /// Memory for checkpoints, with the session
    #[arg(long)]
    state: Option<PathBuf>,
    /// Memory of the process whose place this one takes
    #[arg(long)]
    before: Option<PathBuf>,
    /// Memory of its work for nodes elsewhere
    #[arg(long)]
    work: Option<PathBuf>,
    /// Process of the supervisor
    #[arg(long)]
    parent: i32,
    #[arg(long, value_parser = parse_rate)]
    rate: Option<SampleRate>,
    #[arg(long, value_parser = parse_block)]
    block: Option<Frames>,
    /// Ticks a second of the machine's counter, as the supervisor has found
    #[arg(long, default_value_t = 0)]
    ticks: u64,
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
        TickScale::inherit(self.ticks);
        let Some(file) = self.file.as_ref().filter(|_| !self.try_to_leave) else {
            return Self::print_attempts(self.parent);
        };
        let state = self.state.clone().unwrap_or_default();
        let (loaded, part) = self.read_own_part(file, &state)?;
        let name = self.name.clone();
        let report = |note: &str| {
            if self.notes {
                messages::print_note(&format!("cell `{name}`: {note}"));
            }
        };
        let job = self.job(file.clone(), state, &loaded, part)?;
        run_cell(job, report).map_err(|why| Failure::failed(format!("cell `{name}`: {why}")))
    }

    /// The session that the supervisor has left in `state`, and this cell's part of it.
    fn read_own_part(
        &self,
        file: &Path,
        state: &Path,
    ) -> Result<(LoadedSession, CellPart), Failure> {
        let (handed, number) = HandedSession::read(state).map_err(Failure::failed)?;
        let mut loaded = LoadedSession::read_text(file, &handed.text)?;
        let placed = handed.place(&loaded.session.graph);
        loaded.session.graph = placed.map_err(Failure::failed)?;
        let mut part = self.part(&loaded)?;
        handed.number_targets(&mut part);
        let changed = Self::changed_files(&handed, &loaded, &part);
        if part.number() != number {
            return Err(self.other_part(file, &changed));
        }
        if !changed.is_empty() {
            messages::print_message(&format!(
                "cell `{}`: has changed since the start, and is read as it is now: {changed}",
                self.name
            ));
        }
        Ok((loaded, part))
    }

    /// The files of this cell that are others than at the start, in words.
    fn changed_files(handed: &HandedSession, loaded: &LoadedSession, part: &CellPart) -> String {
        let marks = FileMarks::read(&handed.marks);
        let changed = marks.changed(loaded, &part.spec.nodes).into_iter();
        let changed: Vec<String> = changed.map(|it| it.display().to_string()).collect();
        changed.join(", ")
    }

    fn other_part(&self, file: &Path, changed: &str) -> Failure {
        let (name, file) = (&self.name, file.display());
        let why = match changed {
            "" => format!("the session in {file} is another one than its supervisor has read"),
            changed => format!("the patch is another one than at the start: {changed}"),
        };
        Failure::failed(format!("cell `{name}`: {why}"))
    }

    /// The section of this cell, on the cores of the call.
    fn spec(&self, part: &CellPart) -> CellSpec {
        let mut spec = part.spec.clone();
        if let Some(cores) = &self.cores {
            let cores = cores.split(',').filter_map(|core| core.parse().ok());
            spec.cores = cores.collect();
        }
        spec
    }

    fn job(
        &self,
        file: PathBuf,
        state: PathBuf,
        loaded: &LoadedSession,
        part: CellPart,
    ) -> Result<CellJob, Failure> {
        let spec = self.spec(&part);
        let options = self.engine_options(loaded, &spec);
        let is_switched = spec.policy.is_switched();
        let read_part = || read_part(file, self.name.clone());
        let work = self.work(loaded, &spec, &options)?;
        Ok(CellJob {
            part,
            registry: new_registry(),
            isolation: Isolation {
                cores: spec.cores,
                memory_mib: spec.memory_mib,
                priority: options.priority,
                is_switched,
            },
            options,
            rings: (
                self.requests.clone().unwrap_or_default(),
                self.replies.clone().unwrap_or_default(),
            ),
            state,
            before: self.before.clone(),
            parent: self.parent,
            windows: match spec.policy {
                Policy::TimeTriggered(windows) if self.live => Some(windows),
                _ => None,
            },
            blocks: spec.latency.blocks().max(1),
            read_part: (self.live && !is_switched).then(read_part),
            work,
        })
    }

    /// Its work for nodes elsewhere.
    fn work(
        &self,
        loaded: &LoadedSession,
        spec: &CellSpec,
        options: &EngineOptions,
    ) -> Result<Option<WorkOfCell>, Failure> {
        let Some(memory) = self.work.clone() else {
            return Ok(None);
        };
        let session = (&loaded.session.graph, loaded.folder.as_path());
        let format = (options.rate, options.block);
        let threads = (memory, options.workers, options.priority);
        let work = WorkOfCell::new(session, spec, (&loaded.registry, format), threads);
        let work = work.map_err(|why| format!("cell `{}`: {why}", self.name));
        work.map(Some).map_err(Failure::failed)
    }

    fn engine_options(&self, loaded: &LoadedSession, spec: &CellSpec) -> EngineOptions {
        let (rate, block) = format(loaded, self.rate, self.block);
        let mut options = EngineOptions::new(block, rate);
        options.folder.clone_from(&loaded.folder);
        options.workers = spec.process_workers();
        options.scheduler = match options.workers {
            1 => Scheduler::Sequential,
            _ => Scheduler::Stealing,
        };
        (options.mode, options.priority) = match self.live {
            true => (Mode::Live, spec.policy.priority(spec.precedence)),
            false => (Mode::Offline, Priority::Ordinary),
        };
        options.prevent_cpu_sleep = false;
        options
    }

    /// The part of this cell. Others have no part in it.
    fn part(&self, loaded: &LoadedSession) -> Result<CellPart, Failure> {
        let spec = read_cells(&loaded.session).0.into_iter();
        let spec = spec.filter(|it| it.name == self.name).collect::<Vec<_>>();
        let part = split_cells(loaded, &spec)?.cells.pop();
        let none = || Failure::failed(format!("the session has no cell `{}`", self.name));
        part.ok_or_else(none)
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

/// Reads the part of an edit, while the process plays and can open no file.
fn read_part(file: PathBuf, name: String) -> ReadPart {
    Box::new(move |handed| {
        let failed = |_| "its session cannot be read again".to_owned();
        let mut loaded = LoadedSession::read_text(&file, &handed.text).map_err(failed)?;
        loaded.session.graph = handed.place(&loaded.session.graph)?;
        let cells = read_cells(&loaded.session).0.into_iter();
        let spec: Vec<CellSpec> = cells.filter(|it| it.name == name).collect();
        let (graph, catalogue) = (&loaded.session.graph, loaded.registry.catalogue());
        let mistakes = |all: Vec<Diagnostic>| {
            let all: Vec<String> = all.into_iter().map(|it| it.message).collect();
            all.join("; ")
        };
        let part = split(graph, &spec, catalogue)
            .map_err(mistakes)?
            .cells
            .pop();
        part.ok_or_else(|| format!("the session has no cell `{name}`"))
    })
}
