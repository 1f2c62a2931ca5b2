//! The node `network` of a graph: its latency, and the errors of files that cannot be such a node.
#![cfg(not(loom))]

use divisi_network::register_with;
use processor::{MakeError, Registry};
use std::path::Path;

fn registry(text: &'static str) -> Registry {
    let mut registry = Registry::default();
    register_with(&mut registry, move |path| {
        match path.ends_with("net.toml") {
            true => Ok(text.into()),
            false => Err("there is no such file".into()),
        }
    });
    registry
}

fn make(text: &'static str, file: Option<&str>, channels: f64) -> Result<u32, MakeError> {
    let mut node = graph::Node::new("n", "network");
    if let Some(file) = file {
        node.set("file", graph::ParamValue::Text(file.into()));
    }
    node.channels = units::Channels(channels as u16);
    let made = registry(text).make(&node, Path::new("/somewhere"));
    made.map(|processor| processor.latency().0)
}

const STFT: &str = "[network]\nedges = [\"in -> there -> back -> out\"]\n[network.nodes]\n\
    in = { kind = \"input\" }\nthere = { kind = \"stft\", size = 64, hop = 16 }\n\
    back = { kind = \"istft\", size = 64, hop = 16 }\nout = { kind = \"output\" }\n";

#[test]
fn its_latency_follows_from_its_windows() {
    // The first of 64 frames comes out when all 64 have come in.
    assert_eq!(make(STFT, Some("net.toml"), 1.0), Ok(63));
    let gain = "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
        low = { kind = \"gain\", piece = 10 }\nout = { kind = \"output\" }\n";
    assert_eq!(make(gain, Some("net.toml"), 1.0), Ok(9));
}

#[test]
fn a_file_that_cannot_be_a_node_is_refused_at_the_parameter() {
    let refusal = |text, file, channels| {
        let error = make(text, file, channels).unwrap_err();
        assert_eq!(error.key, Some("file"));
        error.message
    };
    assert_eq!(refusal(STFT, None, 1.0), "`network` needs `file`");
    assert!(refusal(STFT, Some("no.toml"), 1.0).contains("no such file"));
    assert!(refusal("[nodes]\n", Some("net.toml"), 1.0).contains("has no [network]"));
    assert!(
        refusal(STFT, Some("net.toml"), 2.0).contains("1 channels in and 1 out, and the node 2")
    );
    let half = "[network]\nedges = [\"in -> half -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
        half = { kind = \"decimate\" }\nout = { kind = \"output\" }\n";
    assert!(refusal(half, Some("net.toml"), 1.0).contains("gives 1 frames for 2"));
    let small = "[network]\nedges = [\"in -> low -> out\"]\n[network.nodes]\nin = { kind = \"input\" }\n\
        low = { kind = \"gain\", piece = 10 }\nout = { kind = \"output\" }\n\
        [network.queues]\n\"in -> low\" = { size = 9 }\n";
    assert!(refusal(small, Some("net.toml"), 1.0).contains("would have to grow to"));
}
