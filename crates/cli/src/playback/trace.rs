//! Trace of a run: a file for Perfetto, and a picture of the slowest cycle.

use crate::failure::Failure;
use crate::files::extension;
use crate::files::write_failure;
use crate::output::messages;
use crate::session::load::LoadedSession;
use crate::session::options::PlayOptions;
use clap::Args;
use divisi::draw;
use divisi::prelude::{Engine, Frames, SampleRate};
use divisi::report::{SizeLimit, TraceFile};
use std::fs::File;
use std::io::Write;
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
    file: Option<(PathBuf, TraceFile<File>)>,
    slowest: Option<(PathBuf, File)>,
    room_mib: u32,
    has_warned: bool,
}

impl TraceOptions {
    /// Returns true if the engine must record a trace.
    pub(crate) fn is_on(&self) -> bool {
        self.times || self.trace.is_some() || self.slowest_path.is_some()
    }

    /// Refuses wrong file names and files that belong to the session. Nothing is written yet.
    pub(crate) fn check(
        &self,
        options: &PlayOptions,
        loaded: &LoadedSession,
    ) -> Result<(), Failure> {
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
            options.check_output(loaded, path)?;
        }
        match self.slowest_path() {
            Some(path) => options.check_output(loaded, &path),
            None => Ok(()),
        }
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
            let begun = File::create(path).and_then(|file| TraceFile::new(file, &about, room));
            let begun = begun.map_err(|error| write_failure(path, &error))?;
            Ok((path.clone(), begun))
        });
        let slowest = self.slowest_path().map(|path| match File::create(&path) {
            Ok(file) => Ok((path, file)),
            Err(error) => Err(write_failure(&path, &error)),
        });
        Ok(TraceOutput {
            about,
            file: file.transpose()?,
            slowest: slowest.transpose()?,
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
        let Some((path, file)) = &mut self.file else {
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
        let picture = match &mut self.slowest {
            Some((path, file)) => write_slowest_cycle(path, file, &self.about, engine),
            None => Ok(()),
        };
        if let Some((path, file)) = self.file {
            let written = file
                .finish()
                .map_err(|error| write_failure(&path, &error))?;
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
fn write_slowest_cycle(
    path: &Path,
    file: &mut File,
    about: &str,
    engine: &Engine,
) -> Result<(), Failure> {
    let Some(slowest) = engine.slowest() else {
        messages::print_message(&format!(
            "{}: not written, because no cycle was traced completely",
            path.display()
        ));
        return std::fs::remove_file(path).map_err(Failure::from_error);
    };
    let svg = draw::gantt(&slowest.gantt(about)).svg();
    file.write_all(svg.as_bytes())
        .map_err(|error| write_failure(path, &error))?;
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
