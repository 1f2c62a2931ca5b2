//! Traces of real executors: they are whole, and they name the node that was late.

use divisi_check::fixtures::graph;
use divisi_check::test_bench::{ALL_STRATEGIES, RunConfig, TestBench, TestStrategy, registry};
use exec::CycleStatus;
use graph::{Graph, Kind, Node, PortCount, PortSignal, PortSpec, shape};
use processor::{Block, ProcessStatus, Processor, Registry, Setup};
use report::{StepNames, TraceStats, Tracer};
use rt::stamp;
use rt::trace::TraceReader;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Channels, Nanos};

/// Time that each node computes, in stamps; and the node (by the number in its name) that computes longer, with its time.
#[derive(Default)]
struct Plot {
    usual: AtomicU64,
    victim: AtomicU64,
    extra: AtomicU64,
}

/// A node that computes for a while.
struct Busy(Arc<Plot>, u64);

impl Processor for Busy {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let get = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let extra = if get(&self.0.victim) == self.1 {
            get(&self.0.extra)
        } else {
            0
        };
        let end = stamp::now() + get(&self.0.usual) + extra;
        while stamp::now() < end {
            std::hint::spin_loop();
        }
        block.silence_outputs();
        ProcessStatus::Continue
    }

    fn reset(&mut self) {}
}

/// The usual kinds, but what the shapes are made of inside is busy.
fn busy(plot: &Arc<Plot>) -> Registry {
    let mut registry = registry();
    let port = |name, count| PortSpec {
        name,
        signal: PortSignal::Fixed(Channels(1)),
        count,
    };
    for name in ["mod", "mix"] {
        let plot = plot.clone();
        let many = PortCount::Many {
            default: 1,
            min: 1,
            max: 64,
        };
        let mut kind = Kind::new(name, "computes for a while");
        kind.inputs = vec![port("in", many)];
        kind.outputs = vec![port("out", many)];
        kind.duplicable = true;
        registry.add(kind, move |creation| {
            Ok(Box::new(Busy(plot.clone(), number(&creation.node.name))))
        });
    }
    registry
}

fn number(name: &str) -> u64 {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a shape's nodes are numbered")
}

/// A graph that plays and is traced.
struct Traced {
    bench: TestBench,
    tracer: Tracer,
}

impl Traced {
    fn new(graph: &Graph, registry: &Registry, config: RunConfig, deadline: Option<Nanos>) -> Self {
        let bench = TestBench::new(graph, registry, config);
        bench.runtime.set_traced(true);
        let scale = stamp::TickScale::calibrated();
        let tracer = Tracer::new(
            StepNames::from_plan(&bench.plan, graph),
            deadline,
            move |ticks| scale.nanos(ticks),
        );
        Self { bench, tracer }
    }

    fn run(&mut self) {
        assert_eq!(self.bench.run_cycle(&[]), CycleStatus::Complete);
        if self.bench.cycle.is_multiple_of(16) {
            self.read();
        }
    }

    fn read(&mut self) {
        for reader in &mut self.bench.traces {
            reader.drain(|record| self.tracer.feed(record));
        }
        let dropped = self.bench.traces.iter().map(TraceReader::dropped);
        self.tracer.end_pass(dropped.sum());
    }

    fn finish(mut self) -> TraceStats {
        self.read();
        self.tracer.finish()
    }
}

/// One source for two that are dear: each worker wants its own.
const FORK: &str = r#"n1 = { kind: "mod", wcet: 0.5, };
    n2 = { kind: "mix", in: 1, out: 1, wcet: 9, }; s = { kind: "sink", }; n1.1 -> n2.1 -> s.1;
    n3 = { kind: "mix", in: 1, out: 1, wcet: 9, }; t = { kind: "sink", }; n1.1 -> n3.1 -> t.1;"#;

#[test]
fn every_executor_records_every_step_of_every_cycle() {
    let plot = Arc::new(Plot::default());
    plot.victim.store(u64::MAX, Ordering::Relaxed);
    let registry = busy(&plot);
    let fork = graph(FORK, &registry);
    let diamond = shape::diamond(36, None).unwrap();
    for way in ALL_STRATEGIES {
        for workers in 1..=3 {
            let config = RunConfig {
                strategy: way,
                workers,
                ..RunConfig::reference(64)
            };
            is_whole(&diamond, &registry, config);
            let copies = is_whole(&fork, &registry, config);
            assert_eq!(
                copies > 0,
                way == TestStrategy::Copied && workers > 1,
                "{config:?}"
            );
        }
    }
}

/// Plays, and looks whether the trace has every step of every cycle; how many steps are copies.
fn is_whole(graph: &Graph, registry: &Registry, config: RunConfig) -> usize {
    let mut traced = Traced::new(graph, registry, config, None);
    (0..200).for_each(|_| traced.run());
    let copies = traced.bench.plan.steps.iter().filter(|step| step.copy > 0);
    let copies = copies.count();
    let found = traced.finish();
    assert_eq!(
        (found.cycles, found.dropped, found.incomplete),
        (200, 0, 0),
        "{config:?}"
    );
    assert_eq!(found.node_ns.len(), graph.len(), "{config:?}");
    assert!(
        found.node_ns.values().all(|times| times.count == 200),
        "{config:?}: {found:?}"
    );
    copies
}

#[test]
#[ignore = "the long tier: other programs' time on these cores can look like a late node"]
fn of_a_thousand_overruns_all_are_counted_and_the_right_node_is_named() {
    let graph = shape::diamond(36, None).unwrap();
    let plot = Arc::new(Plot::default());
    let ticks = |ns| stamp::TickScale::calibrated().ticks(Nanos(ns));
    plot.usual.store(ticks(2_000), Ordering::Relaxed);
    plot.extra.store(ticks(10_000_000), Ordering::Relaxed);
    let inner: Vec<u64> = graph
        .nodes()
        .filter(|(_, node)| is_busy(node))
        .map(|(_, node)| number(&node.name))
        .collect();
    for way in [
        TestStrategy::Sequential,
        TestStrategy::Stealing,
        TestStrategy::Fixed,
    ] {
        let workers = if way == TestStrategy::Sequential {
            1
        } else {
            2
        };
        let config = RunConfig {
            strategy: way,
            workers,
            ..RunConfig::reference(64)
        };
        let mut traced = Traced::new(&graph, &busy(&plot), config, Some(Nanos(5_000_000)));
        let mut truth = BTreeMap::<u64, u64>::new();
        for cycle in 0..3000 {
            let victim = if cycle % 3 == 2 {
                inner[cycle / 3 * 7 % inner.len()]
            } else {
                u64::MAX
            };
            plot.victim.store(victim, Ordering::Relaxed);
            traced.run();
            *truth.entry(victim).or_default() += 1;
        }
        let found = traced.finish();
        let right = found.misses_by_node.iter().map(|(name, n)| {
            let true_misses = truth.get(&number(name)).copied().unwrap_or(0);
            (*n).min(true_misses)
        });
        assert!(found.missed >= 1000, "{way:?}: {}", found.missed);
        assert!(
            right.sum::<u64>() >= 990,
            "{way:?}: {:?}",
            found.misses_by_node
        );
    }
}

fn is_busy(node: &Node) -> bool {
    matches!(node.kind.as_str(), "mod" | "mix")
}
