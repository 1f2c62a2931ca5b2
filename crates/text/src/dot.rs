//! Writes a graph for Graphviz.

use graph::{Edge, Graph, Node, Port};
use std::fmt::Write;

/// Writes `graph` in the DOT language: nodes are records with a field for each port, sources on the left.
pub fn write(graph: &Graph) -> String {
    write_with_labels(graph, |_| None)
}

/// [`write`](fn@write) with a label at each edge for which `edge_label` gives one.
pub fn write_with_labels(graph: &Graph, edge_label: impl Fn(&Edge) -> Option<String>) -> String {
    let mut text = String::from("digraph session {\n  rankdir=LR;\n  node [shape=record];\n");
    for (id, node) in graph.nodes() {
        let label = label(node);
        let style = match node.enabled {
            true => "",
            false => " style=dashed",
        };
        writeln!(text, "  n{} [label=\"{label}\"{style}];", id.0)
            .expect("writing to a String does not fail");
    }
    for edge in graph.edges() {
        let (from, to) = (edge.from, edge.to);
        let label =
            edge_label(edge).map(|label| format!(" [label=\"{}\"]", escaped_string(&label)));
        writeln!(
            text,
            "  n{}:o{} -> n{}:i{}{};",
            from.node.0,
            from.port,
            to.node.0,
            to.port,
            label.unwrap_or_default()
        )
        .expect("writing to a String does not fail");
    }
    text + "}\n"
}

/// The label of a record: inputs, name and kind, outputs.
fn label(node: &Node) -> String {
    let name = format!(
        "{}\\n{}",
        escaped_label(&node.name),
        escaped_label(&node.kind)
    );
    let sides = [
        fields('i', &node.inputs),
        Some(name),
        fields('o', &node.outputs),
    ];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    format!("{{{}}}", sides.join("|"))
}

/// The fields of one side; `None` without ports.
fn fields(side: char, ports: &[Port]) -> Option<String> {
    let field = |(i, port): (usize, &Port)| format!("<{side}{i}> {}", escaped_label(&port.name));
    let fields: Vec<String> = ports.iter().enumerate().map(field).collect();
    (!fields.is_empty()).then(|| format!("{{{}}}", fields.join("|")))
}

/// `text` inside a record's label.
fn escaped_label(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '{' | '}' | '|' | '<' | '>' | ' ') {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

/// `text` inside a string.
fn escaped_string(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, c| {
        if matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph::shape;

    #[test]
    fn every_port_is_a_field_and_every_edge_joins_two() {
        let text = write(&shape::line(3, None).unwrap());
        assert!(
            text.contains("n0 [label=\"{osc1\\nosc|{<o0> out}}\"];"),
            "{text}"
        );
        assert!(text.contains("n1:o0 -> n2:i0;"));
    }

    #[test]
    fn labels_of_edges_are_escaped() {
        let graph = shape::line(2, None).unwrap();
        let text = write_with_labels(&graph, |_| Some("a \"b\"\n".into()));
        assert!(
            text.contains("n0:o0 -> n1:i0 [label=\"a \\\"b\\\" \"];"),
            "{text}"
        );
    }

    #[test]
    fn names_are_escaped() {
        let mut graph = Graph::default();
        graph.add(Node::new("a\"|{b}\n", "x")).unwrap();
        assert!(write(&graph).contains("label=\"{a\\\"\\|\\{b\\} \\nx}\""));
    }
}
