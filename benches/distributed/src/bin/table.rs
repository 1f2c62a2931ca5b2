//! Measures levels of every size and prints the rows of `crates/conv/src/table.rs`: for each size what a level costs
//! beside its partitions and what each partition adds, at worst and typically.

use conv::{Costs, Latency, MeasureOptions, Space, measure};
use fft::{Kernels, Packing};
use std::ops::ControlFlow;

fn main() {
    let runs = std::env::args().nth(1).and_then(|n| n.parse().ok());
    for packing in [Packing::Mono, Packing::Batch] {
        let mut costs = Costs::default();
        let lengths = match packing {
            Packing::Mono => [(1000, 16), (524_288, 16)],
            Packing::Batch => [(1000, 16), (524_288, 16)],
        };
        for (length, block) in lengths {
            let space = Space::new(length, block, Latency::None).expect("it is a length");
            let options = MeasureOptions {
                packing,
                kernels: Kernels::best(),
                runs: runs.unwrap_or(24),
            };
            let found = measure(&space, &options, &mut |_| ControlFlow::Continue(()));
            let found = found.expect("nobody breaks it off");
            eprintln!("{} runs, {} stolen", found.runs, found.stolen);
            costs.merge(&found.costs);
        }
        println!("{packing:?} {}", Kernels::best().name());
        rows(&costs, packing);
    }
}

fn rows(costs: &Costs, packing: Packing) {
    let mut size = 16;
    while size <= 1 << 17 {
        let of_size = costs.levels().iter();
        let of_size = of_size.filter(|cost| cost.packing == packing && cost.size == size);
        let (worst, typical): (Vec<_>, Vec<_>) = of_size
            .map(|cost| {
                let count = cost.count as f64;
                ((count, cost.worst_ns), (count, cost.typical_ns))
            })
            .unzip();
        if worst.len() > 1 {
            let (worst, typical) = (line(&worst), line(&typical));
            let backend = costs.backend(packing, size).unwrap_or("?");
            let transforms = costs.transforms().iter();
            let transforms = transforms.filter(|cost| cost.packing == packing && cost.bins == size);
            let transforms: Vec<_> = transforms
                .map(|cost| format!("{} {:.0}", cost.backend, cost.ns))
                .collect();
            println!(
                "    ({size}, [{:.0}.0, {:.1}], [{:.0}.0, {:.1}], \"{backend}\"), // {}",
                worst.0,
                worst.1,
                typical.0,
                typical.1,
                transforms.join(", ")
            );
        }
        size *= 2;
    }
}

/// The line that lies least off, relatively: what stands for no partition, and what each adds.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (count, ns) in points {
        let weight = 1.0 / (ns * ns);
        w += weight;
        x += weight * count;
        y += weight * ns;
        xx += weight * count * count;
        xy += weight * count * ns;
    }
    let slope = ((w * xy - x * y) / (w * xx - x * x)).max(0.0);
    ((y - slope * x) / w, slope)
}
