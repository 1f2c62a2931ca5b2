//! The ways of convolving that are compared: whose hands do the levels' work, and how responses are cut.

use super::beat::{self, Callback, Late, Place};
use super::{BLOCK, period};
use crate::LabError;
use divisi::conv::distributed::{LevelRatio, TimeDistributed, TwoLevelConvolver};
use divisi::conv::{
    AddedLatency, Convolver, ConvolverOptions, CostTable, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, PartitionSpace, Path, Pinning, min_total_load,
};
use divisi::fft::{Kernels, Packing};
use divisi::workers::{self, Priority};
use std::sync::Arc;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A thread for each level, two levels: the paper's.
    PreemptiveTwo,
    /// A thread for each level, cut by what levels cost: the paper's.
    Preemptive,
    /// Two levels, the second decimated in frequency: the paper's.
    DistributedTwo,
    /// The work of any number of levels spread over callbacks.
    Distributed,
    /// Everything in the callback in which it comes up: the control.
    Inline,
    /// As `Preemptive`, larger transforms from smaller ones (Gardner).
    PreemptiveGardner,
    /// As `Preemptive`, products three periods at a time (Hurchalla).
    PreemptiveNested,
    /// As `Distributed`, larger transforms from smaller ones.
    DistributedGardner,
    /// As `Distributed`, products three periods at a time.
    DistributedNested,
}

impl Way {
    /// All of them, in the paper's order, others behind.
    pub(super) const ALL: [Self; 5] = [
        Self::PreemptiveTwo,
        Self::Preemptive,
        Self::DistributedTwo,
        Self::Distributed,
        Self::Inline,
    ];

    /// Those with fewer operations, each beside the one without.
    pub(super) const FEWER: [(Self, Self); 4] = [
        (Self::PreemptiveGardner, Self::Preemptive),
        (Self::PreemptiveNested, Self::Preemptive),
        (Self::DistributedGardner, Self::Distributed),
        (Self::DistributedNested, Self::Distributed),
    ];

    /// The same without fewer operations.
    fn plain(self) -> Self {
        let found = Self::FEWER.into_iter().find(|(way, _)| *way == self);
        found.map_or(self, |(_, plain)| plain)
    }

    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PreemptiveTwo => "preemptive-2",
            Self::Preemptive => "preemptive",
            Self::DistributedTwo => "distributed-2",
            Self::Distributed => "distributed",
            Self::Inline => "inline",
            Self::PreemptiveGardner => "preemptive-gardner",
            Self::PreemptiveNested => "preemptive-nested",
            Self::DistributedGardner => "distributed-gardner",
            Self::DistributedNested => "distributed-nested",
        }
    }

    /// Whether levels have threads of their own.
    pub(super) fn has_threads(self) -> bool {
        matches!(self.plain(), Self::PreemptiveTwo | Self::Preemptive)
    }

    /// How responses of `length` are cut: by the paper into two levels, the second thirty-two times the first; or as the
    /// costs of levels have it.
    pub(super) fn partition(self, length: usize) -> Result<Partition, LabError> {
        let is_of_two = matches!(self, Self::PreemptiveTwo | Self::DistributedTwo);
        let found = if is_of_two {
            two_levels(length)
        } else {
            cheapest(length)
        };
        found.ok_or_else(|| LabError::Play(format!("there is no partition for {length} frames")))
    }
}

/// Where levels' threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// All on the callback's core.
    OneCore,
    /// The first level's thread on one core, the second's on the next, and so on.
    ByLevel,
    /// On each core a thread for each level, for its share of the channels.
    ByChannel,
}

impl Pin {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OneCore => "one-core",
            Self::ByLevel => "by-level",
            Self::ByChannel => "by-channel",
        }
    }

    fn pinning(self, place: Place) -> Pinning {
        let many = place.cores.clamp(1, workers::cores().len());
        let cores = (0..many).map(|number| place.core(number));
        match self {
            Self::OneCore => Pinning::ByLevel(vec![place.core(0)]),
            // The shortest level's thread goes beside the callback, not on its core.
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

fn cheapest(length: usize) -> Option<Partition> {
    let costs = CostTable::built_in();
    let space = PartitionSpace::new(length, BLOCK, AddedLatency::None)?;
    // All that is compared has channels enough for sixteen at a time.
    let found = min_total_load(&space, &|size, count| {
        costs.worst_ns(Packing::Batch, size, count)
    });
    let typical = || Partition::typical(BLOCK, AddedLatency::None, length).ok();
    found.map(|found| found.partition).or_else(typical)
}

/// A partition in words: `15x64 14x512`.
pub(super) fn words(partition: &Partition) -> String {
    let levels = partition.levels().iter();
    let levels: Vec<_> = levels
        .map(|l| format!("{}x{}", l.count(), l.size()))
        .collect();
    levels.join(" ")
}

/// What convolves.
enum Engine {
    /// Levels' work by somebody's hands.
    Levels(Box<Convolver>, Box<dyn LevelScheduler + Send>),
    /// Two levels by decimation in frequency, and what it plays.
    Two(Box<TwoLevelConvolver>, Vec<f32>),
}

/// A convolver that hears noise.
pub(super) struct Player {
    engine: Engine,
    channels: usize,
    /// How responses are cut, and the longest period in blocks.
    cut: (String, usize),
    longest: u32,
    noise: Arc<[f32]>,
    block: usize,
    late: u64,
}

/// Blocks of noise, and how far apart two channels hear it.
const NOISE: usize = 1021;
const APART: usize = 37;

impl Player {
    /// So many channels, each with a response of its own.
    pub(super) fn new(
        way: Way,
        channels: usize,
        length: usize,
        (place, pin): (Place, Pin),
    ) -> Result<Self, LabError> {
        let partition = way.partition(length)?;
        let longest = partition.levels().last();
        let longest = longest.map_or(1, |level| level.size() / BLOCK) as u32;
        let cut = (words(&partition), partition.levels().len());
        let engine = match way {
            Way::DistributedTwo => two(channels, length)?,
            _ => levels(
                way,
                ConvolverOptions::new(partition),
                channels,
                length,
                (place, pin),
            )?,
        };
        Ok(Self {
            engine,
            channels,
            cut,
            longest,
            noise: noise(1, NOISE * BLOCK).into(),
            block: 0,
            late: 0,
        })
    }

    /// How many blocks the longest period has.
    pub(super) fn longest(&self) -> u32 {
        self.longest
    }

    /// The partition in words, and of how many levels it is.
    pub(super) fn partition(&self) -> (String, usize) {
        self.cut.clone()
    }
}

fn levels(
    way: Way,
    mut options: ConvolverOptions,
    channels: usize,
    length: usize,
    (place, pin): (Place, Pin),
) -> Result<Engine, LabError> {
    options.nested = matches!(way, Way::PreemptiveNested | Way::DistributedNested);
    options.larger_from_smaller = matches!(way, Way::PreemptiveGardner | Way::DistributedGardner);
    if way.plain() == Way::Distributed {
        options = TimeDistributed::adapt_options(&options, channels);
    }
    let path = |channel| Path::new(channel, channel, response(channel, length));
    let paths: Vec<_> = (0..channels).map(path).collect();
    let made = Convolver::new(channels, channels, &paths, &options);
    let mut convolver = made.map_err(|error| LabError::Play(error.to_string()))?;
    let hands: Box<dyn LevelScheduler + Send> = match way.plain() {
        Way::Distributed => Box::new(TimeDistributed::new(&mut convolver)),
        _ if way.has_threads() => Box::new(threads(&convolver, place, pin)?),
        _ => Box::new(Inline),
    };
    Ok(Engine::Levels(Box::new(convolver), hands))
}

fn two(channels: usize, length: usize) -> Result<Engine, LabError> {
    let responses: Vec<_> = (0..channels)
        .map(|channel| response(channel, length))
        .collect();
    let responses: Vec<&[f32]> = responses.iter().map(Vec::as_slice).collect();
    let made = TwoLevelConvolver::new(&responses, BLOCK, LevelRatio::ThirtyTwo, Kernels::best());
    let made = made.map_err(|error| LabError::Play(error.to_string()))?;
    Ok(Engine::Two(Box::new(made), vec![0.0; channels * BLOCK]))
}

impl Callback for Player {
    fn call(&mut self) -> Late {
        let mut late = self.late;
        // Out of the way, so that what is heard can be lent while it plays.
        let noise = self.noise.clone();
        let heard = |channel: usize| {
            let at = (self.block + channel * APART) % NOISE * BLOCK;
            &noise[at..at + BLOCK]
        };
        match &mut self.engine {
            Engine::Levels(convolver, hands) => {
                for channel in 0..self.channels {
                    convolver.write_input(channel, heard(channel));
                }
                convolver.process_block(&mut **hands);
                late = convolver.late_count();
            }
            Engine::Two(two, played) => {
                let inputs: Vec<&[f32]> = (0..self.channels).map(heard).collect();
                let mut outputs: Vec<&mut [f32]> = played.chunks_exact_mut(BLOCK).collect();
                two.process(&inputs, &mut outputs);
            }
        }
        self.block += 1;
        Late {
            results: late - std::mem::replace(&mut self.late, late),
            blocks: self.longest,
        }
    }
}

fn threads(convolver: &Convolver, place: Place, pin: Pin) -> Result<LevelThreads, LabError> {
    let options = LevelThreadsOptions {
        priority: match place.is_urgent {
            true => Priority::RealTime(beat::LEVELS),
            false => Priority::Ordinary,
        },
        pinning: pin.pinning(place),
        // Without priority nothing is promised: then it waits.
        max_wait: place.is_urgent.then(period),
    };
    LevelThreads::new(convolver, &options).map_err(|error| LabError::Play(error.to_string()))
}

/// Noise that fades by 60 dB.
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
    fn every_way_covers_every_length_and_two_levels_are_thirty_two_apart() {
        for length in [64, 4000, 16_384, 524_288] {
            for way in Way::ALL {
                assert!(way.partition(length).unwrap().max_ir_frames() >= length);
            }
        }
        assert_eq!(words(&two_levels(16_384).unwrap()), "63x64 7x2048");
        assert_eq!(words(&two_levels(64).unwrap()), "1x64");
    }

    #[test]
    fn every_way_plays_the_same_sound_and_those_that_cut_alike_the_same_bits() {
        let heard = Way::ALL.map(heard);
        assert!(heard[0].iter().any(|x| x.abs() > 0.01));
        for other in &heard {
            let apart = heard[0].iter().zip(other).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-4);
        }
        let [_, preemptive, _, distributed, inline] = &heard;
        assert!(preemptive == distributed && preemptive == inline);
        for (way, plain) in Way::FEWER {
            let (heard, other) = (self::heard(way), self::heard(plain));
            let apart = heard.iter().zip(&other).map(|(a, b)| (a - b).abs());
            assert!(
                heard != other && apart.fold(0.0, f32::max) < 1e-4,
                "{}",
                way.name()
            );
        }
    }

    fn heard(way: Way) -> Vec<f32> {
        let mut player = Player::new(way, 2, 9000, (Place::default(), Pin::ByChannel)).unwrap();
        let mut all = Vec::new();
        for _ in 0..300 {
            assert_eq!(player.call().results, 0, "{}", way.name());
            match &player.engine {
                Engine::Levels(convolver, _) => all.extend_from_slice(convolver.output(1)),
                Engine::Two(_, played) => all.extend_from_slice(&played[BLOCK..2 * BLOCK]),
            }
        }
        all
    }
}
