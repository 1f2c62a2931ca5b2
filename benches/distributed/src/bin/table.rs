//! Measures levels of every size and prints the rows of the built-in cost table (`crates/conv/src/tuning`): for each size and
//! some numbers of partitions, the worst and the typical time of a level in µs.

use conv::{AddedLatency, CostMeasureOptions, CostTable, PartitionSpace, measure_costs};
use fft::{Kernels, Packing};
use std::ops::ControlFlow;

/// Numbers of partitions in the table.
const COUNTS: [usize; 11] = [2, 3, 6, 7, 14, 15, 30, 31, 62, 63, 126];

fn main() {
    let runs = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for packing in [Packing::Mono, Packing::Batch] {
        let mut costs = CostTable::default();
        for length in [1000, 524_288] {
            let space = PartitionSpace::new(length, 16, AddedLatency::None)
                .expect("the length is in range");
            let options = CostMeasureOptions {
                packing: Some(packing),
                kernels: Kernels::best(),
                runs: runs.unwrap_or(24),
            };
            let found = measure_costs(&space, &options, &mut |_| ControlFlow::Continue(()));
            let found = found.expect("the measurement is not cancelled");
            eprintln!("{} runs, {} preempted", found.runs, found.preempted_runs);
            costs.merge(&found.costs);
        }
        println!("{packing:?} {}", Kernels::best().name());
        rows(&costs, packing);
    }
}

fn rows(costs: &CostTable, packing: Packing) {
    let mut size = 16;
    while size <= 1 << 17 {
        let of_size = costs.levels().iter();
        let of_size = of_size.filter(|cost| cost.packing == packing && cost.size == size);
        let mut known: Vec<_> = of_size
            .filter(|cost| COUNTS.contains(&cost.count))
            .map(|cost| (cost.count, cost.worst_ns, cost.typical_ns))
            .collect();
        known.sort_by_key(|cost| cost.0);
        let rows = known.iter().map(|(count, worst, typical)| {
            format!("({count}, {:.1}, {:.1})", worst / 1e3, typical / 1e3)
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        println!("    ({size}, &[{rows}]),");
        size *= 2;
    }
}
