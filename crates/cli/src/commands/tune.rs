//! `tune`: measures the cost of convolution levels on this machine, finds the best partition, and keeps
//! both.

mod comparison;
mod show;
pub(super) mod tuning;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::output::picture::{check_picture_name, write_picture};
use crate::output::progress::Progress;
use crate::session::options::{DEFAULT_RATE_HZ, parse_rate};
use clap::{Args, ValueEnum};
use comparison::PartitionComparison;
use divisi::conv::{AddedLatency, CostMeasureOptions, PartitionSpace, measure_costs};
use divisi::fft::{Kernels, Packing};
use divisi::prelude::SampleRate;
use std::ops::ControlFlow;
use std::path::PathBuf;
use tuning::Tuned;

const EXAMPLES: &str = "\
Examples:
  divisi tune
  divisi tune --length 524288 --block 64 --cores 2
  divisi tune --length 16128 --block 128 --latency block --show=partition.svg

All that convolvers look up is measured: one channel and sixteen side by side, partitions of every size, for any block;
what was kept of a longer response counts for a shorter one. It takes half a minute or so.

Before each run of a level the second-level cache is swept. `worst` is the largest time observed, without the runs in
which the system put this thread aside or in which a part took more than twice its median and 2 µs: those were others'.
With --show nothing is measured: what was kept is shown, or the built-in table.";

/// Measured runs of each level.
const DEFAULT_RUNS: usize = 24;

/// Measures which partitions are best on this machine, and keeps the result
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tune {
    /// Length of the impulse response, in frames
    #[arg(long, value_name = "FRAMES", default_value = "524288", value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    length: u32,

    /// Frames in a block
    #[arg(long, value_name = "FRAMES", default_value = "64", value_parser = parse_block)]
    block: usize,

    /// Latency that may be added
    #[arg(long, value_enum, default_value = "none")]
    latency: LatencyArg,

    /// Number of cores for the levels: above 1, the search minimises the load of the busiest core
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=64))]
    cores: u32,

    /// Channels convolved side by side: 1 or 16; without it, both are measured and shown
    #[arg(long, value_name = "N", value_parser = parse_packing)]
    channels: Option<Packing>,

    /// Frames a second
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<SampleRate>,

    /// Measured runs of each level
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RUNS, value_parser = parse_runs)]
    runs: usize,

    /// Measure nothing; show what is kept, and draw the partitions and their deadlines
    #[arg(long, value_name = "OUT.svg", num_args = 0..=1, require_equals = true, default_missing_value = "partition.svg")]
    show: Option<PathBuf>,

    /// Write the findings as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Added latency.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LatencyArg {
    /// Nothing
    None,
    /// One block
    Block,
}

impl Tune {
    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let space = self.space()?;
        if let Some(path) = &self.show {
            check_picture_name(path)?;
        }
        let json = JsonOutput::open(self.json.as_deref())?;
        let mut tuned = Tuned::read();
        if self.show.is_none() {
            self.measure(&space, &mut tuned)?;
        }
        let usual = SampleRate::new(DEFAULT_RATE_HZ).expect("48000 is not zero");
        let rate = self.rate.unwrap_or(usual);
        let packings = [Packing::Mono, Packing::Batch].into_iter();
        let shown = packings.filter(|packing| self.channels.is_none_or(|one| one == *packing));
        let of = |packing| {
            PartitionComparison::compare(&space, &tuned.costs(), packing, self.cores as usize)
        };
        let all: Vec<PartitionComparison> = shown.map(of).collect();
        if let Some(path) = &self.show {
            write_picture(path, &all[0].picture(rate))?;
        }
        let source = tuned.source();
        json.write(
            &show::text(&all, rate, source),
            &show::json(&all, rate, source).to_string(),
        )
    }

    fn space(&self) -> Result<PartitionSpace, Failure> {
        let latency = match self.latency {
            LatencyArg::None => AddedLatency::None,
            LatencyArg::Block => AddedLatency::OneBlock,
        };
        let space = PartitionSpace::new(self.length as usize, self.block, latency);
        space.ok_or_else(|| Failure::bad_input("no partition fits these limits"))
    }

    /// Measures, stores the result, and reports it.
    fn measure(&self, space: &PartitionSpace, tuned: &mut Tuned) -> Result<(), Failure> {
        let interrupt = Interrupt::listen()?;
        let mut progress = Progress::without_total();
        let options = CostMeasureOptions {
            packing: self.channels,
            kernels: Kernels::best(),
            runs: self.runs,
        };
        let found = measure_costs(space, &options, &mut |share| {
            progress.show_fraction(share);
            match interrupt.is_requested() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        progress.clear();
        let found = found.ok_or_else(|| Failure::failed("it was broken off, nothing is kept"))?;
        messages::print_note(&format!(
            "{} levels, {} runs, of which others took time from {}; {} KiB swept before each",
            found.level_count,
            found.runs,
            found.preempted_runs,
            found.swept_bytes >> 10
        ));
        match tuned.store(&found.costs) {
            Ok(path) => messages::print_note(&format!("kept in {path}")),
            Err(why) => return Err(Failure::failed(format!("it is not kept: {why}"))),
        }
        Ok(())
    }
}

fn parse_block(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(block) if block.is_power_of_two() && block <= 4096 => Ok(block),
        _ => Err("a power of two from 1 to 4096".into()),
    }
}

fn parse_runs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(runs @ 3..=1000) => Ok(runs),
        _ => Err("a number from 3 to 1000".into()),
    }
}

fn parse_packing(text: &str) -> Result<Packing, String> {
    match text {
        "1" => Ok(Packing::Mono),
        "16" => Ok(Packing::Batch),
        _ => Err("1 or 16".into()),
    }
}
