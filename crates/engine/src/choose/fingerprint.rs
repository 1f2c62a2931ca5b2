//! The key of a kept choice: the graph without its names, and every option that matters.

use super::options::ChooseOptions;
use costs::StableHash;
use graph::{Graph, Node, ParamValue};
use std::collections::HashMap;
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
    let mut hash = StableHash::default();
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
    hash.finish()
}

fn add_node(hash: &mut StableHash, node: &Node, folder: &Path) {
    hash.text(node.effective_kind());
    hash.number(u64::from(node.every) << 1 | u64::from(node.enabled));
    hash.number(u64::from(node.bypassed));
    hash.number(node.cost.map_or(u64::MAX, |cost| cost.0));
    hash.ports(&node.inputs);
    hash.ports(&node.outputs);
    hash.number(node.params.len() as u64);
    for (key, value) in &node.params {
        hash.text(key);
        hash.value(value);
        if let ParamValue::Text(text) = value {
            add_file(hash, &folder.join(text));
        }
    }
}

/// Largest part of a file that is read at each of its ends.
const MAX_PART: u64 = 4 << 20;

/// The length and content of a file, if `path` names a regular one; of a long file its beginning and its end.
fn add_file(hash: &mut StableHash, path: &Path) {
    let Ok(mut file) = files::open(path) else {
        return;
    };
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    hash.number(len);
    let mut part = Vec::new();
    for from in [0, len.saturating_sub(MAX_PART).max(MAX_PART)] {
        part.clear();
        let sought = file.seek(SeekFrom::Start(from));
        let read = sought.and_then(|_| file.by_ref().take(MAX_PART).read_to_end(&mut part));
        // A file that cannot be read has another content than one that can.
        hash.number(u64::from(read.is_ok()));
        hash.bytes(&part);
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
