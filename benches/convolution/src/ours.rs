//! Divisi's convolver: one for all channels, levels by the partition that its search finds in its built-in table, or
//! that is asked for.

use crate::BLOCK;
use crate::contestant::{Contestant, Hall, Late};
use conv::{
    AddedLatency, Convolver, ConvolverOptions, CostTable, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, PartitionSpace, Path, TimeDistributed,
};
use fft::Kernels;
use std::error::Error;
use std::time::Duration;
use studies::fewer_operations::{Method, StudyConvolver};
use workers::Priority;

/// Whose hands do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The callback's, all at once.
    Inline,
    /// A thread's for each level, of less priority than this.
    LevelThreads(u8),
    /// The callback's, the same share in each.
    Spread,
}

impl How {
    /// LevelThreads where there is real-time priority, otherwise inline.
    pub fn for_hall(hall: &Hall<'_>) -> Self {
        match u8::try_from(hall.priority) {
            Ok(priority) if priority > 0 => Self::LevelThreads(priority),
            _ => Self::Inline,
        }
    }
}

/// The convolver, and who does its work.
pub struct Ours {
    convolver: Convolver,
    hands: Box<dyn LevelScheduler>,
    batch: usize,
    how: How,
    late: u64,
}

impl Ours {
    /// Without added latency.
    pub fn new(hall: &Hall<'_>, how: How) -> Result<Self, Box<dyn Error>> {
        let mut options = ConvolverOptions::new(partition(hall)?);
        options.max_batch_size = hall.batch.unwrap_or(options.max_batch_size);
        options.cached_floats = hall.near.unwrap_or(options.cached_floats);
        options.half_precision_from = hall.half;
        if how == How::Spread {
            options = TimeDistributed::adapt_options(&options, hall.channels);
        }
        let path = |channel| Path::new(channel, channel, (hall.response)(channel));
        let paths: Vec<_> = (0..hall.channels).map(path).collect();
        let mut convolver = Convolver::new(hall.channels, hall.channels, &paths, &options)?;
        let hands: Box<dyn LevelScheduler> = match how {
            How::Inline => Box::new(Inline),
            How::Spread => Box::new(TimeDistributed::new(&mut convolver)),
            How::LevelThreads(priority) => Box::new(threads(&convolver, priority)?),
        };
        Ok(Self {
            convolver,
            hands,
            batch: options.max_batch_size,
            how,
            late: 0,
        })
    }
}

/// On the cores of the thread that calls this.
fn threads(convolver: &Convolver, priority: u8) -> Result<LevelThreads, Box<dyn Error>> {
    let options = LevelThreadsOptions {
        priority: Priority::RealTime(priority),
        // For a second: what is late by more than the beat has been seen by then.
        max_wait: Some(Duration::from_secs(1)),
        ..LevelThreadsOptions::default()
    };
    let threads = LevelThreads::new(convolver, &options)?;
    match threads.refused() {
        [] => Ok(threads),
        [refused, ..] => Err(refused.to_string().into()),
    }
}

/// The partition that was asked for, or the cheapest by the built-in table.
pub fn partition(hall: &Hall<'_>) -> Result<Partition, Box<dyn Error>> {
    if let Some(text) = hall.partition {
        return Ok(Partition::parse(BLOCK, AddedLatency::None, text)?);
    }
    let space =
        PartitionSpace::new(hall.length, BLOCK, AddedLatency::None).ok_or("it is too long")?;
    Ok(
        match CostTable::built_in().choose(&space, hall.channels, 1) {
            Some(found) => found.partition,
            None => Partition::typical(BLOCK, AddedLatency::None, hall.length)?,
        },
    )
}

/// A partition in words.
pub fn words(partition: &Partition) -> String {
    let levels = partition.levels().iter();
    let levels: Vec<_> = levels
        .map(|l| format!("{}x{}", l.count(), l.size()))
        .collect();
    match partition.head() {
        0 => levels.join(" "),
        head => format!("{head} + {}", levels.join(" ")),
    }
}

impl Contestant for Ours {
    fn setting(&self) -> String {
        let how = match self.how {
            How::Inline => "inline",
            How::LevelThreads(_) => "a thread a level",
            How::Spread => "spread evenly",
        };
        let cut = words(self.convolver.partition());
        format!("{cut}; by sixteen up to {}; {how}", self.batch)
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        for (channel, input) in inputs.iter().enumerate() {
            self.convolver.write_input(channel, input);
        }
        self.convolver.process_block(&mut *self.hands);
        for (channel, output) in output.chunks_exact_mut(BLOCK).enumerate() {
            output.copy_from_slice(self.convolver.output(channel));
        }
        let before = std::mem::replace(&mut self.late, self.convolver.late_count());
        let longest = self.convolver.partition().levels().last();
        Late {
            results: (self.late - before) as u32,
            blocks: longest.map_or(1, |level| level.size() / BLOCK) as u32,
        }
    }

    fn spectra(&mut self) -> Option<usize> {
        // A partition has as many bins as frames, of eight bytes, of the response and of the input.
        let levels = self.convolver.partition().levels().iter();
        let bins: usize = levels.map(|level| level.count() * level.size()).sum();
        Some(16 * bins * self.convolver.inputs())
    }
}

/// A convolver of the studies, by one of its methods; all work in the callback.
pub struct Study {
    convolver: StudyConvolver,
    method: Method,
    partition: Partition,
}

impl Study {
    /// Without added latency.
    pub fn new(hall: &Hall<'_>, method: Method) -> Result<Self, Box<dyn Error>> {
        let partition = partition(hall)?;
        let responses: Vec<_> = (0..hall.channels).map(|c| (hall.response)(c)).collect();
        let responses: Vec<&[f32]> = responses.iter().map(|response| &response[..]).collect();
        let convolver = StudyConvolver::new(&responses, &partition, method, Kernels::best());
        Ok(Self {
            convolver: convolver.ok_or("the study cannot have that partition")?,
            method,
            partition,
        })
    }
}

impl Contestant for Study {
    fn setting(&self) -> String {
        let cut = words(&self.partition);
        let composed = self.convolver.composed_levels();
        let composed = composed
            .iter()
            .map(|(size, from)| format!(" {size} from {from}"));
        let composed: String = composed.collect();
        format!("{cut}; {:?}{composed}; inline", self.method)
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        let mut outputs: Vec<&mut [f32]> = output.chunks_exact_mut(BLOCK).collect();
        self.convolver.process(inputs, &mut outputs);
        Late::default()
    }

    fn spectra(&mut self) -> Option<usize> {
        None
    }
}
