//! Comparison of candidates in interleaved rounds, by their medians.

use std::time::Instant;

/// One implementation of the same work. `run` does it as often as its argument says.
pub struct Candidate<'a> {
    pub name: &'a str,
    pub run: Box<dyn FnMut(usize) + 'a>,
}

/// Prints the time of one run of each candidate in ns, and its ratio to the last candidate.
pub fn compare(title: &str, rounds: usize, times: usize, candidates: &mut [Candidate<'_>]) {
    let mut costs = vec![Vec::new(); candidates.len()];
    for _ in 0..rounds {
        for (candidate, costs) in candidates.iter_mut().zip(&mut costs) {
            let begin = Instant::now();
            (candidate.run)(times);
            costs.push(begin.elapsed().as_nanos() as f64 / times as f64);
        }
    }
    println!("\n{title} ({rounds} rounds of {times})");
    let last = costs.last_mut().map_or(1.0, |costs| quartiles(costs)[1]);
    for (candidate, costs) in candidates.iter().zip(&mut costs) {
        let [low, middle, high] = quartiles(costs);
        println!(
            "  {:24} {middle:10.1} ns ({low:.1}-{high:.1})  {:6.3} of the last",
            candidate.name,
            middle / last
        );
    }
}

fn quartiles(costs: &mut [f64]) -> [f64; 3] {
    costs.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| costs[(costs.len() - 1) * quarter / 4])
}
