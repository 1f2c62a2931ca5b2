//! A patch that plays live: a graph with it alone.

use graph::{Edge, Graph, Node, ParamValue, Port, PortRef, Signal, SourceSpan};
use std::path::Path;
use units::Channels;

/// A patch with a port for MIDI at each side, whose only output is heard.
pub(crate) fn graph(patch: &Path) -> Graph {
    let mut graph = Graph::default();
    let mono = |name: &str| Port::new(name, Signal::Audio(Channels(1)));
    let mut node = Node::new("patch", "pd");
    node.set("file", ParamValue::from(patch.to_str().expect("a name")));
    node.inputs = vec![Port::new("midi", Signal::Event)];
    node.outputs = vec![Port::new("midi", Signal::Event), mono("out")];
    let patch = graph.add(node).expect("a new name");
    let mut sink = Node::new("dac", "sink");
    sink.inputs = vec![mono("in")];
    let sink = graph.add(sink).expect("a new name");
    let port = |node, port| PortRef { node, port };
    let (from, to, span) = (port(patch, 1), port(sink, 0), SourceSpan::NONE);
    graph.connect(Edge { from, to, span });
    graph
}
