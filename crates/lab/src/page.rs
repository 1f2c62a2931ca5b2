//! A page that needs nothing else: no style sheet, no script, no picture from elsewhere.

use crate::MachineInfo;
use std::fmt::Write;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:16px/1.5 Inter,'Helvetica Neue','Segoe UI','DejaVu Sans',Arial,sans-serif;max-width:58rem;margin:2rem auto;padding:0 1rem;color:#20242c;background:#fcfcfa}
h1{font-size:1.7rem}h2{font-size:1.25rem;margin-top:2.2rem}
table{border-collapse:collapse;font-size:.85rem;margin:1rem 0;display:block;overflow-x:auto}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #e4e6e9;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
figure{margin:1.2rem 0}figcaption,.note{font-size:.85rem;color:#5d6675}svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){body{color:#eceef2;background:#16181d}th,td{border-color:#2a2e36}figcaption,.note{color:#a3abb8}}
";

/// A page that grows.
pub(crate) struct Page(String);

impl Page {
    /// With its title.
    pub(crate) fn new(title: &str) -> Self {
        let title = escape(title);
        Self(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        ))
    }

    /// A section begins.
    pub(crate) fn section(&mut self, title: &str) {
        let _ = writeln!(self.0, "<h2>{}</h2>", escape(title));
    }

    /// A paragraph.
    pub(crate) fn text(&mut self, words: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escape(words));
    }

    /// A list of sentences.
    pub(crate) fn list<S: AsRef<str>>(&mut self, items: impl IntoIterator<Item = S>) {
        let items = items.into_iter();
        let items = items.map(|item| format!("<li>{}</li>\n", escape(item.as_ref())));
        let _ = writeln!(self.0, "<ul>\n{}</ul>", items.collect::<String>());
    }

    /// A table with its caption; nothing where it has no rows.
    pub(crate) fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let line = |cells: &mut dyn Iterator<Item = &str>, tag: &str| {
            let cells = cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let head = line(&mut head.iter().copied(), "th");
        let body: String = (rows.iter())
            .map(|row| line(&mut row.iter().map(String::as_str), "td"))
            .collect();
        let caption = escape(caption);
        let _ = writeln!(
            self.0,
            "<p class=\"note\">{caption}</p>\n<table>\n<thead>{head}</thead>\n<tbody>\n{body}</tbody>\n</table>"
        );
    }

    /// A picture, as SVG, with what it shows.
    pub(crate) fn figure(&mut self, svg: &str, caption: &str) {
        let caption = escape(caption);
        let _ = writeln!(
            self.0,
            "<figure>\n{svg}<figcaption>{caption}</figcaption>\n</figure>"
        );
    }

    /// On which machine, when, by which version.
    pub(crate) fn machine(&mut self, machine: &MachineInfo, dates: Option<(&str, &str)>) {
        self.section("The machine");
        let dates = match dates {
            Some((first, last)) if first == last => format!("{first} UTC"),
            Some((first, last)) => format!("{first} to {last} UTC"),
            None => "no run yet".to_owned(),
        };
        let facts = [
            ("Processor", machine.cpu.clone()),
            ("Cores", machine.cores.to_string()),
            ("System", machine.kernel.clone()),
            ("Real-time priority", machine.priority.clone()),
            ("Short wake-ups", machine.wakes.clone()),
            ("Runs made", dates),
            ("Divisi", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let rows: Vec<_> = facts.map(|(what, is)| vec![what.to_owned(), is]).into();
        self.table("Where the runs were made", &["", ""], &rows);
    }

    /// The whole page.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("</body>\n</html>\n");
        self.0
    }
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

/// What is wrong with a page: a tag that is not closed in its order, or something that must be fetched.
#[cfg(test)]
pub(crate) fn faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let body = page.strip_prefix("<!DOCTYPE html>\n").unwrap_or(page);
    for piece in body.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else {
            faults.push(format!("<{piece} does not end"));
            continue;
        };
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '/', '\n']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) if open.pop() != Some(name) => {
                faults.push(format!("</{name}> closes another"))
            }
            (false, false) => open.push(name),
            _ => {}
        }
        for way in ["src=", "href=", "url("] {
            let fetched = tag.split(way).nth(1);
            if fetched.is_some_and(|to| !to.trim_start_matches(['"', '\'']).starts_with('#')) {
                faults.push(format!("<{tag}> fetches something"));
            }
        }
    }
    faults.extend(open.iter().map(|name| format!("<{name}> is not closed")));
    if page.contains("@import") || page.contains("<script") {
        faults.push("it has an import or a script".into());
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_well_formed_whatever_stands_in_it() {
        let mut page = Page::new("a < b & \"c\"");
        page.section("</body>");
        page.text("x\u{0}y <script>");
        page.list(["<li>", "2"]);
        page.table("t", &["<th>", "b"], &[vec!["</td>".into(), "1".into()]]);
        page.table("none", &["a"], &[]);
        page.figure("<svg width=\"1\"><rect/></svg>\n", "<");
        page.machine(&MachineInfo::detect(), None);
        let page = page.finish();
        assert_eq!(faults(&page), Vec::<String>::new());
        assert!(!page.contains("none"));
    }

    #[test]
    fn the_test_itself_sees_faults() {
        for bad in [
            "<p>",
            "<p></b>",
            "<img src=\"http://x/y.png\"/>",
            "<a href=\"x\"></a>",
        ] {
            assert!(!faults(bad).is_empty(), "{bad}");
        }
        assert!(faults("<p>a</p><br/><a href=\"#x\"></a>").is_empty());
    }
}
