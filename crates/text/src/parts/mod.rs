//! Parts: graphs with ports and parameters that a session uses like kinds, and nodes with a count.
//!
//! A session is flattened before it is resolved, so that all later steps see plain nodes:
//!
//! ```text
//!  Ast with parts ──template──▶ definitions ──instance──▶ nodes, tree of instances ──wires──▶ flat Ast
//!                    │ values parsed once     │ values of each copy     │ ways through ports
//!                    ▼                        ▼ bounds                  ▼ of parts become edges
//! ```
//!
//! * A node may have a `count`: its copies are `voice.0`, `voice.1`, … and what is inside an instance of a part is
//!   `voice.3.osc`. In an expression `i` is the index of the copy and `n` the count, of the innermost node with a count.
//! * An edge from copies to one node adds them there, one to copies feeds each of them, and equally many copies meet one to
//!   one. `x.*` in place of a port is the numbered ports in order, one a copy.
//! * The bounds hold for what parts and counts make, however small the text is. A mistake inside a part is reported once.

mod expression;
mod instance;
mod recursion;
mod template;
mod value;
mod walk;
mod wires;

#[cfg(test)]
mod tests;

use crate::ast::{Ast, AstEntry, AstNode, PortName};
use crate::diagnostics::Diagnostics;
use crate::fold::WrittenNode;
use graph::{Catalogue, ParamValue};
pub(crate) use instance::MAX_NODES;
use instance::{Copier, Instance};
use template::{Template, expected, kind_of};
use value::{Expected, InstanceScope, ValueParser};

/// Returns `ast` without parts, counts, lists and expressions: all of them are computed. If there were any, returns the nodes
/// that stand for several, too.
pub(crate) fn flatten<'t>(
    mut ast: Ast<'t>,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics<'_>,
) -> (Ast<'t>, Option<Vec<WrittenNode>>) {
    let is_plain = |node: &AstNode<'_>| node.lists.is_empty() && !template::is_counted(node);
    let has_path = |end: &crate::ast::AstEnd<'_>| {
        !end.path.is_empty() || matches!(&end.port, PortName::Name(name) if name == "*")
    };
    let mut edges = ast.edges.iter();
    if ast.parts.is_empty()
        && ast.nodes.iter().all(is_plain)
        && !edges.any(|(from, to)| has_path(from) || has_path(to))
    {
        let mut is_computed = false;
        for node in &mut ast.nodes {
            is_computed |= compute(node, catalogue, diagnostics);
        }
        return (ast, is_computed.then(Vec::new));
    }
    let mut templates = template::templates(&ast, catalogue, diagnostics);
    recursion::refuse_recursion(&mut templates, diagnostics);
    let mut copier = Copier::new(&templates, diagnostics);
    copier.session();
    let written = written_nodes(&templates, &copier.instances);
    let (mut nodes, instances, ports) = (copier.nodes, copier.instances, copier.ports);
    let edges = match copier.is_full {
        true => Vec::new(),
        false => wires::connect(&templates, &instances, ports, &mut nodes, diagnostics),
    };
    let flat = Ast {
        nodes,
        edges,
        parts: Vec::new(),
        has_copies: true,
        tempo: ast.tempo.clone(),
        has_scores: ast.has_scores,
    };
    (flat, Some(written))
}

/// The nodes of the session that stand for several.
fn written_nodes(templates: &[Template<'_, '_>], instances: &[Instance]) -> Vec<WrittenNode> {
    let (Some(session), Some(instance)) = (templates.last(), instances.first()) else {
        return Vec::new();
    };
    let nodes = session.nodes.iter().zip(&instance.children);
    let nodes = nodes.filter(|(node, child)| {
        child.is_array || matches!(node.content, template::Content::Part(_))
    });
    let written = nodes.map(|(node, child)| WrittenNode {
        name: node.written.name.text.to_string(),
        kind: node
            .written
            .kind
            .as_ref()
            .map_or_else(String::new, |kind| kind.text.to_string()),
        count: child.is_array.then_some(child.count),
    });
    written.collect()
}

/// Computes the expressions of a node that is not copied, and returns true if there are any.
fn compute(
    node: &mut AstNode<'_>,
    catalogue: &Catalogue,
    diagnostics: &mut Diagnostics<'_>,
) -> bool {
    let is_text = |entry: &AstEntry<'_>| matches!(entry.value, ParamValue::Text(_));
    if !node.entries.iter().any(is_text) {
        return false;
    }
    let kind = kind_of(node, catalogue);
    let (parser, scope) = (
        ValueParser {
            params: &[],
            has_holes: false,
        },
        InstanceScope::new(Vec::new(), (0, 1)),
    );
    let before = node.entries.len();
    let mut is_computed = false;
    node.entries.retain_mut(|entry| {
        let expected = expected(kind, &entry.key.text);
        if entry.is_own || !is_text(entry) || !matches!(expected, Expected::Number | Expected::Flag)
        {
            return true;
        }
        let value = parser.parse(&entry.value, &entry.value_at, expected, diagnostics);
        let value = value.map(|value| scope.evaluate(&value));
        if let Some(Err(message)) = &value {
            diagnostics.error(entry.value_at.clone(), message);
        }
        let Some(Ok(value)) = value else {
            return false;
        };
        entry.value = value;
        is_computed = true;
        true
    });
    node.is_damaged |= node.entries.len() < before;
    is_computed
}
