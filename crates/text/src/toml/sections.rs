//! Parts of a session that others own, cut out as they are written.
//!
//! A part begins with its header, or with its first line where it has none, and with the comments right above that; it
//! ends before the next part begins.

use super::OWN;
use super::scanner::Scanner;
use crate::Section;
use crate::findings::Findings;
use crate::source::Span;
use ::toml::de::DeTable;
use std::borrow::Cow;
use std::collections::HashMap;

/// The sections of `text`, which falls into `parts`; parts with one name are one section.
pub(super) fn sections(
    text: &str,
    parts: Vec<Part<'_>>,
    findings: &mut Findings<'_>,
) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let mut known: HashMap<(Cow<'_, str>, bool), usize> = HashMap::new();
    for part in parts {
        if OWN.contains(&part.name.as_ref()) {
            continue;
        }
        let written = text[part.span.clone()].trim_end();
        let is_table = part.is_table;
        if let Some(section) = known.get(&(part.name.clone(), is_table)) {
            let joined = &mut all[*section].text;
            *joined += &format!("\n{written}\n");
            continue;
        }
        if let Some(meant) = findings.nearest(&part.name, OWN.into_iter()) {
            let message = format!("`{}` is not read here", part.name);
            let more = findings.warning(part.key, message);
            more.help(format!("did you mean `{meant}`?"));
        }
        known.insert((part.name.clone(), is_table), all.len());
        all.push(Section {
            place: findings.source.place(part.span.clone()),
            name: part.name.into_owned(),
            text: format!("{written}\n"),
        });
    }
    all
}

/// Whether `section` begins with a header, and so has to stand below what has none.
pub(super) fn is_table(section: &str) -> bool {
    let mut lines = section.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with('['))
}

/// A header with all that is below it, or one statement above the first header.
pub(super) struct Part<'t> {
    pub(super) name: Cow<'t, str>,
    key: Span,
    pub(super) span: Span,
    pub(super) is_table: bool,
}

/// The parts of `text`, one right behind the other.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut scanner = Scanner::new(text);
    let mut all: Vec<Part<'_>> = Vec::new();
    let mut in_table = false;
    loop {
        let blank = scanner.at;
        let start = scanner.skip_blank();
        // Comments right above belong to what is below, other ones to what is above.
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

fn key_length(text: &str) -> usize {
    let quote = text.bytes().next().filter(|b| matches!(b, b'"' | b'\''));
    let Some(quote) = quote else {
        return text
            .find(|c: char| c.is_whitespace() || matches!(c, '.' | '=' | ']' | '#'))
            .unwrap_or(text.len());
    };
    let mut escaped = true; // the first quote
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

fn name_of(key: &str) -> Cow<'_, str> {
    if !key.starts_with(['"', '\'']) {
        return key.into();
    }
    let line = format!("{key} = 0");
    let table = DeTable::parse(&line).ok();
    let name = table.and_then(|t| Some(t.get_ref().keys().next()?.get_ref().to_string()));
    name.map_or(key.into(), Cow::from)
}
