//! [`CycleRunner`]: Divisi's executors and what they are compared with, behind one trait.
//!
//! | runner | what it is |
//! |---|---|
//! | [`divisi`] | an executor of Divisi by name |
//! | [`plain`] | a loop over the nodes in topological order: the lower bound on one core |
//! | [`rayon`] | `rayon::scope` with one spawn for each released node |

use crate::nodes::{burn, calibrate, registry};
use exec::{Binding, CycleInfo, CycleStatus, DelayLines, Executor, ProcessorPool, SharedRuntime};
use graph::Graph;
use plan::{Dag, FusionOptions, Link, MachineModel, Plan, PlanOptions, etf};
use processor::Mode;
use rt::pad::CachePadded;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Frames, Nanos, SampleRate};
use workers::{AudioThread, DmaLatency, WorkerPool, WorkerPoolOptions};

/// Something that runs cycles of a graph.
pub trait CycleRunner {
    /// Runs one cycle.
    fn run_cycle(&mut self);
    /// Its name in tables.
    fn name(&self) -> String;
    /// Its counters per cycle, as text.
    fn counts(&self) -> String {
        String::new()
    }
}

/// One of Divisi's executors.
pub struct DivisiRunner {
    name: &'static str,
    executor: Box<dyn Executor>,
    _worker_pool: WorkerPool,
    cycle: u64,
    acquisitions: u64,
    wakes: u64,
}

/// Block size and sample rate of every benchmark.
pub fn block() -> (Frames, SampleRate) {
    (
        Frames(64),
        SampleRate::new(48_000).expect("48000 is not zero"),
    )
}

/// The plan of `graph` with a schedule for `workers` workers, each node a task.
pub fn plan(graph: &Graph, nanos: u64, workers: usize) -> Plan {
    plan_for("hlfet", graph, nanos, workers)
}

/// The plan for the executor `name`.
fn plan_for(name: &str, graph: &Graph, nanos: u64, workers: usize) -> Plan {
    let (block, rate) = block();
    let mut options = PlanOptions::new(block, rate);
    options.workers = workers;
    if name == "pipelined" {
        options.latency_blocks = workers as u32 - 1;
    }
    if name.ends_with(" fused") || name == "pipelined" {
        options.fusion = Some(FusionOptions::typical(workers));
    }
    let registry = registry(nanos.min(1));
    let mut plan = plan::compile(graph, registry.catalogue(), &options).expect("it is right");
    if name.starts_with("etf") {
        let crossing = Link {
            base: FusionOptions::typical(workers).transfer,
            per_kib: Nanos(0),
        };
        plan.worker_tasks = etf(
            &Dag::from_plan(&plan),
            &MachineModel::uniform(workers, crossing),
        )
        .task_order();
    }
    plan
}

/// The executor `name` with `workers` workers. The suffix ` fused` joins cheap nodes into one task.
pub fn divisi(name: &'static str, graph: &Graph, nanos: u64, workers: usize) -> DivisiRunner {
    let (block, rate) = block();
    let registry = registry(nanos);
    let plan = plan_for(name, graph, nanos, workers);
    let worker_pool = WorkerPool::new(WorkerPoolOptions {
        workers,
        priority: workers::current_priority(),
        pin: (workers > 1 && workers <= workers::cores().len()).then(|| workers::cores().to_vec()),
        ..WorkerPoolOptions::default()
    });
    let worker_pool = worker_pool.expect("threads can be started");
    let mut pool = ProcessorPool::default();
    for (id, node) in graph.nodes() {
        let made = registry.make(node, Path::new(".")).expect("it is a tick");
        pool.insert(id, made, (rate, block, Mode::Live));
    }
    let writers = (0..workers).map(|_| rt::trace::ring(16).0).collect();
    let mut lines = DelayLines::default();
    let binding = Binding {
        plan: &plan,
        processors: &pool,
        delay_lines: &mut lines,
        runtime: Arc::new(SharedRuntime::new(writers)),
        input_channels: 0,
    };
    let executor = match name.trim_end_matches(" fused") {
        "sequential" => exec::sequential(binding),
        "hlfet" | "etf" | "pipelined" => exec::static_schedule(binding, &worker_pool),
        "stealing" => exec::stealing(binding, &worker_pool),
        "global" => exec::global(binding, &worker_pool),
        "weighted" => exec::weighted(binding, &worker_pool),
        "deadline" => exec::deadline(binding, &worker_pool),
        "mutex" => exec::mutex(binding, &worker_pool),
        _ => unreachable!("no such executor"),
    };
    DivisiRunner {
        name,
        executor,
        _worker_pool: worker_pool,
        cycle: 0,
        acquisitions: 0,
        wakes: 0,
    }
}

impl CycleRunner for DivisiRunner {
    fn run_cycle(&mut self) {
        let ran = self
            .executor
            .run_cycle(&CycleInfo::unlimited(self.cycle * 64, self.cycle), &[]);
        assert_eq!(ran.status, CycleStatus::Complete);
        self.acquisitions += u64::from(ran.acquisitions);
        self.wakes += u64::from(ran.wakes);
        self.cycle += 1;
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn counts(&self) -> String {
        let per_cycle = |n: u64| n as f64 / self.cycle.max(1) as f64;
        format!(
            "acquisitions {:.1} wakes {:.2}",
            per_cycle(self.acquisitions),
            per_cycle(self.wakes)
        )
    }
}

/// A loop over the nodes of a graph in topological order, without an executor. No executor is faster on one core.
pub struct PlainLoop {
    nodes: Vec<PlainNode>,
    slots: Vec<[f32; 64]>,
}

type RunPlain = Box<dyn FnMut(&mut [[f32; 64]])>;

struct PlainNode {
    run: RunPlain,
}

/// The plain loop over `graph`.
pub fn plain(graph: &Graph, nanos: u64) -> PlainLoop {
    let steps = calibrate(nanos);
    let plan = plan(graph, nanos, 1);
    let order: Vec<usize> = plan
        .steps
        .iter()
        .filter_map(|s| match s.op {
            plan::StepOp::Process { node, .. } => Some(node.0 as usize),
            _ => None,
        })
        .collect();
    let nodes = order.iter().map(|&index| {
        let edges = graph
            .edges()
            .iter()
            .filter(|e| e.to.node.0 as usize == index);
        let from: Box<[usize]> = edges.map(|e| e.from.node.0 as usize).collect();
        let run = move |slots: &mut [[f32; 64]]| {
            let mut x = 1.0;
            for from in &from {
                x += slots[*from][0] * 0.5;
            }
            if steps > 0 {
                x = burn(steps, x);
            }
            slots[index][0] = x;
        };
        PlainNode { run: Box::new(run) }
    });
    PlainLoop {
        nodes: nodes.collect(),
        slots: vec![[0.0; 64]; graph.id_bound()],
    }
}

impl CycleRunner for PlainLoop {
    fn run_cycle(&mut self) {
        for node in &mut self.nodes {
            (node.run)(&mut self.slots);
        }
    }

    fn name(&self) -> String {
        "plain loop".to_owned()
    }
}

/// `rayon::scope` with one spawn for each released node.
pub struct Rayon {
    pool: rayon::ThreadPool,
    graph: Arc<RayonGraph>,
}

struct RayonGraph {
    successors: Vec<Vec<usize>>,
    activation: Vec<u32>,
    waits: Vec<AtomicU32>,
    predecessors: Vec<Vec<usize>>,
    /// One sample of each node's output, on a cache line of its own.
    slots: Vec<CachePadded<AtomicU32>>,
    steps: u32,
}

/// `rayon::scope` over `graph`.
pub fn rayon(graph: &Graph, nanos: u64, workers: usize) -> Rayon {
    let n = graph.id_bound();
    let mut successors = vec![Vec::new(); n];
    let mut predecessors = vec![Vec::new(); n];
    let mut activation = vec![0; n];
    for edge in graph.edges() {
        predecessors[edge.to.node.0 as usize].push(edge.from.node.0 as usize);
        successors[edge.from.node.0 as usize].push(edge.to.node.0 as usize);
        activation[edge.to.node.0 as usize] += 1;
    }
    Rayon {
        pool: rayon::ThreadPoolBuilder::new()
            .num_threads(workers)
            .start_handler(|i| {
                // Without this it would inherit the calling thread's core.
                let cores = workers::cores();
                let _ = workers::pin(cores[i % cores.len()]);
            })
            .build()
            .expect("threads can be started"),
        graph: Arc::new(RayonGraph {
            waits: activation.iter().map(|a| AtomicU32::new(*a)).collect(),
            slots: (0..n).map(|_| CachePadded::default()).collect(),
            predecessors,
            successors,
            activation,
            steps: calibrate(nanos),
        }),
    }
}

impl RayonGraph {
    fn run<'s>(&'s self, scope: &rayon::Scope<'s>, node: usize) {
        let mut x = 1.0;
        for from in &self.predecessors[node] {
            x += f32::from_bits(self.slots[*from].load(Ordering::Relaxed)) * 0.5;
        }
        if self.steps > 0 {
            x = burn(self.steps, x);
        }
        self.slots[node].store(x.to_bits(), Ordering::Relaxed);
        for &next in &self.successors[node] {
            if self.waits[next].fetch_sub(1, Ordering::AcqRel) == 1 {
                self.waits[next].store(self.activation[next], Ordering::Relaxed);
                scope.spawn(move |scope| self.run(scope, next));
            }
        }
    }
}

impl CycleRunner for Rayon {
    fn run_cycle(&mut self) {
        let graph = &*self.graph;
        self.pool.scope(|scope| {
            for node in (0..graph.activation.len()).filter(|n| graph.activation[*n] == 0) {
                scope.spawn(move |scope| graph.run(scope, node));
            }
        });
    }

    fn name(&self) -> String {
        "rayon scope".to_owned()
    }
}

/// Gives the calling thread the settings of an audio callback, and requests that the processor does not sleep deeply.
pub fn enter_callback_thread() -> (AudioThread, Option<DmaLatency>) {
    workers::pin(workers::cores()[0]).expect("a core of ours");
    let held = DmaLatency::acquire();
    if let Err(refusal) = &held {
        println!("without the CPU latency request: {refusal}");
    }
    (AudioThread::enter(), held.ok())
}
