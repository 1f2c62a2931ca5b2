//! The methods of convolution that are compared: how levels are scheduled, and how responses are cut into partitions.

use super::callback::{self, Callback, LateResults, Placement};
use super::{BLOCK, period};
use crate::LabError;
use divisi::conv::{
    AddedLatency, Convolver, ConvolverOptions, CostTable, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, PartitionSpace, Path, Pinning, TimeDistributed, min_total_load,
};
use divisi::fft::{Kernels, Packing};
use divisi::workers::{self, Priority};
use std::fmt;
use std::sync::Arc;
use studies::fewer_operations::{self, StudyConvolver};
use studies::two_level::{LevelRatio, TwoLevelConvolver};

/// A method: how levels are scheduled, and how they do their sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// A thread for each of two levels (the paper's).
    PreemptiveTwo,
    /// A thread for each level, partitions by the levels' costs (the paper's).
    Preemptive,
    /// Two levels, the second by decimation in frequency (the paper's).
    DistributedTwo,
    /// Any number of levels, their work spread over callbacks.
    Distributed,
    /// Everything in the callback in which it is due: the control.
    Inline,
    /// The study's convolver: everything in the callback, without fewer operations.
    Study,
    /// As `Study`, larger transforms from smaller ones (Gardner).
    StudyGardner,
    /// As `Study`, nested convolution of spectra (Hurchalla).
    StudyNested,
}

impl Method {
    /// The product's methods and the paper's, in the paper's order.
    pub(super) const ALL: [Self; 5] = [
        Self::PreemptiveTwo,
        Self::Preemptive,
        Self::DistributedTwo,
        Self::Distributed,
        Self::Inline,
    ];

    /// The study's methods, the one without fewer operations first.
    pub(super) const STUDY: [Self; 3] = [Self::Study, Self::StudyGardner, Self::StudyNested];

    /// Those with fewer operations than [`Study`](Self::Study).
    pub(super) const FEWER_OPERATIONS: [Self; 2] = [Self::StudyGardner, Self::StudyNested];

    /// Name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PreemptiveTwo => "preemptive-2",
            Self::Preemptive => "preemptive",
            Self::DistributedTwo => "distributed-2",
            Self::Distributed => "distributed",
            Self::Inline => "inline",
            Self::Study => "study",
            Self::StudyGardner => "study-gardner",
            Self::StudyNested => "study-nested",
        }
    }

    /// Returns true if levels have threads of their own.
    pub(super) fn has_threads(self) -> bool {
        matches!(self, Self::PreemptiveTwo | Self::Preemptive)
    }

    /// Partition of responses of `length` frames: two levels, the second thirty-two times the first, as in the paper; or
    /// the one of the least load.
    pub(super) fn partition(self, length: usize) -> Result<Partition, LabError> {
        let has_two_levels = matches!(self, Self::PreemptiveTwo | Self::DistributedTwo);
        let found = if has_two_levels {
            two_levels(length)
        } else {
            least_load(length)
        };
        found.ok_or_else(|| LabError::Play(format!("there is no partition for {length} frames")))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Cores of the levels' threads (figure 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadCores {
    /// All on the callback's core.
    One,
    /// The first level's thread on one core, the second's on the next, in turn.
    ByLevel,
    /// On each core a thread for each level, with a share of the channels.
    ByChannel,
}

impl ThreadCores {
    pub(super) const ALL: [Self; 3] = [Self::One, Self::ByLevel, Self::ByChannel];

    /// Name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One => "one-core",
            Self::ByLevel => "by-level",
            Self::ByChannel => "by-channel",
        }
    }

    fn pinning(self, placement: Placement) -> Pinning {
        let count = placement.cores.clamp(1, workers::cores().len());
        let cores = (0..count).map(|number| placement.core(number));
        match self {
            Self::One => Pinning::ByLevel(vec![placement.core(0)]),
            // The shortest level's thread is on the callback's core; the cores are taken in turn.
            Self::ByLevel => Pinning::ByLevel(cores.collect()),
            Self::ByChannel => Pinning::ByChannels(cores.collect()),
        }
    }
}

fn two_levels(length: usize) -> Option<Partition> {
    let long = 32 * BLOCK;
    let start = Partition::min_start(BLOCK, AddedLatency::None, long);
    let first = start.min(length).div_ceil(BLOCK);
    let rest = length.saturating_sub(start).div_ceil(long);
    let levels = [(BLOCK, first), (long, rest)];
    let levels = &levels[..if rest > 0 { 2 } else { 1 }];
    Partition::new(BLOCK, AddedLatency::None, 0, levels).ok()
}

fn least_load(length: usize) -> Option<Partition> {
    let costs = CostTable::built_in();
    let space = PartitionSpace::new(length, BLOCK, AddedLatency::None)?;
    // All methods compared have channels enough for sixteen at a time.
    let found = min_total_load(&space, &|size, count| {
        costs.worst_ns(Packing::Batch, size, count)
    });
    let typical = || Partition::typical(BLOCK, AddedLatency::None, length).ok();
    found.map(|found| found.partition).or_else(typical)
}

/// A partition in words: `15x64 14x512`.
fn partition_words(partition: &Partition) -> String {
    let levels = partition.levels().iter();
    let levels: Vec<_> = levels
        .map(|l| format!("{}x{}", l.count(), l.size()))
        .collect();
    levels.join(" ")
}

/// A convolver of either kind.
enum Engine {
    /// Levels and their scheduler.
    Levels(Box<Convolver>, Box<dyn LevelScheduler + Send>),
    /// A convolver of the studies, and its output.
    Study(Process, Vec<f32>),
}

/// Computes a block: inputs to outputs, a slice for each channel.
type Process = Box<dyn FnMut(&[&[f32]], &mut [&mut [f32]]) + Send>;

/// A convolver whose input is noise.
pub(super) struct Player {
    engine: Engine,
    channels: usize,
    /// The partition in words, and its number of levels.
    partition: (String, usize),
    longest_period: u32,
    noise: Arc<[f32]>,
    block: usize,
    /// Late results so far.
    late: u64,
}

/// Length of the noise, and the distance of two channels in it, in blocks.
const NOISE_BLOCKS: usize = 1021;
const CHANNEL_OFFSET: usize = 37;

impl Player {
    /// A convolver with this number of channels, each with a response of its own.
    pub(super) fn new(
        method: Method,
        channels: usize,
        length: usize,
        placement: Placement,
        cores: ThreadCores,
    ) -> Result<Self, LabError> {
        use fewer_operations::Method::{Composed, Nested, Plain};
        let partition = method.partition(length)?;
        let longest = partition.levels().last();
        let longest = longest.map_or(1, |level| level.size() / BLOCK) as u32;
        let words = (partition_words(&partition), partition.levels().len());
        let engine = match method {
            Method::DistributedTwo => two_level_engine(channels, length)?,
            Method::Study => fewer_engine(&partition, channels, length, Plain)?,
            Method::StudyGardner => fewer_engine(&partition, channels, length, Composed)?,
            Method::StudyNested => fewer_engine(&partition, channels, length, Nested)?,
            _ => {
                let options = ConvolverOptions::new(partition);
                level_engine(method, options, channels, length, placement, cores)?
            }
        };
        Ok(Self {
            engine,
            channels,
            partition: words,
            longest_period: longest,
            noise: noise(1, NOISE_BLOCKS * BLOCK).into(),
            block: 0,
            late: 0,
        })
    }

    /// The longest period in blocks.
    pub(super) fn longest_period(&self) -> u32 {
        self.longest_period
    }

    /// The partition in words, and its number of levels.
    pub(super) fn partition(&self) -> (String, usize) {
        self.partition.clone()
    }
}

fn level_engine(
    method: Method,
    mut options: ConvolverOptions,
    channels: usize,
    length: usize,
    placement: Placement,
    cores: ThreadCores,
) -> Result<Engine, LabError> {
    if method == Method::Distributed {
        options = TimeDistributed::adapt_options(&options, channels);
    }
    let path = |channel| Path::new(channel, channel, response(channel, length));
    let paths: Vec<_> = (0..channels).map(path).collect();
    let made = Convolver::new(channels, channels, &paths, &options);
    let mut convolver = made.map_err(|error| LabError::Play(error.to_string()))?;
    let scheduler: Box<dyn LevelScheduler + Send> = match method {
        Method::Distributed => Box::new(TimeDistributed::new(&mut convolver)),
        _ if method.has_threads() => Box::new(level_threads(&convolver, placement, cores)?),
        _ => Box::new(Inline),
    };
    Ok(Engine::Levels(Box::new(convolver), scheduler))
}

/// A convolver of the studies, which `make` makes of the channels' responses.
fn study_engine(
    channels: usize,
    length: usize,
    make: impl FnOnce(&[&[f32]]) -> Result<Process, LabError>,
) -> Result<Engine, LabError> {
    let responses: Vec<_> = (0..channels)
        .map(|channel| response(channel, length))
        .collect();
    let responses: Vec<&[f32]> = responses.iter().map(Vec::as_slice).collect();
    Ok(Engine::Study(
        make(&responses)?,
        vec![0.0; channels * BLOCK],
    ))
}

fn two_level_engine(channels: usize, length: usize) -> Result<Engine, LabError> {
    study_engine(channels, length, |responses| {
        let made = TwoLevelConvolver::new(responses, BLOCK, LevelRatio::ThirtyTwo, Kernels::best());
        let mut made = made.map_err(|error| LabError::Play(error.to_string()))?;
        Ok(Box::new(move |inputs, outputs| {
            made.process(inputs, outputs)
        }))
    })
}

fn fewer_engine(
    partition: &Partition,
    channels: usize,
    length: usize,
    method: fewer_operations::Method,
) -> Result<Engine, LabError> {
    study_engine(channels, length, |responses| {
        let made = StudyConvolver::new(responses, partition, method, Kernels::best());
        let refused = || LabError::Play(format!("the study cannot have {partition}"));
        let mut made = made.ok_or_else(refused)?;
        Ok(Box::new(move |inputs, outputs| {
            made.process(inputs, outputs)
        }))
    })
}

impl Callback for Player {
    fn process_block(&mut self) -> LateResults {
        let mut late = self.late;
        // A second reference, so that inputs can be borrowed while the engine is.
        let noise = self.noise.clone();
        let block = self.block;
        let input = |channel: usize| {
            let at = (block + channel * CHANNEL_OFFSET) % NOISE_BLOCKS * BLOCK;
            &noise[at..at + BLOCK]
        };
        match &mut self.engine {
            Engine::Levels(convolver, scheduler) => {
                for channel in 0..self.channels {
                    convolver.write_input(channel, input(channel));
                }
                convolver.process_block(&mut **scheduler);
                late = convolver.late_count();
            }
            Engine::Study(process, output) => {
                let inputs: Vec<&[f32]> = (0..self.channels).map(input).collect();
                let mut outputs: Vec<&mut [f32]> = output.chunks_exact_mut(BLOCK).collect();
                process(&inputs, &mut outputs);
            }
        }
        self.block += 1;
        LateResults {
            count: late - std::mem::replace(&mut self.late, late),
            period_blocks: self.longest_period,
        }
    }
}

fn level_threads(
    convolver: &Convolver,
    placement: Placement,
    cores: ThreadCores,
) -> Result<LevelThreads, LabError> {
    let options = LevelThreadsOptions {
        priority: match placement.is_real_time {
            true => Priority::RealTime(callback::LEVEL_PRIORITY),
            false => Priority::Ordinary,
        },
        pinning: cores.pinning(placement),
        // Without real-time priority there is no deadline: then the callback waits.
        max_wait: placement.is_real_time.then(period),
    };
    LevelThreads::new(convolver, &options).map_err(|error| LabError::Play(error.to_string()))
}

/// Noise that decays by 60 dB.
fn response(channel: usize, length: usize) -> Vec<f32> {
    let fade = (-6.9 / length as f64).exp();
    let mut gain = 1.0 / (length as f64).sqrt();
    let mut taps = noise(1000 + channel as u64, length);
    for tap in &mut taps {
        *tap *= gain as f32;
        gain *= fade;
    }
    taps
}

/// White noise within -1 and 1.
fn noise(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    (0..16).for_each(|_| _ = next());
    (0..length).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_covers_every_length_and_two_levels_are_thirty_two_apart() {
        for length in [64, 4000, 16_384, 524_288] {
            for method in Method::ALL {
                assert!(method.partition(length).unwrap().max_ir_frames() >= length);
            }
        }
        assert_eq!(
            partition_words(&two_levels(16_384).unwrap()),
            "63x64 7x2048"
        );
        assert_eq!(partition_words(&two_levels(64).unwrap()), "1x64");
    }

    #[test]
    fn every_method_gives_the_same_sound_and_those_of_one_partition_the_same_bits() {
        let outputs = Method::ALL.map(output);
        assert!(outputs[0].iter().any(|x| x.abs() > 0.01));
        for other in &outputs {
            assert!(distance(&outputs[0], other) < 1e-4);
        }
        let [_, preemptive, _, distributed, inline] = &outputs;
        assert!(preemptive == distributed && preemptive == inline);
        let plain = output(Method::Study);
        for method in Method::FEWER_OPERATIONS {
            let fewer = output(method);
            let is_near = fewer != plain && distance(&fewer, &plain) < 1e-4;
            assert!(is_near, "{}", method.name());
        }
    }

    /// The greatest difference of two samples.
    fn distance(a: &[f32], b: &[f32]) -> f32 {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f32::max)
    }

    fn output(method: Method) -> Vec<f32> {
        let cores = ThreadCores::ByChannel;
        let mut player = Player::new(method, 2, 9000, Placement::default(), cores).unwrap();
        let mut all = Vec::new();
        for _ in 0..300 {
            assert_eq!(player.process_block().count, 0, "{}", method.name());
            match &player.engine {
                Engine::Levels(convolver, _) => all.extend_from_slice(convolver.output(1)),
                Engine::Study(_, output) => all.extend_from_slice(&output[BLOCK..2 * BLOCK]),
            }
        }
        all
    }
}
