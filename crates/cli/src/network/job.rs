//! Runs a network over a sound file. Memory is bounded by the network's queues.
//!
//! ```text
//! InputFile ──▶ CallbackSource ──▶ actors of the session ──▶ CallbackSink ──▶ OutputFile
//! ```
//!
//! The output has `over` frames for `under` of the input ([`NetworkSpec::ratio`]), so its rate is the input's by that ratio; a
//! ratio that gives no whole rate is refused before anything is written. An interrupted or failed run keeps the frames
//! written so far as a valid file, and its message says how many.

use crate::failure::Failure;
use crate::files::check_room;
use crate::interrupt::Interrupt;
use crate::output::messages;
use crate::output::progress::ProgressLine;
use crate::playback::file_input::InputFile;
use crate::session::file_problems::check_damage;
use crate::session::load::LoadedSession;
use crate::session::options::PlayOptions;
use divisi::graph::error_chain;
use divisi::media::{SampleFormat, Writer};
use divisi::network::kinds::{CallbackSink, CallbackSource};
use divisi::network::session::{MAX_MEMORY, NetworkSpec};
use divisi::network::{Actor, InputWindow, RunError, RunOptions, RunSummary, run_on_workers};
use divisi::prelude::SampleRate;
use divisi::units::Channels;
use divisi::workers::{WorkerPool, WorkerPoolOptions};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One run of a network: input and output.
pub(super) struct NetworkJob {
    source: InputFile,
    rate_out: SampleRate,
    frames_in: u64,
    frames_out: u64,
}

/// The output file and its progress.
struct OutputFile {
    writer: Writer,
    progress: ProgressLine,
    left: u64,
    planes: Vec<Vec<f32>>,
}

/// The output, until its run ends.
type SharedOutput = Arc<Mutex<Option<OutputFile>>>;

impl NetworkJob {
    /// Opens the input. Refuses a network whose output fits no sound file.
    pub(super) fn new(
        spec: &NetworkSpec,
        loaded: &LoadedSession,
        options: &PlayOptions,
        output: &Path,
    ) -> Result<Self, Failure> {
        let Some(path) = &options.input else {
            let message = "a network is rendered over a sound file: --input IN.wav";
            return Err(Failure::bad_input(message));
        };
        let rate = match options.requested_rate(loaded) {
            Some(rate) => rate,
            None => divisi::media::open(path)
                .map_err(Failure::from_input_error)?
                .rate(),
        };
        let source = InputFile::open(path, rate).map_err(Failure::from_input_error)?;
        let frames_in = options
            .frames(rate)
            .map_or(source.frames(), |max| max.min(source.frames()));
        let (over, under) = spec.ratio();
        let message = || {
            let hz = rate.hz();
            Failure::bad_input(format!(
                "{over} frames out for {under} in at {hz} Hz give no rate that a file can have"
            ))
        };
        let hz = u128::from(rate.hz())
            .checked_mul(over)
            .filter(|hz| hz % under == 0);
        let hz = hz.and_then(|hz| u32::try_from(hz / under).ok());
        let rate_out = hz.and_then(SampleRate::new).ok_or_else(message)?;
        let frames_out = (u128::from(frames_in) * over).div_ceil(under);
        let channels = spec.io_formats()[1].0;
        check_room(output, (frames_out, channels), "render fewer --seconds")?;
        Ok(Self {
            source,
            rate_out,
            frames_in,
            frames_out: frames_out as u64,
        })
    }

    /// Runs the network and reports the result as text and JSON.
    pub(super) fn run(
        self,
        spec: &NetworkSpec,
        options: &PlayOptions,
        output: &Path,
    ) -> Result<(String, Value), Failure> {
        let interrupt = Interrupt::listen()?;
        let (frames_in, rate) = (self.frames_in, self.rate_out);
        let written = self.open_output(spec.io_formats()[1], output)?;
        let damage = Arc::default();
        let source = self.source_actor(spec.io_formats()[0], Arc::clone(&damage));
        let sink = sink_actor(spec.io_formats()[1], written.clone());
        let network = spec.build(source, sink);
        let mut pool_options = WorkerPoolOptions::default();
        pool_options.workers = options.workers().unwrap_or(pool_options.workers);
        let workers = pool_options.workers;
        let pool = WorkerPool::new(pool_options).map_err(Failure::from_error)?;
        let run_options = RunOptions {
            memory: MAX_MEMORY,
            stop: Some(interrupt.flag()),
            ..RunOptions::default()
        };
        let ran = run_on_workers(&pool, network, &run_options);
        let path = output.display().to_string();
        let (summary, got) = finish_run(ran, &written, &path)?;
        let damage = lock(&damage).take();
        if let Some(damage) = &damage {
            messages::print_note(damage);
        }
        check_damage(damage.iter().count(), options.strict)?;
        let text = format!("{path}: {got} frames at {} Hz\n", rate.hz());
        Ok((text, report(spec, &summary, (frames_in, got, workers))))
    }

    /// Opens the file that the sink writes, in pieces of so many channels and frames.
    fn open_output(
        &self,
        (channels, piece): (usize, usize),
        output: &Path,
    ) -> Result<SharedOutput, Failure> {
        let (rate, format) = (self.rate_out, SampleFormat::F32);
        let writer = Writer::create(output, rate, Channels(channels as u16), format);
        Ok(Arc::new(Mutex::new(Some(OutputFile {
            writer: writer.map_err(Failure::from_error)?,
            progress: ProgressLine::new(rate.hz(), Some(self.frames_out)),
            left: self.frames_out,
            planes: vec![vec![0.0; piece]; channels],
        }))))
    }

    /// The actor that reads the input file.
    fn source_actor(
        self,
        (channels, piece): (usize, usize),
        found: Arc<Mutex<Option<String>>>,
    ) -> Box<dyn Actor> {
        let (mut source, mut left) = (self.source, self.frames_in);
        let mut planes = vec![vec![0.0; piece]; channels];
        let actor = CallbackSource::new(channels, piece, move |room, wanted| {
            let mut slices: Vec<&mut [f32]> = planes.iter_mut().map(Vec::as_mut_slice).collect();
            let got = source.read(&mut slices) as u64;
            if let Some(damage) = source.read_error() {
                return Err(damage);
            }
            if let Some(damage) = source.damage() {
                lock(&found).get_or_insert(damage);
            }
            for (channel, plane) in planes.iter().enumerate() {
                room.channel(channel).copy_from_slice(&plane[..wanted]);
            }
            let got = got.min(left);
            left -= got;
            Ok(got as usize)
        });
        Box::new(actor.expect("the network was read with channels and frames"))
    }
}

/// Locks, also where the thread of another actor has panicked: what is inside is replaced as a whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The actor that writes the output file.
fn sink_actor((channels, piece): (usize, usize), written: SharedOutput) -> Box<dyn Actor> {
    let actor = CallbackSink::new(channels, piece, move |view, frames| {
        let mut written = lock(&written);
        written
            .as_mut()
            .map_or(Ok(()), |written| written.write(view, frames))
    });
    Box::new(actor.expect("the network was read with channels and frames"))
}

impl OutputFile {
    fn write(&mut self, view: &InputWindow<'_>, frames: usize) -> Result<(), String> {
        let frames = self.left.min(frames as u64);
        self.left -= frames;
        let mut slices: Vec<&[f32]> = Vec::with_capacity(self.planes.len());
        for (channel, plane) in self.planes.iter_mut().enumerate() {
            // A window lends its channels one by one; the file needs all at once.
            plane[..frames as usize].copy_from_slice(&view.channel(channel)[..frames as usize]);
            slices.push(&plane[..frames as usize]);
        }
        self.writer
            .write(&slices)
            .map_err(|error| error_chain(&error))?;
        self.progress.show(self.writer.frames());
        Ok(())
    }
}

/// Closes the file after a run. Returns the summary of a run that has ended well, and the number of frames in the file.
fn finish_run(
    ran: Result<RunSummary, RunError>,
    written: &Mutex<Option<OutputFile>>,
    path: &str,
) -> Result<(RunSummary, u64), Failure> {
    let frames = match (finish(written, path), &ran) {
        (Ok(frames), _) => frames,
        (Err(failure), Ok(_)) => return Err(failure),
        (Err(_), Err(error)) => {
            let message = format!("{}; {path} is not written", error_chain(error));
            return Err(Failure::failed(message));
        }
    };
    let summary = ran.map_err(|error| {
        let reason = match error {
            RunError::Interrupted => "interrupted: ".to_owned(),
            error => format!("{}; ", error_chain(&error)),
        };
        Failure::failed(format!("{reason}{path} holds the first {frames} frames"))
    })?;
    Ok((summary, frames))
}

/// Closes the file. Returns its number of frames.
fn finish(written: &Mutex<Option<OutputFile>>, path: &str) -> Result<u64, Failure> {
    let written = lock(written).take();
    let Some(mut written) = written else {
        return Err(Failure::failed(format!("{path} was not written")));
    };
    written.progress.clear();
    let frames = written.writer.frames();
    let kept = written.writer.finish().map_err(Failure::from_error)?;
    messages::print_kept(Path::new(path), kept.as_deref());
    Ok(frames)
}

fn report(
    spec: &NetworkSpec,
    summary: &RunSummary,
    (into, out, workers): (u64, u64, usize),
) -> Value {
    let topology = spec.topology();
    let nodes = topology.nodes.iter().zip(&summary.firings);
    let nodes = nodes.map(|(node, firings)| json!({ "name": node.name, "firings": firings }));
    let queues = topology.queue_ids().zip(&summary.sizes);
    let queues =
        queues.map(|(queue, size)| json!({ "name": topology.queue_name(queue), "frames": size }));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "workers": workers,
        "frames_in": into,
        "frames_out": out,
        "growths": summary.growths.len(),
        "nodes": nodes.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
    })
}
