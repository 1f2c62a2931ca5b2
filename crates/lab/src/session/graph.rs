//! A session of 64 plug-ins and exactly 500 objects, wired as in a plug-in host.
//!
//! ```text
//! 64 x  osc -> gain -> mix -> work -> meter -> gain -> pan      a track; `work` is its plug-in
//!                                                       |
//!  8 x  2 x  mix -> gain -> meter                               a group, left and right
//!                             |
//!       2 x  mix -> sink                                        the master
//! ```

use divisi::graph::{Edge, Graph, Node, NodeId, ParamValue, Port, PortRef, Signal, SourceSpan};
use divisi::units::{Channels, Nanos};

/// Number of tracks, each with a plug-in.
const TRACKS: usize = 64;
/// Number of groups of tracks.
const GROUPS: usize = 8;
/// Cost of an object that the planner is given; a plug-in has a hundred times that.
const OBJECT_NS: u64 = 160;

/// The session; each plug-in burns `plugin_ns` a block.
pub(super) fn session(plugin_ns: f64) -> Graph {
    let mut session = Session::default();
    let sums = [(); GROUPS].map(|()| [(); 2].map(|()| session.add("mix", TRACKS / GROUPS, 1)));
    for track in 0..TRACKS {
        let osc = session.add("osc", 0, 1);
        session.set(osc, "freq", 110.0 + 10.0 * track as f64);
        session.set(osc, "volume", 0.01);
        let mut last = osc;
        for kind in ["gain", "mix", "work", "meter", "gain", "pan"] {
            let next = session.add(kind, 1, if kind == "pan" { 2 } else { 1 });
            if kind == "work" {
                session.set(next, "ns", plugin_ns);
            }
            session.connect((last, 0), (next, 0));
            last = next;
        }
        let group = sums[track / (TRACKS / GROUPS)];
        for (side, sum) in group.into_iter().enumerate() {
            session.connect((last, side), (sum, track % (TRACKS / GROUPS)));
        }
    }
    let masters = [(); 2].map(|()| session.add("mix", GROUPS, 1));
    for (at, group) in sums.into_iter().enumerate() {
        for (sum, master) in group.into_iter().zip(masters) {
            let fader = session.add("gain", 1, 1);
            let meter = session.add("meter", 1, 1);
            session.connect((sum, 0), (fader, 0));
            session.connect((fader, 0), (meter, 0));
            session.connect((meter, 0), (master, at));
        }
    }
    for master in masters {
        let sink = session.add("sink", 1, 0);
        session.connect((master, 0), (sink, 0));
    }
    session.graph
}

#[derive(Default)]
struct Session {
    graph: Graph,
}

impl Session {
    fn add(&mut self, kind: &str, inputs: usize, outputs: usize) -> NodeId {
        let mut node = Node::new(format!("{kind}{}", self.graph.len() + 1), kind);
        let port = |name: String| Port::new(name, Signal::Audio(Channels(1)));
        node.inputs = (1..=inputs).map(|i| port(format!("in{i}"))).collect();
        node.outputs = (1..=outputs).map(|i| port(format!("out{i}"))).collect();
        if matches!(kind, "mix" | "work") {
            node.set("in", ParamValue::Number(inputs as f64));
            node.set("out", ParamValue::Number(outputs as f64));
        }
        node.cost = Some(Nanos(if kind == "work" {
            100 * OBJECT_NS
        } else {
            OBJECT_NS
        }));
        self.graph.add(node).expect("the number makes it new")
    }

    fn set(&mut self, node: NodeId, key: &str, value: f64) {
        if let Some(node) = self.graph.node_mut(node) {
            node.set(key, ParamValue::Number(value));
        }
    }

    fn connect(&mut self, from: (NodeId, usize), to: (NodeId, usize)) {
        let end = |(node, port): (NodeId, usize)| PortRef {
            node,
            port: port as u16,
        };
        self.graph.connect(Edge {
            from: end(from),
            to: end(to),
            span: SourceSpan::NONE,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use divisi::plan::{self, PlanOptions};
    use divisi::units::{Frames, SampleRate};

    #[test]
    fn it_has_500_objects_and_64_plug_ins_and_can_be_planned() {
        let graph = session(1000.0);
        assert_eq!(graph.len(), 500);
        let plug_ins = graph.nodes().filter(|(_, node)| node.kind == "work");
        assert_eq!(plug_ins.count(), TRACKS);
        let rate = SampleRate::new(48_000).unwrap();
        let registry = divisi::registry();
        let options = PlanOptions::new(Frames(128), rate);
        let plan = plan::compile(&graph, registry.catalogue(), &options).unwrap();
        assert_eq!(plan.steps.len(), 500);
        let expensive = plan.steps.iter().filter(|s| s.cost.0 == 100 * OBJECT_NS);
        assert_eq!(expensive.count(), TRACKS);
    }
}
