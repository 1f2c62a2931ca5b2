//! Options of `convolve`: the method, and the processing of the response.

use super::response::Response;
use crate::commands::tune::tuning::Tuned;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use divisi::conv::ir::{IrProcessing, Normalise, SourceDirection, Trim};
use divisi::conv::{
    AddedLatency, Convolver, ConvolverOptions, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, MAX_BLOCK, Partition, PartitionChoice, PartitionError, PartitionSpace,
    choose_partition,
};
use divisi::fft::Kernels;
use divisi::units::SampleRate;
use divisi::workers::Priority;
use std::ops::Range;

/// Default block size, in frames.
const DEFAULT_BLOCK: usize = 64;
/// Largest time that an option accepts, in milliseconds.
const MAX_MS: f64 = 600_000.0;
/// Largest magnitude of a gain, in dB.
const MAX_DB: f64 = 200.0;

/// The convolution method.
#[derive(Args)]
pub(super) struct MethodOptions {
    /// Frames in a block, a power of two; without it, the configuration's partition size, or 64
    #[arg(long, value_name = "FRAMES", value_parser = parse_block)]
    block: Option<usize>,

    /// Compute as a device would: one block at a time, long partitions on other threads. The bits are the same
    #[arg(long)]
    pub(super) realtime: bool,

    /// nonuniform: partitions of several sizes, chosen by the costs that `divisi tune` measured or by the built-in table; uniform: all partitions of one block; direct: no FFT
    #[arg(long, value_name = "METHOD", value_enum, default_value_t = Method::Nonuniform)]
    method: Method,

    /// Use this partition, for example "7x64 6x256 2x1024"; "31 + 7x64" begins with a direct head of 31 taps
    #[arg(long, value_name = "TEXT", conflicts_with = "method")]
    partition: Option<String>,

    /// Latency added by the convolution: none or block. It is removed from the file
    #[arg(long, value_name = "none|block", default_value = "none", value_parser = parse_latency)]
    latency: AddedLatency,

    /// Store spectra in half precision for partitions of FRAMES or more: their output is then exact to 70 dB only, and long responses need a quarter less memory
    #[arg(long, value_name = "FRAMES")]
    pub(super) half: Option<usize>,

    /// Kernel set: auto, or a name, for example scalar or avx2
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_kernels)]
    pub(super) kernels: Kernels,
}

/// The convolution algorithm.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    Nonuniform,
    Uniform,
    Direct,
}

/// Processing of the response.
#[derive(Args)]
pub(super) struct ResponseOptions {
    /// Gain, in dB
    #[arg(long, value_name = "DB", default_value = "0", allow_negative_numbers = true, value_parser = parse_decibels)]
    gain: f64,

    /// Silence before the response, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0", allow_negative_numbers = true, value_parser = parse_millis)]
    predelay: f64,

    /// Trim both ends where the response is quieter than this, in dB relative to its peak, for example -60
    #[arg(long, value_name = "DB", allow_negative_numbers = true, value_parser = parse_threshold, conflicts_with = "range")]
    trim: Option<f64>,

    /// Use only these frames of the response, the end not included, for example 0..48000
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range)]
    range: Option<Range<usize>>,

    /// Reverse the response in time
    #[arg(long)]
    reverse: bool,

    /// Fade the response in, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0", allow_negative_numbers = true, value_parser = parse_millis)]
    fade_in: f64,

    /// Fade the response out, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0", allow_negative_numbers = true, value_parser = parse_millis)]
    fade_out: f64,

    /// Scale the response so that its largest sample is 1 (peak), or its energy is 1, which keeps the level of white noise (energy)
    #[arg(long, value_name = "peak|energy", value_parser = parse_normalise)]
    normalise: Option<Normalise>,

    /// Position of the source, for a .sofa file: degrees left and up, for example 30,0
    #[arg(long, value_name = "LEFT,UP", allow_hyphen_values = true, value_parser = parse_direction)]
    direction: Option<SourceDirection>,
}

impl MethodOptions {
    /// Name of the method in the report.
    pub(super) fn method(&self) -> &'static str {
        match (&self.partition, self.method) {
            (None, Method::Uniform) => "uniform",
            (None, Method::Direct) => "direct",
            _ => "nonuniform",
        }
    }

    /// Makes the convolver for `response`. Returns its partition and the reason for it as well.
    pub(super) fn convolver(
        &self,
        response: &Response,
    ) -> Result<(Convolver, PartitionChoice), Failure> {
        let paths = &response.paths;
        let choice = self
            .partition_for(response)
            .map_err(Failure::from_input_error)?;
        let partition = &choice.partition;
        if partition.max_ir_frames() < paths.frames() {
            let (reach, frames) = (partition.max_ir_frames(), paths.frames());
            let message =
                format!("the partition {partition} has {reach} frames, and the response {frames}");
            return Err(Failure::bad_input(message));
        }
        let mut options = ConvolverOptions::new(partition.clone());
        options.kernels = self.kernels;
        options.half_precision_from = self.half;
        let convolver = Convolver::new(paths.inputs(), paths.outputs(), &paths.resolve(), &options);
        Ok((convolver.map_err(Failure::from_input_error)?, choice))
    }

    fn partition_for(&self, response: &Response) -> Result<PartitionChoice, PartitionError> {
        let block = self.block.or(response.partition).unwrap_or(DEFAULT_BLOCK);
        let frames = response.paths.frames();
        let given = match (&self.partition, self.method) {
            (Some(text), _) => Partition::parse(block, self.latency, text),
            (None, Method::Nonuniform) => match PartitionSpace::new(frames, block, self.latency) {
                Some(space) => return Ok(choose_tuned(&space, response)),
                None => Partition::typical(block, self.latency, frames),
            },
            (None, Method::Uniform) => Partition::uniform(block, self.latency, frames),
            (None, Method::Direct) => Partition::new(block, self.latency, frames, &[]),
        };
        Ok(PartitionChoice::given(given?))
    }

    /// Makes the scheduler of long levels: their own threads with `--realtime`. No block has a deadline
    /// here, so these are ordinary threads, and the caller waits for them.
    pub(super) fn make_scheduler(
        &self,
        convolver: &Convolver,
    ) -> Result<Box<dyn LevelScheduler>, Failure> {
        if !self.realtime {
            return Ok(Box::new(Inline));
        }
        let options = LevelThreadsOptions {
            priority: Priority::Ordinary,
            max_wait: None,
            ..LevelThreadsOptions::default()
        };
        match LevelThreads::new(convolver, &options) {
            Ok(threads) => Ok(Box::new(threads)),
            Err(error) => Err(Failure::failed(format!("cannot start a thread: {error}"))),
        }
    }
}

impl ResponseOptions {
    /// Processing of a response at `rate`.
    pub(super) fn processing(&self, rate: SampleRate) -> IrProcessing {
        let trim = match (self.trim, &self.range) {
            (Some(below_db), _) => Trim::Silence { below_db },
            (None, Some(range)) => Trim::Frames(range.clone()),
            (None, None) => Trim::Whole,
        };
        IrProcessing {
            trim,
            reverse: self.reverse,
            fade_in: frames(self.fade_in, rate),
            fade_out: frames(self.fade_out, rate),
            normalise: self.normalise.unwrap_or_default(),
        }
    }

    /// Gain of every path, linear.
    pub(super) fn gain(&self) -> f32 {
        10.0_f64.powf(self.gain / 20.0) as f32
    }

    /// Delay of every path, in frames.
    pub(super) fn delay(&self, rate: SampleRate) -> usize {
        frames(self.predelay, rate)
    }

    /// Direction of the source in a SOFA file.
    pub(super) fn direction(&self) -> SourceDirection {
        self.direction.unwrap_or_default()
    }

    /// Refuses the options that do not apply to `for_what`, a configuration.
    pub(super) fn check_unused(&self, for_what: &str) -> Result<(), Failure> {
        let processing = self.processing(SampleRate::new(1000).expect("1000 is not zero"));
        if processing == IrProcessing::default() && self.direction.is_none() {
            return Ok(());
        }
        let message =
            format!("{for_what} is used as it is: only --gain and --predelay apply to it");
        Err(Failure::bad_input(message))
    }

    /// Refuses `--direction` for a response that has no directions.
    pub(super) fn check_no_direction(&self) -> Result<(), Failure> {
        match self.direction {
            Some(_) => Err(Failure::bad_input("only a .sofa file has a --direction")),
            None => Ok(()),
        }
    }
}

/// The partition with the smallest worst-case load, by the costs that `tune` measured here or by the built-in table.
fn choose_tuned(space: &PartitionSpace, response: &Response) -> PartitionChoice {
    let paths = &response.paths;
    // As many channels as the response has: channel k goes through response k.
    let channels = match paths.paths().len() == paths.outputs() {
        true => paths.outputs(),
        false => 1,
    };
    choose_partition(space, channels, Tuned::read().measured().as_ref())
}

/// Frames in `ms` milliseconds, rounded to the nearest.
fn frames(ms: f64, rate: SampleRate) -> usize {
    (ms * f64::from(rate.hz()) / 1000.0).round() as usize
}

fn parse_block(text: &str) -> Result<usize, String> {
    let block = text.parse().ok();
    let block = block.filter(|block: &usize| block.is_power_of_two() && *block <= MAX_BLOCK);
    block.ok_or_else(|| format!("a block is a power of two from 1 to {MAX_BLOCK}"))
}

fn parse_latency(text: &str) -> Result<AddedLatency, String> {
    match text {
        "none" => Ok(AddedLatency::None),
        "block" => Ok(AddedLatency::OneBlock),
        _ => Err("expected none or block".into()),
    }
}

fn parse_kernels(text: &str) -> Result<Kernels, String> {
    match text {
        "auto" => Ok(Kernels::best()),
        name => Kernels::from_name(name).map_err(|error| error.to_string()),
    }
}

fn parse_normalise(text: &str) -> Result<Normalise, String> {
    match text {
        "peak" => Ok(Normalise::Peak),
        "energy" => Ok(Normalise::Energy),
        _ => Err("expected peak or energy".into()),
    }
}

fn parse_range(text: &str) -> Result<Range<usize>, String> {
    let wrong =
        || "two numbers of frames, the first below the second, for example 0..48000".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let range = number(from)?..number(to)?;
    if range.is_empty() {
        Err(wrong())
    } else {
        Ok(range)
    }
}

fn parse_direction(text: &str) -> Result<SourceDirection, String> {
    let wrong = || "degrees to the left and up, for example 30,0".to_owned();
    let (left, up) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str, max: f32| {
        let degrees = text.trim().parse::<f32>().map_err(|_| wrong())?;
        if degrees.abs() <= max {
            Ok(degrees)
        } else {
            Err(wrong())
        }
    };
    Ok(SourceDirection {
        azimuth_deg: number(left, 360.0)?,
        elevation_deg: number(up, 90.0)?,
    })
}

fn parse_millis(text: &str) -> Result<f64, String> {
    parse_within(text, 0.0, MAX_MS).ok_or_else(|| "milliseconds from 0 to 600000".into())
}

fn parse_decibels(text: &str) -> Result<f64, String> {
    parse_within(text, -MAX_DB, MAX_DB).ok_or_else(|| format!("dB from -{MAX_DB} to {MAX_DB}"))
}

fn parse_threshold(text: &str) -> Result<f64, String> {
    parse_within(text, -MAX_DB, 0.0).ok_or_else(|| format!("dB from -{MAX_DB} to 0"))
}

fn parse_within(text: &str, min: f64, max: f64) -> Option<f64> {
    let number = text.parse::<f64>().ok();
    number.filter(|number| (min..=max).contains(number))
}
