//! TOML that is not right, made right by taking out the statements that are wrong.

use super::scanner::Scanner;
use crate::findings::Findings;
use crate::source::Span;
use ::toml::de::DeTable;

/// `text` with spaces for every statement that cannot be read, which is said. What is left stands where it stood.
pub(super) fn mend(text: &str, findings: &mut Findings<'_>) -> String {
    let mut mended = text.as_bytes().to_vec();
    // Statements that never end are looked at up to the end of the text, each.
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
            findings.error(
                statement,
                "too many statements that never end: the rest is not read",
            );
            blank(&mut mended, start..text.len());
            break;
        };
        budget = left;
        let Err(error) = DeTable::parse(&text[statement.clone()]) else {
            continue;
        };
        let at = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or("this is not TOML");
        findings.error(start + at.start..start + at.end, message.to_lowercase());
        let end = resumes(text, &statement);
        blank(&mut mended, start..end);
        scanner.at = end;
    }
    // Spaces for whole statements: what is left is text still.
    String::from_utf8(mended).unwrap_or_default()
}

/// Where, behind the first line of a wrong `statement`, a line looks like the next one.
fn resumes(text: &str, statement: &Span) -> usize {
    let mut at = statement.start;
    for (i, line) in text[statement.clone()].split_inclusive('\n').enumerate() {
        if i > 0 && looks_like_statement(line) {
            return at;
        }
        at += line.len();
    }
    statement.end
}

fn looks_like_statement(line: &str) -> bool {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let line = line.trim();
    if let Some(header) = line.strip_prefix('[') {
        return header.trim_start_matches('[').starts_with(is_bare) && header.ends_with(']');
    }
    let rest = line.trim_start_matches(is_bare);
    rest.len() < line.len() && rest.trim_start().starts_with('=')
}

/// Puts spaces for everything in `span` but the ends of lines.
fn blank(text: &mut [u8], span: Span) {
    for byte in &mut text[span] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}
