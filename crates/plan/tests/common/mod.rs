//! A small catalogue and a quick way to make graphs of it.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod dags;
pub(crate) mod random;
pub(crate) mod symbols;

use divisi_plan::{Plan, PlanOptions, compile};
use graph::{
    Catalogue, DelayParams, Edge, Graph, Kind, Node, NodeId, Param, ParamValue, PortCount, PortRef,
    PortSignal, PortSpec, Role, SourceSpan,
};
use units::{Frames, SampleRate};

/// A graph that is being made.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) graph: Graph,
    pub(crate) catalogue: Catalogue,
    pub(crate) options: PlanOptions,
}

impl Default for Patch {
    fn default() -> Self {
        let rate = SampleRate::new(48_000).expect("48000 is not zero");
        Self {
            graph: Graph::default(),
            catalogue: catalogue(),
            options: PlanOptions::new(Frames(64), rate),
        }
    }
}

impl Patch {
    /// Adds a node of `kind`, called by its kind and number.
    pub(crate) fn add(&mut self, kind: &str) -> NodeId {
        self.add_with(kind, &[])
    }

    /// The same with numbers for parameters.
    pub(crate) fn add_with(&mut self, kind: &str, params: &[(&str, f64)]) -> NodeId {
        let name = format!("{kind}{}", self.graph.id_bound());
        let mut node = Node::new(name, kind);
        for (key, value) in params {
            node.set(*key, ParamValue::Number(*value));
        }
        node.span = SourceSpan::new(self.graph.id_bound() as u32 + 1, 1, 1);
        if let Some(kind) = self.catalogue.get(kind) {
            assert_eq!(Catalogue::assign_ports(kind, &mut node), []);
        }
        self.graph.add(node).expect("names are numbered")
    }

    /// Its plan; it must have one.
    pub(crate) fn plan(&self) -> Plan {
        compile(&self.graph, &self.catalogue, &self.options).expect("it has no mistakes")
    }

    /// Output 0 to input 0.
    pub(crate) fn wire(&mut self, from: NodeId, to: NodeId) {
        self.wire_ports((from, 0), (to, 0));
    }

    /// Any output to any input.
    pub(crate) fn wire_ports(&mut self, from: (NodeId, u16), to: (NodeId, u16)) {
        let end = |(node, port)| PortRef { node, port };
        self.graph.connect(Edge {
            from: end(from),
            to: end(to),
            span: SourceSpan::new(1000 + self.graph.edges().len() as u32, 1, 1),
        });
    }
}

/// A chain that begins with an `osc`; returns its last node.
pub(crate) fn chain(patch: &mut Patch, nodes: usize) -> NodeId {
    let mut last = patch.add("osc");
    for _ in 1..nodes {
        let next = patch.add("mod");
        patch.wire(last, next);
        last = next;
    }
    last
}

fn many(name: &'static str) -> PortSpec {
    PortSpec {
        name,
        signal: PortSignal::AsNode,
        count: PortCount::Many {
            default: 2,
            min: 1,
            max: 1000,
        },
    }
}

fn port(name: &'static str, width: PortSignal) -> PortSpec {
    PortSpec {
        name,
        signal: width,
        count: PortCount::One,
    }
}

fn time(name: &'static str, default: f64) -> Param {
    Param::number(name, (0.0, 100.0), default)
        .unit("s")
        .doc("a time")
}

fn catalogue() -> Catalogue {
    let audio = || vec![PortSpec::audio("a")];
    let mut all = Catalogue::default();
    let kinds = [
        Kind {
            outputs: audio(),
            ..Kind::new("osc", "gives")
        },
        Kind {
            inputs: audio(),
            outputs: audio(),
            ..Kind::new("mod", "changes")
        },
        Kind {
            inputs: vec![many("in")],
            outputs: vec![many("out")],
            ..Kind::new("mix", "adds")
        },
        Kind {
            inputs: audio(),
            writes: Some("file"),
            ..Kind::new("recorder", "writes")
        },
        Kind {
            inputs: audio(),
            role: Role::Sink,
            ..Kind::new("sink", "keeps")
        },
        Kind {
            inputs: audio(),
            outputs: audio(),
            params: vec![
                time("time", f64::NAN),
                time("min_time", f64::NAN),
                time("max_time", f64::NAN),
            ],
            delay: Some(DelayParams {
                time: "time",
                min: "min_time",
                max: "max_time",
            }),
            ..Kind::new("delay", "waits")
        },
        Kind {
            outputs: vec![port("c", PortSignal::Control), port("e", PortSignal::Event)],
            ..Kind::new("player", "sends")
        },
        Kind {
            inputs: vec![port("c", PortSignal::Control), port("e", PortSignal::Event)],
            outputs: vec![PortSpec::audio("a"), port("e", PortSignal::Event)],
            ..Kind::new("synth", "plays what it is sent")
        },
    ];
    for kind in kinds {
        all.insert(kind);
    }
    all
}
