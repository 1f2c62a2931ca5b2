//! Divisi's convolver: one for all channels, levels by the partition that its search finds in its built-in table, or
//! that is asked for.

use crate::BLOCK;
use crate::contestant::{Contestant, Hall, Late};
use conv::{Convolver, Costs, Inline, Latency, Options, Partition, Path, Space, least_sum};
use fft::Packing;
use std::error::Error;

/// The convolver, all of its work in the callback.
pub struct Ours {
    convolver: Convolver,
    batch: usize,
}

impl Ours {
    /// Without added latency.
    pub fn new(hall: &Hall<'_>) -> Result<Self, Box<dyn Error>> {
        let mut options = Options::new(partition(hall)?);
        options.batch = hall.batch.unwrap_or(options.batch);
        let path = |channel| Path::new(channel, channel, (hall.response)(channel));
        let paths: Vec<_> = (0..hall.channels).map(path).collect();
        Ok(Self {
            convolver: Convolver::new(hall.channels, hall.channels, &paths, &options)?,
            batch: options.batch,
        })
    }
}

/// The partition that was asked for, or the cheapest by the built-in table.
pub fn partition(hall: &Hall<'_>) -> Result<Partition, Box<dyn Error>> {
    if let Some(text) = hall.partition {
        return Ok(Partition::parse(BLOCK, Latency::None, text)?);
    }
    let space = Space::new(hall.length, BLOCK, Latency::None).ok_or("it is too long")?;
    let costs = Costs::built_in();
    let found = least_sum(&space, &|size, count| {
        costs.worst(Packing::Mono, size, count)
    });
    Ok(match found {
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

impl Contestant for Ours {
    fn setting(&self) -> String {
        format!(
            "{}; by sixteen up to {}; inline",
            words(self.convolver.partition()),
            self.batch
        )
    }

    fn block(&mut self, inputs: &[&[f32]], output: &mut [f32], _: bool) -> Late {
        for (channel, input) in inputs.iter().enumerate() {
            self.convolver.hear(channel, input);
        }
        self.convolver.turn(&mut Inline);
        for (channel, output) in output.chunks_exact_mut(BLOCK).enumerate() {
            output.copy_from_slice(self.convolver.played(channel));
        }
        Late::default()
    }
}
