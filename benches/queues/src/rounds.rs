//! Contestants take turns; what counts is the median of many.

use std::time::Instant;

/// One way of doing the same, done so often in a turn, which is told how often.
pub struct Contestant<'a> {
    pub name: &'a str,
    pub turn: Box<dyn FnMut(usize) + 'a>,
}

/// Prints what one time costs each contestant, in ns, and the ratio to the last one.
pub fn compare(title: &str, rounds: usize, times: usize, contestants: &mut [Contestant<'_>]) {
    let mut costs = vec![Vec::new(); contestants.len()];
    for _ in 0..rounds {
        for (contestant, costs) in contestants.iter_mut().zip(&mut costs) {
            let begin = Instant::now();
            (contestant.turn)(times);
            costs.push(begin.elapsed().as_nanos() as f64 / times as f64);
        }
    }
    println!("\n{title} ({rounds} rounds of {times})");
    let last = costs.last_mut().map_or(1.0, |costs| quartiles(costs)[1]);
    for (contestant, costs) in contestants.iter().zip(&mut costs) {
        let [low, middle, high] = quartiles(costs);
        println!(
            "  {:24} {middle:10.1} ns ({low:.1}-{high:.1})  {:6.3} of the last",
            contestant.name,
            middle / last
        );
    }
}

fn quartiles(costs: &mut [f64]) -> [f64; 3] {
    costs.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| costs[(costs.len() - 1) * quarter / 4])
}
