//! Gain of splitting one block over two cores: each kind of node that can be split, whole and in two parts. `--pairs N`.
//! Use `chrt -f 50` on a busy machine.
//!
//! The node's `process` is timed from inside, while the other worker is awake and has no other work: a step of 30 µs comes
//! before it. Medians of interleaved pairs, and beside them the minima.

use divisi_benches::runners::enter_callback_thread;
use divisi_benches::stats::median;
use exec::{Binding, CycleInfo, CycleStatus, DelayLines, Executor, ProcessorPool, SharedRuntime};
use graph::{Catalogue, Edge, Graph, Node, NodeId, ParamValue, PortRef, SourceSpan};
use plan::PlanOptions;
use processor::{Block, Mode, ProcessStatus, Processor, Registry, Setup, StateError, Tail};
use rt::stamp::{TickScale, now};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use units::{Frames, SampleRate};
use workers::{WaitPolicy, WorkerPool, WorkerPoolOptions};

fn main() {
    let pairs = std::env::args().skip_while(|a| a != "--pairs").nth(1);
    let pairs = pairs.and_then(|p| p.parse().ok()).unwrap_or(101);
    let _host = enter_callback_thread();
    println!("ns per block of a node, whole and in two parts, {pairs} pairs");
    println!(
        "{:24} {:>6} {:>9} {:>9} {:>7} {:>15} {:>7}",
        "", "frames", "whole", "split", "ratio", "minimum", "ratio"
    );
    for frames in [64, 256, 1024, 4096] {
        for case in cases() {
            report(&case, frames, pairs);
        }
    }
}

/// A node that can be split.
struct Case {
    name: String,
    kind: &'static str,
    inputs: u16,
    params: Vec<(&'static str, ParamValue)>,
}

fn number(value: f64) -> ParamValue {
    ParamValue::Number(value)
}

fn cases() -> Vec<Case> {
    let case = |name: &str, kind, inputs, params| Case {
        name: name.into(),
        kind,
        inputs,
        params,
    };
    let clip = vec![("mode", ParamValue::Text("clip".into()))];
    let mut cases = vec![
        case("gain", "gain", 1, Vec::new()),
        case("pan", "pan", 1, Vec::new()),
        case("shape, soft", "shape", 1, Vec::new()),
        case("shape, clip", "shape", 1, clip),
    ];
    for (kind, inputs) in [("mix", 8), ("mix", 64), ("mixer", 8), ("mixer", 64)] {
        let params = vec![("in", number(f64::from(inputs)))];
        cases.push(case(&format!("{kind} of {inputs}"), kind, inputs, params));
    }
    for taps in [64, 256, 1024, 4096, 8192] {
        let params = vec![("taps", number(f64::from(taps)))];
        cases.push(case(&format!("fir of {taps}"), "fir", 1, params));
    }
    cases
}

/// Prints one row of the table.
fn report(case: &Case, frames: u32, pairs: usize) {
    let name = &case.name;
    let mut bench = Bench::new(case, frames);
    assert_eq!(
        bench.block_bits(0),
        bench.block_bits(1),
        "{name}: the same bits"
    );
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..pairs {
        let begin = Instant::now();
        for (which, times) in times.iter_mut().enumerate() {
            times.push(bench.time(which));
        }
        // A real-time thread that never rests is stopped by the kernel.
        std::thread::sleep(begin.elapsed() / 4 + Duration::from_micros(500));
    }
    let mut ratios: Vec<f64> = times[0].iter().zip(&times[1]).map(|(a, b)| a / b).collect();
    let min = times
        .each_ref()
        .map(|t| t.iter().copied().fold(f64::MAX, f64::min));
    let [whole, split] = times.each_mut().map(|t| median(t));
    println!(
        "{name:24} {frames:6} {whole:9.0} {split:9.0} {:7.2} {:7.0} {:7.0} {:7.2}",
        median(&mut ratios),
        min[0],
        min[1],
        min[0] / min[1]
    );
}

/// The same node whole and in two parts, on one runtime with one worker pool.
struct Bench {
    executors: [Box<dyn Executor>; 2],
    spent: Arc<AtomicU64>,
    active: usize,
    frames: u32,
    cycle: u64,
    scale: TickScale,
    _worker_pool: WorkerPool,
}

impl Bench {
    fn new(case: &Case, frames: u32) -> Self {
        let worker_pool = WorkerPool::new(WorkerPoolOptions {
            workers: 2,
            priority: workers::current_priority(),
            wait: WaitPolicy::Hybrid,
            pin: Some(workers::cores().to_vec()),
            ..WorkerPoolOptions::default()
        });
        let worker_pool = worker_pool.expect("threads can be started");
        let spent = Arc::new(AtomicU64::new(0));
        let registry = registry(&spent);
        let writers = (0..2).map(|_| rt::trace::ring(16).0).collect();
        let runtime = Arc::new(SharedRuntime::new(writers));
        let rate = SampleRate::new(48_000).expect("48000 is not zero");
        let executors = [1.0, 2.0].map(|split| {
            let graph = graph(&registry, case, split);
            let mut options = PlanOptions::new(Frames(frames), rate);
            options.workers = 2;
            let plan = plan::compile(&graph, registry.catalogue(), &options);
            let plan = plan.expect("the graph is right");
            let mut pool = ProcessorPool::default();
            for (id, node) in graph.nodes() {
                let made = registry.make(node, Path::new(".")).expect("it is right");
                pool.insert(id, made, (rate, Frames(frames), Mode::Live));
            }
            let mut executor = exec::stealing(
                Binding {
                    plan: &plan,
                    processors: &pool,
                    delay_lines: &mut DelayLines::default(),
                    runtime: runtime.clone(),
                    input_channels: 0,
                },
                &worker_pool,
            );
            executor.try_release();
            executor
        });
        Self {
            executors,
            spent,
            active: 0,
            frames,
            cycle: 0,
            scale: TickScale::calibrated(),
            _worker_pool: worker_pool,
        }
    }

    fn cycle(&mut self, which: usize) {
        if self.active != which {
            assert!(self.executors[self.active].try_release());
            self.active = which;
        }
        let ran = self.executors[which].run_cycle(
            &CycleInfo::unlimited(self.cycle * u64::from(self.frames), self.cycle),
            &[],
        );
        assert_eq!(ran.status, CycleStatus::Complete);
        self.cycle += 1;
    }

    /// Time of one `process` in ns: the shortest of six, so that interruptions do not count.
    fn time(&mut self, which: usize) -> f64 {
        let run = |_| {
            self.cycle(which);
            // Relaxed: the cycle is over.
            self.scale.between(0, self.spent.load(Ordering::Relaxed)).0
        };
        (0..8).map(run).skip(2).min().unwrap_or(0) as f64
    }

    /// Bits of the samples of a block.
    fn block_bits(&mut self, which: usize) -> Vec<u32> {
        let mut out = vec![0.0; self.frames as usize];
        for _ in 0..3 {
            self.cycle(which);
        }
        self.executors[which].add_output(0, &mut out);
        out.iter().map(|x| x.to_bits()).collect()
    }
}

/// A graph with noise at every input of the node, and a sink at its output.
fn graph(registry: &Registry, case: &Case, split: f64) -> Graph {
    let mut graph = Graph::default();
    let mut add = |name: &str, kind: &str, params: &[(&str, ParamValue)]| -> NodeId {
        let mut node = Node::new(name, kind);
        for (key, value) in params {
            node.set(*key, value.clone());
        }
        let kind = registry.catalogue().get(kind).expect("it is known");
        let wrong = Catalogue::assign_ports(kind, &mut node);
        assert!(wrong.is_empty(), "{wrong:?}");
        graph.add(node).expect("a new name")
    };
    let seed = |n: u16| [("seed", number(f64::from(n)))];
    let sources: Vec<NodeId> = (1..=case.inputs)
        .map(|n| add(&format!("source{n}"), "noise", &seed(n)))
        .collect();
    let mut all = case.params.clone();
    all.push(("split", number(split)));
    let node = add("node", case.kind, &all);
    let work = add("work", "work", &[("ns", number(30_000.0))]);
    let sink = add("sink", "sink", &[]);
    let mut join = |from, to, port| {
        graph.connect(Edge {
            from: PortRef {
                node: from,
                port: 0,
            },
            to: PortRef { node: to, port },
            span: SourceSpan::default(),
        });
    };
    for (source, port) in sources.into_iter().zip(0..) {
        if port == 0 {
            join(source, work, 0);
            join(work, node, 0);
        } else {
            join(source, node, port);
        }
    }
    join(node, sink, 0);
    graph
}

/// The kinds of the unit library; those that can be split measure their `process`.
fn registry(spent: &Arc<AtomicU64>) -> Registry {
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let mut plain = Registry::default();
    dsp::register(&mut plain);
    let plain = Arc::new(plain);
    for name in ["gain", "pan", "shape", "mix", "mixer", "fir"] {
        let kind = plain.catalogue().get(name).expect("it is there").clone();
        let (plain, spent) = (plain.clone(), spent.clone());
        registry.add(kind, move |creation| {
            Ok(Box::new(Timed(
                plain.make(creation.node, creation.folder)?,
                spent.clone(),
            )) as Box<dyn Processor>)
        });
    }
    registry
}

/// A processor that measures the time of its `process`.
struct Timed(Box<dyn Processor>, Arc<AtomicU64>);

impl Processor for Timed {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.0.setup(setup);
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let begin = now();
        let activity = self.0.process(block);
        // Relaxed: read when the cycle is over.
        self.1.store(now() - begin, Ordering::Relaxed);
        activity
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn tail(&self) -> Tail {
        self.0.tail()
    }

    fn max_parallelism(&self) -> u32 {
        self.0.max_parallelism()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.0.load(state)
    }
}
