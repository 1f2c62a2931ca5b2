//! Runs copies of one unit for a number of cycles, to count instructions with `valgrind --tool=callgrind`: with a parameter
//! that nobody drives, and with one that sound drives. `modulation KIND PARAM LAW CYCLES`, where LAW is `none`, `add`,
//! `octaves`, `times` or `dB`. The difference of two runs with different numbers of cycles is that of the cycles.

use divisi_benches::runners::block;
use exec::{Binding, CycleInfo, DelayLines, ProcessorPool, SharedRuntime};
use graph::{Amount, Graph, GraphBuilder, NodeId, ParamValue};
use plan::PlanOptions;
use processor::{Mode, Registry};
use std::path::Path;
use std::sync::Arc;

/// Number of nodes that are counted.
const COPIES: usize = 100;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, param, law, cycles] = words.as_slice() else {
        eprintln!("modulation KIND PARAM LAW CYCLES");
        std::process::exit(2);
    };
    let mut registry = Registry::default();
    dsp::register(&mut registry);
    let graph = graph(&registry, (kind, param, law));
    let (frames, rate) = block();
    let plan = plan::compile(
        &graph,
        registry.catalogue(),
        &PlanOptions::new(frames, rate),
    );
    let plan = plan.expect("the graph is right");
    let mut pool = ProcessorPool::default();
    for (id, node) in graph.nodes() {
        let made = registry.make(node, Path::new(".")).expect("it is right");
        pool.insert(id, made, (rate, frames, Mode::Live));
    }
    let mut executor = exec::sequential(Binding {
        plan: &plan,
        processors: &pool,
        delay_lines: &mut DelayLines::default(),
        runtime: Arc::new(SharedRuntime::new(vec![rt::trace::ring(16).0])),
        input_channels: 0,
    });
    for cycle in 0..cycles.parse().expect("a number of cycles") {
        executor.run_cycle(&CycleInfo::unlimited(cycle * 64, cycle), &[]);
    }
    println!("{COPIES} nodes");
}

/// A source of sound and one of drive, and the copies, each with a sink of its own sum.
fn graph(registry: &Registry, (kind, param, law): (&str, &str, &str)) -> Graph {
    let mut patch = GraphBuilder::new(registry.catalogue());
    let number = |value: f64| ParamValue::Number(value);
    let freq = [("freq", number(440.0))];
    let source = patch.add("source", "osc", &freq).expect("it is right");
    let lfo = patch
        .add("lfo", "osc", &[("freq", number(5.0))])
        .expect("it is right");
    let needs_freq = matches!(kind, "osc" | "mod");
    for copy in 0..COPIES {
        let params: &[_] = match kind {
            "delay" => &[
                ("time", number(0.01)),
                ("min_time", number(0.005)),
                ("max_time", number(0.02)),
            ],
            _ if needs_freq => &freq,
            _ => &[],
        };
        let node = patch
            .add(&format!("n{copy}"), kind, params)
            .expect("it is right");
        let has_input = !patch
            .graph()
            .node(node)
            .is_some_and(|node| node.inputs.is_empty());
        if has_input {
            patch
                .connect((source, "out"), (node, "in"))
                .expect("it is right");
        }
        drive(&mut patch, lfo, (node, param), law);
    }
    patch.finish()
}

fn drive(patch: &mut GraphBuilder<'_>, lfo: NodeId, to: (NodeId, &str), law: &str) {
    if law != "none" {
        let amount: Amount = format!("0.1 {law}").parse().expect("it is a law");
        patch
            .modulate((lfo, "out"), to, amount)
            .expect("it can be driven");
    }
}
