//! A network as a graph for drawing, with firing counts and queue sizes as labels.

use divisi::graph::{Edge, Graph, Node, Port, PortRef, Signal};
use divisi::network::session::NetworkSpec;
use divisi::network::{QueueId, Topology};
use divisi::units::Channels;

/// The network as a graph. Its edges are the queues, in order.
pub(crate) fn graph(spec: &NetworkSpec) -> Graph {
    let (topology, result) = (spec.topology(), spec.check_result());
    let mut graph = Graph::default();
    let mut ids = Vec::with_capacity(topology.nodes.len());
    let nodes = topology.node_ids().zip(&topology.nodes);
    for ((id, one), times) in nodes.zip(&result.repetitions) {
        let kind = spec.kind(id);
        let mut node = Node::new(one.name.clone(), format!("{kind} x {times}"));
        let port =
            |name: &str, channels: usize| Port::new(name, Signal::Audio(Channels(channels as u16)));
        let ins = one.ports.inputs.iter();
        node.inputs = ins.map(|input| port(&input.name, input.channels)).collect();
        let outs = one.ports.outputs.iter();
        node.outputs = outs
            .map(|output| port(&output.name, output.channels))
            .collect();
        ids.push(graph.add(node).expect("a network has no name twice"));
    }
    for queue in &topology.queues {
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

/// Explanation of the labels of nodes and queues.
pub(crate) const QUEUE_LEGEND: &str = "KIND x firings in a period; at each queue: frames written by a firing to frames read by one \
    (of the window it sees): size of the queue";

/// Label of a queue: frames written and read by a firing, and capacity.
pub(crate) fn queue_label(spec: &NetworkSpec, edge: &Edge) -> Option<String> {
    let (topology, ids) = (spec.topology(), spec.topology().queue_ids());
    // The graph and the network number their nodes alike.
    let queue = { ids }.find(|queue| topology.queues[queue.0].to == edge.to)?;
    let size = spec.check_result().sizes[queue.0];
    Some(format!("{}: {size}", rates(topology, queue)))
}

fn rates(topology: &Topology, queue: QueueId) -> String {
    let (output, input) = (topology.output(queue), topology.input(queue));
    match input.overlap() {
        0 => format!("{} to {}", output.produce, input.consume),
        _ => format!(
            "{} to {} of {}",
            output.produce, input.consume, input.window
        ),
    }
}
