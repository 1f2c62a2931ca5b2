//! Divisi's convolver: one for all channels, levels by the partition that its search finds in its built-in table, or
//! that is asked for.

use crate::BLOCK;
use crate::contestant::{Contestant, Hall, Late};
use conv::distributed::Evenly;
use conv::{
    Convolver, Costs, Hands, Inline, Latency, LineFacts, Options, Partition, Path, Space, Threads,
    ThreadsOptions,
};
use std::error::Error;
use std::time::Duration;
use workers::Priority;

/// Whose hands do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The callback's, all at once.
    Inline,
    /// A thread's for each level, of less priority than this.
    Threads(u8),
    /// The callback's, the same share in each.
    Spread,
}

impl How {
    /// Threads where there is real-time priority, otherwise inline.
    pub fn for_hall(hall: &Hall<'_>) -> Self {
        match u8::try_from(hall.priority) {
            Ok(priority) if priority > 0 => Self::Threads(priority),
            _ => Self::Inline,
        }
    }
}

/// By which other way of computing it has fewer operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fewer {
    /// None.
    No,
    /// Larger transforms from smaller ones (Gardner).
    Larger,
    /// Nested convolution, three partitions at a time (Hurchalla).
    Nested,
}

/// The convolver, and who does its work.
pub struct Ours {
    convolver: Convolver,
    hands: Box<dyn Hands>,
    batch: usize,
    how: How,
    fewer: Fewer,
    late: u64,
}

impl Ours {
    /// Without added latency.
    pub fn new(hall: &Hall<'_>, how: How, fewer: Fewer) -> Result<Self, Box<dyn Error>> {
        let mut options = Options::new(partition(hall)?);
        options.batch = hall.batch.unwrap_or(options.batch);
        options.near = hall.near.unwrap_or(options.near);
        options.half = hall.half;
        options.larger_from_smaller = fewer == Fewer::Larger;
        options.nested = fewer == Fewer::Nested;
        if how == How::Spread {
            options = Evenly::prepare(&options, hall.channels);
        }
        let path = |channel| Path::new(channel, channel, (hall.response)(channel));
        let paths: Vec<_> = (0..hall.channels).map(path).collect();
        let mut convolver = Convolver::new(hall.channels, hall.channels, &paths, &options)?;
        let hands: Box<dyn Hands> = match how {
            How::Inline => Box::new(Inline),
            How::Spread => Box::new(Evenly::new(&mut convolver)),
            How::Threads(priority) => Box::new(threads(&convolver, priority)?),
        };
        Ok(Self {
            convolver,
            hands,
            batch: options.batch,
            how,
            fewer,
            late: 0,
        })
    }
}

/// On the cores of the thread that calls this.
fn threads(convolver: &Convolver, priority: u8) -> Result<Threads, Box<dyn Error>> {
    let options = ThreadsOptions {
        priority: Priority::RealTime(priority),
        // For a second: what is late by more than the beat has been seen by then.
        patience: Some(Duration::from_secs(1)),
        ..ThreadsOptions::default()
    };
    let threads = Threads::new(convolver, &options)?;
    match threads.refused() {
        [] => Ok(threads),
        [refused, ..] => Err(refused.to_string().into()),
    }
}

/// The partition that was asked for, or the cheapest by the built-in table.
pub fn partition(hall: &Hall<'_>) -> Result<Partition, Box<dyn Error>> {
    if let Some(text) = hall.partition {
        return Ok(Partition::parse(BLOCK, Latency::None, text)?);
    }
    let space = Space::new(hall.length, BLOCK, Latency::None).ok_or("it is too long")?;
    Ok(match Costs::built_in().choose(&space, hall.channels, 1) {
        Some(found) => found.partition,
        None => Partition::typical(BLOCK, Latency::None, hall.length)?,
    })
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

impl Ours {
    /// Which levels take from smaller ones, in words.
    fn taken(&self) -> String {
        let lines: Vec<_> = self.convolver.lines().collect();
        let first = |line: &&LineFacts| line.group == 0;
        let takes = |line: &LineFacts| Some((line.size, lines[line.takes_from?].size));
        let all = lines.iter().filter(first).filter_map(takes);
        let all: Vec<_> = all
            .map(|(size, from)| format!("{size} from {from}"))
            .collect();
        all.join(" ")
    }
}

impl Contestant for Ours {
    fn setting(&self) -> String {
        let how = match self.how {
            How::Inline => "inline",
            How::Threads(_) => "a thread a level",
            How::Spread => "spread evenly",
        };
        let cut = words(self.convolver.partition());
        let fewer = match self.fewer {
            Fewer::No => String::new(),
            Fewer::Nested => "; nested".to_owned(),
            Fewer::Larger => format!("; {}", self.taken()),
        };
        format!("{cut}; by sixteen up to {}; {how}{fewer}", self.batch)
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        for (channel, input) in inputs.iter().enumerate() {
            self.convolver.hear(channel, input);
        }
        self.convolver.turn(&mut *self.hands);
        for (channel, output) in output.chunks_exact_mut(BLOCK).enumerate() {
            output.copy_from_slice(self.convolver.played(channel));
        }
        let before = std::mem::replace(&mut self.late, self.convolver.late());
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
