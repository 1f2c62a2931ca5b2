//! `render`: plays a session into a file, faster than real time. Nothing is ever dropped.

use crate::failure::{Failure, error_chain};
use crate::files::{check_sound_name, check_wav_size};
use crate::interrupt::Interrupt;
use crate::network;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::output::progress::Progress;
use crate::playback::file_input::InputFile;
use crate::playback::trace::{TraceOptions, TraceOutput};
use crate::session::load::{LoadedSession, output_channels};
use crate::session::options::PlayOptions;
use clap::Args;
use divisi::driver::offline::{self, RenderError};
use divisi::driver::{DriverConfig, DriverError};
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Mode, Scheduler};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  divisi render examples/04-diamond-16.ag -o diamond.wav --seconds 10
  divisi render session.toml -o session.wav --workers 2 --json report.json
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

    #[command(flatten)]
    tracing: TraceOptions,
}

impl Render {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = LoadedSession::read_valid_or_network(&self.options.file)?;
        self.options.check_output(&loaded, &self.output)?;
        check_sound_name(&self.output)?;
        if network::render_network(&loaded, &self.options, &self.output)? {
            return Ok(());
        }
        self.tracing.check(&self.options, &loaded)?;
        let json = JsonOutput::open(self.options.json.as_deref())?;
        let interrupt = Interrupt::listen()?;
        let rate = self.options.rate(&loaded);
        let mut options = self.options.engine_options(&loaded, rate);
        options.mode = Mode::Offline;
        options.trace = self.tracing.is_on();
        let block = options.block;
        let frames = match self.options.frames(rate) {
            Some(frames) => frames,
            None => default_frames(&loaded, &options)?,
        };
        let mut request = DriverConfig::new("divisi", options.block);
        request.inputs = options.input_channels;
        self.options.choose_scheduler(&loaded, &mut options);
        Interrupt::check_process("nothing is written")?;
        let scheduler = self.options.scheduler_name(&options);
        let (mut engine, player) = loaded.make_engine(options)?;
        messages::print_notes(&engine.notes());
        request.outputs = output_channels(engine.plan());
        check_channels(&request)?;
        let channels = Channels(request.outputs);
        check_wav_size(frames.into(), channels.count(), "render fewer --seconds")?;
        let source = self.options.open_input(rate)?;
        let writer = Writer::create(&self.output, rate, channels, SampleFormat::F32)
            .map_err(Failure::from_error)?;
        let mut tracer = self
            .tracing
            .open(&self.options, (&scheduler, block, rate))?;
        let progress = Progress::new(rate.hz(), Some(frames));
        let job = RenderJob {
            latency: engine.pipeline_latency(),
            request,
            frames,
            source,
            writer,
            progress,
            interrupt,
        };
        let done = job.run(&mut engine, &mut tracer, player);
        let traced = tracer.finish(&mut engine);
        let mut report = engine.report();
        report.driver = "file".into();
        json.write_report(&report)?;
        done.and(traced)
    }
}

/// Length of a session that ends by itself, in frames. An endless session is refused before anything is tried or written.
fn default_frames(loaded: &LoadedSession, options: &EngineOptions) -> Result<u64, Failure> {
    let mut options = options.clone();
    options.mode = Mode::DryRun;
    options.scheduler = Scheduler::Sequential;
    options.trace = false;
    let (engine, _) = loaded.make_engine(options)?;
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
    /// Latency of a pipeline, in frames. These first frames are left out of the file.
    latency: u64,
    frames: u64,
    source: Option<InputFile>,
    writer: Writer,
    progress: Progress,
    interrupt: Interrupt,
}

impl RenderJob {
    /// Renders until the end, an interrupt or a write error. The file is valid in every case.
    fn run(
        mut self,
        engine: &mut Engine,
        tracer: &mut TraceOutput,
        player: EngineCallback,
    ) -> Result<(), Failure> {
        let rendered = self.play(engine, tracer, player);
        self.progress.clear();
        let path = self.writer.path().display().to_string();
        let written = self.writer.frames();
        let finished = self.writer.finish();
        match rendered {
            Ok(done) if done < self.frames => {
                let message = format!("interrupted: {path} holds the first {written} frames");
                Err(Failure::failed(message))
            }
            Ok(_) => {
                finished.map_err(Failure::from_error)?;
                messages::print_message(&format!("{path}: {written} frames"));
                Ok(())
            }
            Err(RenderError::Config(error)) => Err(Failure::bad_input(error_chain(&error))),
            Err(error) => {
                let message = format!(
                    "{}; {path} holds the first {written} frames",
                    error_chain(&error)
                );
                Err(Failure::failed(message))
            }
        }
    }

    fn play(
        &mut self,
        engine: &mut Engine,
        tracer: &mut TraceOutput,
        mut player: EngineCallback,
    ) -> Result<u64, RenderError> {
        let _audio_thread = AudioThread::enter();
        let (writer, progress) = (&mut self.writer, &mut self.progress);
        let mut write_output = |block: &[&[f32]]| writer.write(block).map_err(Into::into);
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
