//! Diagnostics as text for a terminal, in the style of rustc; `annotate-snippets` draws it.
//!
//! ```text
//! error: there is no node `mxi`
//!  --> song.ag:3:8
//!   |
//! 3 | o.1 -> mxi.1;
//!   |        ^^^^^
//!   |
//!   = help: did you mean `mix`?
//! ```
//!
//! There are no colour codes. A text cannot send control sequences to the terminal: [`sanitize`] replaces control characters.
//! Of a long line the part around the mistake is shown.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use graph::{Diagnostic, Severity, SourceSpan};
use std::fmt::Write;

/// Number of diagnostics that are shown; the rest is counted.
pub const MAX_SHOWN: usize = 100;

/// Lines longer than this many bytes are not shown, only their place: the renderer looks at every character.
const MAX_LINE: usize = 65_536;

/// Renders `diagnostics` about `source`, the text of the file `name`. Invalid UTF-8 in `source` is U+FFFD.
pub fn render_diagnostics(name: &str, source: &str, diagnostics: &[Diagnostic]) -> String {
    render_diagnostics_of_files(&[(name, source)], diagnostics)
}

/// Renders `diagnostics` about a session and the files that it includes: names and texts, the session's first.
pub fn render_diagnostics_of_files(files: &[(&str, &str)], diagnostics: &[Diagnostic]) -> String {
    let files: Vec<File<'_>> = files
        .iter()
        .map(|(name, source)| File::new(name, source))
        .collect();
    let excerpt = |span: SourceSpan| {
        let file = files.get(usize::from(span.file)).or(files.first());
        file.map_or_else(Vec::new, |file| file.excerpt(span))
    };
    let name = files.first().map_or("", |file| &file.name);
    let renderer = Renderer::plain();
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        let message = one_line(&diagnostic.message);
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut main =
            Group::with_title(level.primary_title(message)).elements(excerpt(diagnostic.span));
        if !diagnostic.help.is_empty() {
            main = main.element(Level::HELP.message(one_line(&diagnostic.help)));
        }
        let notes = diagnostic.related.iter().map(|(span, message)| {
            let title = Level::NOTE.secondary_title(one_line(message));
            Group::with_title(title).elements(excerpt(*span))
        });
        let report: Vec<Group<'_>> = [main].into_iter().chain(notes).collect();
        text += &renderer.render(&report);
        text += "\n";
    }
    let rest = diagnostics.iter().skip(MAX_SHOWN);
    let (errors, warnings): (Vec<_>, Vec<_>) = rest.partition(|d| d.is_error());
    let (errors, warnings) = (errors.len(), warnings.len());
    if errors + warnings > 0 {
        let rest = format!("and {errors} more errors, {warnings} more warnings");
        writeln!(text, "{name}: {rest}").expect("writing to a String does not fail");
    }
    text
}

/// The file that diagnostics are about.
struct File<'s> {
    name: String,
    lines: Vec<&'s str>,
}

impl<'s> File<'s> {
    fn new(name: &str, source: &'s str) -> Self {
        Self {
            name: one_line(name),
            lines: source.split('\n').collect(),
        }
    }

    /// File, line and column, and the line with carets below `span`; only the file if the place is not known.
    fn excerpt(&self, span: SourceSpan) -> Vec<Element<'_>> {
        let origin = Origin::path(&self.name);
        if !span.is_known() {
            return vec![origin.into()];
        }
        let (number, column) = (span.line as usize, span.column.max(1) as usize);
        let line = self.lines.get(number - 1).copied().unwrap_or_default();
        let line = sanitize(line.trim_end_matches('\r'));
        if line.is_empty() || line.len() > MAX_LINE {
            return vec![origin.line(number).char_column(column).into()];
        }
        let mut indices = line.char_indices().map(|(at, _)| at);
        let from = indices.nth(column - 1).unwrap_or(line.len());
        let last = span.len.max(1) as usize - 1;
        let to = indices.nth(last).unwrap_or(line.len());
        let caret = AnnotationKind::Primary.span(from..to.max(from));
        let snippet = Snippet::source(line)
            .path(&self.name)
            .line_start(number)
            .annotation(caret);
        vec![snippet.into()]
    }
}

/// `message` on one line, [sanitized](sanitize).
fn one_line(message: &str) -> String {
    sanitize(&message.replace(['\r', '\n', '\t'], " "))
}

/// `text` with U+FFFD in place of control characters but tabs, and of characters that change the writing direction or are
/// invisible.
fn sanitize(text: &str) -> String {
    let is_unsafe = |c: char| {
        (c.is_control() && c != '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    let replaced = |c| {
        if is_unsafe(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: u32, column: u32, len: u32) -> Diagnostic {
        Diagnostic::error(SourceSpan::new(line, column, len), "wrong")
    }

    #[test]
    fn carets_are_below_the_mistake() {
        let found = error(2, 3, 4)
            .help("do it right")
            .related(SourceSpan::new(1, 1, 1), "the first one is here");
        let shown = render_diagnostics("a.ag", "x\n\tabüüxy\r\n", &[found]);
        assert_eq!(
            shown,
            "error: wrong
 --> a.ag:2:3
  |
2 |     abüüxy
  |      ^^^^
  |
  = help: do it right
note: the first one is here
 --> a.ag:1:1
  |
1 | x
  | ^
"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = "\u{1b}[31m\u{202e}\0日x";
        let mut found = error(1, 9, 1);
        found.message = "a \u{1b} in a\nname".into();
        found.help = "\u{7}".into();
        let shown = render_diagnostics("\u{7}\u{1b}", text, &[found]);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        assert!(!shown.contains('\u{202e}'));
        let mut lines = shown.lines().skip(3);
        let (line, carets) = (lines.next().unwrap(), lines.next().unwrap());
        // 日 takes two columns and one char.
        let columns = line.chars().take_while(|c| *c != 'x').count() + 1;
        assert_eq!(Some(columns), carets.find('^'), "{shown}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_mistake() {
        let text = "é".repeat(5000);
        let all = [error(1, 2500, 2), error(1, 5001, 1), error(9, 9, 9)];
        let shown = render_diagnostics("a", &text, &all);
        assert!(shown.lines().all(|line| line.chars().count() < 160));
        assert_eq!(shown.matches("^^").count(), 1);
        assert!(shown.contains("a:1:2500\n") && shown.contains("a:9:9\n"));
        let shown = render_diagnostics("a", &text.repeat(10), &all[..1]);
        assert_eq!(shown, "error: wrong\n--> a:1:2500\n");
    }

    #[test]
    fn diagnostics_beyond_the_limit_are_counted() {
        let mut all = vec![error(1, 1, 1); 150];
        all.push(Diagnostic::warning(SourceSpan::NONE, "odd"));
        let shown = render_diagnostics("a", "x", &all);
        assert!(shown.ends_with("a: and 50 more errors, 1 more warnings\n"));
        assert_eq!(shown.matches("error: wrong").count(), MAX_SHOWN);
    }

    proptest::proptest! {
        #[test]
        fn any_text_and_place_can_be_rendered(
            line in ".*",
            column in 0u32..90,
            len in 0u32..90,
        ) {
            let shown = render_diagnostics("a", &line, &[error(1, column, len)]);
            proptest::prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
