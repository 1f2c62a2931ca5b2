//! A graph inside a section: nodes and edges below a top-level key, by the rules of the session's own.

use super::to_ast::convert;
use crate::ReadContext;
use crate::ast::{AstEntry, AstNode, Dialect, Ident};
use crate::diagnostics::Diagnostics;
use crate::parts;
use crate::resolve::resolve;
use ::toml::de::DeTable;
use graph::{Catalogue, Diagnostic, Graph, ParamValue};

/// Reads `nodes` and `edges` of `table`, a section of the session `text`, against the kinds in `catalogue`.
///
/// `defaults` are numbers that the section sets for all its nodes: a node without one of these keys gets it.
pub fn read_section_graph<'t>(
    text: &'t str,
    table: &DeTable<'t>,
    defaults: &[(&'static str, f64)],
    catalogue: &Catalogue,
) -> (Graph, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::new(text, &[]);
    let (mut ast, _) = convert(text, table, &[], &mut diagnostics);
    for node in &mut ast.nodes {
        for (key, value) in defaults {
            if node.entries.iter().all(|entry| entry.key.text != *key) {
                let entry = default_entry(node, key, *value);
                node.entries.push(entry);
            }
        }
    }
    let (ast, _) = parts::flatten(ast, catalogue, &mut diagnostics);
    let context = ReadContext::new(catalogue);
    let graph = resolve(&ast, Dialect::Toml, false, &context, &mut diagnostics);
    (graph, diagnostics.sorted())
}

/// `key = value`, at the node's name, since the node itself does not have it.
fn default_entry<'t>(node: &AstNode<'t>, key: &'static str, value: f64) -> AstEntry<'t> {
    AstEntry {
        key: Ident {
            text: key.into(),
            at: node.name.at.clone(),
        },
        value: ParamValue::Number(value),
        value_at: node.name.at.clone(),
        is_own: false,
    }
}
