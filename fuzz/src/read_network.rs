//! The reader of process networks: no panic, every place inside the text; there is a network if and only if nothing is
//! wrong; it goes on with the sizes that were found for its queues; and where it is small it runs to its end,
//! for which no queue has to grow.
#![cfg_attr(fuzzing, no_main)]

use divisi_fuzz::check_found;
use graph::Diagnostic;
use network::checks::verify_sizes;
use network::kinds::{MemorySink, MemorySource};
use network::session::{self, NetworkSpec};
use network::{FiringOrder, RunOptions, Topology, run_on_caller};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

/// Networks that are run: frames of all queues together, and firings until they hold as much again.
const MOST_SAMPLES: usize = 1 << 18;
const MOST_FIRINGS: u64 = 5_000;
/// Frames that go in.
const FRAMES: usize = 300;

fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(reading) = session::read(&text) else {
        return;
    };
    check_found(&reading.diagnostics, text.as_bytes());
    let is_wrong = reading.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(
        reading.network.is_none(),
        is_wrong,
        "{:#?}",
        reading.diagnostics
    );
    if let Some(patch) = reading.network {
        check(&patch);
    }
}

fn check(patch: &NetworkSpec) {
    let (shape, verdict) = (patch.topology(), patch.check_result());
    assert_eq!(verdict.repetitions.len(), shape.nodes.len());
    let firings = verdict
        .repetitions
        .iter()
        .fold(0_u64, |sum, n| sum.saturating_add(*n));
    verify_sizes(shape, &verdict.sizes).expect("these were found");
    if firings > MOST_FIRINGS {
        return;
    }
    if samples(shape, &verdict.sizes) <= MOST_SAMPLES {
        run(patch);
    }
}

fn samples(shape: &Topology, sizes: &[usize]) -> usize {
    let each = shape.queue_ids().zip(sizes);
    each.fold(0, |sum, (queue, size)| {
        sum.saturating_add(size.saturating_mul(shape.input(queue).channels))
    })
}

fn run(patch: &NetworkSpec) {
    let [(channels, piece), (out, out_piece)] = patch.io_formats();
    let play = MemorySource::new(vec![vec![0.5; FRAMES]; channels], piece).expect("it was read");
    let (collect, _) = MemorySink::new(out, out_piece).expect("it was read");
    let network = patch.build(Box::new(play), Box::new(collect));
    let summary = run_on_caller(network, &RunOptions::default(), FiringOrder::UntilBlocked).expect("it ends");
    assert_eq!(summary.growths, []);
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
