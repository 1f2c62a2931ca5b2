//! Ways to run one cycle of a graph: Divisi's executors and what they are held against.

use crate::nodes::{burn, calibrate, registry};
use exec::{Binding, Executor, Floor, Lines, Now, Outcome, Pool};
use graph::Graph;
use plan::{Dag, Fuse, Link, Machine, Options, Plan, etf};
use processor::Mode;
use rt::pad::Padded;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Frames, Nanos, SampleRate};
use workers::{AudioThread, Crew, CrewOptions, DmaLatency};

/// Something that can run a cycle.
pub trait Contestant {
    /// Runs one.
    fn cycle(&mut self);
    /// What it is called.
    fn name(&self) -> String;
    /// What it counted, a cycle.
    fn counts(&self) -> String {
        String::new()
    }
}

/// One of Divisi's executors.
pub struct Ours {
    name: &'static str,
    executor: Box<dyn Executor>,
    _crew: Crew,
    cycle: u64,
    takes: u64,
    wakes: u64,
}

/// Rate and block of every benchmark.
pub fn block() -> (Frames, SampleRate) {
    (
        Frames(64),
        SampleRate::new(48_000).expect("48000 is not zero"),
    )
}

/// The plan of `graph` with a schedule for `workers`, each node a task.
pub fn plan(graph: &Graph, nanos: u64, workers: usize) -> Plan {
    plan_for("hlfet", graph, nanos, workers)
}

/// The plan that the contestant `name` follows.
fn plan_for(name: &str, graph: &Graph, nanos: u64, workers: usize) -> Plan {
    let (block, rate) = block();
    let mut options = Options::new(block, rate);
    options.lanes = workers;
    if name == "pipelined" {
        options.ahead = workers as u32 - 1;
    }
    if name.ends_with(" fused") || name == "pipelined" {
        options.fuse = Some(Fuse::typical(workers));
    }
    let registry = registry(nanos.min(1));
    let mut plan = plan::compile(graph, registry.catalogue(), &options).expect("it is right");
    if name.starts_with("etf") {
        let crossing = Link {
            base: Fuse::typical(workers).crossing,
            per_kib: Nanos(0),
        };
        plan.lanes = etf(&Dag::of(&plan), &Machine::uniform(workers, crossing)).tasks();
    }
    plan
}

/// The executor called `name` with `workers` workers; behind a name ` fused` has cheap nodes given out together.
pub fn ours(name: &'static str, graph: &Graph, nanos: u64, workers: usize) -> Ours {
    let (block, rate) = block();
    let registry = registry(nanos);
    let plan = plan_for(name, graph, nanos, workers);
    let crew = Crew::new(CrewOptions {
        workers,
        priority: workers::current_priority(),
        pin: (workers > 1 && workers <= workers::cores().len()).then(|| workers::cores().to_vec()),
        ..CrewOptions::default()
    });
    let crew = crew.expect("threads can be started");
    let mut pool = Pool::default();
    for (id, node) in graph.nodes() {
        let made = registry.make(node, Path::new(".")).expect("it is a tick");
        pool.admit(id, made, (rate, block, Mode::Live));
    }
    let pens = (0..workers).map(|_| rt::trace::ring(16).0).collect();
    let mut lines = Lines::default();
    let binding = Binding {
        plan: &plan,
        pool: &pool,
        lines: &mut lines,
        floor: Arc::new(Floor::new(pens)),
        inputs: 0,
    };
    let executor = match name.trim_end_matches(" fused") {
        "sequential" => exec::sequential(binding),
        "hlfet" | "etf" | "pipelined" => exec::fixed(binding, &crew),
        "stealing" => exec::stealing(binding, &crew),
        "global" => exec::global(binding, &crew),
        "weighted" => exec::weighted(binding, &crew),
        "deadline" => exec::deadline(binding, &crew),
        "mutex" => exec::mutex(binding, &crew),
        _ => unreachable!("no such executor"),
    };
    Ours {
        name,
        executor,
        _crew: crew,
        cycle: 0,
        takes: 0,
        wakes: 0,
    }
}

impl Contestant for Ours {
    fn cycle(&mut self) {
        let ran = self.executor.run(&Now {
            position: self.cycle * 64,
            first: 0,
            end: u64::MAX,
            cycle: self.cycle,
            device: &[],
            give_up: u64::MAX,
            help_until: u64::MAX,
        });
        assert_eq!(ran.outcome, Outcome::Done);
        self.takes += u64::from(ran.acquisitions);
        self.wakes += u64::from(ran.wakes);
        self.cycle += 1;
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn counts(&self) -> String {
        let a_cycle = |n: u64| n as f64 / self.cycle.max(1) as f64;
        format!(
            "takes {:.1} wakes {:.2}",
            a_cycle(self.takes),
            a_cycle(self.wakes)
        )
    }
}

/// A graph as a loop over nodes in topological order, without any executor: what nobody can beat on one core.
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
        .filter_map(|s| match s.work {
            plan::Work::Node { node, .. } => Some(node.0 as usize),
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

impl Contestant for PlainLoop {
    fn cycle(&mut self) {
        for node in &mut self.nodes {
            (node.run)(&mut self.slots);
        }
    }

    fn name(&self) -> String {
        "plain loop".to_owned()
    }
}

/// `rayon::scope`: a spawn for each released node.
pub struct Rayon {
    pool: rayon::ThreadPool,
    graph: Arc<RayonGraph>,
}

struct RayonGraph {
    successors: Vec<Vec<usize>>,
    activation: Vec<u32>,
    waits: Vec<AtomicU32>,
    predecessors: Vec<Vec<usize>>,
    /// One sample of each node's output, on a line of its own.
    slots: Vec<Padded<AtomicU32>>,
    steps: u32,
}

/// Rayon's scope over `graph`.
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
                // It would inherit the host's core.
                let cores = workers::cores();
                let _ = workers::pin(cores[i % cores.len()]);
            })
            .build()
            .expect("threads can be started"),
        graph: Arc::new(RayonGraph {
            waits: activation.iter().map(|a| AtomicU32::new(*a)).collect(),
            slots: (0..n).map(|_| Padded::default()).collect(),
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

impl Contestant for Rayon {
    fn cycle(&mut self) {
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

/// Makes the calling thread what a callback thread would be, and holds the latency request.
pub fn become_host() -> (AudioThread, Option<DmaLatency>) {
    workers::pin(workers::cores()[0]).expect("a core of ours");
    let held = DmaLatency::hold();
    if let Err(refusal) = &held {
        println!("without the latency request: {refusal}");
    }
    (AudioThread::begin(), held.ok())
}
