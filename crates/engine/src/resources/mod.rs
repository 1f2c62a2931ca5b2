//! [`EngineResources`]: everything that outlives a plan.
//!
//! ```text
//!   EngineResources                              replaced at each edit
//!   ├─ processors ◀───── indices ─────────────── plan
//!   ├─ delay lines ◀──── bound to memory ─────── executor
//!   ├─ pool: worker threads ◀── cycles ───────── executor
//!   ├─ runtime: what workers share, trace writers
//!   ├─ background: one thread for files
//!   └─ nodes: tasks, gauges, latency of each processor
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `ending` | the frame at which a graph has ended |
//! | `expanded` | the inner nodes of those that play as several |
//! | `fade` | the node that an edit puts into a connection to fade it |
//! | `node_state` | what a node holds, on its way from one engine to another |
//! | `nodes` | what each node's processor brought along, and what follows for the whole graph |
//! | `tap` | the node that copies a port for a meter |
//! | `words` | messages in words to a node, and what has become of them |
//! | `planning` | the plan of a graph, and the executor of a plan |

mod ahead;
mod ending;
mod expanded;
pub(crate) mod fade;
mod node_state;
mod nodes;
mod planning;
pub(crate) mod tap;
mod words;

use crate::ahead::{AheadResources, border_kind, stand_in_kind};
use crate::{EngineError, EngineOptions, Scheduler};
use exec::{BackoffPolicy, DelayLines, ProcessorPool, SharedRuntime};
pub use expanded::expanded_graph;
use graph::{Catalogue, NodeId};
pub use node_state::NodeState;
use node_state::NodeStates;
use nodes::NodeResources;
pub(crate) use nodes::fade_frames;
use plan::{DelayedEdge, FadeState, Plan, TraceRecord};
use processor::{FileProblem, MidiPorts, MidiPortsCallback, Mode, Registry, Transport};
use rt::deferred::JobRunner;
use rt::trace::TraceReader;
use rtrb::Producer;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use units::Nanos;
pub(crate) use words::SentWords;
pub use words::WordsFate;
use workers::{BackgroundThread, Priority, WaitPolicy, WorkerPool, WorkerPoolOptions};

/// Trace records that fit before the control thread must read them: 100 ms of 10,000 steps at 48 kHz and 64 frames on
/// one worker.
const TRACE_RECORDS: usize = 1 << 18;
/// The same without a trace: the rings stay nearly empty.
const UNTRACED_RECORDS: usize = 1 << 10;

/// Time that workers spin before they sleep, where one cycle follows the other at once: a multiple of what a sleep and
/// a wake cost. No other program loses the core by it, since the host computes meanwhile.
const SPIN_BEFORE_SLEEP: Nanos = Nanos(50_000);

/// Time of the next cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CycleSpacing {
    /// As soon as the last one is over.
    BackToBack,
    /// At its time.
    Timed,
}

impl From<Mode> for CycleSpacing {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Offline => Self::BackToBack,
            Mode::Live | Mode::DryRun => Self::Timed,
        }
    }
}

/// Everything that outlives a plan: processors, delay lines, threads, trace rings.
pub(crate) struct EngineResources {
    pub(crate) registry: Arc<Registry>,
    /// The registry's kinds, and the one that fades.
    pub(crate) catalogue: Catalogue,
    pub(crate) options: EngineOptions,
    processors: ProcessorPool,
    transport: Arc<Transport>,
    pub(crate) midi_ports: Arc<MidiPorts>,
    /// Until the callback takes it.
    pub(crate) midi_callback: Option<MidiPortsCallback>,
    delay_lines: DelayLines,
    pub(crate) runtime: Arc<SharedRuntime>,
    pub(crate) pool: WorkerPool,
    pub(crate) readers: Vec<TraceReader<TraceRecord>>,
    pub(crate) background: Arc<BackgroundThread>,
    nodes: HashMap<NodeId, NodeResources>,
    /// Problems with the files of nodes that an edit has removed, with the names of the nodes.
    removed_problems: Vec<(String, FileProblem)>,
    /// Nodes that tap: no graph of the user has them.
    taps: HashSet<NodeId>,
    /// Rings of those without a processor yet, by the names of the nodes.
    tap_rings: Mutex<HashMap<String, Producer<f32>>>,
    /// Tempo of the graph, for makers.
    tempo: graph::TempoMap,
    /// Nodes whose processors turned out not to allow copies.
    not_duplicable: HashSet<NodeId>,
    /// States of nodes that leave, and of those that come.
    pub(crate) states: NodeStates,
    /// Nodes that play as several.
    expansions: Vec<expanded::PlacedExpansion>,
    /// Nodes that are played ahead.
    ahead: AheadResources,
}

impl EngineResources {
    /// Starts the threads. No node has a processor yet.
    pub(crate) fn new(
        registry: Arc<Registry>,
        options: EngineOptions,
        spacing: CycleSpacing,
    ) -> Result<Self, EngineError> {
        let pool = worker_pool(&options, spacing).map_err(EngineError::Threads)?;
        let records = if options.trace {
            TRACE_RECORDS
        } else {
            UNTRACED_RECORDS
        };
        let rings = (0..pool.workers()).map(|_| rt::trace::ring(records));
        let (writers, readers) = rings.unzip();
        let background = match options.mode {
            Mode::Live => BackgroundThread::new("divisi-disk").map_err(EngineError::Threads)?,
            Mode::Offline | Mode::DryRun => BackgroundThread::without_thread(),
        };
        let runtime = SharedRuntime::new(writers);
        runtime.set_traced(options.trace);
        runtime.set_wake_all(options.use_all_workers);
        runtime.set_backoff(match options.wait {
            WaitPolicy::Sleep => BackoffPolicy::Sleep,
            _ if pool.workers() > workers::cores().len() => BackoffPolicy::Yield,
            _ if options.mode == Mode::Offline => BackoffPolicy::Patient,
            _ => BackoffPolicy::Spin,
        });
        let (midi_ports, midi_callback) = MidiPorts::new(&options.midi);
        let transport = Arc::new(options.new_transport());
        let mut catalogue = registry.plan_catalogue();
        catalogue.insert(fade::kind());
        catalogue.insert(tap::kind());
        catalogue.insert(border_kind());
        catalogue.insert(stand_in_kind());
        let ahead = AheadResources::new(transport.clone());
        Ok(Self {
            registry,
            catalogue,
            processors: ProcessorPool::new(transport.clone(), midi_ports.clone()),
            transport,
            midi_ports,
            midi_callback: Some(midi_callback),
            delay_lines: DelayLines::default(),
            runtime: Arc::new(runtime),
            pool,
            readers,
            background: Arc::new(background),
            nodes: HashMap::new(),
            removed_problems: Vec::new(),
            taps: HashSet::new(),
            tap_rings: Mutex::default(),
            tempo: graph::TempoMap::default(),
            not_duplicable: HashSet::new(),
            states: NodeStates::default(),
            expansions: Vec::new(),
            ahead,
            options,
        })
    }

    /// The transport that all processors follow.
    pub(crate) fn transport(&self) -> &Arc<Transport> {
        &self.transport
    }

    /// Number of threads that work under the scheduler of now, the callback's included.
    pub(crate) fn workers(&self) -> usize {
        match self.options.scheduler {
            Scheduler::Auto | Scheduler::Sequential => 1,
            _ => self.pool.workers(),
        }
    }

    /// Returns true if some node has deferred work.
    pub(crate) fn has_deferred(&self) -> bool {
        self.processors.has_deferred()
    }

    /// The deferred jobs of each node that has some.
    pub(crate) fn deferred(&self) -> impl Iterator<Item = (NodeId, &[JobRunner])> {
        self.processors.deferred()
    }

    /// Frame at which the last deferred work that waits now is due; 0 if none waits.
    pub(crate) fn last_deferred_deadline(&self) -> u64 {
        self.processors.last_deferred_deadline().unwrap_or(0)
    }

    /// Fade of an edge that `plan` delays, which plays, after `position` frames.
    pub(crate) fn fade_state(&self, plan: &Plan, edge: &DelayedEdge, position: u64) -> FadeState {
        self.delay_lines.fade_state(plan, edge, position)
    }
}

/// The threads that `options` ask for.
fn worker_pool(options: &EngineOptions, spacing: CycleSpacing) -> std::io::Result<WorkerPool> {
    let cores = workers::cores();
    // Threads that wait awake would take their cores from others for a choice that may never come.
    let sleeps = options.wait != WaitPolicy::Spin;
    let is_free = options.is_chosen && !options.use_all_workers;
    let may_change = is_free && sleeps && options.mode == Mode::Live;
    let later = if may_change { options.max_workers } else { 1 };
    let workers = match options.scheduler {
        Scheduler::Auto | Scheduler::Sequential => later.max(1),
        _ => options.workers.max(1),
    };
    let fits = workers <= cores.len();
    // Real-time workers keep to a core of their own where there are enough: the system then moves the callback, which has
    // no core of its own, out of their way. At ordinary priority it would not, and a worker would wait behind it.
    let is_real_time = options.priority != Priority::Ordinary;
    let is_pinned = options.mode != Mode::Offline && workers > 1 && fits && is_real_time;
    WorkerPool::new(WorkerPoolOptions {
        workers,
        priority: options.priority,
        pin: is_pinned.then(|| cores.to_vec()),
        wait: options.wait,
        spin_before_sleep: match spacing {
            CycleSpacing::BackToBack if fits => SPIN_BEFORE_SLEEP,
            _ => Nanos(0),
        },
        low_priority_pool: options.scheduler == Scheduler::Deadline,
        ..WorkerPoolOptions::default()
    })
}
