//! `cells`: plays a session whose parts are processes of their own.
//!
//! ```text
//!   session ──▶ split at the borders ──▶ a process for each cell
//!                      │                      ▲ rings
//!                      ▼                      ▼
//!               the rest of the graph ──▶ engine ──▶ clock, or a file
//! ```

mod admission;
mod call;
mod drill;
mod events;
mod host;
mod kept;
mod kept_history;
mod marks;
mod process;
mod recordings;
mod render;
mod service;
mod start;
mod supervisor;

pub(super) use call::CellsCall;
pub(super) use process::CellProcess;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::run::LiveOptions;
use crate::session::load::LoadedSession;
use clap::Args;
use divisi::cells::{
    CellSpec, GuardianOptions, Split, join_guardian, read_cells, read_system, run_guardian, split,
    work_mistakes,
};
use divisi::graph::Diagnostic;
use divisi::prelude::{Frames, SampleRate};
use drill::DrillOption;
use host::CellsHost;
use kept::KeptChanges;
use start::CellOptions;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  divisi cells studio.toml --seconds 60
  divisi cells studio.toml --render studio.wav --seconds 10
  divisi cells studio.toml --render studio.wav --seconds 10 --drill reverb:kill@3
  divisi cells studio.toml --socket &
  divisi send 'query cells'
  divisi cells --add wet of room damp with cores=1 latency=1
  divisi cells --resize wet 0 1
  divisi cells --remove wet

A cell is a table of the session, [cell.NAME] with nodes = [\"a\", \"b\"]; docs/cells.md has all keys. Without the command
`cells`, the same session plays in one process, with the same bits.";

/// Plays a session whose cells are processes of their own
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cells {
    #[command(flatten)]
    live: LiveOptions,

    /// Render into a file, faster than real time, instead of playing
    #[arg(long, value_name = "OUT.wav", requires = "seconds",
        conflicts_with_all = ["socket", "osc", "reload", "record", "watch", "see", "learn", "stopped", "driver", "device"])]
    render: Option<PathBuf>,

    /// Cause a failure, to see that the rest plays on: kill, segv, stop, loop, hog or garbage, at a time in seconds. May be
    /// given several times. The cell `supervisor` is the process that plays the rest: kill, segv, stop or loop
    #[arg(long, value_name = "CELL:KIND@S", value_parser = DrillOption::parse)]
    drill: Vec<DrillOption>,

    #[command(flatten)]
    admission: admission::AdmissionOptions,

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
        self.check()?;
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

    /// Refuses options of `play` that are none with cells.
    fn check(&self) -> Result<(), Failure> {
        let refused = [(
            self.live.render_ahead.is_some(),
            "--render-ahead: a cell with latency = 1 has a whole block already",
        )];
        match refused.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, why)) => Err(Failure::bad_input(why)),
            None => Ok(()),
        }
    }

    /// The session as commands had changed its nodes and edges, if they had.
    fn read_edited(&self, kept: &mut KeptChanges) -> Option<LoadedSession> {
        let edited = kept.edited()?;
        let read = || {
            let file = &self.live.options.file;
            let loaded = LoadedSession::read_valid_text(file, &edited.text);
            let mut loaded = loaded.map_err(|_| "they cannot be read".to_owned())?;
            loaded.session.graph = edited.place(&loaded.session.graph)?;
            // The text is flat, and a save is not.
            loaded.session.parts = kept.parts();
            Ok::<_, String>(loaded)
        };
        match read() {
            Ok(loaded) => Some(loaded),
            Err(why) => {
                let what = "lost with the supervisor: nodes and edges that commands had changed";
                messages::print_message(&format!("{what}: {why}"));
                kept.forget_edited();
                None
            }
        }
    }

    /// The session, as the first supervisor has read it: whatever its file has become, what plays goes on.
    fn read(&self, kept: &KeptChanges) -> Result<LoadedSession, Failure> {
        match kept.session() {
            Some(text) => self.live.read_text(text),
            None => self.live.read(),
        }
    }

    /// Says that the session's file is another one than what plays.
    fn tell_changed(&self, kept: &KeptChanges) {
        let Some(text) = kept.session() else {
            return;
        };
        let file = &self.live.options.file;
        if std::fs::read(file).ok().as_deref() != Some(text.as_bytes()) {
            messages::print_message(&format!(
                "{} has changed since it was started, or is not there: what was read then plays on",
                file.display()
            ));
        }
    }

    fn supervise(mut self, guardian: i32) -> Result<(), Failure> {
        let mut succession = join_guardian(guardian).map_err(Failure::failed)?;
        let mut kept = KeptChanges::new(succession.take_kept());
        let (lost, is_live) = (succession.lost(), self.render.is_none());
        self.tell_changed(&kept);
        let mut loaded = match self.read_edited(&mut kept) {
            Some(edited) => edited,
            None => {
                let loaded = self.read(&kept)?;
                kept.note_session(loaded.source());
                loaded
            }
        };
        if is_live && lost > 0 {
            if let Some(driver) = kept.driver() {
                self.live.device.settle(driver);
            }
            recordings::go_on_in_other_files(&mut loaded, &mut self.live.record);
        }
        let options = CellOptions {
            file: &self.live.options.file,
            is_live,
            drills: &self.drill,
            admission: &self.admission,
        };
        match &self.render {
            Some(output) => {
                if lost > 0 {
                    // What the supervisor before had written.
                    let folder = output.parent().unwrap_or(Path::new(""));
                    divisi::files::remove_abandoned(folder);
                }
                let succession = (succession, kept);
                render::render(&self.live.options, &loaded, (options, succession), output)
            }
            None => {
                let needs_ending = self.live.options.seconds.is_none();
                let mut host = CellsHost::new(options, (succession, kept), needs_ending);
                self.live.run(&loaded, None, &mut host)
            }
        }
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
    mistakes.extend(read_system(&loaded.session).1);
    if mistakes.is_empty() && !cells.is_empty() {
        let split = split(&loaded.session.graph, &cells, loaded.registry.catalogue());
        mistakes.extend(split.err().unwrap_or_default());
        mistakes.extend(work_mistakes(
            &loaded.session.graph,
            &cells,
            &loaded.registry,
        ));
    }
    mistakes
}

/// The cells of a session that has some. Mistakes are printed.
fn valid_cells(loaded: &LoadedSession) -> Result<Vec<CellSpec>, Failure> {
    let (cells, mistakes): (Vec<CellSpec>, _) = read_cells(&loaded.session);
    loaded.refuse(&mistakes)?;
    let graph = &loaded.session.graph;
    loaded.refuse(&work_mistakes(graph, &cells, &loaded.registry))?;
    match cells.is_empty() {
        true => Err(Failure::bad_input(
            "this session has no cells: write [cell.NAME] and below it nodes = [\"…\"], or use `play`",
        )),
        false => Ok(cells),
    }
}

/// The session, cut at the borders of `cells`. Mistakes are printed.
fn split_cells(loaded: &LoadedSession, cells: &[CellSpec]) -> Result<Split, Failure> {
    split(&loaded.session.graph, cells, loaded.registry.catalogue()).map_err(|mistakes| {
        loaded.print_diagnostics(&mistakes);
        messages::print_message("the session cannot be split at the borders of its cells");
        Failure::bad_input_reported()
    })
}
