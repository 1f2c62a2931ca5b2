//! `cells --render`: plays a session with cells into a file, faster than real time.

use super::kept::KeptChanges;
use super::start::{CellOptions, StartedCells};
use crate::failure::Failure;
use crate::files::check_sound_name;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::playback::file_input::InputFile;
use crate::session::file_problems::check_damage;
use crate::session::load::{LoadedSession, output_channels};
use crate::session::options::PlayOptions;
use divisi::cells::Succession;
use divisi::driver::DriverConfig;
use divisi::driver::offline;
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{EngineOptions, Mode, SampleRate, Scheduler};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// Renders into `output`.
pub(super) fn render(
    play: &PlayOptions,
    loaded: &LoadedSession,
    (cells, (succession, kept)): (CellOptions<'_>, (Succession, KeptChanges)),
    output: &Path,
) -> Result<(), Failure> {
    play.check_input(loaded)?;
    let mut guard = play.guard(loaded)?;
    guard.output(output)?;
    check_sound_name(output)?;
    let interrupt = Interrupt::listen()?;
    let rate = play.rate(loaded);
    let options = engine_options(play, loaded, rate);
    let (block, inputs) = (options.block, options.input_channels);
    let source = play.open_input(rate)?;
    let succession = (succession, Rc::new(RefCell::new(kept)));
    let started = cells.start(loaded, options, succession)?;
    messages::print_notes(&started.engine.notes());
    let mut request = DriverConfig::new("divisi", block);
    (request.inputs, request.outputs) = (inputs, output_channels(started.engine.plan()));
    if request.outputs == 0 {
        let message = "the session has no `sink`, so there is nothing to render";
        return Err(Failure::bad_input(message));
    }
    let mut job = CellRender {
        latency: started.engine.plan().latency.0.into(),
        request,
        frames: play.frames(rate).unwrap_or(0),
        source,
        interrupt,
        is_strict: play.strict,
    };
    job.run(started, output, rate)
}

/// Options of the supervisor's engine: it waits for each cell in its turn.
fn engine_options(play: &PlayOptions, loaded: &LoadedSession, rate: SampleRate) -> EngineOptions {
    let mut options = play.engine_options(loaded, rate);
    options.scheduler = Scheduler::Sequential;
    options.workers = 1;
    options.mode = Mode::Offline;
    options
}

/// One render, from the input file to the frames that are wanted.
struct CellRender {
    request: DriverConfig,
    /// Latency of the output, in frames. These first frames are left out of the file.
    latency: u64,
    frames: u64,
    source: Option<InputFile>,
    interrupt: Interrupt,
    is_strict: bool,
}

impl CellRender {
    /// Renders until the end or an interrupt, and says what was written and what it lacks.
    fn run(
        &mut self,
        started: StartedCells,
        output: &Path,
        rate: SampleRate,
    ) -> Result<(), Failure> {
        let (mut engine, mut supervisor) = (started.engine, started.supervisor);
        let mut callback = supervisor.begin(&mut engine, started.callback)?;
        let channels = Channels(self.request.outputs);
        let writer = Writer::create(output, rate, channels, SampleFormat::F32);
        let mut writer = writer.map_err(Failure::from_error)?;
        let source = &mut self.source;
        let rendered = {
            let _audio_thread = AudioThread::enter();
            offline::render(
                &self.request,
                (self.latency, self.frames),
                &mut callback,
                &mut |into: &mut [&mut [f32]]| read_input(source.as_mut(), into),
                &mut |block: &[&[f32]]| writer.write(block).map_err(Into::into),
                &mut |_| {
                    engine.update();
                    supervisor.print_news();
                    self.interrupt.control_flow()
                },
            )
        };
        let written = rendered.map_err(|error| Failure::failed(error_chain(&error)))?;
        let kept = writer.finish().map_err(Failure::from_error)?;
        messages::print_message(&format!("{}: {written} frames", output.display()));
        messages::print_kept(output, kept.as_deref());
        if self.latency > 0 {
            let latency = self.latency;
            messages::print_message(&format!("latency: {latency} frames, left out of the file"));
        }
        if written < self.frames {
            let message = "interrupted: the file holds the first frames";
            return Err(Failure::failed(message));
        }
        let whole = self.check_source();
        supervisor.end().and(whole)
    }

    /// Names the damage of the input. Fails if that is an error.
    fn check_source(&self) -> Result<(), Failure> {
        let damage = self.source.as_ref().and_then(InputFile::damage);
        if let Some(damage) = &damage {
            messages::print_note(damage);
        }
        check_damage(damage.iter().count(), self.is_strict)
    }
}

/// The next block of the input file.
fn read_input(
    source: Option<&mut InputFile>,
    into: &mut [&mut [f32]],
) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let Some(source) = source else {
        return Ok(0);
    };
    let got = source.read(into);
    source.read_error().map_or(Ok(got), |what| Err(what.into()))
}
