//! The sections of a session: the lines of top-level keys that others own.
//!
//! A part begins with the comments right above its header, or above its first line if it has no header, and ends where the
//! next part begins.

use super::scanner::Scanner;
use crate::diagnostics::Diagnostics;
use crate::session::Section;
use crate::source::ByteRange;
use ::toml::de::DeTable;
use std::borrow::Cow;
use std::collections::HashMap;

/// The top-level keys that this reader owns.
pub(super) const OWN: [&str; 8] = [
    "curve", "edges", "event", "include", "nodes", "part", "settings", "tempo",
];

/// The statements of this reader but settings, as they are written.
#[derive(Default)]
pub(super) struct OwnKeys {
    pub(super) lines: String,
    pub(super) tables: String,
}

/// The sections of `text`. Parts with one name are one section; a name that is similar to one of our own is reported.
pub(super) fn sections(
    text: &str,
    own: &mut OwnKeys,
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let mut known: HashMap<(Cow<'_, str>, bool), usize> = HashMap::new();
    for part in parts(text) {
        let written = text[part.span.clone()].trim_end();
        let is_table = part.is_table;
        if OWN.contains(&part.name.as_ref()) {
            let statements = if is_table {
                &mut own.tables
            } else {
                &mut own.lines
            };
            if !matches!(part.name.as_ref(), "settings" | "tempo") {
                *statements += &format!(
                    "{}{written}\n",
                    if statements.is_empty() { "" } else { "\n" }
                );
            }
            continue;
        }
        if let Some(section) = known.get(&(part.name.clone(), is_table)) {
            let joined = &mut all[*section];
            let place = diagnostics.source.span(part.span.clone());
            joined.elsewhere.push((joined.text.len() + 1, place));
            joined.text += &format!("\n{written}\n");
            continue;
        }
        if let Some(meant) = diagnostics.nearest(&part.name, OWN.into_iter()) {
            let message = format!("`{}` is not read here", part.name);
            let more = diagnostics.warning(part.key, message);
            more.help(format!("did you mean `{meant}`?"));
        }
        known.insert((part.name.clone(), is_table), all.len());
        all.push(Section {
            span: diagnostics.source.span(part.span.clone()),
            name: part.name.into_owned(),
            text: format!("{written}\n"),
            elsewhere: Vec::new(),
        });
    }
    all
}

/// Returns true if `section` begins with a header, so that it has to be written below all lines without one.
pub(super) fn is_table(section: &str) -> bool {
    let mut lines = section.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with('['))
}

/// A header with the lines below it, or one statement above the first header.
struct Part<'t> {
    name: Cow<'t, str>,
    key: ByteRange,
    span: ByteRange,
    is_table: bool,
}

/// The parts of `text`, one right after the other.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut scanner = Scanner::new(text);
    let mut all: Vec<Part<'_>> = Vec::new();
    let mut in_table = false;
    loop {
        let blank = scanner.at;
        let start = scanner.skip_blank();
        // Comments right above a statement belong to it, all others to the part before.
        if let Some(last) = all.last_mut() {
            last.span.end = start.max(blank);
        }
        let Some(first) = text[scanner.at..].chars().next() else {
            if let Some(last) = all.last_mut() {
                last.span.end = text.len();
            }
            return all;
        };
        let is_table = first == '[';
        let key = scanner.at + text[scanner.at..].len()
            - text[scanner.at..]
                .trim_start_matches(['[', ' ', '\t'])
                .len();
        let key = key..key + key_length(&text[key..]);
        scanner.statement(is_table);
        in_table |= is_table;
        if is_table || !in_table {
            all.push(Part {
                name: name_of(&text[key.clone()]),
                key,
                span: start..scanner.at,
                is_table,
            });
        } else if let Some(last) = all.last_mut() {
            last.span.end = scanner.at;
        }
    }
}

/// Length of the first part of a dotted key.
fn key_length(text: &str) -> usize {
    let quote = text.bytes().next().filter(|b| matches!(b, b'"' | b'\''));
    let Some(quote) = quote else {
        return text
            .find(|c: char| c.is_whitespace() || matches!(c, '.' | '=' | ']' | '#'))
            .unwrap_or(text.len());
    };
    let mut escaped = true; // the opening quote
    let end = text.bytes().position(|b| {
        let is_end = (b == quote && !escaped) || b == b'\n';
        escaped = quote == b'"' && b == b'\\' && !escaped;
        is_end
    });
    match end {
        Some(end) if text.as_bytes()[end] != b'\n' => end + 1,
        Some(end) => end,
        None => text.len(),
    }
}

/// The decoded key; the `toml` crate knows the escapes.
fn name_of(key: &str) -> Cow<'_, str> {
    if !key.starts_with(['"', '\'']) {
        return key.into();
    }
    let line = format!("{key} = 0");
    let table = DeTable::parse(&line).ok();
    let name = table.and_then(|t| Some(t.get_ref().keys().next()?.get_ref().to_string()));
    name.map_or(key.into(), Cow::from)
}
