//! The costs file: no panic; what was read is the same when it has been written and read again; the costs of a graph can be
//! taken from whatever was read.
#![cfg_attr(fuzzing, no_main)]

use costs::CostsFile;
use divisi_fuzz::{catalogue, file};
use graph::{Graph, shape};
use std::sync::LazyLock;
use units::Frames;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

/// A graph that costs are asked for.
static GRAPH: LazyLock<Graph> =
    LazyLock::new(|| shape::rake(8, None).expect("a rake may have 8 nodes"));

fn read(bytes: &[u8]) {
    let path = file(bytes);
    let Ok(read) = CostsFile::read(&path) else {
        return;
    };
    for machine in read.machines.values() {
        let known = machine.of_graph("a.ag", &GRAPH, catalogue(), Frames(64));
        let _ = (known.typical(), machine.crossing_ns());
    }
    read.write(&path).expect("room for a small file");
    let again = CostsFile::read(&path).expect("it was written");
    assert_eq!(again, read);
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
