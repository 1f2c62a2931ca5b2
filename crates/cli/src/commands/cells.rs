//! `cells`: plays a session whose parts are processes of their own.
//!
//! ```text
//!   session ──▶ split at the borders ──▶ a process for each cell
//!                      │                      ▲ rings
//!                      ▼                      ▼
//!               the rest of the graph ──▶ engine ──▶ clock, or a file
//! ```

mod admission;
mod drill;
mod process;
mod recordings;
mod run;
mod service;

pub(super) use process::CellProcess;

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::control::ControlOptions;
use crate::session::load::LoadedSession;
use crate::session::options::{parse_block, parse_rate, parse_seconds};
use admission::{capacity, check_admission, worst_costs};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use divisi::cells::{
    CellLinks, CellPart, CellService, CellSpec, Drill, DrillKind, GuardianOptions, HandedSession,
    Launch, LaunchRequest, MachineFiles, Monitor, MonitorOptions, PlannedCell, SUPERVISOR_DRILLS,
    ServiceOptions, Split, Start, join_guardian, read_cells, read_system, register_cells,
    run_guardian, split,
};
use divisi::graph::Diagnostic;
use divisi::prelude::{EngineOptions, Frames, Mode, SampleRate, Scheduler};
use drill::DrillOption;
use run::Run;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Part of each block that the cores keep idle, in percent.
const DEFAULT_RESERVE: u8 = 10;

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
pub(crate) struct Cells {
    /// The session, with tables [cell.NAME]
    file: PathBuf,

    /// Render into a file, faster than real time, instead of playing by the clock
    #[arg(long, value_name = "OUT.wav", requires = "seconds")]
    render: Option<PathBuf>,

    /// Length in seconds; without it, until Ctrl-C
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,

    /// Sample rate in Hz
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<SampleRate>,

    /// Frames in a block
    #[arg(long, value_name = "FRAMES", value_parser = parse_block)]
    block: Option<Frames>,

    /// Cause a failure, to see that the rest plays on: kill, segv, stop, loop, hog or garbage, at a time in seconds. May be
    /// given several times. The cell `supervisor` is the process that plays the rest: kill, segv, stop or loop
    #[arg(long, value_name = "CELL:KIND@S", value_parser = DrillOption::parse)]
    drill: Vec<DrillOption>,

    /// Part of each block that the cores keep idle, in percent; without it, `reserve` of the session's [cells], or 10. Live, cells that do not fit beside it are refused
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=90))]
    reserve: Option<u8>,

    /// Play cells even if they do not fit the cores
    #[arg(long)]
    no_admission: bool,

    /// Take commands at this Unix socket, which belongs to you alone; see `divisi send`
    // Empty without a path, which the usual parser of paths refuses.
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "", conflicts_with = "render",
        value_parser = OsStringValueParser::new().map(PathBuf::from))]
    socket: Option<PathBuf>,

    /// Process of the guardian, which starts this one
    #[arg(long, hide = true)]
    guardian: Option<i32>,
}

impl Cells {
    /// Runs the command: in the first process the guardian, in those that it starts the supervisor.
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.guardian {
            None => self.guard(),
            Some(guardian) => self.supervise(guardian),
        }
    }

    /// Has supervisors play, each with the arguments of this call.
    fn guard(&self) -> Result<(), Failure> {
        let interrupt = Interrupt::listen()?;
        let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        // Behind the name of the command.
        let at = arguments.len().min(1);
        arguments.insert(at, format!("--guardian={}", std::process::id()).into());
        let options = GuardianOptions {
            program: std::env::current_exe().map_err(Failure::from_error)?,
            arguments,
            is_live: self.render.is_none(),
            interrupted: interrupt.flag(),
        };
        match run_guardian(options, &messages::print_message).map_err(Failure::failed)? {
            0 => Ok(()),
            code => Err(Failure::reported(code)),
        }
    }

    fn supervise(self, guardian: i32) -> Result<(), Failure> {
        let succession = join_guardian(guardian).map_err(Failure::failed)?;
        let (lost, is_live) = (succession.lost(), self.render.is_none());
        let mut loaded = LoadedSession::read_valid(&self.file)?;
        if is_live && lost > 0 {
            recordings::go_on_in_other_files(&mut loaded);
        }
        if let Some(output) = self.render.as_ref().filter(|_| lost > 0) {
            // What the supervisor before had written.
            divisi::files::remove_abandoned(output.parent().unwrap_or(Path::new("")));
        }
        let (rate, block) = format(&loaded, self.rate, self.block);
        let split = split_session(&loaded)?;
        let (drills, own_drills) = self.drills(&split.cells, rate)?;
        let (system, mistakes) = read_system(&loaded.session);
        if !mistakes.is_empty() {
            loaded.print_diagnostics(&mistakes);
            return Err(Failure::bad_input_reported());
        }
        let reserve = self.reserve.or(system.reserve_percent);
        let reserve = reserve.unwrap_or(DEFAULT_RESERVE);
        // A render has no deadline. Cells that are taken over were admitted.
        if is_live && lost == 0 && !self.no_admission {
            let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
            check_admission((&loaded, &self.file), &cells, (rate, block), reserve)?;
        }
        let machine = MachineFiles::default();
        if self.render.is_none() {
            check_siblings(&loaded, &machine, &split)?;
            messages::print_notes(&machine.clean());
        }
        let mut guard = loaded.guard(std::iter::empty())?;
        if let Some(output) = &self.render {
            self.check_output(output, &mut guard)?;
        }
        let interrupt = Interrupt::listen()?;
        let mut options = EngineOptions::new(block, rate);
        options.folder.clone_from(&loaded.folder);
        options.scheduler = Scheduler::Sequential;
        options.workers = 1;
        options.mode = match self.render {
            Some(_) => Mode::Offline,
            None => Mode::Live,
        };
        let launch = self.launch((rate, block));
        // Before any process, so that a path that is taken starts none.
        let socket = ControlOptions::listen_at(self.socket.as_deref())?;
        let cells = split.cells.iter().zip(drills).enumerate();
        let cells = cells.map(|(index, (part, drills))| PlannedCell {
            index,
            part,
            drills,
        });
        let monitor = MonitorOptions {
            block,
            rate,
            is_live,
            launch,
            succession,
            session: HandedSession::new(loaded.source()),
        };
        let started = Monitor::start(cells.collect(), monitor);
        let Start {
            monitor,
            links,
            texts,
        } = started.map_err(Failure::failed)?;
        let links = CellLinks::new(links.into_iter().collect::<HashMap<_, _>>().into());
        let mut registry = divisi::registry();
        register_cells(&mut registry, links.clone());
        let registry = Arc::new(registry);
        let is_checked = is_live && !self.no_admission;
        let service = ServiceOptions {
            graph: loaded.session.graph.clone(),
            session: loaded.session.clone(),
            registry: registry.clone(),
            links,
            costs: worst_costs(&loaded, &self.file, block),
            period: block.duration(rate),
            capacity: is_checked.then(|| capacity((rate, block), reserve)),
            goal: is_live.then_some(system.goal),
            machine,
        };
        let service = CellService::new(service, &split, (monitor, texts));
        let run = Run {
            loaded: &loaded,
            file: &self.file,
            graph: split.outer,
            registry,
            options,
            service: Rc::new(RefCell::new(service)),
            socket,
            interrupt,
            drills: own_drills,
            is_successor: lost > 0,
            frames: self
                .seconds
                .map(|it| (it * f64::from(rate.hz())).round() as u64),
        };
        match &self.render {
            Some(output) => run.render(output),
            None => run.play(),
        }
    }

    fn check_output(&self, output: &Path, guard: &mut FileGuard) -> Result<(), Failure> {
        guard.input(&self.file);
        guard.output(output)?;
        crate::files::check_sound_name(output)
    }

    /// The failures to cause in each cell, and in the supervisor.
    fn drills(&self, cells: &[CellPart], rate: SampleRate) -> Result<Drills, Failure> {
        let (mut all, mut own) = (vec![Vec::new(); cells.len()], Vec::new());
        for option in &self.drill {
            let drill = Drill {
                kind: option.kind,
                frame: (option.seconds * f64::from(rate.hz())).round() as u64,
            };
            let found = cells.iter().position(|cell| cell.spec.name == option.cell);
            match found {
                Some(found) => all[found].push(drill),
                None if option.cell == SUPERVISOR => {
                    check_supervisor_drill(option.kind)?;
                    own.push(drill);
                }
                None => {
                    let message = format!("--drill: the session has no cell `{}`", option.cell);
                    return Err(Failure::bad_input(message));
                }
            }
        }
        own.sort_by_key(|drill| drill.frame);
        Ok((all, own))
    }

    /// The arguments of this program as a cell.
    fn launch(&self, (rate, block): (SampleRate, Frames)) -> Launch {
        let (file, is_live) = (self.file.clone(), self.render.is_none());
        Box::new(move |request: &LaunchRequest<'_>| {
            let mut arguments: Vec<OsString> = vec!["cell-process".into(), file.clone().into()];
            let mut add = |argument: String| arguments.push(argument.into());
            add(format!("--name={}", request.spec.name));
            if let Some(before) = request.before {
                add(format!("--before={before}"));
            }
            let cores: Vec<String> = request.spec.cores.iter().map(usize::to_string).collect();
            add(format!("--cores={}", cores.join(",")));
            add(format!("--rate={}", rate.hz()));
            add(format!("--block={}", block.0));
            if is_live {
                add("--live".to_owned());
            }
            if request.is_first {
                add("--notes".to_owned());
            }
            arguments
        })
    }
}

/// Failures of each cell, and of the supervisor.
type Drills = (Vec<Vec<Drill>>, Vec<Drill>);

/// Name of the supervisor in `--drill`, if no cell has it.
const SUPERVISOR: &str = "supervisor";

fn check_supervisor_drill(kind: DrillKind) -> Result<(), Failure> {
    if SUPERVISOR_DRILLS.contains(&kind) {
        return Ok(());
    }
    let names = DrillKind::NAMES.iter();
    let names = names.filter(|(_, kind)| SUPERVISOR_DRILLS.contains(kind));
    let names: Vec<&str> = names.map(|(name, _)| *name).collect();
    Err(Failure::bad_input(format!(
        "--drill: the supervisor can fail by {}",
        names.join(", ")
    )))
}

/// Refuses cells that split a physical core between them.
fn check_siblings(
    loaded: &LoadedSession,
    machine: &MachineFiles,
    split: &Split,
) -> Result<(), Failure> {
    let cells: Vec<&CellSpec> = split.cells.iter().map(|cell| &cell.spec).collect();
    let mistakes = machine.split_siblings(&cells);
    if mistakes.is_empty() {
        return Ok(());
    }
    loaded.print_diagnostics(&mistakes);
    Err(Failure::bad_input_reported())
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
    mistakes.extend(read_system(&loaded.session).1);
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
