//! How long from the start of a cycle until another worker is in it: one that is awake, and one that sleeps.
//! `--cycles N`. And what the trace costs.

use divisi_benches::contestants::become_host;
use divisi_benches::hall::Hall;
use graph::shape;
use plan::Mark;
use rt::stamp::{Scale, now};
use std::time::Duration;
use workers::{Priority, Wait};

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
    let mut hall = Hall::new(&rake(), "stealing", 1000, (wait, priority));
    hall.floor.trace(true);
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
    let mut hall = Hall::new(
        &rake(),
        "stealing",
        0,
        (Wait::Hybrid, workers::current_priority()),
    );
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

fn rake() -> graph::Graph {
    shape::rake(500, None).expect("a rake's size")
}
