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
    for (i, (one, times)) in shape.nodes.iter().zip(&verdict.repetitions).enumerate() {
        let kind = patch.kind(divisi::network::NodeId(i));
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
        let end = |(node, port): (divisi::network::NodeId, usize)| PortRef {
            node: ids[node.0],
            port: port as u16,
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
    let to = (edge.to.node.0 as usize, usize::from(edge.to.port));
    let is_it = |queue: &QueueId| {
        let (node, port) = shape.queues[queue.0].to;
        (node.0, port) == to
    };
    let queue = { ids }.find(is_it)?;
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
