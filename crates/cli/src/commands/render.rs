//! `render`: plays a session into a file, faster than real time. Nothing is ever dropped.
//!
//! ```text
//!   input file ──▶ offline driver ──▶ engine ──▶ peak ──▶ output file
//!                       │  the first frames, as many as the latency, are left out
//!                       └─ after each block: trace, progress, Ctrl-C
//! ```
//!
//! A length is `--seconds`, else that of the input and its tail, else that of a session that ends by itself. The output is written
//! beside its name and takes the name at its end: an interrupt keeps what was rendered and ends with exit code 1, and an
//! error before the first frame leaves an older file as it was.

use crate::failure::Failure;
use crate::files::{check_room, check_sound_name};
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::network;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::output::progress::ProgressLine;
use crate::patch::PatchOptions;
use crate::playback::file_input::InputFile;
use crate::playback::live_ports;
use crate::playback::midi_feed::{MidiFeed, MidiFeedOption};
use crate::playback::recording_player::loudest;
use crate::playback::trace::{TraceOptions, TraceOutput};
use crate::session::file_problems::{check_damage, check_recordings, end_files};
use crate::session::load::{LoadedSession, output_channels};
use crate::session::losses::check_whole;
use crate::session::options::PlayOptions;
use clap::Args;
use divisi::control::controller_binding;
use divisi::driver::offline::{self, RenderError};
use divisi::driver::{DriverConfig, DriverError, MidiLosses};
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Engine, EngineOptions, Mode, SampleRate, Scheduler};
use divisi::report::Report;
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  divisi render examples/04-diamond-16.ag -o diamond.wav --seconds 10
  divisi render session.toml -o session.wav --workers 2 --json report.json
  divisi render organ.toml -o organ.wav --midi-in tune.mid --seconds 10
  divisi render patch.pd -o patch.wav --seconds 10
  divisi render network.toml -o out.wav --input in.wav

The file is WAV, 32-bit float. The same session gives the same bits, whatever the scheduler and the workers.";

/// Renders a session into a file, faster than real time
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Render {
    #[command(flatten)]
    options: PlayOptions,

    /// The sound file to write
    #[arg(short, long, value_name = "OUT.wav")]
    output: PathBuf,

    /// Play a MIDI file into a live MIDI port of the session, each message at its frame; without a port, into its only one.
    /// May be given several times
    #[arg(long, value_name = "FILE.mid[=PORT]", value_parser = MidiFeedOption::parse)]
    midi_in: Vec<MidiFeedOption>,

    #[command(flatten)]
    tracing: TraceOptions,
}

impl Render {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let patch = &self.options.patch;
        patch.allow(Some(&self.output))?;
        let mut loaded = LoadedSession::read_valid_or_network(&self.options.file, patch)?;
        self.options.recall(&mut loaded)?;
        let mut guard = self.guard(&loaded)?;
        if network::render_network(&loaded, &self.options, &self.output, &mut guard)? {
            return Ok(());
        }
        self.options.check_input(&loaded)?;
        self.tracing.check(&mut guard)?;
        let json = JsonOutput::open(self.options.json.as_deref(), &mut guard)?;
        let interrupt = Interrupt::listen()?;
        let prepared = self.prepare(&loaded, interrupt)?;
        let (report, done) = prepared.render();
        let written = json.write_report(&report);
        let whole = check_whole(&report);
        let objects = self.options.check_objects(&loaded);
        done.and(written)
            .and(whole)
            .and(objects)
            .and(PatchOptions::check_writes())
    }

    /// Files of the call: none may be written over another one.
    fn guard(&self, loaded: &LoadedSession) -> Result<FileGuard, Failure> {
        let mut guard = self.options.guard(loaded)?;
        for feed in &self.midi_in {
            guard.input(&feed.file);
        }
        guard.output(&self.output)?;
        check_sound_name(&self.output)?;
        Ok(guard)
    }

    /// Makes everything that a render takes. The output is opened last.
    fn prepare(
        &self,
        loaded: &LoadedSession,
        interrupt: Interrupt,
    ) -> Result<PreparedRender, Failure> {
        let rate = self.options.rate(loaded);
        let mut options = self.engine_options(loaded, rate);
        let ports = options.midi.inputs.clone();
        let source = self.options.open_input(rate)?;
        let frames = match self.options.frames(rate) {
            Some(frames) => frames,
            None => default_frames(loaded, &options, source.as_ref())?,
        };
        options.end = Some(frames);
        options.block = self.options.render_block(loaded);
        let (block, inputs) = (options.block, options.input_channels);
        self.options.choose_scheduler(loaded, &mut options);
        Interrupt::check_process("nothing is written")?;
        let scheduler = self.options.scheduler_name(&options);
        let (mut engine, callback) = loaded.make_engine(options)?;
        if !self.midi_in.is_empty() {
            bind_controllers(loaded, &mut engine)?;
        }
        let player = MidiFeed::new(callback, &self.midi_in, &ports, rate)?;
        messages::print_notes(&engine.notes());
        let mut request = DriverConfig::new("divisi", block);
        (request.inputs, request.outputs) = (inputs, output_channels(engine.plan()));
        check_channels(&request)?;
        let writer = self.open_writer(&engine, rate, (frames, Channels(request.outputs)))?;
        let timing = (scheduler.as_str(), block, rate);
        let tracer = self.tracing.open(&self.options, timing)?;
        let job = RenderJob {
            latency: output_latency(&engine, self.options.compensate),
            request,
            frames,
            source,
            writer,
            progress: ProgressLine::new(rate.hz(), Some(frames)),
            interrupt,
            peak: 0.0,
            is_strict: self.options.strict,
        };
        Ok(PreparedRender {
            engine,
            player,
            tracer,
            job,
        })
    }

    /// Options of the engine, but for the scheduler.
    fn engine_options(&self, loaded: &LoadedSession, rate: SampleRate) -> EngineOptions {
        let mut options = self.options.engine_options(loaded, rate);
        options.mode = Mode::Offline;
        options.trace = self.tracing.is_on();
        if !self.midi_in.is_empty() {
            // Nobody takes what an output sends.
            options.midi.inputs = loaded.midi_ports().inputs;
        }
        options
    }

    /// Opens the output, after all that can be refused.
    fn open_writer(
        &self,
        engine: &Engine,
        rate: SampleRate,
        (frames, channels): (u64, Channels),
    ) -> Result<Writer, Failure> {
        let size = (frames.into(), channels.count());
        check_room(&self.output, size, "render fewer --seconds")?;
        check_recordings(engine)?;
        Writer::create(&self.output, rate, channels, SampleFormat::F32).map_err(Failure::from_error)
    }
}

/// Has the controllers of the session set their parameters.
fn bind_controllers(loaded: &LoadedSession, engine: &mut Engine) -> Result<(), Failure> {
    let bound = loaded.live.controllers.iter().map(controller_binding);
    let set = engine.set_controllers(bound.collect());
    set.map_err(Failure::from_input_error)
}

/// A render that can begin.
struct PreparedRender {
    engine: Engine,
    player: MidiFeed,
    tracer: TraceOutput,
    job: RenderJob,
}

impl PreparedRender {
    /// Renders to the end. Returns the report, and an error if the file lacks anything.
    fn render(self) -> (Report, Result<(), Failure>) {
        let (mut engine, mut tracer) = (self.engine, self.tracer);
        let is_strict = self.job.is_strict;
        let done = self.job.run(&mut engine, &mut tracer, self.player);
        let files = end_files(&mut engine, is_strict);
        let traced = tracer.finish(&mut engine);
        let mut report = engine.report();
        report.driver = "file".into();
        let lost_midi = live_ports::lost_midi(&engine, MidiLosses::default());
        report.midi_lost = lost_midi.0;
        report.notes.extend(lost_midi.1);
        let done = done.map(|notes| report.notes.extend(notes));
        (report, done.and(files).and(traced))
    }
}

/// Frames at the beginning that are left out of the file: with the latency of the graph and of a pipeline taken off, the output
/// begins with its input. Without compensation each path of the graph has its own latency, which is kept.
fn output_latency(engine: &Engine, is_compensated: bool) -> u64 {
    match is_compensated {
        true => engine.plan().latency.0.into(),
        false => engine.pipeline_latency(),
    }
}

/// Length in frames: that of the input and of what fades out behind it, or that of a session that ends by itself. An endless
/// session is refused before anything is tried or written.
fn default_frames(
    loaded: &LoadedSession,
    options: &EngineOptions,
    source: Option<&InputFile>,
) -> Result<u64, Failure> {
    let mut options = options.clone();
    options.mode = Mode::DryRun;
    options.scheduler = Scheduler::Sequential;
    options.trace = false;
    let (engine, _) = loaded.make_engine(options)?;
    if let Some(source) = source {
        return Ok(source.frames().saturating_add(engine.tail()));
    }
    engine.length().ok_or_else(|| {
        Failure::bad_input("this session has no end: set its length with --seconds S")
    })
}

/// Refuses a channel count that no sound file has, before the file is made.
fn check_channels(request: &DriverConfig) -> Result<(), Failure> {
    match request.outputs.max(request.inputs) {
        _ if request.outputs == 0 => Err(Failure::bad_input(
            "the session has no `sink`, so there is nothing to render",
        )),
        max if max > DriverConfig::MAX_CHANNELS => {
            Err(Failure::bad_input(DriverError::Channels(max).to_string()))
        }
        _ => Ok(()),
    }
}

/// One render, from source to file.
struct RenderJob {
    request: DriverConfig,
    /// Latency of the output, in frames. These first frames are left out of the file.
    latency: u64,
    frames: u64,
    source: Option<InputFile>,
    writer: Writer,
    progress: ProgressLine,
    interrupt: Interrupt,
    /// Largest magnitude of any sample.
    peak: f32,
    is_strict: bool,
}

impl RenderJob {
    /// Renders until the end, an interrupt or a write error, after which there is no new file. Returns notes for the report.
    fn run(
        mut self,
        engine: &mut Engine,
        tracer: &mut TraceOutput,
        player: MidiFeed,
    ) -> Result<Vec<String>, Failure> {
        let rendered = self.play(engine, tracer, player);
        self.progress.clear();
        let path = self.writer.path().display().to_string();
        let written = self.writer.frames();
        // A failure before the first frame leaves an earlier file as it was.
        let is_kept = rendered.is_ok() || written > 0;
        let finished = is_kept.then(|| self.writer.finish()).transpose();
        let result = match finished {
            Ok(Some(_)) => format!("{path} holds the first {written} frames"),
            _ => format!("{path} is not written"),
        };
        match rendered {
            Ok(done) if done < self.frames => {
                Err(Failure::failed(format!("interrupted: {result}")))
            }
            Ok(_) => {
                let kept = finished.map_err(Failure::from_error)?.flatten();
                messages::print_message(&format!("{path}: {written} frames"));
                messages::print_kept(Path::new(&path), kept.as_deref());
                let notes = quality_notes(&path, self.peak, self.source.as_ref());
                check_damage(notes.damage_count, self.is_strict)?;
                Ok(notes.lines)
            }
            Err(RenderError::Config(error)) => Err(Failure::bad_input(error_chain(&error))),
            Err(error) => {
                let message = format!("{}; {result}", error_chain(&error));
                Err(Failure::failed(message))
            }
        }
    }

    fn play(
        &mut self,
        engine: &mut Engine,
        tracer: &mut TraceOutput,
        mut player: MidiFeed,
    ) -> Result<u64, RenderError> {
        let _audio_thread = AudioThread::enter();
        let (writer, progress) = (&mut self.writer, &mut self.progress);
        let peak = &mut self.peak;
        let mut write_output = |block: &[&[f32]]| {
            *peak = peak.max(loudest(block.iter().copied()));
            writer.write(block).map_err(Into::into)
        };
        let mut on_progress = |done| {
            if let Some(message) = tracer.update(engine) {
                progress.clear();
                messages::print_message(&message);
            }
            progress.show(done);
            self.interrupt.control_flow()
        };
        let mut read_input = |into: &mut [&mut [f32]]| match &mut self.source {
            None => Ok(0),
            Some(source) => {
                let got = source.read(into);
                source.read_error().map_or(Ok(got), |what| Err(what.into()))
            }
        };
        let (request, frames) = (&self.request, (self.latency, self.frames));
        offline::render(
            request,
            frames,
            &mut player,
            &mut read_input,
            &mut write_output,
            &mut on_progress,
        )
    }
}

/// Losses in the quality of a finished file.
struct QualityNotes {
    lines: Vec<String>,
    /// Lines that say that the input was damaged.
    damage_count: usize,
}

/// Prints the notes on a finished file.
fn quality_notes(path: &str, peak: f32, source: Option<&InputFile>) -> QualityNotes {
    let advice = "; players without float samples clip it: turn the session down";
    let mut lines = Vec::from_iter(messages::print_peak(path, peak, advice));
    let damage = source.and_then(InputFile::damage);
    let damage_count = damage.iter().count();
    lines.extend(damage.inspect(|damage| messages::print_note(damage)));
    QualityNotes {
        lines,
        damage_count,
    }
}
