//! Times of compiling and validating big graphs: `cargo run --release -p divisi-plan --example big`.

use divisi_plan::{Plan, PlanOptions, compile};
use graph::{
    Catalogue, Edge, Graph, Kind, Node, NodeId, ParamValue, PortCount, PortRef, PortSignal,
    PortSpec, Role, SourceSpan,
};
use std::time::Instant;
use units::{Frames, SampleRate};

fn main() {
    let catalogue = catalogue();
    let rate = SampleRate::new(48_000).expect("48000 is not zero");
    let mut options = PlanOptions::new(Frames(64), rate);
    options.workers = 4;
    let graphs = [
        ("line of 100,000", line(&catalogue, 100_000)),
        (
            "dense, 300 nodes, 22,000 edges",
            dense(&catalogue, 300, 22_000),
        ),
        ("rake of 10,001", rake(&catalogue, 3_333)),
        ("10,000 chains of 10", side_by_side(&catalogue, 10_000, 10)),
    ];
    for (name, graph) in graphs {
        let start = Instant::now();
        let plan: Plan = compile(&graph, &catalogue, &options).expect("it has no mistakes");
        let compiled = start.elapsed();
        let start = Instant::now();
        plan.validate().expect("it is sound");
        let proved = start.elapsed();
        println!(
            "{name}: compiled in {compiled:.1?}, proved in {proved:.1?}, {} slots",
            plan.slots
        );
    }
}

fn catalogue() -> Catalogue {
    let many = |name| PortSpec {
        name,
        signal: PortSignal::AsNode,
        count: PortCount::Many {
            default: 1,
            min: 0,
            max: 4096,
        },
    };
    let mut all = Catalogue::default();
    all.insert(Kind {
        inputs: vec![many("in")],
        outputs: vec![many("out")],
        ..Kind::new("mix", "adds")
    });
    all.insert(Kind {
        inputs: vec![PortSpec::mono("in")],
        role: Role::Sink,
        ..Kind::new("sink", "keeps")
    });
    all
}

fn add(catalogue: &Catalogue, graph: &mut Graph, kind: &str, inputs: usize) -> NodeId {
    let mut node = Node::new(format!("n{}", graph.id_bound()), kind);
    node.set("in", ParamValue::Number(inputs as f64));
    let kind = catalogue.get(kind).expect("it is in the catalogue");
    assert_eq!(Catalogue::assign_ports(kind, &mut node), []);
    graph.add(node).expect("names are numbered")
}

fn wire(graph: &mut Graph, from: NodeId, to: NodeId, port: u16) {
    graph.connect(Edge {
        from: PortRef {
            node: from,
            port: 0,
        },
        to: PortRef { node: to, port },
        span: SourceSpan::NONE,
    });
}

fn chain(catalogue: &Catalogue, graph: &mut Graph, nodes: usize) -> NodeId {
    let mut last = add(catalogue, graph, "mix", 0);
    for _ in 1..nodes {
        let next = add(catalogue, graph, "mix", 1);
        wire(graph, last, next, 0);
        last = next;
    }
    last
}

fn line(catalogue: &Catalogue, nodes: usize) -> Graph {
    let mut graph = Graph::default();
    let last = chain(catalogue, &mut graph, nodes - 1);
    let sink = add(catalogue, &mut graph, "sink", 1);
    wire(&mut graph, last, sink, 0);
    graph
}

fn rake(catalogue: &Catalogue, teeth: usize) -> Graph {
    let mut graph = Graph::default();
    let ends: Vec<NodeId> = (0..teeth)
        .map(|_| chain(catalogue, &mut graph, 3))
        .collect();
    let mix = add(catalogue, &mut graph, "mix", teeth);
    for (port, end) in (0..).zip(ends) {
        wire(&mut graph, end, mix, port);
    }
    let sink = add(catalogue, &mut graph, "sink", 1);
    wire(&mut graph, mix, sink, 0);
    graph
}

fn side_by_side(catalogue: &Catalogue, chains: usize, nodes: usize) -> Graph {
    let mut graph = Graph::default();
    for _ in 0..chains {
        chain(catalogue, &mut graph, nodes);
    }
    graph
}

/// Edges from each node to the ones after it, all into one input: long sums.
fn dense(catalogue: &Catalogue, nodes: usize, edges: usize) -> Graph {
    let mut graph = Graph::default();
    let all: Vec<NodeId> = (0..nodes)
        .map(|_| add(catalogue, &mut graph, "mix", 1))
        .collect();
    let pairs = (1..nodes).flat_map(|gap| (gap..nodes).map(move |to| (to - gap, to)));
    for (from, to) in pairs.take(edges) {
        wire(&mut graph, all[from], all[to], 0);
    }
    graph
}
