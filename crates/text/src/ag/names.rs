//! Names that the format can hold, for graphs whose names it cannot: what is inside parts is called `voice.3.osc`.

use super::write::is_name;
use graph::{Graph, NodeId};

/// A copy of `graph` whose names `.ag` has a syntax for, and each name that had to change, with the new one: other
/// characters than letters, digits, `-` and `_` become `-`.
pub fn with_plain_names(graph: &Graph) -> (Graph, Vec<(String, String)>) {
    let mut plain = Graph::default();
    let mut changed = Vec::new();
    for id in (0..graph.id_bound() as u32).map(NodeId) {
        let Some(node) = graph.node(id) else {
            plain.reserve_id();
            continue;
        };
        let mut node = node.clone();
        if !is_name(&node.name) {
            let name = free_name(&node.name, graph, &plain);
            changed.push((std::mem::replace(&mut node.name, name.clone()), name));
        }
        if let Err((node, _)) = plain.add(node) {
            unreachable!("`{}` is free", node.name);
        }
    }
    for edge in graph.edges() {
        plain.connect(*edge);
    }
    (plain, changed)
}

/// A name of the format that is like `name`, and that neither graph has.
fn free_name(name: &str, graph: &Graph, plain: &Graph) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut stem: String = name
        .chars()
        .map(|c| if is_kept(c) { c } else { '-' })
        .collect();
    if !stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
        stem.insert(0, 'n');
    }
    let is_free = |name: &String| graph.find(name).is_none() && plain.find(name).is_none();
    let numbered = (2u64..).map(|number| format!("{stem}-{number}"));
    let mut names = [stem.clone()].into_iter().chain(numbered);
    names.find(is_free).expect("one of endless names is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::catalogue;
    use crate::{Session, ag, toml};

    #[test]
    fn a_session_with_parts_is_written_flat_with_names_of_the_format() {
        let text = "edges = [\"v.1 -> o\"]\n[nodes]\nv = { kind = \"osc\", freq = 1, count = 2 }\nv-1 = { kind = \"osc\", freq = 1 }\n\"1 é\" = { kind = \"sink\" }\no = { kind = \"sink\" }\n";
        let session = toml::read(text, &catalogue()).session;
        assert!(ag::write(&session, &catalogue()).is_err());
        let (graph, changed) = with_plain_names(&session.graph);
        let changed: Vec<_> = changed
            .iter()
            .map(|(old, new)| format!("{old} {new}"))
            .collect();
        assert_eq!(changed, ["v.0 v-0", "v.1 v-1-2", "1 é n1--"]);
        let flat = Session {
            graph,
            ..Session::default()
        };
        let written = ag::write(&flat, &catalogue()).unwrap();
        assert_eq!(ag::read(&written, &catalogue()).session, flat, "{written}");
    }
}
