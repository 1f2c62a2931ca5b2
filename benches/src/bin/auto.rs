//! The scheduler `auto` beside the sequential executor: its cost on near-empty graphs of every shape, and its gain on 1 µs
//! nodes. The whole engine runs, with the decision in each cycle. Medians of interleaved pairs; `--pairs N`.

use divisi_benches::nodes::{registry, with_ticks};
use divisi_benches::runners::{block, enter_callback_thread};
use divisi_benches::stats::quartiles;
use driver::{AudioCallback, CallbackInfo};
use engine::{ChooseOptions, Engine, EngineCallback, EngineOptions, Scheduler, choose_scheduler};
use graph::{Graph, shape};
use costs::MachineCosts;
use rt::stamp::now;
use std::sync::Arc;

/// Cycles of one timed run.
const CYCLES: u64 = 400;

fn main() {
    let pairs = std::env::args().skip_while(|a| a != "--pairs").nth(1);
    let pairs: usize = pairs.and_then(|p| p.parse().ok()).unwrap_or(31);
    let graphs = [(0, "near-empty nodes"), (1000, "1 µs nodes")]
        .map(|(nanos, what)| (nanos, what, graphs()));
    let _host = enter_callback_thread();
    println!("{pairs} interleaved pairs of {CYCLES} cycles: auto / sequential (quartiles)\n");
    for (nanos, what, graphs) in graphs {
        println!("## {what}");
        for (name, graph) in graphs {
            compare(name, &with_ticks(&graph, nanos), nanos, pairs);
        }
    }
}

fn graphs() -> Vec<(&'static str, Graph)> {
    let all = [
        ("line 10", shape::line(10, None)),
        ("line 500", shape::line(500, None)),
        ("rake 11", shape::rake(11, None)),
        ("rake 500", shape::rake(500, None)),
        ("diamond 16", shape::diamond(16, None)),
        ("diamond 636", shape::diamond(636, None)),
        ("random 20", shape::random(20, 1, None)),
        ("random 500", shape::random(500, 1, None)),
    ];
    all.map(|(name, graph)| (name, graph.expect("a size that there is")))
        .into()
}

fn compare(name: &str, graph: &Graph, nanos: u64, pairs: usize) {
    let (mut auto, chosen) = chosen(graph, nanos);
    let mut one = Run::new(graph, nanos, options(Scheduler::Sequential, 1));
    let run = if nanos == 0 { CYCLES } else { CYCLES / 8 };
    let mut ratios: Vec<f64> = (0..pairs + 2)
        .map(|pair| pair_of(&mut auto, &mut one, run, pair % 2 == 0))
        .skip(2)
        .collect();
    let [low, mid, high] = quartiles(&mut ratios);
    println!(
        "{name:12} {mid:.3} ({low:.3} {high:.3})  speed-up {:.2}  {chosen}",
        1.0 / mid
    );
}

/// Ratio of the times of one pair; the order alternates.
fn pair_of(auto: &mut Run, one: &mut Run, run: u64, is_auto_first: bool) -> f64 {
    let (a, s);
    if is_auto_first {
        a = auto.run(run);
        s = one.run(run);
    } else {
        s = one.run(run);
        a = auto.run(run);
    }
    a as f64 / s as f64
}

fn options(scheduler: Scheduler, workers: usize) -> EngineOptions {
    let (block, rate) = block();
    let mut options = EngineOptions::new(block, rate);
    options.scheduler = scheduler;
    options.workers = workers;
    options.priority = workers::current_priority();
    options
}

/// An engine with the choice of `auto`, and the choice as text.
fn chosen(graph: &Graph, nanos: u64) -> (Run, String) {
    let mut options = options(Scheduler::Stealing, 2);
    let mut machine = MachineCosts::default();
    let choose_options = ChooseOptions::new(options.clone(), "bench");
    let registry = Arc::new(registry(nanos));
    let choice = choose_scheduler(graph, &registry, &choose_options, &mut machine)
        .expect("the graph is right");
    choice.apply(&mut options);
    options.apply_measurements(&machine, "bench", graph);
    (Run::new(graph, nanos, options), choice.to_string())
}

/// An engine and its audio callback.
struct Run {
    engine: Engine,
    callback: EngineCallback,
}

impl Run {
    fn new(graph: &Graph, nanos: u64, options: EngineOptions) -> Self {
        let registry = Arc::new(registry(nanos));
        let made = Engine::new(graph.clone(), registry, options);
        let (engine, callback) = made.expect("the graph is right");
        Self { engine, callback }
    }

    /// Duration of `cycles` cycles, in ticks of the clock.
    fn run(&mut self, cycles: u64) -> u64 {
        let begin = now();
        for _ in 0..cycles {
            self.callback.process(CallbackInfo::default(), &[], &mut []);
        }
        let took = now() - begin;
        self.engine.update();
        took
    }
}
