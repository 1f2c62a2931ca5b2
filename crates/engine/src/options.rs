//! [`EngineOptions`] and [`Scheduler`]: how a graph is played.

use costs::CoreTimings;
use plan::MeasuredCosts;
use processor::{MidiPortNames, Mode, Transport};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use units::{Frames, Nanos, SampleRate};
use workers::{Priority, WaitPolicy};

/// Scheduler of a plan's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// The one that [`choose_scheduler`](crate::choose_scheduler) takes when the engine is made.
    #[default]
    Auto,
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
    Stealing,
    /// Steps by their latest start, deferred work by its deadline.
    Deadline,
    /// One locked queue, for comparison only.
    Mutex,
}

/// Every scheduler but `auto`, with its name on the command line.
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
    /// All schedulers but [`Scheduler::Auto`], which is one of them.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(scheduler, _)| *scheduler)
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(s, _)| *s == self);
        found.map_or("auto", |(_, name)| name)
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
        if name == Self::Auto.name() {
            return Ok(Self::Auto);
        }
        let found = NAMES.iter().find(|(_, n)| *n == name);
        found.map(|(s, _)| *s).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(_, n)| *n).collect();
            format!("it must be auto or one of {}", names.join(", "))
        })
    }
}

/// Begin of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportStart {
    /// Position in frames of the piece.
    pub position: u64,
    /// False to begin stopped.
    pub is_rolling: bool,
}

/// Usual time of an edit's crossfade: long enough for no click, too short for an echo.
const EDIT_FADE: Nanos = Nanos(10_000_000);

/// Options of an [`Engine`](crate::Engine).
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Scheduler. With [`Scheduler::Auto`] an engine tries several for about half a second when it is made, and keeps
    /// nothing: a program that starts often calls [`choose_scheduler`](crate::choose_scheduler) itself, with a costs file.
    pub scheduler: Scheduler,
    /// True if the scheduler was chosen by [`choose_scheduler`](crate::choose_scheduler); the report says so.
    pub is_chosen: bool,
    /// Mean cycle of the sequential executor, where a choice has measured it: an engine that plays live with another
    /// scheduler and turns out slower goes over to it.
    pub sequential_mean: Option<Nanos>,
    /// Number of threads that work, the callback's included.
    pub workers: usize,
    /// If the scheduler was chosen: number of threads that an engine may use later, when graph or load have grown. 0: no
    /// more than [`workers`](Self::workers).
    pub max_workers: usize,
    /// Waiting of the workers between cycles.
    pub wait: WaitPolicy,
    /// Priority of the workers. The callback thread has its own.
    pub priority: Priority,
    /// Start of the transport; `None`: rolling from position 0 on. Live it can be moved in any case, offline if this is
    /// given.
    pub transport: Option<TransportStart>,
    /// MIDI input port of the driver whose MIDI clock the transport follows, by its index.
    pub clock_input: Option<u16>,
    /// MIDI output port of the driver to which the transport gives a MIDI clock, by its index.
    pub clock_output: Option<u16>,
    /// Frames in a block.
    pub block: Frames,
    /// Frame at which an offline run ends, where that is known before it begins. A patch in blocks of several of its own plays
    /// none behind it.
    pub end: Option<u64>,
    /// Sample rate.
    pub rate: SampleRate,
    /// Live, offline, or a dry run.
    pub mode: Mode,
    /// Number of input channels that the driver gives.
    pub input_channels: u16,
    /// Names of the driver's MIDI input and output ports, for nodes that name one.
    pub midi: MidiPortNames,
    /// True to record every step's time.
    pub trace: bool,
    /// True to prevent the machine's power saving while it plays.
    pub prevent_cpu_sleep: bool,
    /// True to lock the process's memory while it plays live, so that no page of it is written out.
    pub lock_memory: bool,
    /// Time in which an edit fades removed connections out and new ones in; 0 to cut. See
    /// [`Engine::edit`](crate::Engine::edit).
    pub edit_fade: Nanos,
    /// Name of the driver, for the report.
    pub driver: String,
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
    /// Blocks that nodes which no live input reaches may be played ahead, on a thread of their own; 0 for none. In a pipeline, and
    /// with [`Scheduler::Cpfd`], none is.
    pub ahead_blocks: u32,
    /// Measured costs of nodes. Where there is none, the cost in the text is taken, then the kind's.
    pub costs: MeasuredCosts,
    /// Measured costs between cores.
    pub core_timings: CoreTimings,
    /// Time to hand data from one worker to another, in place of what was measured.
    pub transfer_time: Option<Nanos>,
}

impl EngineOptions {
    /// Live, with at most a worker for each core, without a trace, with the scheduler that turns out best.
    pub fn new(block: Frames, rate: SampleRate) -> Self {
        Self {
            scheduler: Scheduler::default(),
            is_chosen: false,
            sequential_mean: None,
            workers: workers::cores().len().max(1),
            max_workers: 0,
            wait: WaitPolicy::Hybrid,
            priority: Priority::Ordinary,
            transport: None,
            clock_input: None,
            clock_output: None,
            block,
            end: None,
            rate,
            mode: Mode::Live,
            input_channels: 0,
            midi: MidiPortNames::default(),
            trace: false,
            prevent_cpu_sleep: true,
            lock_memory: true,
            edit_fade: EDIT_FADE,
            driver: String::new(),
            folder: PathBuf::from("."),
            fuse: true,
            use_all_workers: false,
            compensate_latency: true,
            latency_blocks: None,
            ahead_blocks: 0,
            costs: MeasuredCosts::default(),
            core_timings: CoreTimings::default(),
            transfer_time: None,
        }
    }

    /// The transport, as it begins.
    pub(crate) fn new_transport(&self) -> Transport {
        match self.transport {
            Some(start) => Transport::new(start.position as f64, start.is_rolling),
            None if self.mode == Mode::Live => Transport::new(0.0, true),
            None => Transport::default(),
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
