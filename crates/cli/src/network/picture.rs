//! A network as a graph for drawing, with firing counts and queue sizes as labels.

use divisi::graph::{Edge, Graph, Node, Port, PortRef, Signal};
use divisi::network::session::NetworkSpec;
use divisi::network::{QueueId, Topology};
use divisi::units::Channels;

/// The network as a graph. Its edges are the queues, in order.
pub(crate) fn graph(patch: &NetworkSpec) -> Graph {
    let (shape, verdict) = (patch.topology(), patch.check_result());
    let mut graph = Graph::default();
    let mut ids = Vec::with_capacity(shape.nodes.len());
    let nodes = shape.node_ids().zip(&shape.nodes);
    for ((id, one), times) in nodes.zip(&verdict.repetitions) {
        let kind = patch.kind(id);
        let mut node = Node::new(one.name.clone(), format!("{kind} x {times}"));
        let port = |name: &str, channels: usize| Port {
            name: name.into(),
            signal: Signal::Audio(Channels(channels as u16)),
        };
        let ins = one.ports.inputs.iter();
        node.inputs = ins.map(|input| port(&input.name, input.channels)).collect();
        let outs = one.ports.outputs.iter();
        node.outputs = outs
            .map(|output| port(&output.name, output.channels))
            .collect();
        ids.push(graph.add(node).expect("a network has no name twice"));
    }
    for queue in &shape.queues {
        let end = |end: PortRef| PortRef {
            node: ids[end.node.0 as usize],
            ..end
        };
        graph.connect(Edge {
            from: end(queue.from),
            to: end(queue.to),
            span: divisi::graph::SourceSpan::NONE,
        });
    }
    graph
}

/// Label of a queue: frames written and read by a firing, and capacity.
pub(crate) fn queue_label(patch: &NetworkSpec, edge: &Edge) -> Option<String> {
    let (shape, ids) = (patch.topology(), patch.topology().queue_ids());
    // The graph and the network number their nodes alike.
    let queue = { ids }.find(|queue| shape.queues[queue.0].to == edge.to)?;
    let size = patch.check_result().sizes[queue.0];
    Some(format!("{}: {size}", rates(shape, queue)))
}

fn rates(shape: &Topology, queue: QueueId) -> String {
    let (output, input) = (shape.output(queue), shape.input(queue));
    match input.overlap() {
        0 => format!("{} to {}", output.produce, input.consume),
        _ => format!(
            "{} to {} of {}",
            output.produce, input.consume, input.window
        ),
    }
}
