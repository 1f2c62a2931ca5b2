//! Cost of scheduling a node: near-empty nodes on one worker and 1 µs nodes on two, for all executors, beside a plain
//! loop, `rayon::scope` and a queue with a lock. Medians of interleaved rounds; `--rounds N`.

use divisi_benches::nodes::{burn, calibrate, with_ticks};
use divisi_benches::runners::{CycleRunner, divisi, enter_callback_thread, plain, plan, rayon};
use divisi_benches::stats::quartiles;
use graph::{Graph, shape};
use rt::stamp::{TickScale, now};

const TWO: [&str; 12] = [
    "sequential",
    "hlfet",
    "hlfet fused",
    "etf",
    "etf fused",
    "stealing",
    "stealing fused",
    "global",
    "weighted",
    "deadline",
    "pipelined",
    "mutex",
];

fn main() {
    let rounds = std::env::args().skip_while(|a| a != "--rounds").nth(1);
    let rounds: usize = rounds.and_then(|r| r.parse().ok()).unwrap_or(60);
    let _host = enter_callback_thread();
    // A timer interrupt changes a median little; a busy neighbour changes it much, which the quartiles show.
    println!("median ns (quartiles) of {rounds} interleaved rounds\n");
    one_worker(rounds);
    two_workers(rounds);
}

fn graphs() -> [(&'static str, Graph); 4] {
    [
        ("rake 500", shape::rake(500, None).expect("a rake's size")),
        (
            "diamond 636",
            shape::diamond(636, None).expect("a diamond's size"),
        ),
        ("random 500", shape::random(500, 1, None).expect("any size")),
        ("line 500", shape::line(500, None).expect("any size")),
    ]
}

fn one_worker(rounds: usize) {
    println!("## ns per node, near-empty nodes, one worker");
    for (name, graph) in graphs() {
        let graph = with_ticks(&graph, 0);
        let mut all: Vec<Box<dyn CycleRunner>> = vec![Box::new(plain(&graph, 0))];
        for name in [
            "sequential",
            "hlfet",
            "stealing",
            "stealing fused",
            "global",
            "weighted",
            "deadline",
            "mutex",
        ] {
            all.push(Box::new(divisi(name, &graph, 0, 1)));
        }
        all.push(Box::new(rayon(&graph, 0, 1)));
        let times = measure(&mut all, rounds, 200);
        for (runner, times) in all.iter().zip(times) {
            let [low, mid, high] = times.map(|t| t / graph.len() as f64);
            println!(
                "{name:12} {:12} {mid:7.1} ({low:.1} {high:.1})",
                runner.name()
            );
        }
    }
    println!();
}

fn two_workers(rounds: usize) {
    println!("## ns per node above max(sequential / 2, critical path), 1 µs nodes, two workers");
    for (name, graph) in graphs() {
        let graph = with_ticks(&graph, 1000);
        let mut all: Vec<Box<dyn CycleRunner>> = vec![Box::new(plain(&graph, 1000))];
        for name in TWO {
            all.push(Box::new(divisi(name, &graph, 1000, 2)));
        }
        all.push(Box::new(rayon(&graph, 1000, 2)));
        let times = measure(&mut all, rounds, 8);
        let per_node = times[0][1] / graph.len() as f64;
        let dag = plan::Dag::from_plan(&plan(&graph, 1000, 2));
        let path = dag.critical_path(|_| units::Nanos(0)).len() as f64 * per_node;
        let bound = (times[0][1] / 2.0).max(path);
        println!("{name:12} bound {:.0} ns, per node {per_node:.0} ns", bound);
        for (runner, times) in all.iter().zip(times) {
            let [low, mid, high] = times.map(|t| (t - bound) / graph.len() as f64);
            let counts = runner.counts();
            println!(
                "{name:12} {:12} {mid:7.1} ({low:.1} {high:.1}) {counts}",
                runner.name()
            );
        }
    }
    let steps = calibrate(1000);
    println!("\n({} steps burn 1 µs; check {})", steps, burn(10, 1.0));
}

/// Quartiles of the duration of a cycle in ns, for each runner. In each round, each runs `cycles` cycles.
fn measure(all: &mut [Box<dyn CycleRunner>], rounds: usize, cycles: usize) -> Vec<[f64; 3]> {
    let scale = TickScale::calibrated();
    let mut times = vec![Vec::new(); all.len()];
    for round in 0..rounds + 3 {
        for (runner, times) in all.iter_mut().zip(&mut times) {
            runner.run_cycle();
            let start = now();
            for _ in 0..cycles {
                runner.run_cycle();
            }
            let took = scale.between(start, now()).0 as f64 / cycles as f64;
            if round >= 3 {
                times.push(took);
            }
            // Under real-time priority (`chrt -f 50`) the kernel stops a thread that uses more than 95 % of a second.
            std::thread::sleep(std::time::Duration::from_nanos(
                (took * cycles as f64 * 0.15) as u64,
            ));
        }
    }
    times.iter_mut().map(|t| quartiles(t)).collect()
}
