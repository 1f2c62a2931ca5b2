//! `render`: offline, as fast as it goes; nothing is ever dropped.

use crate::failure::{Failure, in_full};
use crate::feed::Source;
use crate::files::is_sound;
use crate::interrupt::Interrupt;
use crate::load::{Loaded, outputs};
use crate::network;
use crate::options::How;
use crate::outcome::Json;
use crate::progress::Progress;
use crate::say;
use crate::trace::{Tracer, Tracing};
use clap::Args;
use divisi::driver::offline::{self, RenderError};
use divisi::driver::{DriverConfig, DriverError};
use divisi::media::{SampleFormat, Writer};
use divisi::prelude::{Engine, EngineCallback, EngineOptions, Mode, Scheduler};
use divisi::units::Channels;
use divisi::workers::AudioThread;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What a WAV file holds, less what its header may take.
const MOST_BYTES: u128 = u32::MAX as u128 - 4096;

const EXAMPLES: &str = "\
Examples:
  divisi render examples/04-diamond-16.ag -o diamond.wav --seconds 10
  divisi render session.toml -o session.wav --workers 2 --json report.json
  divisi render network.toml -o out.wav --input in.wav

The file is WAV, 32-bit float. The same session gives the same bits, whatever the scheduler and the workers.";

/// Plays a session into a file, as fast as it goes
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Render {
    #[command(flatten)]
    how: How,

    /// The sound file to write
    #[arg(short, long, value_name = "OUT.wav")]
    output: PathBuf,

    #[command(flatten)]
    tracing: Tracing,
}

impl Render {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let loaded = Loaded::usable_or_network(&self.how.file)?;
        self.how.keep_apart(&loaded, &self.output)?;
        is_sound(&self.output)?;
        if network::render(&loaded, &self.how, &self.output)? {
            return Ok(());
        }
        self.tracing.check(&self.how, &loaded)?;
        let json = Json::open(self.how.json.as_deref())?;
        let interrupt = Interrupt::listen()?;
        let rate = self.how.rate(&loaded);
        let mut options = self.how.engine(&loaded, rate);
        options.mode = Mode::Offline;
        options.trace = self.tracing.is_on();
        let block = options.block;
        let frames = match self.how.frames(rate) {
            Some(frames) => frames,
            None => length(&loaded, &options)?,
        };
        let mut request = DriverConfig::new("divisi", options.block);
        request.inputs = options.input_channels;
        self.how.decide(&loaded, &mut options);
        let scheduler = self.how.told(&options);
        let (mut engine, player) = loaded.engine(options)?;
        say::notes(&engine.notes());
        request.outputs = outputs(engine.plan());
        check_channels(&request)?;
        let channels = Channels(request.outputs);
        check_size(frames, channels)?;
        let source = self.how.source(rate)?;
        let writer = Writer::create(&self.output, rate, channels, SampleFormat::F32)
            .map_err(|error| Failure::failed(in_full(&error)))?;
        let mut tracer = self.tracing.open(&self.how, (&scheduler, block, rate))?;
        let progress = Progress::new(rate.hz(), Some(frames));
        let job = Job {
            late: engine.pipeline_latency(),
            request,
            frames,
            source,
            writer,
            progress,
            interrupt,
        };
        let done = job.run(&mut engine, &mut tracer, player);
        let traced = tracer.end(&mut engine);
        let mut report = engine.report();
        report.driver = "file".into();
        json.report(&report)?;
        done.and(traced)
    }
}

/// How many frames a session has by itself. One that goes on forever is refused before anything is tried or written.
fn length(loaded: &Loaded, options: &EngineOptions) -> Result<u64, Failure> {
    let mut options = options.clone();
    options.mode = Mode::DryRun;
    options.scheduler = Scheduler::Sequential;
    options.trace = false;
    let (engine, _) = loaded.engine(options)?;
    engine
        .length()
        .ok_or_else(|| Failure::wrong("this session goes on forever: say how long by --seconds S"))
}

/// Refuses what there is no file for, before one is made.
fn check_channels(request: &DriverConfig) -> Result<(), Failure> {
    match request.outputs.max(request.inputs) {
        _ if request.outputs == 0 => Err(Failure::wrong(
            "there is nothing to hear: the session has no `sink`",
        )),
        most if most > DriverConfig::MAX_CHANNELS => {
            Err(Failure::wrong(DriverError::Channels(most).to_string()))
        }
        _ => Ok(()),
    }
}

/// Refuses what no WAV file holds, before the work and not after it.
fn check_size(frames: u64, channels: Channels) -> Result<(), Failure> {
    let bytes = u128::from(frames) * u128::from(channels.0) * 4;
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let gib = bytes as f64 / f64::from(1 << 30);
    Err(Failure::wrong(format!(
        "this would be {gib:.1} GiB, and a WAV file holds 4: render fewer --seconds"
    )))
}

/// One run, from source to file.
struct Job {
    request: DriverConfig,
    /// By so many frames a pipeline's output lags; they are left out.
    late: u64,
    frames: u64,
    source: Option<Source>,
    writer: Writer,
    progress: Progress,
    interrupt: Interrupt,
}

impl Job {
    /// Does it to the end, or to where the user or the disk ends it; the file is valid in any case.
    fn run(
        mut self,
        engine: &mut Engine,
        tracer: &mut Tracer,
        player: EngineCallback,
    ) -> Result<(), Failure> {
        let rendered = self.play(engine, tracer, player);
        self.progress.end();
        let path = self.writer.path().display().to_string();
        let written = self.writer.frames();
        let finished = self.writer.finish();
        match rendered {
            Ok(done) if done < self.frames => {
                let told = format!("interrupted: {path} holds the first {written} frames");
                Err(Failure::failed(told))
            }
            Ok(_) => {
                finished.map_err(|error| Failure::failed(in_full(&error)))?;
                say::note(&format!("{path}: {written} frames"));
                Ok(())
            }
            Err(RenderError::Config(error)) => Err(Failure::wrong(in_full(&error))),
            Err(error) => {
                let told = format!("{}; {path} keeps what came before", in_full(&error));
                Err(Failure::failed(told))
            }
        }
    }

    fn play(
        &mut self,
        engine: &mut Engine,
        tracer: &mut Tracer,
        mut player: EngineCallback,
    ) -> Result<u64, RenderError> {
        let _plays = AudioThread::enter();
        let (writer, progress) = (&mut self.writer, &mut self.progress);
        let mut sink = |block: &[&[f32]]| writer.write(block).map_err(Into::into);
        let mut tell = |done| {
            if let Some(told) = tracer.tend(engine) {
                progress.end();
                say::note(&told);
            }
            progress.show(done);
            match self.interrupt.is_asked() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let mut hear = |into: &mut [&mut [f32]]| match &mut self.source {
            None => Ok(0),
            Some(source) => {
                let got = source.read(into);
                source.damage().map_or(Ok(got), |what| Err(what.into()))
            }
        };
        let (request, frames) = (&self.request, (self.late, self.frames));
        offline::render(
            request,
            frames,
            &mut player,
            &mut hear,
            &mut sink,
            &mut tell,
        )
    }
}
