//! What stays when plans change: processors, lines, threads, the trace.

use crate::machine::{fuse, machine_model};
use crate::{EngineError, EngineOptions, Scheduler};
use exec::{BackoffPolicy, Binding, DelayLines, Executor, ProcessorPool, SharedRuntime};
use graph::{Diagnostic, Graph, Node, NodeId};
use plan::{
    Dag, DelayedEdge, FadeState, FusionOptions, MachineModel, Plan, PlanOptions, PreviousDelays,
    TraceRecord,
};
use processor::{BackgroundTask, Gauge, Mode, Processor, Registry, Tail, TaskStatus};
use rt::trace::TraceReader;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use units::{Frames, Nanos};
use workers::{BackgroundTaskId, Next, Task, WaitPolicy, WorkerPool, WorkerPoolOptions};

/// How many trace records fit before the reader must have come: 100 ms of 10,000 steps at 48 kHz / 64 on one worker.
const TRACE_ROOM: usize = 1 << 18;
/// Without a trace the rings stay nearly empty.
const NO_TRACE_ROOM: usize = 1 << 10;

/// Where one cycle follows the other at once, workers look for it so long before they sleep: a multiple of what a sleep and
/// a wake cost, and nobody else's loss, since the host computes meanwhile.
const LINGER: Nanos = Nanos(50_000);

/// When the next cycle comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// As soon as the last is over.
    AtOnce,
    /// When its time has come.
    InTime,
}

impl From<Mode> for Follows {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Offline => Self::AtOnce,
            Mode::Live | Mode::DryRun => Self::InTime,
        }
    }
}

/// What stays when plans change.
pub(crate) struct Setting {
    pub(crate) registry: Arc<Registry>,
    pub(crate) options: EngineOptions,
    pool: ProcessorPool,
    lines: DelayLines,
    pub(crate) floor: Arc<SharedRuntime>,
    pub(crate) crew: WorkerPool,
    pub(crate) readers: Vec<TraceReader<TraceRecord>>,
    pub(crate) background: Arc<workers::BackgroundThread>,
    /// What belongs to each node that plays.
    residents: HashMap<NodeId, Belongings>,
    /// Nodes whose processors turned out not to allow copies.
    single: HashSet<NodeId>,
}

/// What a node's processor brought along.
pub(crate) struct Belongings {
    /// The node as its processor was made of it: copies are made of the same, whatever was turned since. A state that is
    /// taken up from another node is glided away from.
    made_of: Node,
    tasks: Vec<BackgroundTaskId>,
    pub(crate) gauges: Vec<(String, Gauge)>,
    notes: Vec<String>,
    latency: Frames,
    pub(crate) tail: Tail,
    pub(crate) length: Option<u64>,
}

/// A processor's background work, as the pool of workers knows work.
struct Chore(Box<dyn BackgroundTask>);

impl Task for Chore {
    fn turn(&mut self) -> Next {
        match self.0.poll() {
            TaskStatus::More => Next::Again,
            TaskStatus::Idle => Next::Later,
            TaskStatus::Done => Next::Done,
        }
    }

    fn end(&mut self) {
        self.0.end();
    }
}

impl Setting {
    pub(crate) fn new(
        registry: Arc<Registry>,
        options: EngineOptions,
        follows: Follows,
    ) -> Result<Self, EngineError> {
        let workers = match options.scheduler {
            Scheduler::Sequential => 1,
            _ => options.workers.max(1),
        };
        let crew = WorkerPool::new(WorkerPoolOptions {
            workers,
            priority: options.priority,
            pin: is_pinned(&options, workers).then(|| workers::cores().to_vec()),
            wait: options.wait,
            spin_before_sleep: match follows {
                Follows::AtOnce if workers <= workers::cores().len() => LINGER,
                _ => Nanos(0),
            },
            low_priority_pool: options.scheduler == Scheduler::Deadline,
            ..WorkerPoolOptions::default()
        });
        let crew = crew.map_err(EngineError::Threads)?;
        let room = if options.trace {
            TRACE_ROOM
        } else {
            NO_TRACE_ROOM
        };
        let (pens, readers) = (0..workers).map(|_| rt::trace::ring(room)).unzip();
        let background = match options.mode {
            Mode::Live => {
                workers::BackgroundThread::new("divisi-disk").map_err(EngineError::Threads)?
            }
            Mode::Offline | Mode::DryRun => workers::BackgroundThread::without_thread(),
        };
        let floor = SharedRuntime::new(pens);
        floor.set_traced(options.trace);
        floor.set_wake_all(options.use_all_workers);
        floor.set_backoff(match options.wait {
            WaitPolicy::Sleep => BackoffPolicy::Sleep,
            _ if workers > workers::cores().len() => BackoffPolicy::Yield,
            _ => BackoffPolicy::Spin,
        });
        Ok(Self {
            registry,
            pool: ProcessorPool::default(),
            lines: DelayLines::default(),
            floor: Arc::new(floor),
            crew,
            readers,
            background: Arc::new(background),
            residents: HashMap::new(),
            single: HashSet::new(),
            options,
        })
    }

    /// How many threads work, the callback's included.
    pub(crate) fn workers(&self) -> usize {
        self.crew.workers()
    }

    /// Makes the processors that `graph` needs and has not.
    pub(crate) fn admit(&mut self, graph: &Graph) -> Result<(), EngineError> {
        let mut wrong = Vec::new();
        for (id, node) in graph.nodes() {
            if self.residents.contains_key(&id) {
                continue;
            }
            match self.registry.make(node, &self.options.folder) {
                Ok(made) => self.take_in(id, node.clone(), made),
                Err(error) => {
                    let message = format!("`{}`: {error}", node.name);
                    wrong.push(Diagnostic::error(node.span, message));
                }
            }
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(EngineError::Graph(wrong))
        }
    }

    fn take_in(&mut self, id: NodeId, made_of: Node, processor: Box<dyn Processor>) {
        let told = (self.options.rate, self.options.block, self.options.mode);
        let (asked, facts) = self.pool.insert(id, processor, told);
        let chores = asked.background.into_iter();
        let tasks = chores
            .map(|work| self.background.add(Box::new(Chore(work))))
            .collect();
        self.residents.insert(
            id,
            Belongings {
                made_of,
                tasks,
                gauges: asked.gauges,
                notes: asked.notes,
                latency: facts.latency,
                tail: facts.tail,
                length: facts.length,
            },
        );
    }

    /// Lets the processors of nodes go that are not in `graph` any more. A plan that still names one keeps it.
    pub(crate) fn dismiss(&mut self, graph: &Graph) {
        let gone: Vec<NodeId> = (self.residents.keys().copied())
            .filter(|id| graph.node(*id).is_none())
            .collect();
        for id in gone {
            self.forget(id);
        }
    }

    /// Lets the processor of one node go.
    pub(crate) fn forget(&mut self, id: NodeId) {
        self.pool.remove(id);
        if let Some(there) = self.residents.remove(&id) {
            self.single.remove(&id);
            there.tasks.into_iter().for_each(|task| {
                self.background.remove(task);
            });
        }
    }

    /// What to do for `graph`, after what was delayed before.
    pub(crate) fn plan(
        &mut self,
        graph: &Graph,
        before: Option<PreviousDelays>,
    ) -> Result<Plan, EngineError> {
        let machine = machine_model(
            self.workers(),
            &self.options.core_timings,
            self.options.transfer_time,
        );
        let mut options = self.plan_options(&machine);
        options.previous = before;
        if self.options.scheduler == Scheduler::Cpfd {
            return self.plan_with_copies(graph, options, &machine);
        }
        let compiled = plan::compile(graph, self.registry.catalogue(), &options);
        let mut plan = compiled.map_err(|wrong| EngineError::Graph(wrong.0))?;
        let dag = Dag::from_plan(&plan);
        plan.worker_tasks = match self.options.scheduler {
            Scheduler::Hlfet | Scheduler::Pipelined => {
                plan::hlfet(&dag, self.workers()).task_order()
            }
            Scheduler::Etf => plan::etf(&dag, &machine).task_order(),
            Scheduler::Random => plan::random(&dag, self.workers(), 1).task_order(),
            _ => Vec::new(),
        };
        Ok(plan)
    }

    /// A plan with copies, and their processors made. Nodes that allow none stay single.
    fn plan_with_copies(
        &mut self,
        graph: &Graph,
        mut options: PlanOptions,
        machine: &MachineModel,
    ) -> Result<Plan, EngineError> {
        loop {
            options.not_duplicable.clone_from(&self.single);
            let catalogue = self.registry.catalogue();
            let compiled = plan::compile_with_copies(graph, catalogue, &options, machine);
            let plan = compiled.map_err(|wrong| EngineError::Graph(wrong.0))?;
            let missing = self.pool.retain_copies(&plan).into_iter();
            let refused: Vec<NodeId> = missing
                .filter(|copy| !self.copy(*copy))
                .map(|(node, _)| node)
                .collect();
            if refused.is_empty() {
                return Ok(plan);
            }
            self.single.extend(refused);
        }
    }

    /// Makes a copy's processor; whether it may be one.
    fn copy(&mut self, (id, copy): (NodeId, u16)) -> bool {
        let told = (self.options.rate, self.options.block, self.options.mode);
        let node = self.residents.get(&id).map(|there| &there.made_of);
        let made = node.and_then(|node| self.registry.make(node, &self.options.folder).ok());
        made.is_some_and(|made| self.pool.insert_copy((id, copy), made, told))
    }

    fn plan_options(&self, machine: &MachineModel) -> PlanOptions {
        let mut options = PlanOptions::new(self.options.block, self.options.rate);
        let latencies = self.residents.iter().map(|(id, r)| (*id, r.latency));
        options.latencies = latencies.collect();
        options.compensate_latency = self.options.compensate_latency;
        options.costs = self.options.costs.clone();
        options.latency_blocks = self.options.stages_behind(self.workers());
        let fuses = self.options.fuse && self.options.scheduler != Scheduler::Sequential;
        options.fusion = fuses.then(|| FusionOptions {
            use_all_workers: self.options.use_all_workers,
            ..fuse(machine)
        });
        options
    }

    /// Whom to do it with.
    pub(crate) fn executor(&mut self, plan: &Plan) -> Box<dyn Executor> {
        let binding = Binding {
            plan,
            processors: &self.pool,
            delay_lines: &mut self.lines,
            runtime: self.floor.clone(),
            input_channels: self.options.input_channels,
        };
        match self.options.scheduler {
            Scheduler::Sequential => exec::sequential(binding),
            Scheduler::Hlfet
            | Scheduler::Etf
            | Scheduler::Cpfd
            | Scheduler::Random
            | Scheduler::Pipelined => exec::static_schedule(binding, &self.crew),
            Scheduler::Global => exec::global(binding, &self.crew),
            Scheduler::Weighted => exec::weighted(binding, &self.crew),
            Scheduler::Stealing => exec::stealing(binding, &self.crew),
            Scheduler::Deadline => exec::deadline(binding, &self.crew),
            Scheduler::Mutex => exec::mutex(binding, &self.crew),
        }
    }

    /// How far an edge that `plan` delays, which plays, has gone over when `position` is played.
    pub(crate) fn gone(&self, plan: &Plan, it: &DelayedEdge, position: u64) -> FadeState {
        self.lines.fade_state(plan, it, position)
    }

    /// Whether some node lags.
    pub(crate) fn is_late(&self) -> bool {
        self.residents.values().any(|it| it.latency > Frames(0))
    }

    /// What belongs to the nodes that play.
    pub(crate) fn belongings(&self) -> impl Iterator<Item = (NodeId, &Belongings)> {
        self.residents.iter().map(|(id, b)| (*id, b))
    }

    /// After how many frames everything has ended by itself: the longest player, and all tails behind it. `None` for a
    /// graph that goes on forever.
    pub(crate) fn length(&self, graph: &Graph) -> Option<u64> {
        let mut longest = 0;
        let mut tails = 0_u64;
        for (id, b) in self.belongings() {
            let is_source = graph.node(id).is_some_and(|n| n.inputs.is_empty());
            match (b.length, b.tail) {
                (Some(frames), _) => longest = longest.max(frames),
                (None, Tail::Frames(frames)) if !is_source || frames == 0 => {
                    tails = tails.saturating_add(frames);
                }
                _ => return None,
            }
        }
        Some(longest.saturating_add(tails))
    }

    /// What every node shows, by node and name.
    pub(crate) fn gauges(&self, graph: &Graph) -> BTreeMap<String, f32> {
        let mut shown = BTreeMap::new();
        for (id, belongings) in self.belongings() {
            let Some(node) = graph.node(id) else { continue };
            for (name, gauge) in &belongings.gauges {
                shown.insert(format!("{}.{name}", node.name), gauge.get());
            }
        }
        shown
    }

    /// What nodes have to say of what was done for them, each behind its node's name.
    pub(crate) fn notes(&self, graph: &Graph) -> Vec<String> {
        let mut all = Vec::new();
        for (id, belongings) in self.belongings() {
            let Some(node) = graph.node(id) else { continue };
            let told = |note| format!("`{}`: {note}", node.name);
            all.extend(belongings.notes.iter().map(told));
        }
        all.sort_unstable();
        all
    }
}

/// Workers keep to a core of their own where there are enough, except while somebody may want the whole machine.
fn is_pinned(options: &EngineOptions, workers: usize) -> bool {
    options.mode != Mode::Offline && workers > 1 && workers <= workers::cores().len()
}
