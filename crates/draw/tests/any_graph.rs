//! Diagrams of random graphs and of very large ones.

use divisi_draw::graph as picture_of;
use graph::{Catalogue, Edge, Graph, Node, NodeId, Port, PortRef, Signal, SourceSpan};
use units::{Channels, SplitMix64};

/// Edges between random nodes: cycles, self-loops, several edges between the same ports.
fn random_graph(seed: u64, nodes: u64, edges: u64) -> Graph {
    let mut seed = SplitMix64(seed);
    let mut graph = Graph::default();
    let port = |i: u64| Port::new(format!("p{i}"), Signal::Audio(Channels(1)));
    for i in 0..nodes {
        let mut node = Node::new(format!("n{i}"), "mix");
        node.inputs = (0..1 + seed.below(3) as u64).map(port).collect();
        node.outputs = (0..1 + seed.below(3) as u64).map(port).collect();
        graph.add(node).unwrap();
    }
    for _ in 0..edges {
        let mut end = || PortRef {
            node: NodeId(seed.below(nodes as usize) as u32),
            port: 0,
        };
        let (from, to) = (end(), end());
        graph.connect(Edge {
            from,
            to,
            span: SourceSpan::NONE,
        });
    }
    graph
}

#[test]
fn random_graphs_are_drawn_with_every_node_and_finite_coordinates() {
    for seed in 0..60 {
        let patch = random_graph(seed, 1 + seed % 17, seed * 2);
        let picture = picture_of(&patch, &Catalogue::default()).unwrap().svg();
        assert!(picture.matches("font-weight").count() == patch.len());
        assert!(
            !picture.contains("NaN") && !picture.contains("inf"),
            "seed {seed}"
        );
    }
}

#[test]
fn many_edges_and_many_nodes_are_drawn_too() {
    let dense = picture_of(&random_graph(1, 300, 22_000), &Catalogue::default())
        .unwrap()
        .svg();
    assert!(dense.contains("300 nodes and 22000 edges") && dense.len() < 8_000_000);
    let long = graph::shape::line(20_000, None).unwrap();
    assert!(
        picture_of(&long, &Catalogue::default())
            .unwrap()
            .svg()
            .contains("20000 nodes")
    );
}

#[test]
fn too_large_graphs_are_refused_before_any_work() {
    let long = graph::shape::line(100_000, None).unwrap();
    let refused = picture_of(&long, &Catalogue::default()).unwrap_err();
    assert_eq!(refused.nodes, 100_000);
    assert!(refused.to_string().starts_with("100000 nodes are too many"));
    let dense = random_graph(1, 10, 100_001);
    let refused = picture_of(&dense, &Catalogue::default()).unwrap_err();
    assert!(refused.to_string().starts_with("100001 edges"));
    let mut wide = random_graph(1, 9, 3);
    let port = |i: u32| Port::new(format!("p{i}"), Signal::Control);
    for i in 0..4 {
        let mut node = Node::new(format!("many{i}"), "mix");
        node.inputs = (0..60_000).map(port).collect();
        wide.add(node).unwrap();
    }
    let refused = picture_of(&wide, &Catalogue::default()).unwrap_err();
    assert!(refused.to_string().contains("ports"));
}
