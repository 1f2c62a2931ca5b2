//! Traces of real executors: they are whole, and they name the node that was late.

use divisi_check::hall::{Manner, WAYS, Way, rate, registry};
use exec::{Binding, Executor, Floor, Lines, Now, Outcome, Pool};
use graph::{Graph, Kind, Node, PortCount, PortSpec, Width, shape};
use plan::{Options, TraceRecord};
use processor::{Activity, Block, Mode, Processor, Registry, Setup};
use report::{Findings, Steps, Tracer};
use rt::stamp;
use rt::trace::{Reader, ring};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Channels, Frames, Nanos};
use workers::{Crew, CrewOptions};

/// How long each node computes, in stamps, and which node (by the number in its name) computes longer, how long.
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

    fn process(&mut self, block: &mut Block<'_>) -> Activity {
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
        block.silence();
        Activity::Awake
    }

    fn reset(&mut self) {}
}

/// The usual kinds, but what the shapes are made of inside is busy.
fn busy(plot: &Arc<Plot>) -> Registry {
    let mut registry = registry();
    let port = |name, count| PortSpec {
        name,
        width: Width::Fixed(Channels(1)),
        count,
    };
    for name in ["mod", "mix"] {
        let plot = plot.clone();
        let many = PortCount::Many {
            default: 1,
            least: 1,
            most: 64,
        };
        let mut kind = Kind::new(name, "computes for a while");
        kind.inputs = vec![port("in", many)];
        kind.outputs = vec![port("out", many)];
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
    executor: Box<dyn Executor>,
    readers: Vec<Reader<TraceRecord>>,
    tracer: Tracer,
    cycle: u64,
    _crew: Crew,
}

impl Traced {
    fn new(graph: &Graph, registry: &Registry, manner: Manner, deadline: Option<Nanos>) -> Self {
        let mut options = Options::new(Frames(manner.block), rate());
        options.lanes = manner.workers;
        let plan = plan::compile(graph, registry.catalogue(), &options).unwrap();
        let crew = Crew::new(CrewOptions {
            workers: manner.workers,
            ..CrewOptions::default()
        })
        .unwrap();
        let (pens, readers) = (0..manner.workers).map(|_| ring(1 << 14)).unzip();
        let floor = Arc::new(Floor::new(pens));
        floor.trace(true);
        let mut pool = Pool::default();
        for (id, node) in graph.nodes() {
            let made = registry.make(node, Path::new(".")).unwrap();
            pool.admit(id, made, (rate(), Frames(manner.block), Mode::Offline));
        }
        let scale = stamp::Scale::of_this_machine();
        let tracer = Tracer::new(Steps::of(&plan, graph), deadline, move |ticks| {
            scale.nanos(ticks)
        });
        let mut lines = Lines::default();
        let binding = Binding {
            plan: &plan,
            pool: &pool,
            lines: &mut lines,
            floor,
            inputs: 0,
        };
        let executor = manner.way.executor(binding, &crew);
        Self {
            executor,
            readers,
            tracer,
            cycle: 0,
            _crew: crew,
        }
    }

    fn run(&mut self) {
        let now = Now {
            position: self.cycle * 64,
            first: 0,
            end: u64::MAX,
            cycle: self.cycle,
            device: &[],
            give_up: u64::MAX,
            help_until: u64::MAX,
        };
        self.cycle += 1;
        assert_eq!(self.executor.run(&now).outcome, Outcome::Done);
        if self.cycle.is_multiple_of(16) {
            self.read();
        }
    }

    fn read(&mut self) {
        for reader in &mut self.readers {
            reader.drain(|record| self.tracer.feed(record));
        }
        self.tracer
            .pass(self.readers.iter().map(Reader::dropped).sum());
    }

    fn finish(mut self) -> Findings {
        self.read();
        self.tracer.finish()
    }
}

#[test]
fn every_executor_records_every_step_of_every_cycle() {
    let graph = shape::diamond(36, None).unwrap();
    let plot = Arc::new(Plot::default());
    plot.victim.store(u64::MAX, Ordering::Relaxed);
    for way in WAYS {
        for workers in 1..=3 {
            let manner = Manner {
                way,
                workers,
                ..Manner::reference(64)
            };
            let mut traced = Traced::new(&graph, &busy(&plot), manner, None);
            (0..200).for_each(|_| traced.run());
            let found = traced.finish();
            assert_eq!(
                (found.cycles, found.dropped, found.holed),
                (200, 0, 0),
                "{manner:?}"
            );
            assert_eq!(found.node_ns.len(), graph.len(), "{manner:?}");
            assert!(
                found.node_ns.values().all(|times| times.count == 200),
                "{manner:?}: {found:?}"
            );
        }
    }
}

#[test]
#[ignore = "the long tier: other programs' time on these cores can look like a late node"]
fn of_a_thousand_overruns_all_are_counted_and_the_right_node_is_named() {
    let graph = shape::diamond(36, None).unwrap();
    let plot = Arc::new(Plot::default());
    let ticks = |ns| stamp::Scale::of_this_machine().ticks(Nanos(ns));
    plot.usual.store(ticks(2_000), Ordering::Relaxed);
    plot.extra.store(ticks(10_000_000), Ordering::Relaxed);
    let inner: Vec<u64> = graph
        .nodes()
        .filter(|(_, node)| is_busy(node))
        .map(|(_, node)| number(&node.name))
        .collect();
    for way in [Way::Sequential, Way::Stealing, Way::Fixed] {
        let workers = if way == Way::Sequential { 1 } else { 2 };
        let manner = Manner {
            way,
            workers,
            ..Manner::reference(64)
        };
        let mut traced = Traced::new(&graph, &busy(&plot), manner, Some(Nanos(5_000_000)));
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
