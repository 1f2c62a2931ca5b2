//! `convolve`: convolves a sound file with an impulse response, or with a jconvolver configuration.

mod job;
mod options;
mod response;

use crate::failure::Failure;
use crate::files::{check_room, check_sound_name};
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::progress::ProgressLine;
use crate::session::file_problems::check_damage;
use clap::Args;
use divisi::conv::{Convolver, PartitionChoice};
use divisi::media::{Reader, SampleFormat, Writer, open};
use divisi::units::Channels;
use job::{ConvolveJob, ConvolveResult};
use options::{MethodOptions, ResponseOptions};
use response::Response;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  divisi convolve voice.wav hall.wav -o out.wav --gain -6
  divisi convolve voice.wav hall.wav -o out.wav --trim -60 --normalise energy --predelay 20
  divisi convolve voice.wav reverb.conf -o out.wav --block 64 --realtime

Channels:
  response of 1 channel         each channel of the sound is convolved with it
  sound of 1 channel            it is convolved with each channel of the response; each result is one output channel
  same number in both           channel n of the sound is convolved with channel n of the response
  2 in the sound, 4 in the response: true stereo. The channels of the response are, in this order, left to left,
                                left to right, right to left, right to right
  Other numbers are refused: use a configuration of jconvolver (a file that ends in .conf).

The output is WAV, 32-bit float, at the rate of the sound, with the whole tail: its length is the length of the sound plus
that of the response, less one frame. The same method and partition give the same bits, with --realtime and without.";

/// Convolves a sound with an impulse response
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convolve {
    /// The sound
    #[arg(value_name = "IN.wav")]
    input: PathBuf,

    /// The impulse response: a sound file, a .sofa file, or a configuration of jconvolver that ends in .conf
    #[arg(value_name = "IR.wav|CONFIG.conf")]
    response: PathBuf,

    /// The sound file to write
    #[arg(short, long, value_name = "OUT.wav")]
    output: PathBuf,

    #[command(flatten)]
    options: MethodOptions,

    #[command(flatten)]
    shaping: ResponseOptions,

    /// End with exit code 1 if the sound is damaged or cut off; without it, that is a note
    #[arg(long)]
    strict: bool,

    /// Write a summary as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Convolve {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        check_sound_name(&self.output)?;
        let input = open(&self.input).map_err(Failure::from_input_error)?;
        if input.frames() == Some(0) {
            let name = self.input.display();
            return Err(Failure::bad_input(format!(
                "{name} is empty: there is nothing to convolve"
            )));
        }
        let response = Response::read(&self.response, &self.shaping, &input)?;
        let inputs = [&self.input, &self.response];
        let mut guard = FileGuard::new(inputs.into_iter().chain(&response.files));
        guard.output(&self.output)?;
        let frames = output_frames(&input, response.paths.frames());
        check_size(&self.output, frames, response.paths.outputs())?;
        let (convolver, choice) = self.options.convolver(&response)?;
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let interrupt = Interrupt::listen()?;
        let channels = Channels(response.paths.outputs() as u16);
        let rate = input.rate();
        let writer = Writer::create(&self.output, rate, channels, SampleFormat::F32)
            .map_err(Failure::from_error)?;
        let summary =
            ConvolveSummary::from_job((&convolver, &choice), &self.options, &response, rate.hz());
        let job = ConvolveJob {
            input,
            tail: response.paths.frames() as u64 - 1,
            scheduler: self.options.make_scheduler(&convolver)?,
            convolver,
            writer,
            progress: ProgressLine::new(rate.hz(), frames),
            interrupt,
        };
        let result = job.run()?;
        result.print(&self.output);
        json.write("", &summary.to_json(&result))?;
        check_damage(result.damage.iter().count(), self.strict)
    }
}

/// Frames that will be written; `None` if the input does not state its length.
fn output_frames(input: &Reader, response: usize) -> Option<u64> {
    input.frames().map(|frames| frames + response as u64 - 1)
}

/// Refuses an output that is too large, before the work begins.
fn check_size(output: &Path, frames: Option<u64>, channels: usize) -> Result<(), Failure> {
    let max = divisi::media::MAX_CHANNELS;
    if channels > usize::from(max) {
        let message =
            format!("a sound file has at most {max} channels, and this would have {channels}");
        return Err(Failure::bad_input(message));
    }
    let size = (frames.unwrap_or(0).into(), channels);
    check_room(output, size, "convolve a part of it")
}

/// Summary of a convolution, for JSON.
struct ConvolveSummary {
    method: &'static str,
    partition: String,
    /// Source of the partition.
    partition_origin: String,
    /// Smallest partition whose spectra are kept in half precision.
    half: Option<usize>,
    block: usize,
    latency: usize,
    kernels: &'static str,
    realtime: bool,
    rate: u32,
    inputs: usize,
    outputs: usize,
    paths: usize,
    response_frames: usize,
    notes: Vec<String>,
}

impl ConvolveSummary {
    fn from_job(
        (convolver, choice): (&Convolver, &PartitionChoice),
        method: &MethodOptions,
        response: &Response,
        rate: u32,
    ) -> Self {
        Self {
            method: method.method(),
            partition: convolver.partition().to_string(),
            partition_origin: choice.origin.to_string(),
            half: method.half,
            block: convolver.block(),
            latency: convolver.latency(),
            kernels: method.kernels.name(),
            realtime: method.realtime,
            rate,
            inputs: response.paths.inputs(),
            outputs: response.paths.outputs(),
            paths: response.paths.paths().len(),
            response_frames: response.paths.frames(),
            notes: response.notes.clone(),
        }
    }

    fn to_json(&self, result: &ConvolveResult) -> String {
        let json = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "method": self.method,
            "partition": self.partition,
            "partition_by": self.partition_origin,
            "half": self.half,
            "block": self.block,
            "latency_frames": self.latency,
            "kernels": self.kernels,
            "realtime": self.realtime,
            "rate": self.rate,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "paths": self.paths,
            "response_frames": self.response_frames,
            "frames": result.frames,
            "late": result.late,
            "peak": result.peak,
            "damage": result.damage,
            "notes": self.notes,
        });
        json.to_string()
    }
}
