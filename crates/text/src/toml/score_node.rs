//! The parts that `[[event]]` and `[[curve]]` share: a list of tables, the place `to`, times, and the node that plays into it.
//!
//! ```text
//!   [[event]] to = "tone.freq"  ──▶  event-1: score ──set──▶ tone.freq
//!   [[curve]] to = "tone.freq"  ──▶  curve-1: curve ──set──▶ tone.freq
//! ```

use super::chain;
use super::item::{Item, in_order};
use super::value::number;
use crate::ast::{Ast, AstEnd, AstEntry, AstNode, Ident, PortName};
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use ::toml::de::{DeTable, DeValue};
use graph::{Amount, Law, ParamValue, number_text};
use std::collections::HashSet;

/// Largest number of beats or seconds.
pub(super) const MAX_TIME: f64 = 1e9;

/// The tables of a list of them, each with the place of its header.
pub(super) fn tables<'a, 't>(
    item: &'a Item<'t>,
    name: &str,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<(ByteRange, &'a DeTable<'t>)> {
    let all = match item.get_ref() {
        DeValue::Array(all) => all.iter().collect(),
        _ => vec![item],
    };
    let mut tables = Vec::new();
    for each in all {
        match each.get_ref() {
            DeValue::Table(table) if item.get_ref().is_array() => tables.push((each.span(), table)),
            _ => {
                let message = format!("`{name}` is a list of tables: [[{name}]]");
                diagnostics.error(each.span(), message);
            }
        }
    }
    tables
}

/// Reports the keys that such a table does not have.
pub(super) fn check_keys(
    table: &DeTable<'_>,
    name: &str,
    keys: &[&'static str],
    diagnostics: &mut Diagnostics<'_>,
) {
    for (key, _) in in_order(table) {
        let word = key.get_ref().as_ref();
        if keys.contains(&word) {
            continue;
        }
        let meant = diagnostics.nearest(word, keys.iter().copied());
        let message = format!("`{name}` has no key `{word}`");
        let more = diagnostics.error(key.span(), message);
        match meant {
            Some(_) => more.did_you_mean(meant),
            None => more.help(format!("it has `{}`", keys.join("`, `"))),
        };
    }
}

/// The text of `to`.
pub(super) fn target<'t>(
    table: &DeTable<'t>,
    at: &ByteRange,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<Ident<'t>> {
    let Some(item) = table.get("to") else {
        let more = diagnostics.error(at.clone(), "`to` is missing");
        more.help("write a port or a parameter: to = \"tone.freq\"");
        return None;
    };
    match item.get_ref() {
        DeValue::String(text) => Some(Ident {
            text: text.clone(),
            at: item.span(),
        }),
        _ => {
            diagnostics.error(item.span(), "`to` takes a text: to = \"tone.freq\"");
            None
        }
    }
}

/// A time in the words of a score: a number, or a text such as `2.5s`.
pub(super) fn time(item: &Item<'_>) -> Option<String> {
    let is_valid = |time: &f64| (0.0..=MAX_TIME).contains(time);
    match item.get_ref() {
        DeValue::String(text) => {
            let seconds = text.strip_suffix('s')?.trim().parse::<f64>().ok();
            let seconds = seconds.filter(is_valid)?;
            Some(format!("{}s", number_text(seconds)))
        }
        value => number(value).filter(is_valid).map(number_text),
    }
}

/// Names of one stem that no node has: `event-1`, `event-2`.
pub(super) struct FreeNames {
    stem: &'static str,
    count: usize,
    taken: HashSet<String>,
}

impl FreeNames {
    pub(super) fn new(stem: &'static str, ast: &Ast<'_>) -> Self {
        let taken = ast.nodes.iter().map(|node| node.name.text.to_string());
        Self {
            stem,
            count: 0,
            taken: taken.collect(),
        }
    }

    /// The next name, at `at`.
    pub(super) fn next<'t>(&mut self, at: ByteRange) -> Ident<'t> {
        loop {
            self.count += 1;
            let name = format!("{}-{}", self.stem, self.count);
            if !self.taken.contains(&name) {
                let text = name.into();
                return Ident { text, at };
            }
        }
    }
}

/// Adds a source of `kind` called `name` with these parameters, and its edge to `to`.
pub(super) fn source<'t>(
    kind: &'static str,
    name: Ident<'t>,
    params: Vec<(&'static str, ParamValue)>,
    to: &Ident<'_>,
    ast: &mut Ast<'t>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let Some(end) = target_end(to, diagnostics) else {
        return;
    };
    let start = AstEnd {
        node: name.clone(),
        path: Vec::new(),
        port: PortName::First,
        port_at: name.at.clone(),
        is_middle: false,
        amount: None,
    };
    ast.nodes.push(source_node(kind, name, params));
    ast.edges.push((start, end));
    ast.has_scores = true;
}

/// The place that `to` names, at which a value is set if it states no other law.
fn target_end<'t>(to: &Ident<'_>, diagnostics: &mut Diagnostics<'_>) -> Option<AstEnd<'t>> {
    // The reader of edges knows names with quotes, ways into parts, and laws.
    let mut end = match chain::parse(&format!("x -> {}", to.text)) {
        Ok(mut ends) if ends.len() == 2 => ends.pop()?,
        Ok(_) => {
            diagnostics.error(to.at.clone(), "`to` names one place, not a chain");
            return None;
        }
        Err(error) => {
            diagnostics
                .error(to.at.clone(), error.message)
                .help(error.help);
            return None;
        }
    };
    (end.node.at, end.port_at) = (to.at.clone(), to.at.clone());
    for ident in &mut end.path {
        ident.at = to.at.clone();
    }
    end.amount.get_or_insert(Amount {
        law: Law::Set,
        factor: 1.0,
    });
    Some(end)
}

/// A node of `kind`, whose keys have the place of its name.
fn source_node<'t>(
    kind: &'static str,
    name: Ident<'t>,
    params: Vec<(&'static str, ParamValue)>,
) -> AstNode<'t> {
    let at = name.at.clone();
    let ident = |text: &'static str| Ident {
        text: text.into(),
        at: at.clone(),
    };
    let entry = |(key, value): (&'static str, ParamValue)| AstEntry {
        key: ident(key),
        value,
        value_at: at.clone(),
        is_own: false,
    };
    let mut node = AstNode::new(name);
    node.kind = Some(ident(kind));
    node.entries = params.into_iter().map(entry).collect();
    node
}
