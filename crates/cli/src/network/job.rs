//! Runs a network over a sound file. Memory is bounded by the network's queues.

use crate::failure::{Failure, error_chain};
use crate::interrupt::Interrupt;
use crate::output::files::check_sound_name;
use crate::output::progress::Progress;
use crate::playback::file_input::InputFile;
use crate::session::load::LoadedSession;
use crate::session::options::PlayOptions;
use divisi::media::{SampleFormat, Writer};
use divisi::network::kinds::{CallbackSink, CallbackSource};
use divisi::network::session::{MAX_MEMORY, NetworkSpec};
use divisi::network::{Actor, InputWindow, RunError, RunOptions, RunSummary, run_on_workers};
use divisi::prelude::SampleRate;
use divisi::units::Channels;
use divisi::workers::{WorkerPool, WorkerPoolOptions};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest size of the samples in a WAV file, in bytes: its 32-bit size less room for the header.
const MAX_WAV_BYTES: u128 = u32::MAX as u128 - 4096;

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
    progress: Progress,
    left: u64,
    planes: Vec<Vec<f32>>,
}

impl NetworkJob {
    /// Opens the input. Refuses a network whose output fits no sound file.
    pub(super) fn new(
        patch: &NetworkSpec,
        loaded: &LoadedSession,
        options: &PlayOptions,
    ) -> Result<Self, Failure> {
        let Some(path) = &options.input else {
            let message = "a network is rendered over a sound file: --input IN.wav";
            return Err(Failure::bad_input(message));
        };
        let rate = match options.requested_rate(loaded) {
            Some(rate) => rate,
            None => divisi::media::open(path)
                .map_err(|error| Failure::bad_input(error_chain(&error)))?
                .rate(),
        };
        let source =
            InputFile::open(path, rate).map_err(|error| Failure::bad_input(error_chain(&error)))?;
        let frames_in = options
            .frames(rate)
            .map_or(source.frames(), |most| most.min(source.frames()));
        let (over, under) = patch.ratio();
        let message = || {
            let hz = rate.hz();
            Failure::bad_input(format!(
                "{over} frames for {under} at {hz} Hz is no rate that a file can have"
            ))
        };
        let hz = u128::from(rate.hz())
            .checked_mul(over)
            .filter(|hz| hz % under == 0);
        let hz = hz.and_then(|hz| u32::try_from(hz / under).ok());
        let rate_out = hz.and_then(SampleRate::new).ok_or_else(message)?;
        let frames_out = (u128::from(frames_in) * over).div_ceil(under);
        let channels = patch.io_formats()[1].0;
        if frames_out * channels as u128 * 4 > MAX_WAV_BYTES {
            let message = "this would be more than a WAV file holds: render fewer --seconds";
            return Err(Failure::bad_input(message));
        }
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
        patch: &NetworkSpec,
        options: &PlayOptions,
        output: &Path,
    ) -> Result<(String, Value), Failure> {
        check_sound_name(output)?;
        let interrupt = Interrupt::listen()?;
        let (frames_in, frames_out, rate) = (self.frames_in, self.frames_out, self.rate_out);
        let [into, out] = patch.io_formats();
        let channels = Channels(out.0 as u16);
        let writer = Writer::create(output, rate, channels, SampleFormat::F32);
        let writer = writer.map_err(|error| Failure::failed(error_chain(&error)))?;
        let written = Arc::new(Mutex::new(Some(OutputFile {
            writer,
            progress: Progress::new(rate.hz(), Some(frames_out)),
            left: frames_out,
            planes: vec![vec![0.0; out.1]; out.0],
        })));
        let (feed, tap) = (self.feed(into), sink_actor(out, written.clone()));
        let network = patch.build(feed, tap);
        let crew = WorkerPoolOptions {
            workers: options
                .workers()
                .unwrap_or(WorkerPoolOptions::default().workers),
            ..WorkerPoolOptions::default()
        };
        let workers = crew.workers;
        let crew = WorkerPool::new(crew).map_err(|error| Failure::failed(error_chain(&error)))?;
        let options = RunOptions {
            memory: MAX_MEMORY,
            stop: Some(interrupt.flag()),
            ..RunOptions::default()
        };
        let ran = run_on_workers(&crew, network, &options);
        let path = output.display().to_string();
        let got = finish(&written, &path)?;
        let summary = ran.map_err(|error| match error {
            RunError::Interrupted => {
                Failure::failed(format!("interrupted: {path} holds the first {got} frames"))
            }
            error => Failure::failed(format!(
                "{}; {path} keeps what came before",
                error_chain(&error)
            )),
        })?;
        let text = format!("{path}: {got} frames at {} Hz\n", rate.hz());
        Ok((text, report(patch, &summary, (frames_in, got, workers))))
    }

    /// The actor that reads the input file.
    fn feed(self, (channels, piece): (usize, usize)) -> Box<dyn Actor> {
        let (mut source, mut left) = (self.source, self.frames_in);
        let mut planes = vec![vec![0.0; piece]; channels];
        let feed = CallbackSource::new(channels, piece, move |room, wanted| {
            let mut slices: Vec<&mut [f32]> = planes.iter_mut().map(Vec::as_mut_slice).collect();
            let got = source.read(&mut slices) as u64;
            if let Some(damage) = source.read_error() {
                return Err(damage);
            }
            for (channel, plane) in planes.iter().enumerate() {
                room.channel(channel).copy_from_slice(&plane[..wanted]);
            }
            let got = got.min(left);
            left -= got;
            Ok(got as usize)
        });
        Box::new(feed.expect("the network was read with channels and frames"))
    }
}

/// The actor that writes the output file.
fn sink_actor(
    (channels, piece): (usize, usize),
    written: Arc<Mutex<Option<OutputFile>>>,
) -> Box<dyn Actor> {
    let tap = CallbackSink::new(channels, piece, move |view, frames| {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        written
            .as_mut()
            .map_or(Ok(()), |written| written.write(view, frames))
    });
    Box::new(tap.expect("the network was read with channels and frames"))
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

/// Closes the file. Returns its number of frames.
fn finish(written: &Mutex<Option<OutputFile>>, path: &str) -> Result<u64, Failure> {
    let written = written
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let Some(mut written) = written else {
        return Err(Failure::failed(format!("{path} was not written")));
    };
    written.progress.clear();
    let frames = written.writer.frames();
    written
        .writer
        .finish()
        .map_err(|error| Failure::failed(error_chain(&error)))?;
    Ok(frames)
}

fn report(
    patch: &NetworkSpec,
    summary: &RunSummary,
    (into, out, workers): (u64, u64, usize),
) -> Value {
    let shape = patch.topology();
    let nodes = shape.nodes.iter().zip(&summary.firings);
    let nodes = nodes.map(|(node, firings)| json!({ "name": node.name, "firings": firings }));
    let queues = shape.queue_ids().zip(&summary.sizes);
    let queues =
        queues.map(|(queue, size)| json!({ "name": shape.queue_name(queue), "frames": size }));
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
