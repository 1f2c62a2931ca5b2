//! Diagrams of well-formed graphs and of broken ones.

use super::*;
use crate::picture::{Geometry, Item};
use graph::{Edge, Port, PortRef, Signal, SourceSpan};
use units::Channels;

fn node(graph: &mut Graph, name: &str, kind: &str, ins: usize, outs: usize) -> NodeId {
    let port = |stem: &str, i| Port::new(format!("{stem}{i}"), Signal::Audio(Channels(1)));
    let mut node = Node::new(name, kind);
    node.inputs = (0..ins).map(|i| port("in", i)).collect();
    node.outputs = (0..outs).map(|i| port("out", i)).collect();
    graph.add(node).unwrap()
}

fn connect(graph: &mut Graph, from: (NodeId, u16), to: (NodeId, u16)) {
    graph.connect(Edge {
        from: PortRef {
            node: from.0,
            port: from.1,
        },
        to: PortRef {
            node: to.0,
            port: to.1,
        },
        span: SourceSpan::NONE,
    });
}

/// An echo: a mix whose output comes back through a delay.
fn echo() -> Graph {
    let mut graph = Graph::default();
    let osc = node(&mut graph, "osc & <co>", "osc", 0, 1);
    let mix = node(&mut graph, "mix", "mix", 2, 1);
    let echo = node(&mut graph, "echo", "delay", 1, 1);
    let sink = node(&mut graph, "out", "sink", 1, 0);
    connect(&mut graph, (osc, 0), (mix, 0));
    connect(&mut graph, (mix, 0), (echo, 0));
    connect(&mut graph, (echo, 0), (mix, 1));
    connect(&mut graph, (mix, 0), (sink, 0));
    graph
}

#[test]
fn a_picture_is_complete_and_the_same_each_time() {
    let first = graph(&echo(), &Catalogue::default()).unwrap().svg();
    assert_eq!(first, graph(&echo(), &Catalogue::default()).unwrap().svg());
    assert!(first.starts_with("<svg ") && first.ends_with("</svg>\n"));
    assert!(first.contains("osc &amp; &lt;co&gt;") && !first.contains("<co>"));
    assert_eq!(
        first.matches("<rect class=\"f-").count(),
        1 + 4 + 4,
        "the sheet, each node, and each class in the legend"
    );
    assert_eq!(
        first.matches("<path class=\"s-alert\"").count(),
        1 + 1,
        "the edge that closes the cycle, and the legend's"
    );
    assert!(!first.contains("NaN") && !first.contains("inf"));
}

#[test]
fn no_two_boxes_overlap_and_edges_end_at_their_ports() {
    for patch in [
        echo(),
        graph::shape::rake(101, None).unwrap(),
        graph::shape::diamond(76, None).unwrap(),
    ] {
        let none = Catalogue::default();
        let boxes: Vec<NodeBox> = patch
            .nodes()
            .map(|(id, node)| NodeBox::new(id, node, &none))
            .collect();
        let index = boxes
            .iter()
            .enumerate()
            .map(|(i, node)| (node.id, i))
            .collect();
        let edges = layout_edges(&patch, &boxes, &index);
        let sizes: Vec<BoxSize> = boxes.iter().map(NodeBox::size).collect();
        let layout = lay_out(&sizes, &edges);
        let room = |i: usize| (layout.corners[i], (sizes[i].width, sizes[i].height));
        for a in 0..boxes.len() {
            for b in 0..a {
                let (((ax, ay), (aw, ah)), ((bx, by), (bw, bh))) = (room(a), room(b));
                let is_apart = ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay;
                assert!(
                    is_apart,
                    "{} and {}",
                    boxes[a].node.name, boxes[b].node.name
                );
            }
        }
        for (edge, route) in edges.iter().zip(&layout.routes) {
            let (begin, end) = (route.runs[0], *route.runs.last().unwrap());
            let ((fx, fy), (fw, fh)) = room(edge.from.0);
            let ((tx, ty), (_, th)) = room(edge.to.0);
            assert!((begin.0 - fx - fw).abs() < 1e-6 && begin.2 > fy && begin.2 < fy + fh);
            assert!((end.1 - tx).abs() < 1e-6 && end.2 > ty && end.2 < ty + th);
        }
    }
}

#[test]
fn an_empty_graph_and_broken_edges_are_drawn_too() {
    let none = Catalogue::default();
    assert!(
        graph(&Graph::default(), &none)
            .unwrap()
            .svg()
            .contains("0 nodes")
    );
    let mut patch = echo();
    let whole = graph(&patch, &none).unwrap();
    // An edge from a port that does not exist cannot be drawn; one from a node to itself can.
    let is_edge = |item: &&Item| matches!(item, Item::Shape(Geometry::Path(_), style) if style.stroke.is_some());
    let count = |picture: &Picture| picture.items.iter().filter(is_edge).count();
    connect(&mut patch, (NodeId(0), 9), (NodeId(77), 0));
    assert_eq!(count(&graph(&patch, &none).unwrap()), count(&whole));
    connect(&mut patch, (NodeId(1), 0), (NodeId(1), 0));
    assert_eq!(count(&graph(&patch, &none).unwrap()), count(&whole) + 1);
}

#[test]
fn labels_are_at_the_ends_of_edges_and_left_of_the_box() {
    let none = Catalogue::default();
    let label =
        |edge: &Edge| (edge.to.node != NodeId(3)).then(|| format!("{} frames", edge.to.port));
    let picture = graph_with_labels(&echo(), &none, label, "frames of each port").unwrap();
    let svg = picture.svg();
    assert!(
        svg.contains(">frames of each port<"),
        "the legend says what labels are"
    );
    assert_eq!(
        (
            svg.matches(">0 frames<").count(),
            svg.matches(">1 frames<").count()
        ),
        (2, 1)
    );
    assert_eq!(
        graph_with_labels(&echo(), &none, |_| None, "")
            .unwrap()
            .svg(),
        graph(&echo(), &none).unwrap().svg()
    );
    // A label ends left of its box.
    let texts = picture.items.iter().filter_map(|item| match item {
        Item::Text(text) if text.content.ends_with(" frames") => Some(text.at.0),
        _ => None,
    });
    let lefts: Vec<f64> = picture
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Shape(Geometry::Rect((x, _), (_, height), _), _) if *height >= 42.0 => Some(*x),
            _ => None,
        })
        .collect();
    let mut count = 0;
    for x in texts {
        assert!(
            lefts.iter().any(|left| *left > x && left - x < 8.0),
            "{x} {lefts:?}"
        );
        count += 1;
    }
    assert_eq!(count, 3);
}
