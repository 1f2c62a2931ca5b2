//! How a graph is to be played.

use plan::MeasuredCosts;
use processor::Mode;
use report::CoreTimings;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use units::{Frames, Nanos, SampleRate};
use workers::{Priority, WaitPolicy};

/// A way of executing a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// One worker, the plan's order.
    Sequential,
    /// A static schedule, most urgent step first (HLFET).
    Hlfet,
    /// A static schedule, earliest time first, with what handing over between cores costs (ETF).
    Etf,
    /// A static schedule that copies nodes to where their data would come too late (CPFD).
    Cpfd,
    /// A static schedule by chance, as a control.
    Random,
    /// The graph in stages, each a block behind the one before, by a static schedule.
    Pipelined,
    /// One queue of ready tasks for all.
    Global,
    /// Batches by weight.
    Weighted,
    /// Work stealing.
    #[default]
    Stealing,
    /// Due steps by their latest start, deferred work by its deadline.
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
    /// Every one that there is.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(scheduler, _)| *scheduler)
    }

    /// Its name.
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
            format!("it is one of {}", names.join(", "))
        })
    }
}

/// How a graph is to be played.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// How the plan is executed.
    pub scheduler: Scheduler,
    /// Whether that was chosen by trying ([`choose`](crate::choose)): the report says so.
    pub is_chosen: bool,
    /// How many threads work, the callback's included.
    pub workers: usize,
    /// What workers do between cycles.
    pub wait: WaitPolicy,
    /// The priority of the workers; the callback thread has its own.
    pub priority: Priority,
    /// Frames in a block.
    pub block: Frames,
    /// Frames a second.
    pub rate: SampleRate,
    /// Whether somebody is listening.
    pub mode: Mode,
    /// How many input channels the driver gives.
    pub input_channels: u16,
    /// Whether every step's time is recorded.
    pub trace: bool,
    /// Whether the machine's power saving is held off while it plays.
    pub prevent_cpu_sleep: bool,
    /// Relative file names in the graph are meant from here.
    pub folder: PathBuf,
    /// Whether cheap steps are given out together.
    pub fuse: bool,
    /// Whether all workers take part, be it that fewer would be faster: neither choosing nor fusing nor playing leaves
    /// any out. For who wants to see what a scheduler does.
    pub use_all_workers: bool,
    /// Whether ways of different latencies are brought to one where they meet, and at the sinks.
    pub compensate_latency: bool,
    /// By how many blocks a pipeline's last stage lags behind its first: by so many more blocks the output is late.
    /// `None`: one live, and offline, where nobody hears it, one less than there are workers. More than one allows no
    /// edits.
    pub latency_blocks: Option<u32>,
    /// What nodes were measured to cost; where nothing is known, what the text says, then what the kind says.
    pub costs: MeasuredCosts,
    /// What was measured of the machine.
    pub core_timings: CoreTimings,
    /// What handing data from one worker to another is taken to cost, whatever was measured.
    pub transfer_time: Option<Nanos>,
}

impl EngineOptions {
    /// Live, with a worker for each core, without a trace.
    pub fn new(block: Frames, rate: SampleRate) -> Self {
        Self {
            scheduler: Scheduler::default(),
            is_chosen: false,
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
