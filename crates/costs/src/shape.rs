//! [`node_shape`]: what must be equal for two nodes to cost the same.

use graph::{Catalogue, Node, Param, ParamValue, Port, Signal};

/// Hash of all that decides the cost of a node: kind, ports with their channels, rate, and the parameters that cannot
/// change while it plays, such as a number of taps or the name of a file. A cost that was measured on one node holds for
/// nodes of the same shape only: a mixer of 499 inputs says nothing about one of two. Parameters that may change while it
/// plays, such as a frequency, rarely change the cost and are left out.
///
/// The hash is the same in every run and on every machine.
pub fn node_shape(node: &Node, catalogue: &Catalogue) -> u64 {
    let kind = catalogue.get(node.effective_kind());
    let is_live = |key: &str| {
        kind.is_some_and(|kind| {
            let is_it = |param: &Param| param.name == key && param.live;
            kind.cost_param != Some(key) && kind.params.iter().any(is_it)
        })
    };
    let mut hash = StableHash::default();
    hash.text(node.effective_kind());
    hash.number(u64::from(node.every));
    hash.ports(&node.inputs);
    hash.ports(&node.outputs);
    for (key, value) in node.params.iter().filter(|(key, _)| !is_live(key)) {
        hash.text(key);
        hash.value(value);
    }
    hash.finish()
}

/// The hash FNV-1a (Fowler, Noll, Vo): the same in every version and on every machine, unlike those of the standard
/// library.
#[derive(Clone, Copy, Debug)]
pub struct StableHash(u64);

impl Default for StableHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl StableHash {
    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Adds a text, with its length, so that two texts in a row cannot be taken for two others.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Adds the value of a parameter.
    pub fn value(&mut self, value: &ParamValue) {
        match value {
            ParamValue::Number(number) => self.number(number.to_bits()),
            ParamValue::Text(text) => self.text(text),
            ParamValue::Flag(flag) => self.number(u64::from(*flag)),
        }
    }

    /// Adds the number of ports and the signal of each.
    pub fn ports(&mut self, ports: &[Port]) {
        self.number(ports.len() as u64);
        for port in ports {
            self.number(match port.signal {
                Signal::Audio(channels) => u64::from(channels.0),
                Signal::Control => u64::MAX,
                Signal::Event => u64::MAX - 1,
            });
        }
    }

    /// The hash of all that was added.
    pub fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::Kind;
    use units::Channels;

    fn catalogue() -> Catalogue {
        let text = Param::text;
        let mut all = Catalogue::default();
        all.insert(Kind {
            params: vec![text("freq").live(), text("ns").live(), text("taps")],
            cost_param: Some("ns"),
            ..Kind::new("fir", "filters")
        });
        all
    }

    #[test]
    fn names_and_live_parameters_do_not_matter_and_all_else_does() {
        let all = catalogue();
        let mut node = Node::new("a", "fir");
        node.set("taps", ParamValue::Number(16.0));
        let shape = node_shape(&node, &all);
        let changed = |change: &dyn Fn(&mut Node)| {
            let mut other = node.clone();
            change(&mut other);
            node_shape(&other, &all)
        };
        assert_eq!(shape, changed(&|n| n.name = "b".into()));
        assert_eq!(shape, changed(&|n| n.set("freq", ParamValue::Number(7.0))));
        assert_ne!(shape, changed(&|n| n.set("taps", ParamValue::Number(32.0))));
        assert_ne!(shape, changed(&|n| n.set("ns", ParamValue::Number(32.0))));
        assert_ne!(shape, changed(&|n| n.every = 2));
        let port = Port::new("in1", Signal::Audio(Channels(2)));
        assert_ne!(shape, changed(&|n| n.inputs.push(port.clone())));
        assert_ne!(shape, node_shape(&Node::new("a", "else"), &all));
    }
}
