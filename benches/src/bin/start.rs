//! Wake latency: the time from the start of a cycle until a second worker has entered it, once for a spinning worker and
//! once for a sleeping one. `--cycles N`. Also the cost of the trace.

use divisi_benches::runners::enter_callback_thread;
use divisi_benches::traced::TracedExecutor;
use graph::shape;
use plan::TraceEvent;
use rt::stamp::{TickScale, now};
use std::time::Duration;
use units::{Frames, SampleRate};
use workers::{Priority, WaitPolicy};

fn main() {
    let cycles = std::env::args().skip_while(|a| a != "--cycles").nth(1);
    let cycles: u64 = cycles.and_then(|c| c.parse().ok()).unwrap_or(4000);
    let _host = enter_callback_thread();
    println!("ns from the start of a cycle until worker 1 has entered it, {cycles} cycles");
    // A worker that spins between cycles has no real-time priority: other programs may preempt it.
    report(
        "awake (spins between cycles)",
        &mut starts(WaitPolicy::Spin, Priority::Ordinary, cycles),
    );
    report(
        "asleep",
        &mut starts(WaitPolicy::Hybrid, workers::current_priority(), cycles),
    );
    trace_cost();
    parts();
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

/// Time from the start of each cycle to the entry of worker 1, in ns. Between cycles is a pause of 1 ms.
fn starts(wait: WaitPolicy, priority: Priority, cycles: u64) -> Vec<u64> {
    let scale = TickScale::calibrated();
    let mut executor = TracedExecutor::new(&rake(), "stealing", 1000, (wait, priority));
    executor.runtime.set_traced(true);
    let mut starts = Vec::new();
    for cycle in 0..cycles {
        let begin = now();
        executor.run(cycle);
        std::thread::sleep(Duration::from_millis(1));
        let records = executor.records();
        let entered = records
            .iter()
            .find(|r| r.worker == 1 && r.event == TraceEvent::Enter);
        starts.extend(entered.map(|r| scale.between(begin, r.stamp).0));
    }
    starts
}

/// A session that uses a part of three nodes 10,000 times.
const PARTS: &str = r#"
edges = ["voice -> mix -> out"]
[part.voice]
outputs = ["out"]
params = { cutoff = 800 }
edges = ["osc -> tone -> level -> out"]
[part.voice.nodes]
osc = { kind = "osc", freq = "440 * 2^((i % 60) / 12)" }
tone = { kind = "onepole", freq = "cutoff" }
level = { kind = "gain", gain = 0.001 }
[nodes]
voice = { kind = "voice", count = 10000, cutoff = "800 + i % 100" }
mix = { kind = "mix", in = 1 }
out = { kind = "sink" }
"#;

/// Prints the time to read and to plan that session; the aim is a second for both.
fn parts() {
    let (scale, catalogue) = (TickScale::calibrated(), dsp::catalogue());
    let rate = SampleRate::new(48_000).expect("a usual rate");
    let options = plan::PlanOptions::new(Frames(64), rate);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        let begin = now();
        let reading = text::toml::read(PARTS, &catalogue);
        let read = now();
        let graph = &reading.session.graph;
        let plan = plan::compile(graph, &catalogue, &options).expect("a graph without mistakes");
        assert!(graph.len() == 30_002 && plan.steps.len() >= 30_000);
        times[0].push(scale.between(begin, read).0 as f64 / 1e6);
        times[1].push(scale.between(read, now()).0 as f64 / 1e6);
    }
    let [read, plan] = times.map(|mut t| divisi_benches::stats::median(&mut t));
    println!(
        "a part used 10,000 times (30,002 nodes): read in {read:.0} ms, planned in {plan:.0} ms"
    );
}

/// Prints the cost of near-empty nodes with and without a trace, in interleaved rounds.
fn trace_cost() {
    let scale = TickScale::calibrated();
    let mut executor = TracedExecutor::new(
        &rake(),
        "stealing",
        0,
        (WaitPolicy::Hybrid, workers::current_priority()),
    );
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..200 {
        for (is_traced, times) in times.iter_mut().enumerate() {
            executor.runtime.set_traced(is_traced == 1);
            let begin = now();
            for cycle in 0..20 {
                executor.run(round * 100 + cycle);
            }
            times.push(scale.between(begin, now()).0 as f64 / 20.0 / 500.0);
            executor.records();
        }
    }
    let [off, on] = times.map(|mut t| divisi_benches::stats::median(&mut t));
    println!(
        "trace: {off:.1} ns per near-empty node without, {on:.1} with (two workers, 500-node rake)"
    );
}

fn rake() -> graph::Graph {
    shape::rake(500, None).expect("a rake's size")
}
