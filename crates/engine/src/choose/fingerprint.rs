//! The key of a kept choice: the graph without its names, and every option that matters.

use super::options::ChooseOptions;
use graph::{Graph, Node, ParamValue, Signal};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
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
        fingerprint(graph, &engine.folder),
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

/// Equal for graphs that cost the same to play: nodes, parameters, the files that they name, and edges in their order,
/// without names.
fn fingerprint(graph: &Graph, folder: &Path) -> u64 {
    let mut hash = Fnv1a::default();
    let mut places = HashMap::new();
    for (place, (id, node)) in graph.nodes().enumerate() {
        places.insert(id, place as u64);
        add_node(&mut hash, node, folder);
    }
    for edge in graph.edges() {
        for end in [edge.from, edge.to] {
            hash.number(places.get(&end.node).copied().unwrap_or(u64::MAX));
            hash.number(u64::from(end.port));
        }
    }
    hash.0
}

fn add_node(hash: &mut Fnv1a, node: &Node, folder: &Path) {
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
            ParamValue::Text(text) => {
                hash.text(text);
                add_file(hash, &folder.join(text));
            }
            ParamValue::Flag(flag) => hash.number(u64::from(*flag)),
        }
    }
}

/// Largest part of a file that is read at each of its ends.
const MAX_PART: u64 = 4 << 20;

/// The length and content of a file, if `path` names a regular one; of a long file its beginning and its end.
fn add_file(hash: &mut Fnv1a, path: &Path) {
    // Looked at before it is opened: to open a FIFO would wait.
    let Some(len) = path
        .metadata()
        .ok()
        .filter(|it| it.is_file())
        .map(|it| it.len())
    else {
        return;
    };
    hash.number(len);
    let _ = File::open(path).and_then(|mut file| {
        let mut part = Vec::new();
        for from in [0, len.saturating_sub(MAX_PART).max(MAX_PART)] {
            file.seek(SeekFrom::Start(from))?;
            part.clear();
            file.by_ref().take(MAX_PART).read_to_end(&mut part)?;
            hash.bytes(&part);
        }
        Ok(())
    });
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

    fn hash_of(graph: &Graph) -> u64 {
        fingerprint(graph, Path::new("."))
    }

    #[test]
    fn the_content_of_a_file_matters_wherever_it_changes() {
        let folder =
            std::env::temp_dir().join(format!("divisi-fingerprint-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut graph = Graph::default();
        let mut node = Node::new("a", "convolver");
        node.set("file", ParamValue::Text("a.wav".into()));
        graph.add(node).unwrap();
        let mut seen = std::collections::HashSet::new();
        let mut content = vec![0; 9 << 20];
        assert!(seen.insert(fingerprint(&graph, &folder)), "no file");
        for change in [None, Some(0), Some(5 << 20), Some((9 << 20) - 1)] {
            change.into_iter().for_each(|at: usize| content[at] = 1);
            std::fs::write(folder.join("a.wav"), &content).unwrap();
            assert!(seen.insert(fingerprint(&graph, &folder)), "{change:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn names_do_not_matter_and_all_else_does() {
        let graph = shape::diamond(16, Some(500.0)).unwrap();
        let hash = hash_of(&graph);
        let first = graph.nodes().next().unwrap().0;
        let changed = |change: &dyn Fn(&mut Node)| {
            let mut other = graph.clone();
            change(other.node_mut(first).unwrap());
            hash_of(&other)
        };
        assert_eq!(hash, hash_of(&shape::diamond(16, Some(500.0)).unwrap()));
        assert_eq!(hash, changed(&|node| node.name = "else".into()));
        assert_ne!(hash, changed(&|node| node.enabled = false));
        assert_ne!(hash, changed(&|node| node.every = 2));
        assert_ne!(
            hash,
            changed(&|node| node.set("freq", ParamValue::Number(1.5)))
        );
        assert_ne!(hash, hash_of(&shape::diamond(16, Some(501.0)).unwrap()));
        assert_ne!(hash, hash_of(&shape::diamond(36, Some(500.0)).unwrap()));
    }
}
