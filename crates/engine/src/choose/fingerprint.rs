//! The key of a kept choice: the graph without its names, and every option that matters.

use super::options::ChooseOptions;
use graph::{Graph, Node, ParamValue, Signal};
use std::collections::HashMap;
use workers::{Priority, WaitPolicy};

/// Key under which a choice is kept.
pub(super) fn key(graph: &Graph, options: &ChooseOptions) -> String {
    let engine = &options.engine;
    let wait = match engine.wait {
        WaitPolicy::Hybrid => "hybrid",
        WaitPolicy::Sleep => "sleep",
        WaitPolicy::Spin => "spin",
    };
    let priority = match engine.priority {
        Priority::Ordinary => "ordinary",
        Priority::RealTime(_) => "real-time",
    };
    let mode = if engine.is_live() { "live" } else { "offline" };
    format!(
        "{:016x} {} {} {} {wait} {mode} {priority} fuse {} force {} comm {:?} ahead {:?} version {}",
        fingerprint(graph),
        engine.block,
        engine.rate,
        engine.workers,
        engine.fuse,
        engine.use_all_workers,
        engine.transfer_time.map(|ns| ns.0),
        engine.latency_blocks,
        env!("CARGO_PKG_VERSION"),
    )
}

/// Equal for graphs that cost the same to play: nodes, parameters and edges in their order, without names.
fn fingerprint(graph: &Graph) -> u64 {
    let mut hash = Fnv1a::default();
    let mut places = HashMap::new();
    for (place, (id, node)) in graph.nodes().enumerate() {
        places.insert(id, place as u64);
        add_node(&mut hash, node);
    }
    for edge in graph.edges() {
        for end in [edge.from, edge.to] {
            hash.number(places.get(&end.node).copied().unwrap_or(u64::MAX));
            hash.number(u64::from(end.port));
        }
    }
    hash.0
}

fn add_node(hash: &mut Fnv1a, node: &Node) {
    hash.text(node.effective_kind());
    hash.number(u64::from(node.every) << 1 | u64::from(node.enabled));
    hash.number(node.cost.map_or(u64::MAX, |cost| cost.0));
    for ports in [&node.inputs, &node.outputs] {
        hash.number(ports.len() as u64);
        for port in ports {
            hash.number(match port.signal {
                Signal::Audio(channels) => u64::from(channels.0),
                Signal::Control => u64::MAX,
                Signal::Event => u64::MAX - 1,
            });
        }
    }
    hash.number(node.params.len() as u64);
    for (key, value) in &node.params {
        hash.text(key);
        match value {
            ParamValue::Number(number) => hash.number(number.to_bits()),
            ParamValue::Text(text) => hash.text(text),
            ParamValue::Flag(flag) => hash.number(u64::from(*flag)),
        }
    }
}

/// The FNV-1a hash (Fowler, Noll, Vo): the same in every version and on every machine.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::shape;

    #[test]
    fn names_do_not_matter_and_all_else_does() {
        let graph = shape::diamond(16, Some(500.0)).unwrap();
        let hash = fingerprint(&graph);
        let first = graph.nodes().next().unwrap().0;
        let changed = |change: &dyn Fn(&mut Node)| {
            let mut other = graph.clone();
            change(other.node_mut(first).unwrap());
            fingerprint(&other)
        };
        assert_eq!(hash, fingerprint(&shape::diamond(16, Some(500.0)).unwrap()));
        assert_eq!(hash, changed(&|node| node.name = "else".into()));
        assert_ne!(hash, changed(&|node| node.enabled = false));
        assert_ne!(hash, changed(&|node| node.every = 2));
        assert_ne!(
            hash,
            changed(&|node| node.set("freq", ParamValue::Number(1.5)))
        );
        assert_ne!(hash, fingerprint(&shape::diamond(16, Some(501.0)).unwrap()));
        assert_ne!(hash, fingerprint(&shape::diamond(36, Some(500.0)).unwrap()));
    }
}
