//! The texts of scores, step patterns and curves: no panic, an error or a processor, whose length is a number of frames.
#![cfg_attr(fuzzing, no_main)]

use graph::{Catalogue, Node, ParamValue};
use processor::Registry;
use std::path::Path;
use std::sync::LazyLock;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::default();
    midi::register(&mut registry);
    registry
});

fn read(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let registry = &*REGISTRY;
    for (kind, key) in [("score", "events"), ("steps", "pattern"), ("curve", "points")] {
        for round in [0.0, 4.0] {
            let mut node = Node::new("n", kind);
            node.set(key, ParamValue::Text(text.to_string()));
            if kind != "steps" {
                node.set("loop", ParamValue::Number(round));
            }
            let found = registry.catalogue().get(kind).expect("it is registered");
            Catalogue::assign_ports(found, &mut node);
            match registry.make(&node, Path::new(".")) {
                Ok(processor) => _ = processor.length(),
                Err(error) => assert!(!error.message.is_empty()),
            }
        }
    }
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
