//! `tune`: measures the cost of convolution levels on this machine, stores it, and finds the best partition.

mod comparison;
mod show;
pub(super) mod tuning;

use crate::failure::Failure;
use crate::guard::FileGuard;
use crate::interrupt::Interrupt;
use crate::output::json::JsonOutput;
use crate::output::messages;
use crate::output::picture::{check_picture_name, write_picture};
use crate::output::progress::ProgressLine;
use crate::session::options::{default_rate, parse_rate};
use clap::{Args, ValueEnum};
use comparison::PartitionComparison;
use divisi::conv::{AddedLatency, CostMeasureOptions, PartitionSpace, measure_costs};
use divisi::fft::{Kernels, Packing};
use divisi::prelude::SampleRate;
use std::path::PathBuf;
use tuning::Tuned;

const EXAMPLES: &str = "\
Examples:
  divisi tune
  divisi tune --length 524288 --block 64 --cores 2
  divisi tune --length 16128 --block 128 --latency block --show=partition.svg

It measures all costs by which convolvers choose a partition: for one channel and for sixteen side by side, for levels of
every size, for any block. Costs of a longer response also hold for a shorter one. It takes about half a minute.

The second-level cache is swept before each run of a level. `worst` is the longest time observed. It leaves out the runs
that the system interrupted, and those in which a part took more than twice its median plus 2 µs: other programs took
that time. With --show nothing is measured: the stored costs are shown, or the built-in table.";

/// Measured runs of each level.
const DEFAULT_RUNS: usize = 24;

/// Measures the best partitions of convolutions on this machine, and stores the result
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tune {
    /// Length of the impulse response, in frames
    #[arg(long, value_name = "FRAMES", default_value = "524288", value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    length: u32,

    /// Frames in a block
    #[arg(long, value_name = "FRAMES", default_value = "64", value_parser = parse_block)]
    block: usize,

    /// Latency that the convolution may add
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

    /// Measure nothing; show the stored costs, and draw the partitions and their deadlines
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
        let mut guard = FileGuard::new::<PathBuf>([]);
        if let Some(path) = &self.show {
            guard.output(path)?;
        }
        let json = JsonOutput::open(self.json.as_deref(), &mut guard)?;
        let mut tuned = Tuned::read();
        if self.show.is_none() {
            self.measure(&space, &mut tuned)?;
        }
        let rate = self.rate.unwrap_or_else(default_rate);
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
        let mut progress = ProgressLine::without_total();
        let options = CostMeasureOptions {
            packing: self.channels,
            kernels: Kernels::best(),
            runs: self.runs,
        };
        let found = measure_costs(space, &options, &mut |share| {
            progress.show_fraction(share);
            interrupt.control_flow()
        });
        progress.clear();
        let found = found.ok_or_else(|| Failure::failed("interrupted: nothing is stored"))?;
        messages::print_message(&format!(
            "{} levels, {} runs, {} of them disturbed by other programs; {} KiB swept before each",
            found.level_count,
            found.runs,
            found.preempted_runs,
            found.swept_bytes >> 10
        ));
        match tuned.store(&found.costs) {
            Ok(path) => messages::print_message(&format!("stored in {path}")),
            Err(why) => return Err(Failure::failed(format!("cannot store the costs: {why}"))),
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
