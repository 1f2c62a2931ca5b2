//! [`EngineOptions`] and [`Scheduler`]: how a graph is played.

use costs::CoreTimings;
use plan::MeasuredCosts;
use processor::Mode;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use units::{Frames, Nanos, SampleRate};
use workers::{Priority, WaitPolicy};

/// Scheduler of a plan's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// One worker, in the plan's order.
    Sequential,
    /// Static schedule, most urgent step first (HLFET; Adam, Chandy, Dickson 1974).
    Hlfet,
    /// Static schedule, earliest start first, with transfer times between cores (ETF; Hwang et al. 1989).
    Etf,
    /// Static schedule that copies nodes to workers where their data would come too late (CPFD; Ahmad, Kwok 1994).
    Cpfd,
    /// Random static schedule, as a control.
    Random,
    /// Pipeline: the graph in stages, each a block behind the one before, by a static schedule.
    Pipelined,
    /// One queue of ready tasks for all workers.
    Global,
    /// Batches of ready tasks, by weight.
    Weighted,
    /// Work stealing.
    #[default]
    Stealing,
    /// Steps by their latest start, deferred work by its deadline.
    Deadline,
    /// One locked queue, for comparison only.
    Mutex,
}

/// Every scheduler with its name on the command line.
const NAMES: [(Scheduler, &str); 11] = [
    (Scheduler::Sequential, "sequential"),
    (Scheduler::Hlfet, "hlfet"),
    (Scheduler::Etf, "etf"),
    (Scheduler::Cpfd, "cpfd"),
    (Scheduler::Random, "random"),
    (Scheduler::Pipelined, "pipelined"),
    (Scheduler::Global, "global"),
    (Scheduler::Weighted, "weighted"),
    (Scheduler::Stealing, "stealing"),
    (Scheduler::Deadline, "deadline"),
    (Scheduler::Mutex, "mutex"),
];

impl Scheduler {
    /// All schedulers.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(scheduler, _)| *scheduler)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(s, _)| *s == self);
        found.expect("every scheduler has a name").1
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(_, n)| *n == name);
        found.map(|(s, _)| *s).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(_, n)| *n).collect();
            format!("it must be one of {}", names.join(", "))
        })
    }
}

/// Options of an [`Engine`](crate::Engine).
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Scheduler.
    pub scheduler: Scheduler,
    /// True if the scheduler was chosen by [`choose_scheduler`](crate::choose_scheduler); the report says so.
    pub is_chosen: bool,
    /// Mean cycle of the sequential executor, where a choice has measured it: an engine that plays live with another
    /// scheduler and turns out slower goes over to it.
    pub sequential_mean: Option<Nanos>,
    /// Number of threads that work, the callback's included.
    pub workers: usize,
    /// How workers wait between cycles.
    pub wait: WaitPolicy,
    /// Priority of the workers. The callback thread has its own.
    pub priority: Priority,
    /// Frames in a block.
    pub block: Frames,
    /// Sample rate.
    pub rate: SampleRate,
    /// Live, offline, or a dry run.
    pub mode: Mode,
    /// Number of input channels that the driver gives.
    pub input_channels: u16,
    /// True to record every step's time.
    pub trace: bool,
    /// True to prevent the machine's power saving while it plays.
    pub prevent_cpu_sleep: bool,
    /// Folder of relative file names in the graph.
    pub folder: PathBuf,
    /// True to fuse cheap steps into tasks.
    pub fuse: bool,
    /// True to use all workers even if fewer would be faster: neither the choice of a scheduler nor fusion nor an
    /// executor leaves one out. It shows what a scheduler does.
    pub use_all_workers: bool,
    /// True to compensate latencies: where paths of different latency meet, and at the sinks, the earlier one is
    /// delayed.
    pub compensate_latency: bool,
    /// Latency of a pipeline in blocks: its number of stages less one. `None`: one block live; offline, where nobody
    /// hears it, one less than there are workers. A pipeline of more than one block takes no edits.
    pub latency_blocks: Option<u32>,
    /// Measured costs of nodes. Where there is none, the cost in the text is taken, then the kind's.
    pub costs: MeasuredCosts,
    /// Measured costs between cores.
    pub core_timings: CoreTimings,
    /// Time to hand data from one worker to another, in place of what was measured.
    pub transfer_time: Option<Nanos>,
}

impl EngineOptions {
    /// Live, with a worker for each core, without a trace.
    pub fn new(block: Frames, rate: SampleRate) -> Self {
        Self {
            scheduler: Scheduler::default(),
            is_chosen: false,
            sequential_mean: None,
            workers: workers::cores().len().max(1),
            wait: WaitPolicy::Hybrid,
            priority: Priority::Ordinary,
            block,
            rate,
            mode: Mode::Live,
            input_channels: 0,
            trace: false,
            prevent_cpu_sleep: true,
            folder: PathBuf::from("."),
            fuse: true,
            use_all_workers: false,
            compensate_latency: true,
            latency_blocks: None,
            costs: MeasuredCosts::default(),
            core_timings: CoreTimings::default(),
            transfer_time: None,
        }
    }

    /// Time that a block lasts.
    pub(crate) fn period(&self) -> Nanos {
        self.block.duration(self.rate)
    }

    /// Latency of a pipeline on this many workers, in blocks; 0 where there is no pipeline.
    pub(crate) fn pipeline_blocks(&self, workers: usize) -> u32 {
        let usual = match self.mode {
            Mode::Live | Mode::DryRun => 1,
            Mode::Offline => (workers as u32).saturating_sub(1),
        };
        match self.scheduler {
            Scheduler::Pipelined => self.latency_blocks.unwrap_or(usual),
            _ => 0,
        }
    }
}
