//! Runs one executor on near-empty nodes for a number of cycles, to count instructions with `valgrind --tool=callgrind`:
//! the one figure that other programs do not disturb. `count NAME SHAPE CYCLES`.

use divisi_benches::nodes::with_ticks;
use divisi_benches::runners::{CycleRunner, divisi, plain};
use graph::shape;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, shape, cycles] = words.as_slice() else {
        eprintln!("count NAME SHAPE CYCLES");
        std::process::exit(2);
    };
    let graph = match shape.as_str() {
        "rake" => shape::rake(500, None),
        "diamond" => shape::diamond(636, None),
        "random" => shape::random(500, 1, None),
        _ => shape::line(500, None),
    };
    let graph = with_ticks(&graph.expect("the sizes are right"), 0);
    let mut runner: Box<dyn CycleRunner> = match name.as_str() {
        "plain" => Box::new(plain(&graph, 0)),
        name => Box::new(divisi(name.to_owned().leak(), &graph, 0, 1)),
    };
    for _ in 0..cycles.parse().unwrap_or(1) {
        runner.run_cycle();
    }
    println!("{} nodes", graph.len());
}
