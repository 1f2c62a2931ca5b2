//! An executor with two workers and its trace, for benchmarks that look into a cycle.

use crate::contestants::{block, plan};
use crate::nodes::{of_ticks, registry};
use exec::{Binding, Executor, Floor, Lines, Now, Pool};
use graph::Graph;
use plan::TraceRecord;
use processor::Mode;
use rt::trace::Reader;
use std::path::Path;
use std::sync::Arc;
use workers::{Crew, CrewOptions, Priority, Wait};

/// Two workers that play a graph of ticks.
pub struct Hall {
    executor: Box<dyn Executor>,
    /// Its trace is off at first.
    pub floor: Arc<Floor>,
    readers: Vec<Reader<TraceRecord>>,
    _crew: Crew,
}

impl Hall {
    /// `graph` with nodes of `nanos`, by `hlfet` or `stealing`.
    pub fn new(graph: &Graph, way: &str, nanos: u64, (wait, priority): (Wait, Priority)) -> Self {
        let graph = of_ticks(graph, nanos);
        let plan = plan(&graph, nanos, 2);
        let crew = Crew::new(CrewOptions {
            workers: 2,
            priority,
            wait,
            pin: Some(workers::cores().to_vec()),
            ..CrewOptions::default()
        });
        let crew = crew.expect("threads can be started");
        let (block, rate) = block();
        let (registry, mut pool) = (registry(nanos), Pool::default());
        for (id, node) in graph.nodes() {
            let made = registry.make(node, Path::new(".")).expect("it is a tick");
            pool.admit(id, made, (rate, block, Mode::Live));
        }
        let (pens, readers) = (0..2).map(|_| rt::trace::ring(1 << 15)).unzip();
        let floor = Arc::new(Floor::new(pens));
        let binding = Binding {
            plan: &plan,
            pool: &pool,
            lines: &mut Lines::default(),
            floor: floor.clone(),
            inputs: 0,
        };
        let executor = match way {
            "hlfet" => exec::fixed(binding, &crew),
            _ => exec::stealing(binding, &crew),
        };
        Self {
            executor,
            floor,
            readers,
            _crew: crew,
        }
    }

    /// Plays one cycle.
    pub fn run(&mut self, cycle: u64) {
        self.executor.run(&Now {
            position: cycle * 64,
            first: 0,
            end: u64::MAX,
            cycle,
            device: &[],
            give_up: u64::MAX,
            help_until: u64::MAX,
        });
    }

    /// What was traced since the last call.
    pub fn records(&mut self) -> Vec<TraceRecord> {
        let mut all = Vec::new();
        for reader in &mut self.readers {
            reader.drain(|r| all.push(r));
        }
        all
    }
}
