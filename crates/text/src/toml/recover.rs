//! Repairs a text that is not valid TOML: wrong statements are replaced with spaces.

use super::scanner::Scanner;
use crate::diagnostics::Diagnostics;
use crate::source::ByteRange;
use ::toml::de::DeTable;

/// The message of the `toml` crate for a key that a table has already.
pub(super) const DUPLICATE_KEY: &str = "duplicate key";

/// Returns `text` with spaces in place of every statement that cannot be parsed, and reports those. The other
/// statements keep their places, so lines and columns stay right.
pub(super) fn repair(text: &str, diagnostics: &mut Diagnostics<'_>) -> String {
    let mut repaired = text.as_bytes().to_vec();
    // Each statement that never ends is parsed up to the end of the text: without a limit that is quadratic.
    let mut budget = 1_000_000 + 16 * text.len();
    let mut scanner = Scanner::new(text);
    loop {
        scanner.skip_blank();
        let start = scanner.at;
        if start == text.len() {
            break;
        }
        scanner.statement(text[start..].starts_with('['));
        let statement = start..scanner.at;
        let Some(left) = budget.checked_sub(statement.len()) else {
            diagnostics.error(
                statement,
                "too many statements without an end: the rest is not read",
            );
            blank(&mut repaired, start..text.len());
            break;
        };
        budget = left;
        let (_, errors) = DeTable::parse_recoverable(&text[statement.clone()]);
        // A duplicate key costs only itself: the parser goes on after it, and it is reported later.
        let Some(error) = errors.iter().find(|e| e.message() != DUPLICATE_KEY) else {
            continue;
        };
        let at = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or("this is not TOML");
        diagnostics.error(start + at.start..start + at.end, message.to_lowercase());
        let end = resume_position(text, &statement);
        blank(&mut repaired, start..end);
        scanner.at = end;
    }
    // Whole statements became spaces, so the text is still UTF-8.
    String::from_utf8(repaired).unwrap_or_default()
}

/// Position where reading continues: the first line inside the wrong `statement` that looks like a new one, or the end of `statement`.
fn resume_position(text: &str, statement: &ByteRange) -> usize {
    let mut at = statement.start;
    for (i, line) in text[statement.clone()].split_inclusive('\n').enumerate() {
        if i > 0 && looks_like_statement(line) {
            return at;
        }
        at += line.len();
    }
    statement.end
}

/// Returns true for `[header]` and `key = …`.
fn looks_like_statement(line: &str) -> bool {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let line = line.trim();
    if let Some(header) = line.strip_prefix('[') {
        return header.trim_start_matches('[').starts_with(is_bare) && header.ends_with(']');
    }
    let rest = line.trim_start_matches(is_bare);
    rest.len() < line.len() && rest.trim_start().starts_with('=')
}

/// Replaces all of `span` but line ends with spaces.
fn blank(text: &mut [u8], span: ByteRange) {
    for byte in &mut text[span] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}
