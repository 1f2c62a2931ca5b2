//! Writes a session as `.toml`.
//!
//! ```text
//!   lines of other sections ─ edges ─ [settings] ─ [tempo] ─ [nodes.*] ─ other sections with headers
//! ```
//!
//! The order is that of TOML: keys without a header come first, since each header ends the table before it. Sections that nothing here
//! reads are text and are copied. Parts are copied too, as long as flattening them would give the graph that is written; an
//! edit of a copy has no place in the text of its part, so then the graph is written flat.

use super::chain;
use super::sections::is_table;
use super::tempo;
use crate::session::Session;
use crate::time::to_micros;
use crate::written::is_fingerprint;
use graph::{Amount, Catalogue, Edge, Graph, Node, ParamValue, Port, number_text};
use std::fmt::Write;

/// Writes `session`; reading it gives an equal one. Parts and their uses are written as they were, with their comments, if
/// the graph is still the one that they give; else the session is written flat. Keys that no kind in `catalogue` knows become
/// a node's `own`. Lines without a header come first, then edges, settings, nodes, and the sections with headers.
pub fn write(session: &Session, catalogue: &Catalogue) -> String {
    let mut text = String::new();
    let (tables, lines): (Vec<_>, Vec<_>) =
        session.sections.iter().partition(|s| is_table(&s.text));
    for section in lines {
        text += &format!("{}\n\n", section.text.trim_end());
    }
    let parts = session.parts.as_ref();
    match parts.filter(|parts| parts.give(&session.graph)) {
        Some(parts) => {
            text += &parts.lines;
            settings(&mut text, session);
            tempo::write(&mut text, session.graph.tempo());
            text += &format!("\n{}", parts.tables);
        }
        None => {
            edges(&mut text, &session.graph, catalogue);
            settings(&mut text, session);
            tempo::write(&mut text, session.graph.tempo());
            for (_, each) in session.graph.nodes() {
                node(&mut text, each, catalogue);
            }
        }
    }
    for section in tables {
        text += &format!("\n{}\n", section.text.trim_end());
    }
    text
}

fn edges(text: &mut String, graph: &Graph, catalogue: &Catalogue) {
    if graph.edges().is_empty() {
        return;
    }
    *text += "edges = [\n";
    for edge in graph.edges() {
        if let Some(edge) = edge_text(edge, graph, catalogue) {
            *text += &format!("  {},\n", quoted(&edge));
        }
    }
    *text += "]\n";
}

/// An edge as a chain.
fn edge_text(edge: &Edge, graph: &Graph, catalogue: &Catalogue) -> Option<String> {
    let from = graph.node(edge.from.node)?;
    let to = graph.node(edge.to.node)?;
    let from = end_text(from, edge.from.port, &from.outputs);
    let input = to.inputs.get(usize::from(edge.to.port))?;
    if let Some(modulation) = input.modulation {
        let kind = catalogue.get(to.effective_kind())?;
        let param = match kind.params.get(usize::from(modulation.param)) {
            Some(param) => param.name.to_owned(),
            None => chain::quote_if_needed(input.driven_name()).to_string(),
        };
        let (name, amount) = (chain::quote_if_needed(&to.name), modulation.amount());
        return Some(match amount == Amount::default() {
            true => format!("{from} -> {name}.{param}"),
            false => format!("{from} -> {name}.{param}: {amount}"),
        });
    }
    let to = end_text(to, edge.to.port, to.kind_inputs());
    Some(format!("{from} -> {to}"))
}

/// An end of an edge: the node, and the name of its port unless it is the only one. A port without a name, or with that of
/// another one, has its number.
fn end_text(node: &Node, at: u16, ports: &[Port]) -> String {
    let name = chain::quote_if_needed(&node.name);
    if ports.len() == 1 {
        return name.to_string();
    }
    let port = ports.get(usize::from(at)).map_or("", |port| &port.name);
    let is_only = ports.iter().filter(|other| other.name == port).count() == 1;
    match is_only && !port.is_empty() && port.parse::<u32>().is_err() {
        true => format!("{name}.{}", chain::quote_if_needed(port)),
        false => format!("{name}.{}", u32::from(at) + 1),
    }
}

fn line(text: &mut String, key: &str, value: impl std::fmt::Display) {
    writeln!(text, "{} = {value}", self::key(key)).expect("a String takes all");
}

fn settings(text: &mut String, session: &Session) {
    let settings = &session.settings;
    if *settings == crate::session::Settings::default() {
        return;
    }
    *text += "\n[settings]\n";
    if let Some(rate) = settings.rate {
        line(text, "rate", rate.hz());
    }
    if let Some(block) = settings.block {
        line(text, "block", block.0);
    }
    if let Some(deadline) = settings.deadline {
        line(text, "deadline_us", to_micros(deadline));
    }
}

fn node(text: &mut String, node: &Node, catalogue: &Catalogue) {
    *text += &format!("\n[nodes.{}]\n", key(&node.name));
    line(text, "kind", quoted(&node.kind));
    if let Some(stand_in) = &node.stand_in {
        line(text, "stand_in", quoted(stand_in));
    }
    let kind = catalogue.get(&node.kind);
    let is_own = |key: &str| {
        let is_count = matches!(key, "in" | "out" | "channels");
        kind.is_some_and(|kind| {
            let is_layout = key == "layout" && kind.has_layout();
            kind.param(key).is_none() && !is_count && !is_layout
        })
    };
    let (own, params): (Vec<_>, Vec<_>) = (node.params.iter()).partition(|(key, _)| is_own(key));
    let params = params.into_iter();
    for (key, param) in params.filter(|(key, _)| !is_fingerprint(node, key)) {
        line(text, key, value(param));
    }
    if !own.is_empty() {
        let own = own
            .iter()
            .map(|(k, v)| format!("{} = {}", key(k), value(v)));
        line(
            text,
            "own",
            format!("{{ {} }}", own.collect::<Vec<_>>().join(", ")),
        );
    }
    if let Some(cost) = node.cost {
        line(text, "cost_us", to_micros(cost));
    }
    if node.every != 1 {
        line(text, "every", node.every);
    }
    if !node.enabled {
        line(text, "enabled", false);
    }
    if node.bypassed {
        line(text, "bypass", true);
    }
}

/// A parameter's value; whole numbers without a decimal point, as long as they are exact.
pub(super) fn value(value: &ParamValue) -> String {
    match value {
        ParamValue::Number(n) if *n == 0.0 && n.is_sign_negative() => "-0.0".into(),
        ParamValue::Number(n) => number_text(*n),
        ParamValue::Text(words) => quoted(words),
        ParamValue::Flag(on) => on.to_string(),
    }
}

/// A key, in quotes if it needs them.
pub(super) fn key(name: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.into(),
        false => quoted(name),
    }
}

/// A string: in single quotes if that saves escapes, else in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\'';
    if text.contains(['"', '\\']) && text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c if c.is_control() => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
