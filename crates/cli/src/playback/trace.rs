//! Trace of a run: a file for Perfetto, and a picture of the slowest cycle.

use crate::failure::Failure;
use crate::files::extension;
use crate::files::{write_failure, write_file};
use crate::guard::FileGuard;
use crate::output::messages;
use crate::session::options::PlayOptions;
use clap::Args;
use divisi::draw;
use divisi::files::{NewFile, check_writable};
use divisi::prelude::{Engine, Frames, SampleRate};
use divisi::report::{SizeLimit, TraceFile};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Options for tracing.
#[derive(Args)]
pub(crate) struct TraceOptions {
    /// Write a trace of every step to a file for ui.perfetto.dev, and the slowest cycle to OUT.slowest.svg
    #[arg(long, value_name = "OUT.json")]
    trace: Option<PathBuf>,

    /// Size limit of the trace; beyond it only missed cycles are written, up to another quarter of it
    #[arg(long, value_name = "MIB", requires = "trace", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    trace_room: u32,

    /// Write the picture of the slowest cycle to this file instead
    #[arg(long = "slowest", value_name = "OUT.svg")]
    slowest_path: Option<PathBuf>,

    /// Measure the time of every node, for the report
    #[arg(long)]
    times: bool,
}

/// Trace output of one run.
pub(crate) struct TraceOutput {
    /// Description of the run.
    about: String,
    file: Option<(PathBuf, NewFile, TraceFile<File>)>,
    slowest: Option<PathBuf>,
    room_mib: u32,
    has_warned: bool,
}

impl TraceOptions {
    /// Returns true if the engine must record a trace.
    pub(crate) fn is_on(&self) -> bool {
        self.times || self.trace.is_some() || self.slowest_path.is_some()
    }

    /// Refuses wrong file names and what `guard` refuses. Nothing is written yet.
    pub(crate) fn check(&self, guard: &mut FileGuard) -> Result<(), Failure> {
        let wanted = [
            (&self.trace, "json", "a trace"),
            (&self.slowest_path, "svg", "a picture"),
        ];
        for (path, ending, what) in wanted {
            let Some(path) = path else { continue };
            if extension(path) != ending {
                let message = format!("{}: {what} ends in .{ending}", path.display());
                return Err(Failure::bad_input(message));
            }
        }
        let both = [self.trace.clone(), self.slowest_path()];
        { both.iter().flatten() }.try_for_each(|path| guard.output(path))
    }

    /// Opens the files before the run: an error now is better than a lost trace later.
    pub(crate) fn open(
        &self,
        options: &PlayOptions,
        (scheduler, block, rate): (&str, Frames, SampleRate),
    ) -> Result<TraceOutput, Failure> {
        let session = options
            .file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let (block, hz) = (block.0, rate.hz());
        let about = format!("divisi: {session}, {scheduler}, {block} frames at {hz} Hz");
        let room = SizeLimit {
            all: u64::from(self.trace_room) << 20,
            missed: u64::from(self.trace_room) << 18,
        };
        let file = self.trace.as_ref().map(|path| {
            let begun = NewFile::create(path).and_then(|new| {
                let file = TraceFile::new(new.file().try_clone()?, &about, room)?;
                Ok((path.clone(), new, file))
            });
            begun.map_err(|error| write_failure(path, &error))
        });
        let file = file.transpose()?;
        let slowest = self.slowest_path();
        if let Some(path) = &slowest {
            check_writable(path).map_err(|error| write_failure(path, &error))?;
        }
        Ok(TraceOutput {
            about,
            file,
            slowest,
            room_mib: self.trace_room,
            has_warned: false,
        })
    }

    /// Path of the picture of the slowest cycle: beside the trace by default.
    fn slowest_path(&self) -> Option<PathBuf> {
        let beside = |trace: &PathBuf| trace.with_extension("slowest.svg");
        self.slowest_path
            .clone()
            .or_else(|| self.trace.as_ref().map(beside))
    }
}

impl TraceOutput {
    /// Updates the engine and writes new records. Returns a note for the user, once.
    pub(crate) fn update(&mut self, engine: &mut Engine) -> Option<String> {
        let Some((path, _, file)) = &mut self.file else {
            engine.update();
            return None;
        };
        engine.update_with(Some(&mut |cycle| file.write_cycle(cycle)));
        let message = if file.has_failed() {
            "cannot be written any more; playing continues".to_owned()
        } else if file.stats().full_at.is_some() {
            let mib = self.room_mib;
            format!("{mib} MiB are full: from here on only missed cycles (--trace-room MIB)")
        } else {
            return None;
        };
        let is_first = !std::mem::replace(&mut self.has_warned, true);
        is_first.then(|| format!("{}: {message}", path.display()))
    }

    /// Writes the remaining records and the picture. The engine's callback must be dropped before.
    pub(crate) fn finish(mut self, engine: &mut Engine) -> Result<(), Failure> {
        // Twice: the last cycle is complete only after a second update.
        for _ in 0..2 {
            if let Some(message) = self.update(engine) {
                messages::print_message(&message);
            }
        }
        let picture = match &self.slowest {
            Some(path) => write_slowest_cycle(path, &self.about, engine),
            None => Ok(()),
        };
        if let Some((path, new, file)) = self.file {
            let written = file.finish().and_then(|stats| Ok((stats, new.commit()?)));
            let (written, kept) = written.map_err(|error| write_failure(&path, &error))?;
            messages::print_kept(&path, kept.as_deref());
            let (path, cycles) = (path.display(), written.cycles);
            let all = cycles + written.skipped;
            let share = match written.skipped {
                0 => format!("all {cycles} cycles"),
                _ => format!("{cycles} of {all} cycles"),
            };
            messages::print_message(&format!(
                "{path}: {share}; open it at https://ui.perfetto.dev"
            ));
        }
        picture
    }
}

/// Draws the slowest cycle.
fn write_slowest_cycle(path: &Path, about: &str, engine: &Engine) -> Result<(), Failure> {
    let Some(slowest) = engine.slowest() else {
        messages::print_message(&format!(
            "{}: not written, because no cycle was traced completely",
            path.display()
        ));
        return Ok(());
    };
    let svg = draw::gantt(&slowest.gantt(about)).svg();
    write_file(path, svg)?;
    let (number, took) = (slowest.number, slowest.duration());
    let which = match engine.longest_cycle().filter(|longest| *longest > took) {
        None => "the slowest".to_owned(),
        Some(longest) => format!(
            "the slowest that was traced completely (one took {longest}, but some of its records found no room)"
        ),
    };
    messages::print_message(&format!(
        "{}: cycle {number}, {which}, {took}",
        path.display()
    ));
    Ok(())
}
