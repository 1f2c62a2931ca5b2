//! How long from the start of a cycle until another worker is in it: one that is awake, and one that sleeps.
//! `--cycles N`. And what the trace costs.

use divisi_benches::contestants::{become_host, block, plan};
use divisi_benches::nodes::{of_ticks, registry};
use exec::{Binding, Floor, Lines, Now, Pool};
use graph::shape;
use plan::{Mark, TraceRecord};
use processor::Mode;
use rt::stamp::{Scale, now};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use workers::{Crew, CrewOptions, Priority, Wait};

fn main() {
    let cycles = std::env::args().skip_while(|a| a != "--cycles").nth(1);
    let cycles: u64 = cycles.and_then(|c| c.parse().ok()).unwrap_or(4000);
    let _host = become_host();
    println!("ns from the start of a cycle until worker 1 is in it, {cycles} cycles");
    // A worker that spins between cycles has no real-time priority: another program may have its core.
    report(
        "awake (spins between cycles)",
        &mut starts(Wait::Spin, Priority::Ordinary, cycles),
    );
    report(
        "asleep",
        &mut starts(Wait::Hybrid, workers::current_priority(), cycles),
    );
    trace_cost();
}

fn report(what: &str, starts: &mut [u64]) {
    starts.sort_unstable();
    let at = |q: f64| starts[((starts.len() - 1) as f64 * q) as usize];
    println!(
        "{what:30} p50 {:6} p90 {:6} p99 {:6} max {:7}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}

/// The begin of each cycle to worker 1's entry, in ns; a millisecond of rest between cycles.
fn starts(wait: Wait, priority: Priority, cycles: u64) -> Vec<u64> {
    let scale = Scale::of_this_machine();
    let mut hall = Hall::new(wait, priority, true);
    let mut starts = Vec::new();
    for cycle in 0..cycles {
        let begin = now();
        hall.run(cycle);
        std::thread::sleep(Duration::from_millis(1));
        let records = hall.records();
        let entered = records
            .iter()
            .find(|r| r.worker == 1 && r.mark == Mark::Enter);
        starts.extend(entered.map(|r| scale.between(begin, r.stamp).0));
    }
    starts
}

/// Near-empty nodes on one worker, with and without a trace, interleaved.
fn trace_cost() {
    let scale = Scale::of_this_machine();
    let mut hall = Hall::new(Wait::Hybrid, workers::current_priority(), false);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..200 {
        for (traced, times) in times.iter_mut().enumerate() {
            hall.floor.trace(traced == 1);
            let begin = now();
            for cycle in 0..20 {
                hall.run(round * 100 + cycle);
            }
            times.push(scale.between(begin, now()).0 as f64 / 20.0 / 500.0);
            hall.records();
        }
    }
    let [off, on] = times.map(|mut t| divisi_benches::stats::median(&mut t));
    println!(
        "trace: {off:.1} ns a near-empty node without, {on:.1} with (two workers, 500-node rake)"
    );
}

struct Hall {
    executor: Box<dyn exec::Executor>,
    floor: Arc<Floor>,
    readers: Vec<rt::trace::Reader<TraceRecord>>,
    _crew: Crew,
}

impl Hall {
    fn new(wait: Wait, priority: Priority, traced: bool) -> Self {
        let nanos = if traced { 1000 } else { 0 };
        let graph = of_ticks(&shape::rake(500, None).expect("a rake's size"), nanos);
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
        floor.trace(traced);
        let binding = Binding {
            plan: &plan,
            pool: &pool,
            lines: &mut Lines::default(),
            floor: floor.clone(),
            inputs: 0,
        };
        let executor = exec::stealing(binding, &crew);
        Self {
            executor,
            floor,
            readers,
            _crew: crew,
        }
    }

    fn run(&mut self, cycle: u64) {
        self.executor.run(&Now {
            position: cycle * 64,
            cycle,
            device: &[],
            give_up: u64::MAX,
            help_until: u64::MAX,
        });
    }

    fn records(&mut self) -> Vec<TraceRecord> {
        let mut all = Vec::new();
        for reader in &mut self.readers {
            reader.drain(|r| all.push(r));
        }
        all
    }
}
