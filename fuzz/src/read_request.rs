//! Requests to a playing engine: no panic, whatever comes as JSON, as OSC or as words; what was read is the same when it has
//! been written as JSON and read again.
#![cfg_attr(fuzzing, no_main)]

use control::osc::{TimeReference, read_packet};
use control::{Request, read_words};
use divisi_fuzz::catalogue;
use graph::Graph;
use std::sync::LazyLock;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| read(bytes));

/// A graph whose nodes requests can name.
static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let text = "edges = [\"tone -> out\"]\n[nodes.tone]\nkind = \"osc\"\nfreq = 1\n[nodes.out]\nkind = \"sink\"\n";
    text::toml::read(text, catalogue()).session.graph
});

const NOW: TimeReference = TimeReference {
    unix_s: 1.8e9,
    frame: 48_000,
    rate_hz: 48_000.0,
};

fn read(bytes: &[u8]) {
    if let Ok(request) = serde_json::from_slice::<Request>(bytes) {
        write_and_read(&request);
    }
    if let Ok(request) = read_packet(bytes, &GRAPH, NOW) {
        write_and_read(&request);
    }
    // What a session manager sends.
    let _ = control::nsm::read_request(bytes);
    let words = std::str::from_utf8(bytes).map(read_words);
    if let Ok(Ok(command)) = words {
        let commands = vec![command];
        write_and_read(&Request {
            commands,
            ..Request::default()
        });
    }
}

fn write_and_read(request: &Request) {
    let written = serde_json::to_string(request).expect("a request can be written");
    // JSON has no infinity: a number that is not finite is written as null, and refused.
    if let Ok(again) = serde_json::from_str::<Request>(&written) {
        let twice = serde_json::to_string(&again).expect("a request can be written");
        assert_eq!(twice, written);
    }
}

/// Without the fuzzer's flags: reads the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    for name in std::env::args().skip(1) {
        read(&std::fs::read(name).expect("a file that can be read"));
    }
}
