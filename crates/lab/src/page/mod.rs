//! Pages of results: an HTML template for each experiment, filled from its table of runs.
//!
//! All fixed text is in the template, beside the code of its experiment (`graphs/page.html`). What depends on the runs
//! is a placeholder there, `{{name}}`. The code appends text, tables, lists and charts to placeholders; one to which
//! nothing was appended vanishes, so a section without runs is only its text.
//!
//! ```text
//! layout.html         head, style, title
//!   CONTENT           page.html of the experiment
//!     ENVIRONMENT     environment.html: the machine, and its state during the runs
//! ```
//!
//! A finished page needs nothing else: no style sheet, no script, no picture from elsewhere.

#[cfg(test)]
mod validate;

use crate::Row;
use crate::chart::Chart;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

#[cfg(test)]
pub(crate) use validate::page_faults;

const LAYOUT: &str = include_str!("layout.html");
const ENVIRONMENT: &str = include_str!("environment.html");
/// Shown where a list of findings is empty.
const NO_FINDINGS: &str = "Nothing yet: too few runs have been made.";

/// A page that is being filled.
pub(crate) struct Page {
    title: &'static str,
    template: &'static str,
    /// HTML by placeholder.
    values: BTreeMap<&'static str, String>,
    charts: Vec<Chart>,
}

impl Page {
    /// A page of which every placeholder is empty. The template has the placeholder `environment`.
    pub(crate) fn new(title: &'static str, template: &'static str) -> Self {
        Self {
            title,
            template,
            values: BTreeMap::new(),
            charts: Vec::new(),
        }
    }

    /// Appends HTML to a placeholder.
    ///
    /// # Panics
    ///
    /// In debug builds, where no template has the placeholder.
    fn append(&mut self, name: &'static str, html: &str) {
        let placeholder = format!("{{{{{name}}}}}");
        debug_assert!(
            self.template.contains(&placeholder) || ENVIRONMENT.contains(&placeholder),
            "no template has {placeholder}"
        );
        self.values.entry(name).or_default().push_str(html);
    }

    /// Appends words, within a sentence of the template.
    pub(crate) fn text(&mut self, name: &'static str, words: impl Display) {
        self.append(name, &escape(&words.to_string()));
    }

    /// Appends a paragraph.
    pub(crate) fn paragraph(&mut self, name: &'static str, words: &str) {
        self.append(name, &format!("<p>{}</p>\n", escape(words)));
    }

    /// Appends a list of findings, or a note that there are none yet.
    pub(crate) fn findings(&mut self, name: &'static str, findings: &[String]) {
        if findings.is_empty() {
            return self.paragraph(name, NO_FINDINGS);
        }
        let items = findings
            .iter()
            .map(|item| format!("<li>{}</li>\n", escape(item)));
        self.append(name, &format!("<ul>\n{}</ul>\n", items.collect::<String>()));
    }

    /// Appends a table with its caption; nothing where it has no rows. `head` has a heading for each column, with ` | `
    /// between them.
    pub(crate) fn table(
        &mut self,
        name: &'static str,
        caption: &str,
        head: &str,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) {
        let rows: String = rows.into_iter().map(|row| line(&row, "td")).collect();
        if rows.is_empty() {
            return;
        }
        let head: Vec<&str> = head.split(" | ").collect();
        let (caption, head) = (escape(caption), line(&head, "th"));
        self.append(
            name,
            &format!(
                "<p class=\"note\">{caption}</p>\n<table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
            ),
        );
    }

    /// Appends a table that shows columns of the table of runs: `columns` has a heading and a column's name for each.
    pub(crate) fn columns<'a>(
        &mut self,
        name: &'static str,
        caption: &str,
        columns: &[(&str, &str)],
        rows: impl Iterator<Item = Row<'a>>,
    ) {
        let head: Vec<_> = columns.iter().map(|(head, _)| *head).collect();
        let cells = |row: Row<'_>| {
            columns
                .iter()
                .map(|(_, column)| row.text(column).to_owned())
                .collect()
        };
        self.table(name, caption, &head.join(" | "), rows.map(cells));
    }

    /// Appends a table with a cell for each row and column. `corner` is the heading of the first column, which names the
    /// rows; a row without any text in its cells is left out.
    pub(crate) fn grid<R: Display, C>(
        &mut self,
        name: &'static str,
        caption: &str,
        corner: &str,
        rows: impl IntoIterator<Item = R>,
        columns: &[(String, C)],
        cell: impl Fn(&R, &C) -> String,
    ) {
        let head = columns.iter().map(|(head, _)| head.as_str());
        let head: Vec<&str> = std::iter::once(corner).chain(head).collect();
        let rows = rows.into_iter().filter_map(|row| {
            let cells = columns.iter().map(|(_, column)| cell(&row, column));
            let cells: Vec<String> = std::iter::once(row.to_string()).chain(cells).collect();
            cells[1..]
                .iter()
                .any(|cell| !cell.is_empty())
                .then_some(cells)
        });
        self.table(name, caption, &head.join(" | "), rows);
    }

    /// Appends a chart with its caption, and keeps it for a file of its own; nothing where it shows no value.
    pub(crate) fn chart(&mut self, name: &'static str, chart: Chart, caption: &str) {
        let Some(svg) = &chart.svg else {
            return;
        };
        let caption = escape(caption);
        self.append(
            name,
            &format!("<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>\n"),
        );
        self.charts.push(chart);
    }

    /// The whole page, and every chart on it.
    pub(crate) fn finish(mut self) -> (String, Vec<Chart>) {
        let environment = fill(ENVIRONMENT, &self.values);
        self.values.insert("environment", environment);
        let content = fill(self.template, &self.values);
        let layout = BTreeMap::from([("title", escape(self.title)), ("content", content)]);
        (fill(LAYOUT, &layout), self.charts)
    }
}

/// A template with its placeholders replaced; one without a value becomes nothing.
fn fill(template: &str, values: &BTreeMap<&str, String>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
    {
        filled.push_str(before);
        filled.push_str(values.get(name).map_or("", String::as_str));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// A line of a table, of cells with this tag.
fn line(cells: &[impl AsRef<str>], tag: &str) -> String {
    let mut line = String::from("<tr>");
    for cell in cells {
        let _ = write!(line, "<{tag}>{}</{tag}>", escape(cell.as_ref()));
    }
    line + "</tr>\n"
}

/// Words as HTML may have them.
fn escape(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_well_formed_whatever_the_values_are() {
        let template = "{{environment}}<p>{{words}}</p>{{rows}}{{empty}}{{found}}{{nothing}}";
        let mut page = Page::new("a < b & \"c\"", template);
        page.text("words", "</body>\u{0}<script>{{rows}}");
        page.table("rows", "t", "<th> | b", [vec!["</td>".into(), "1".into()]]);
        page.table("empty", "no rows", "a", []);
        page.findings("found", &["<li>".into()]);
        page.findings("nothing", &[]);
        page.paragraph("states", "<");
        let (page, _) = page.finish();
        assert_eq!(page_faults(&page), Vec::<String>::new());
        assert!(!page.contains("no rows") && page.contains(NO_FINDINGS));
    }
}
