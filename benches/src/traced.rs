//! [`TracedExecutor`]: an executor with two workers and its trace, for benchmarks that look into a cycle.

use crate::nodes::{registry, with_ticks};
use crate::runners::{block, plan};
use exec::{Binding, CycleInfo, DelayLines, Executor, ProcessorPool, SharedRuntime};
use graph::Graph;
use plan::TraceRecord;
use processor::Mode;
use rt::trace::TraceReader;
use std::path::Path;
use std::sync::Arc;
use workers::{Priority, WaitPolicy, WorkerPool, WorkerPoolOptions};

/// Two workers that execute a graph of ticks, each step traced.
pub struct TracedExecutor {
    executor: Box<dyn Executor>,
    /// State that the workers share. Its trace is off at first.
    pub runtime: Arc<SharedRuntime>,
    readers: Vec<TraceReader<TraceRecord>>,
    _workers_pool: WorkerPool,
}

impl TracedExecutor {
    /// Executes `graph` with nodes of `nanos` ns by the strategy `hlfet` or `stealing`.
    pub fn new(
        graph: &Graph,
        strategy: &str,
        nanos: u64,
        (wait, priority): (WaitPolicy, Priority),
    ) -> Self {
        let graph = with_ticks(graph, nanos);
        let plan = plan(&graph, nanos, 2);
        let workers_pool = WorkerPool::new(WorkerPoolOptions {
            workers: 2,
            priority,
            wait,
            pin: Some(workers::cores().to_vec()),
            ..WorkerPoolOptions::default()
        });
        let workers_pool = workers_pool.expect("threads can be started");
        let (block, rate) = block();
        let (registry, mut pool) = (registry(nanos), ProcessorPool::default());
        for (id, node) in graph.nodes() {
            let made = registry.make(node, Path::new(".")).expect("it is a tick");
            pool.insert(id, made, (rate, block, Mode::Live));
        }
        let (writers, readers) = (0..2).map(|_| rt::trace::ring(1 << 15)).unzip();
        let runtime = Arc::new(SharedRuntime::new(writers));
        let binding = Binding {
            plan: &plan,
            processors: &pool,
            delay_lines: &mut DelayLines::default(),
            runtime: runtime.clone(),
            input_channels: 0,
        };
        let executor = match strategy {
            "hlfet" => exec::static_schedule(binding, &workers_pool),
            _ => exec::stealing(binding, &workers_pool),
        };
        Self {
            executor,
            runtime,
            readers,
            _workers_pool: workers_pool,
        }
    }

    /// Runs cycle number `cycle`.
    pub fn run(&mut self, cycle: u64) {
        self.executor
            .run_cycle(&CycleInfo::unlimited(cycle * 64, cycle), &[]);
    }

    /// Returns the records since the last call.
    pub fn records(&mut self) -> Vec<TraceRecord> {
        let mut all = Vec::new();
        for reader in &mut self.readers {
            reader.drain(|r| all.push(r));
        }
        all
    }
}
