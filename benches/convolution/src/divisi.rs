//! Divisi's convolver: one for all channels, with the cheapest partition by its built-in cost table, or a given one.

use crate::BLOCK;
use crate::engine::{Engine, Late, Workload};
use conv::{
    AddedLatency, Convolver, ConvolverOptions, CostTable, Inline, LevelScheduler, LevelThreads,
    LevelThreadsOptions, Partition, PartitionSpace, Path, TimeDistributed,
};
use std::error::Error;
use std::time::Duration;
use workers::Priority;

/// Threads that do the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// In the callback, as soon as it is due.
    Inline,
    /// A thread for each level, of lower priority than this.
    Threads(u8),
    /// In the callback, the same share in each.
    Spread,
}

impl Scheduling {
    /// Threads where there is real-time priority, otherwise inline.
    pub fn for_workload(workload: &Workload<'_>) -> Self {
        match u8::try_from(workload.priority) {
            Ok(priority) if priority > 0 => Self::Threads(priority),
            _ => Self::Inline,
        }
    }
}

/// The convolver and its scheduler.
pub struct Divisi {
    convolver: Convolver,
    scheduler: Box<dyn LevelScheduler>,
    batch: usize,
    scheduling: Scheduling,
    late: u64,
}

impl Divisi {
    /// Without added latency.
    pub fn new(workload: &Workload<'_>, scheduling: Scheduling) -> Result<Self, Box<dyn Error>> {
        let mut options = ConvolverOptions::new(partition(workload)?);
        options.max_batch_size = workload.batch.unwrap_or(options.max_batch_size);
        options.cached_floats = workload.near.unwrap_or(options.cached_floats);
        options.half_precision_from = workload.half;
        if scheduling == Scheduling::Spread {
            options = TimeDistributed::adapt_options(&options, workload.channels);
        }
        let path = |channel| Path::new(channel, channel, (workload.response)(channel));
        let paths: Vec<_> = (0..workload.channels).map(path).collect();
        let mut convolver = Convolver::new(workload.channels, workload.channels, &paths, &options)?;
        let scheduler: Box<dyn LevelScheduler> = match scheduling {
            Scheduling::Inline => Box::new(Inline),
            Scheduling::Spread => Box::new(TimeDistributed::new(&mut convolver)),
            Scheduling::Threads(priority) => Box::new(threads(&convolver, priority)?),
        };
        Ok(Self {
            convolver,
            scheduler,
            batch: options.max_batch_size,
            scheduling,
            late: 0,
        })
    }
}

/// Threads on the cores of the calling thread.
fn threads(convolver: &Convolver, priority: u8) -> Result<LevelThreads, Box<dyn Error>> {
    let options = LevelThreadsOptions {
        priority: Priority::RealTime(priority),
        // One second: results that are late by more than a period have been counted by then.
        max_wait: Some(Duration::from_secs(1)),
        ..LevelThreadsOptions::default()
    };
    let threads = LevelThreads::new(convolver, &options)?;
    match threads.refused() {
        [] => Ok(threads),
        [refused, ..] => Err(refused.to_string().into()),
    }
}

/// The given partition, or the cheapest by the built-in cost table.
pub fn partition(workload: &Workload<'_>) -> Result<Partition, Box<dyn Error>> {
    if let Some(text) = workload.partition {
        return Ok(Partition::parse(BLOCK, AddedLatency::None, text)?);
    }
    let space =
        PartitionSpace::new(workload.length, BLOCK, AddedLatency::None).ok_or("it is too long")?;
    Ok(
        match CostTable::built_in().choose(&space, workload.channels, 1) {
            Some(found) => found.partition,
            None => Partition::typical(BLOCK, AddedLatency::None, workload.length)?,
        },
    )
}

/// A partition as text.
pub fn partition_text(partition: &Partition) -> String {
    let levels = partition.levels().iter();
    let levels: Vec<_> = levels
        .map(|l| format!("{}x{}", l.count(), l.size()))
        .collect();
    match partition.head() {
        0 => levels.join(" "),
        head => format!("{head} + {}", levels.join(" ")),
    }
}

impl Engine for Divisi {
    fn setting(&self) -> String {
        let scheduling = match self.scheduling {
            Scheduling::Inline => "inline",
            Scheduling::Threads(_) => "a thread a level",
            Scheduling::Spread => "spread evenly",
        };
        let cut = partition_text(self.convolver.partition());
        format!("{cut}; by sixteen up to {}; {scheduling}", self.batch)
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        for (channel, input) in inputs.iter().enumerate() {
            self.convolver.write_input(channel, input);
        }
        self.convolver.process_block(&mut *self.scheduler);
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
