//! Graphs that run on any executor, for tests that compare them.

use exec::{
    Binding, CycleInfo, CycleStatus, DelayLines, ErrorCounts, Executor, ProcessorPool,
    SharedRuntime,
};
use graph::{Graph, Node, NodeId};
use plan::{FusionOptions, Link, MachineModel, Plan, PlanOptions, TraceRecord};
use processor::{BackgroundTask, Event, Mode, Processor, Registry, TaskStatus};
use rt::trace::TraceReader;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use units::{Frames, Nanos, SampleRate};
use workers::{WaitPolicy, WorkerPool, WorkerPoolOptions};

/// Every strategy of execution. A new one is done when a line here makes every suite pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestStrategy {
    /// The reference.
    Sequential,
    /// The plan's own schedule.
    Fixed,
    /// The plan's own schedule, with nodes copied to where their data would come too late.
    Copied,
    /// One queue for all.
    Global,
    /// Batches by weight.
    Weighted,
    /// Work stealing.
    Stealing,
    /// Due steps by their latest start.
    Deadline,
    /// One locked queue.
    Mutex,
    /// The plan's own schedule of fused tasks.
    FusedFixed,
    /// Work stealing with fused tasks.
    FusedStealing,
    /// A pipeline on one worker.
    PipelinedSequential,
    /// A pipeline, by a schedule of fused tasks.
    PipelinedFixed,
    /// A pipeline, by work stealing.
    PipelinedStealing,
}

/// All strategies without a pipeline.
pub const ALL_STRATEGIES: [TestStrategy; 10] = [
    TestStrategy::Sequential,
    TestStrategy::Fixed,
    TestStrategy::Global,
    TestStrategy::Weighted,
    TestStrategy::Stealing,
    TestStrategy::Deadline,
    TestStrategy::Mutex,
    TestStrategy::FusedFixed,
    TestStrategy::FusedStealing,
    TestStrategy::Copied,
];

/// Strategies for pipelines: their output is [`LATENCY_BLOCKS`] blocks later.
pub const PIPELINED: [TestStrategy; 3] = [
    TestStrategy::PipelinedSequential,
    TestStrategy::PipelinedFixed,
    TestStrategy::PipelinedStealing,
];

/// Blocks by which the last stage of a pipeline lags.
pub const LATENCY_BLOCKS: u32 = 2;

impl TestStrategy {
    /// Makes an executor of this strategy.
    pub fn make_executor(
        self,
        binding: Binding<'_>,
        worker_pool: &WorkerPool,
    ) -> Box<dyn Executor> {
        match self {
            Self::Sequential | Self::PipelinedSequential => exec::sequential(binding),
            Self::Fixed | Self::FusedFixed | Self::PipelinedFixed | Self::Copied => {
                exec::static_schedule(binding, worker_pool)
            }
            Self::Stealing | Self::FusedStealing | Self::PipelinedStealing => {
                exec::stealing(binding, worker_pool)
            }
            Self::Global => exec::global(binding, worker_pool),
            Self::Weighted => exec::weighted(binding, worker_pool),
            Self::Deadline => exec::deadline(binding, worker_pool),
            Self::Mutex => exec::mutex(binding, worker_pool),
        }
    }

    /// Options of fusion, if the strategy fuses: without overheads, so that there are many tasks.
    fn fuse(self, workers: usize) -> Option<FusionOptions> {
        let fuses = matches!(
            self,
            Self::FusedFixed | Self::FusedStealing | Self::PipelinedFixed
        );
        fuses.then_some(FusionOptions {
            workers: workers.max(2),
            task_overhead: Nanos(0),
            transfer: Nanos(0),
            wake_delay: Nanos(0),
            use_all_workers: false,
        })
    }

    /// Blocks by which its last stage lags.
    pub fn latency_blocks(self) -> u32 {
        u32::from(PIPELINED.contains(&self)) * LATENCY_BLOCKS
    }
}

/// Settings of one run of a graph in a test.
#[derive(Clone, Copy, Debug)]
pub struct RunConfig {
    /// The executor.
    pub strategy: TestStrategy,
    /// Number of workers, this thread included.
    pub workers: usize,
    /// Frames in a block.
    pub block: u32,
    /// Waiting of the workers between cycles.
    pub wait: WaitPolicy,
}

impl RunConfig {
    /// With the default policy of waiting.
    pub fn new(strategy: TestStrategy, workers: usize, block: u32) -> Self {
        Self {
            strategy,
            workers,
            block,
            wait: WaitPolicy::Hybrid,
        }
    }

    /// One worker in the plan's order: the reference.
    pub fn reference(block: u32) -> Self {
        Self::new(TestStrategy::Sequential, 1, block)
    }
}

/// Sample rate of every bench.
pub fn rate() -> SampleRate {
    SampleRate::new(48_000).expect("48000 is not zero")
}

/// Every kind of this workspace.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    midi::register(&mut registry);
    conv::register(&mut registry);
    registry
}

/// Wraps the processor of a node.
type Wrap<'a> = dyn FnMut(&Node, Box<dyn Processor>) -> Box<dyn Processor> + 'a;

/// A graph with everything that runs it.
pub struct TestBench {
    /// The executor.
    pub executor: Box<dyn Executor>,
    /// The plan that it follows.
    pub plan: Plan,
    /// The state that executors share.
    pub runtime: Arc<SharedRuntime>,
    /// The processors.
    pub pool: ProcessorPool,
    /// Their delay lines.
    pub lines: DelayLines,
    /// The other workers.
    pub worker_pool: WorkerPool,
    /// The trace of each worker, if tracing is on.
    pub traces: Vec<TraceReader<TraceRecord>>,
    /// The next cycle's number.
    pub cycle: u64,
    /// Time limit of a cycle, in stamps; `None` for no limit.
    pub limit: Option<u64>,
    /// Stamps of a cycle in which steps may help with late deferred work; `None` for no limit.
    pub help: Option<u64>,
    /// Frames within which deferred work must be due to be kept from threads of low priority.
    pub reserved_frames: u64,
    background: Vec<Box<dyn BackgroundTask>>,
    config: RunConfig,
    latencies: HashMap<NodeId, Frames>,
}

impl TestBench {
    /// Sets up every node of `graph` and makes an executor, with a worker pool of its own.
    pub fn new(graph: &Graph, registry: &Registry, config: RunConfig) -> Self {
        Self::from_epoch(0, graph, registry, config)
    }

    /// As [`new`](Self::new), with an executor that numbers its cycles from `epoch` on.
    pub fn from_epoch(epoch: u32, graph: &Graph, registry: &Registry, config: RunConfig) -> Self {
        let worker_pool = WorkerPool::new(WorkerPoolOptions {
            workers: config.workers,
            wait: config.wait,
            low_priority_pool: config.strategy == TestStrategy::Deadline,
            ..WorkerPoolOptions::default()
        });
        let worker_pool = worker_pool.expect("threads can be started");
        Self::with_runtime(
            (epoch, worker_pool),
            graph,
            registry,
            config,
            &mut |_, made| made,
        )
    }

    /// As [`new`](Self::new), with what `wrap` makes of each node's processor.
    pub fn wrapped(
        graph: &Graph,
        registry: &Registry,
        config: RunConfig,
        mut wrap: impl FnMut(&Node, Box<dyn Processor>) -> Box<dyn Processor>,
    ) -> Self {
        let worker_pool = WorkerPool::new(WorkerPoolOptions {
            workers: config.workers,
            ..WorkerPoolOptions::default()
        });
        let worker_pool = worker_pool.expect("threads can be started");
        Self::with_runtime((0, worker_pool), graph, registry, config, &mut wrap)
    }

    /// As [`new`](Self::new), with this worker pool.
    pub fn with(
        graph: &Graph,
        registry: &Registry,
        config: RunConfig,
        worker_pool: WorkerPool,
    ) -> Self {
        Self::with_runtime((0, worker_pool), graph, registry, config, &mut |_, made| {
            made
        })
    }

    fn with_runtime(
        (epoch, worker_pool): (u32, WorkerPool),
        graph: &Graph,
        registry: &Registry,
        config: RunConfig,
        wrap: &mut Wrap<'_>,
    ) -> Self {
        let rings = (0..config.workers).map(|_| rt::trace::ring(1 << 16));
        let (writers, traces) = rings.unzip();
        let runtime = Arc::new(SharedRuntime::new(writers).with_first_epoch(epoch));
        if config.wait == WaitPolicy::Sleep {
            runtime.set_backoff(exec::BackoffPolicy::Sleep);
        }
        let mut pool = ProcessorPool::default();
        let mut lines = DelayLines::default();
        let mut background = Vec::new();
        let mut latencies = HashMap::new();
        for (id, node) in graph.nodes() {
            let made = registry.make_with_tempo(node, Path::new("."), graph.tempo());
            let made = wrap(node, made.expect("the test's parameters are right"));
            let setting = (rate(), Frames(config.block), Mode::Offline);
            let (asked, facts) = pool.insert(id, made, setting);
            background.extend(asked.background);
            latencies.insert(id, facts.latency);
        }
        let plan = plan(graph, registry, (config, &latencies));
        make_copies(&mut pool, (&plan, graph), registry, config);
        let binding = Binding {
            plan: &plan,
            processors: &pool,
            delay_lines: &mut lines,
            runtime: runtime.clone(),
            input_channels: 2,
        };
        let executor = config.strategy.make_executor(binding, &worker_pool);
        Self {
            executor,
            plan,
            runtime,
            pool,
            lines,
            worker_pool,
            traces,
            cycle: 0,
            limit: None,
            help: None,
            reserved_frames: 0,
            background,
            config,
            latencies,
        }
    }

    /// Replaces the executor by one of strategy `way` for `graph`, whose nodes this bench must have. Returns the old
    /// one.
    pub fn replace_executor(
        &mut self,
        way: TestStrategy,
        graph: &Graph,
        registry: &Registry,
    ) -> Box<dyn Executor> {
        self.plan = plan(graph, registry, (self.config, &self.latencies));
        make_copies(&mut self.pool, (&self.plan, graph), registry, self.config);
        let binding = Binding {
            plan: &self.plan,
            processors: &self.pool,
            delay_lines: &mut self.lines,
            runtime: self.runtime.clone(),
            input_channels: 2,
        };
        let next = way.make_executor(binding, &self.worker_pool);
        assert!(self.executor.try_release(), "the executor can be released");
        std::mem::replace(&mut self.executor, next)
    }

    /// Runs one cycle and returns its status.
    pub fn run_cycle(&mut self, device: &[&[f32]]) -> CycleStatus {
        for task in &mut self.background {
            while task.poll() == TaskStatus::More {}
        }
        let until = |span: Option<u64>| span.map_or(u64::MAX, |s| rt::stamp::now() + s);
        let position = self.cycle * u64::from(self.config.block);
        let info = CycleInfo {
            abandon_at: until(self.limit),
            help_until: until(self.help),
            spare_until: until(self.help),
            low_priority_from: position + self.reserved_frames,
            ..CycleInfo::unlimited(position, self.cycle)
        };
        self.cycle += 1;
        self.executor.run_cycle(&info, device).status
    }

    /// The bits of the first `channels` output channels, for `frames` frames.
    pub fn render(&mut self, channels: u16, frames: usize) -> Vec<Vec<u32>> {
        let block = self.config.block as usize;
        for _ in self.cycle..u64::from(self.config.strategy.latency_blocks()) {
            assert_eq!(self.run_cycle(&[]), CycleStatus::Complete);
        }
        let mut played = vec![Vec::new(); channels.into()];
        while played[0].len() < frames {
            assert_eq!(self.run_cycle(&[]), CycleStatus::Complete);
            for (channel, played) in (0..channels).zip(&mut played) {
                let mut out = vec![0.0_f32; block];
                self.executor.add_output(channel, &mut out);
                played.extend(out.iter().map(|x| x.to_bits()));
            }
        }
        played.iter_mut().for_each(|p| p.truncate(frames));
        played
    }

    /// Sends a node an event for the next block.
    pub fn send_event(&mut self, node: NodeId, event: Event) {
        self.executor
            .push_event(node, event)
            .expect("there is room");
    }

    /// Counts of errors.
    pub fn counts(&self) -> ErrorCounts {
        self.executor.error_counts()
    }
}

fn plan(
    graph: &Graph,
    registry: &Registry,
    (config, latencies): (RunConfig, &HashMap<NodeId, Frames>),
) -> Plan {
    let mut options = PlanOptions::new(Frames(config.block), rate());
    options.workers = config.workers;
    options.fusion = config.strategy.fuse(config.workers);
    options.latency_blocks = config.strategy.latency_blocks();
    options.latencies.clone_from(latencies);
    let catalogue = registry.catalogue();
    let plan = match config.strategy {
        TestStrategy::Copied => {
            // So exwritersive that nodes are duplicated.
            let link = Link {
                base: Nanos(2_000),
                per_kib: Nanos(0),
            };
            let machine = MachineModel::uniform(config.workers, link);
            plan::compile_with_copies(graph, catalogue, &options, &machine)
        }
        _ => plan::compile(graph, catalogue, &options),
    };
    plan.expect("the test's graph is right")
}

/// Makes the processors of the copies in `plan`.
fn make_copies(
    pool: &mut ProcessorPool,
    (plan, graph): (&Plan, &Graph),
    registry: &Registry,
    config: RunConfig,
) {
    for (id, copy) in pool.retain_copies(plan) {
        let node = graph.node(id).expect("the plan is of this graph");
        let made = registry.make_with_tempo(node, Path::new("."), graph.tempo());
        let made = made.expect("the test's parameters are right");
        let reported = (rate(), Frames(config.block), Mode::Offline);
        assert!(
            pool.insert_copy((id, copy), made, reported),
            "it is duplicable"
        );
    }
}
