//! Diagnostics as a terminal shows them: `file:line:column: error: …`, the line, a caret, what to do.
//!
//! Whatever stands in the text, the terminal is safe: control characters and those that turn the writing around are
//! shown by their numbers, and of a long line only the part around the mistake.

use graph::{Diagnostic, Severity, SourceSpan};
use std::fmt::Write;

/// How many diagnostics are shown; the rest is counted.
pub const MAX_SHOWN: usize = 100;

/// The most columns of a line that are shown.
const WIDEST: usize = 100;
/// How many of them stand before the mistake.
const BEFORE: usize = 40;

/// Shows `diagnostics`, found in `source` (what is not UTF-8 replaced by U+FFFD), as the file `name`.
pub fn render_diagnostics(name: &str, source: &str, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    let name = tame(name);
    let lines: Vec<&str> = source.split('\n').collect();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        one(&mut text, &name, &lines, diagnostic);
    }
    let (mut errors, mut warnings) = (0, 0);
    for diagnostic in diagnostics.iter().skip(MAX_SHOWN) {
        match diagnostic.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
        }
    }
    if errors + warnings > 0 {
        let more = format!("and {errors} more errors, {warnings} more warnings");
        writeln!(text, "{name}: {more}").expect("a String takes all");
    }
    text
}

fn one(text: &mut String, name: &str, lines: &[&str], diagnostic: &Diagnostic) {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    excerpt(
        text,
        name,
        lines,
        diagnostic.span,
        severity,
        &diagnostic.message,
    );
    if !diagnostic.help.is_empty() {
        let help = tame(&diagnostic.help);
        writeln!(text, "  help: {help}").expect("a String takes all");
    }
    for (place, why) in &diagnostic.related {
        excerpt(text, name, lines, *place, "note", why);
    }
}

/// The head line, the line of the text and the carets below it.
fn excerpt(
    text: &mut String,
    name: &str,
    lines: &[&str],
    place: SourceSpan,
    what: &str,
    message: &str,
) {
    let message = tame(message);
    if !place.is_known() {
        writeln!(text, "{name}: {what}: {message}").expect("a String takes all");
        return;
    }
    let SourceSpan { line, column, .. } = place;
    writeln!(text, "{name}:{line}:{column}: {what}: {message}").expect("a String takes all");
    let Some(written) = lines.get(line as usize - 1) else {
        return;
    };
    let (shown, carets) = window(written.trim_end_matches('\r'), place);
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    writeln!(text, " {number} | {shown}\n {margin} | {carets}").expect("a String takes all");
}

/// The part of `line` around `place`, and carets below what is at `place`.
fn window(line: &str, place: SourceSpan) -> (String, String) {
    let start = place.column.max(1) as usize - 1;
    let end = start.saturating_add(place.len.max(1) as usize);
    let skipped = start.saturating_sub(BEFORE);
    let (mut shown, mut carets) = (String::new(), String::new());
    if skipped > 0 {
        shown.push('…');
        carets.push(' ');
    }
    let mut columns = 0;
    let mut chars = line.chars().enumerate().skip(skipped);
    for (at, c) in chars.by_ref() {
        let c = shown_as(c);
        let width: usize = c.chars().map(columns_of).sum();
        columns += width;
        if columns > WIDEST {
            shown.push('…');
            break;
        }
        shown.push_str(&c);
        let mark = if (start..end).contains(&at) { "^" } else { " " };
        carets.push_str(&mark.repeat(width));
    }
    if !carets.contains('^') {
        carets.push('^');
    }
    (shown, carets.trim_end().into())
}

/// `text` without anything that a terminal would obey.
fn tame(text: &str) -> String {
    text.chars().map(shown_as).collect()
}

/// What stands for `c` on a terminal.
fn shown_as(c: char) -> String {
    match c {
        '\t' => "    ".into(),
        _ if c.is_control() || turns_or_hides(c) => format!("\\u{{{:x}}}", u32::from(c)),
        _ => c.into(),
    }
}

/// Characters that change the direction of writing, join, or take no room.
fn turns_or_hides(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// How many columns `c` takes: none for marks that sit on the letter before, two for the wide scripts and pictures.
fn columns_of(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff01..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: u32, column: u32, width: u32) -> Diagnostic {
        Diagnostic::error(SourceSpan::new(line, column, width), "wrong")
    }

    #[test]
    fn a_caret_points_at_the_mistake() {
        let found = error(2, 3, 4)
            .help("do it right")
            .related(SourceSpan::new(1, 1, 1), "the first one is here");
        assert_eq!(
            render_diagnostics("a.ag", "x\n\tabüüxy\r\n", &[found]),
            "a.ag:2:3: error: wrong
 2 |     abüüxy
   |      ^^^^
  help: do it right
a.ag:1:1: note: the first one is here
 1 | x
   | ^
"
        );
    }

    #[test]
    fn nothing_in_the_text_reaches_the_terminal_raw() {
        let text = "\u{1b}[31m\u{202e}\0日x";
        let mut found = error(1, 9, 1);
        found.message = "a \u{1b} in a name".into();
        let shown = render_diagnostics("\u{7}", text, &[found]);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        assert!(!shown.contains('\u{202e}'));
        let mut lines = shown.lines().skip(1);
        let (line, carets) = (lines.next().unwrap(), lines.next().unwrap());
        // 日 takes two columns and one char.
        assert_eq!(
            line.find('x').unwrap() - "日".len() + 2,
            carets.find('^').unwrap()
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let text = "é".repeat(5000);
        let shown = render_diagnostics(
            "a",
            &text,
            &[error(1, 2500, 2), error(1, 5001, 1), error(9, 9, 9)],
        );
        assert!(shown.lines().all(|line| line.chars().count() < 120));
        assert_eq!(shown.matches("^^").count(), 1);
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let mut all = vec![error(1, 1, 1); 150];
        all.push(Diagnostic::warning(SourceSpan::NONE, "odd"));
        let shown = render_diagnostics("a", "x", &all);
        assert!(shown.ends_with("a: and 50 more errors, 1 more warnings\n"));
        assert_eq!(shown.matches("error: wrong").count(), MAX_SHOWN);
    }
}
