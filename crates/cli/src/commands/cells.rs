//! `cells`: plays a session whose parts are processes of their own.
//!
//! ```text
//!   session ──▶ split at the borders ──▶ a process for each cell
//!                      │                      ▲ rings
//!                      ▼                      ▼
//!               the rest of the graph ──▶ engine ──▶ a device or the clock (as `play` does), or a file
//! ```

mod admission;
mod drill;
mod live;
mod process;
mod run;
mod service;

pub(super) use process::CellProcess;

use crate::commands::play::Play;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::session::load::{LoadedSession, new_registry};
use crate::session::options::PlayOptions;
use admission::{capacity, check_admission, worst_costs};
use clap::Args;
use divisi::cells::{
    CellLinks, CellPart, CellService, CellSpec, Drill, Launch, LaunchRequest, Monitor,
    ServiceOptions, Split, Start, read_cells, register_cells, split,
};
use divisi::graph::Diagnostic;
use divisi::prelude::{Frames, Mode, SampleRate};
use drill::DrillOption;
use live::{LiveCells, LiveStart};
use run::Run;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  divisi cells studio.toml --seconds 60
  divisi cells studio.toml --render studio.wav --seconds 10
  divisi cells studio.toml --render studio.wav --seconds 10 --drill reverb:kill@3
  divisi cells studio.toml --socket &
  divisi send 'query cells'
  divisi send 'add_cell wet of room damp with cores=1 latency=1'
  divisi send 'resize_cell wet 0 1'

A cell is a table of the session, [cell.NAME] with nodes = [\"a\", \"b\"]; docs/cells.md has all keys. Without the command
`cells`, the same session plays in one process, with the same bits.";

/// Plays a session whose cells are processes of their own
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CellsCommand {
    #[command(flatten)]
    play: Play,

    #[command(flatten)]
    cells: Cells,

    /// Render into a file, faster than real time, instead of playing
    #[arg(long, value_name = "OUT.wav", requires = "seconds",
        conflicts_with_all = ["socket", "osc", "record", "driver", "device", "watch", "see", "json"])]
    render: Option<PathBuf>,
}

/// Options of cells.
#[derive(Args, Clone)]
pub(crate) struct Cells {
    /// Cause a failure, to see that the rest plays on: kill, segv, stop, loop, hog or garbage, at a time in seconds. May be
    /// given several times
    #[arg(long, value_name = "CELL:KIND@S", value_parser = DrillOption::parse)]
    drill: Vec<DrillOption>,

    /// Part of each block that the cores keep idle, in percent. Live, cells that do not fit beside it are refused
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=90))]
    reserve: u8,

    /// Play cells even if they do not fit the cores
    #[arg(long)]
    no_admission: bool,

    /// The run has no deadline.
    #[arg(skip)]
    is_offline: bool,

    /// Folders in which patches look for abstractions.
    #[arg(skip)]
    paths: Vec<PathBuf>,

    /// Snapshot with whose values all begins.
    #[arg(skip)]
    snapshot: Option<String>,
}

impl CellsCommand {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Self {
            play,
            mut cells,
            render,
        } = self;
        cells.paths.clone_from(&play.options.patch.path);
        cells.snapshot = play.options.snapshot().map(str::to_owned);
        match render {
            Some(output) => {
                cells.is_offline = true;
                cells.render(&output, &play.options)
            }
            None => {
                let file = play.options.file.clone();
                play.run_with(Some(&LiveStart { cells, file }))
            }
        }
    }
}

impl Cells {
    /// Renders the session into `output`.
    fn render(&self, output: &Path, play: &PlayOptions) -> Result<(), Failure> {
        play.patch.allow_writing(Some(output))?;
        let mut loaded = LoadedSession::read_valid_with(&play.file, &play.patch)?;
        let (rate, block) = (play.rate(&loaded), play.block(&loaded));
        let split = split_session(&loaded)?;
        self.drills(&split.cells, rate)?;
        play.recall(&mut loaded)?;
        play.check_input(&loaded)?;
        let mut guard = play.guard(&loaded)?;
        guard.output(output)?;
        crate::files::check_sound_name(output)?;
        let interrupt = Interrupt::listen()?;
        let mut options = play.engine_options(&loaded, rate);
        options.folder.clone_from(&loaded.folder);
        play.use_one_worker(&mut options);
        options.mode = Mode::Offline;
        let started = self.start(&loaded, &play.file, (rate, block))?;
        let run = Run {
            loaded: &loaded,
            graph: started.graph,
            registry: started.registry,
            options,
            service: started.service,
            source: play.open_input(rate)?,
            interrupt,
            frames: play.frames(rate).unwrap_or(0),
        };
        run.render(output)
    }

    /// Starts a process for each cell of `loaded`.
    fn start(
        &self,
        loaded: &LoadedSession,
        file: &Path,
        (rate, block): (SampleRate, Frames),
    ) -> Result<LiveCells, Failure> {
        let split = split_session(loaded)?;
        let drills = self.drills(&split.cells, rate)?;
        let is_checked = !self.is_offline && !self.no_admission;
        if is_checked {
            let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
            check_admission((loaded, file), &cells, (rate, block), self.reserve)?;
        }
        let launch = self.launch(file, (rate, block))?;
        let started = Monitor::start(&split.cells, (block, !self.is_offline), launch, &drills);
        let Start {
            monitor,
            links,
            texts,
        } = started.map_err(Failure::failed)?;
        let links = CellLinks::new(links.into_iter().collect::<HashMap<_, _>>().into());
        let mut registry = new_registry();
        register_cells(&mut registry, links.clone());
        let registry = Arc::new(registry);
        let service = ServiceOptions {
            graph: loaded.session.graph.clone(),
            registry: registry.clone(),
            links,
            costs: worst_costs(loaded, file, block),
            period: block.duration(rate),
            capacity: is_checked.then(|| capacity((rate, block), self.reserve)),
        };
        let service = CellService::new(service, &split, (monitor, texts));
        Ok(LiveCells {
            graph: split.outer,
            registry,
            service: Rc::new(RefCell::new(service)),
        })
    }

    /// The failures to cause in each cell.
    fn drills(&self, cells: &[CellPart], rate: SampleRate) -> Result<Vec<Vec<Drill>>, Failure> {
        let mut all = vec![Vec::new(); cells.len()];
        for drill in &self.drill {
            let found = cells.iter().position(|cell| cell.spec.name == drill.cell);
            let Some(found) = found else {
                let message = format!("--drill: the session has no cell `{}`", drill.cell);
                return Err(Failure::bad_input(message));
            };
            all[found].push(Drill {
                kind: drill.kind,
                frame: (drill.seconds * f64::from(rate.hz())).round() as u64,
            });
        }
        Ok(all)
    }

    /// Starts this program once more, as a cell.
    fn launch(&self, file: &Path, (rate, block): (SampleRate, Frames)) -> Result<Launch, Failure> {
        let program = std::env::current_exe().map_err(Failure::from_error)?;
        let (file, is_live) = (file.to_owned(), !self.is_offline);
        let (parent, paths) = (std::process::id(), self.paths.clone());
        let snapshot = self.snapshot.clone();
        Ok(Box::new(move |request: &LaunchRequest<'_>| {
            use std::os::unix::process::CommandExt;
            let mut command = Command::new(&program);
            command.arg("cell-process").arg(&file);
            match request.text {
                Some(text) => command
                    .arg(format!("--name={}", request.spec.name))
                    .arg(format!("--keys={text}")),
                None => command.arg("--cell").arg(request.index.to_string()),
            };
            let cores: Vec<String> = request.spec.cores.iter().map(usize::to_string).collect();
            command.arg(format!("--cores={}", cores.join(",")));
            command.arg("--requests").arg(&request.paths.requests);
            command.arg("--replies").arg(&request.paths.replies);
            command.arg("--state").arg(&request.paths.state);
            command.arg("--parent").arg(parent.to_string());
            if let Some(name) = &snapshot {
                command.arg(format!("--snapshot={name}"));
            }
            for path in &paths {
                command.arg("--path").arg(path);
            }
            command.arg("--rate").arg(rate.hz().to_string());
            command.arg("--block").arg(block.0.to_string());
            if is_live {
                command.arg("--live");
            }
            if request.is_first {
                command.arg("--notes");
            }
            // Ctrl-C is for the supervisor, which ends its cells.
            command.process_group(0);
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command
        }))
    }
}

/// Rate and block of a run.
fn format(
    loaded: &LoadedSession,
    rate: Option<SampleRate>,
    block: Option<Frames>,
) -> (SampleRate, Frames) {
    (loaded.rate_or_default(rate), loaded.block_or_default(block))
}

/// Mistakes of the session's cells, for `check`.
pub(crate) fn cell_mistakes(loaded: &LoadedSession) -> Vec<Diagnostic> {
    let (cells, mut mistakes) = read_cells(&loaded.session);
    if mistakes.is_empty() && !cells.is_empty() {
        let split = split(&loaded.session.graph, &cells, loaded.registry.catalogue());
        mistakes.extend(split.err().unwrap_or_default());
    }
    mistakes
}

/// The session, cut at the borders of its cells. Mistakes are printed.
fn split_session(loaded: &LoadedSession) -> Result<Split, Failure> {
    let (cells, mistakes): (Vec<CellSpec>, _) = read_cells(&loaded.session);
    if !mistakes.is_empty() {
        loaded.print_diagnostics(&mistakes);
        return Err(Failure::bad_input_reported());
    }
    if cells.is_empty() {
        return Err(Failure::bad_input(
            "this session has no cells: write [cell.NAME] and below it nodes = [\"…\"], or use `play`",
        ));
    }
    split_cells(loaded, &cells)
}

/// The session, cut at the borders of `cells`. Mistakes are printed.
fn split_cells(loaded: &LoadedSession, cells: &[CellSpec]) -> Result<Split, Failure> {
    split(&loaded.session.graph, cells, loaded.registry.catalogue()).map_err(|mistakes| {
        loaded.print_diagnostics(&mistakes);
        messages::print_message("the session cannot be split at the borders of its cells");
        Failure::bad_input_reported()
    })
}
