//! A large session in pieces: its plain nodes are read line by line, and only what is left as TOML at large.
//!
//! Gives what the whole text would give, or nothing: where anything is wrong, or said in two places, the whole text has
//! to be read at once.

use super::parser::Parser;
use super::plain;
use super::sections::Part;
use crate::Settings;
use crate::draft::Draft;
use crate::findings::Findings;
use ::toml::de::{DeTable, DeValue};
use std::collections::HashSet;

/// What `text` says, which falls into `parts`. What is not plain is put into `rest`, each part where it stands.
pub(super) fn read<'t>(
    text: &'t str,
    parts: &[Part<'_>],
    rest: &'t mut String,
    findings: &mut Findings<'_>,
) -> Option<(Draft<'t>, Settings)> {
    let before = findings.mark();
    let read = pieces(text, parts, rest, findings);
    if read.is_none() {
        findings.back_to(before);
    }
    read
}

fn pieces<'t>(
    text: &'t str,
    parts: &[Part<'_>],
    rest: &'t mut String,
    findings: &mut Findings<'_>,
) -> Option<(Draft<'t>, Settings)> {
    let first = parts.iter().position(|part| part.is_table)?;
    let tables = &parts[first..];
    // What has no header is a piece of its own. It is right as it stands, so it ends where the next piece begins: no
    // text in quotes goes on in there.
    let top = DeTable::parse(&text[..tables[0].span.start]).ok()?;
    let mut parser = Parser::new(text, false, findings);
    let mut names = HashSet::with_capacity(tables.len());
    let mut entries = Vec::new();
    let mut left = text.len() / 4;
    for part in tables {
        match plain::node(&text[..part.span.end], part.span.start, &mut entries) {
            Some(name) => {
                names.insert(name.text.clone()).then_some(())?;
                parser.node(name, entries.drain(..));
            }
            None => {
                left = left.checked_sub(part.span.len())?;
                put(&text[part.span.clone()], part.span.start, rest)?;
            }
        }
    }
    let rest = DeTable::parse(rest).ok()?;
    let (top, rest) = (top.get_ref(), rest.get_ref());
    let is_apart = !top.contains_key("nodes") && rest.keys().all(|key| !top.contains_key(key));
    let mut others = match rest.get("nodes").map(|nodes| nodes.get_ref()) {
        Some(DeValue::Table(nodes)) => nodes.keys().collect(),
        Some(_) => return None,
        None => Vec::new(),
    };
    others.retain(|name| names.contains(name.get_ref()));
    if !is_apart || !others.is_empty() {
        return None;
    }
    parser.table(top);
    parser.table(rest);
    Some(parser.finish())
}

/// Puts `part` into `rest`, at byte `at`, if it is right as it stands.
fn put(part: &str, at: usize, rest: &mut String) -> Option<()> {
    DeTable::parse(part).ok()?;
    rest.extend(std::iter::repeat_n(' ', at - rest.len()));
    *rest += part;
    Some(())
}
