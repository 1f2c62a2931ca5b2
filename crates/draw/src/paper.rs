//! The sheet that a picture is drawn on: elements, escaped text, colours for day and night.

use std::fmt::Write;

/// An SVG document that grows.
pub(crate) struct Paper(String);

/// Colours by day, and by night where the viewer asks for it. Viewers without media queries show the day.
const STYLE: &str = "\
text{font-family:Inter,'Helvetica Neue','Segoe UI','DejaVu Sans',Arial,sans-serif}
.sheet{fill:#fcfcfa}.name{font-size:13px;font-weight:600;fill:#20242c}.kind{font-size:11px;fill:#5d6675}
.port{font-size:9px;fill:#5d6675}.title{font-size:15px;font-weight:600;fill:#20242c}.tick{font-size:11px;fill:#5d6675}
.box{stroke-width:1.25}.wire{fill:none;stroke:#9aa4b2;stroke-width:1.5;stroke-linecap:round}
.thin{stroke-width:.6;stroke-opacity:.45}.wide2{stroke-width:2.25}.wide4{stroke-width:3}.control{stroke-dasharray:5 3}.event{stroke-dasharray:1.5 3.5}
.back{stroke:#c2447e;stroke-width:1.75}.arrow{fill:#c2447e}.dot{fill:#fcfcfa;stroke-width:1.25}
.source .box{fill:#e3f2e6;stroke:#3f9a5a}.source .dot{stroke:#3f9a5a}
.effect .box{fill:#e6eefa;stroke:#4c78c0}.effect .dot{stroke:#4c78c0}
.join .box{fill:#fdf1dc;stroke:#c48a25}.join .dot{stroke:#c48a25}
.delay .box{fill:#f8e4ee;stroke:#c2447e}.delay .dot{stroke:#c2447e}
.sink .box{fill:#ece6f7;stroke:#7d5bb8}.sink .dot{stroke:#7d5bb8}
.off .box{fill:#f1f1ef;stroke:#a9adb3}.off .dot{stroke:#a9adb3}.off text{fill:#8b9099}.guess .box{stroke-dasharray:4 3}
.axis{fill:none;stroke:#9aa4b2}.grid{fill:none;stroke:#e4e6e9}.bar{fill:#4c78c0}.late{fill:#c2447e}
.mark{fill:none;stroke:#c2447e;stroke-dasharray:5 3}.marked{font-size:11px;fill:#c2447e}
@media (prefers-color-scheme:dark){
.sheet{fill:#16181d}.name,.title{fill:#eceef2}.kind,.port,.tick{fill:#a3abb8}
.wire{stroke:#667085}.back{stroke:#e573a6}.arrow{fill:#e573a6}.dot{fill:#16181d}
.source .box{fill:#1b3224;stroke:#58b877}.source .dot{stroke:#58b877}
.effect .box{fill:#1d2a40;stroke:#6f9ae0}.effect .dot{stroke:#6f9ae0}
.join .box{fill:#362a14;stroke:#d9a548}.join .dot{stroke:#d9a548}
.delay .box{fill:#391d2c;stroke:#e573a6}.delay .dot{stroke:#e573a6}
.sink .box{fill:#2a2240;stroke:#a486dc}.sink .dot{stroke:#a486dc}
.off .box{fill:#22252b;stroke:#5a606b}.off .dot{stroke:#5a606b}.off text{fill:#7b828e}
.axis{stroke:#667085}.grid{stroke:#2a2e36}.bar{fill:#6f9ae0}.late{fill:#e573a6}.mark{stroke:#e573a6}.marked{fill:#e573a6}}
";

impl Paper {
    /// A sheet of this size, in pixels, described in words for who cannot see it.
    pub(crate) fn new(width: f64, height: f64, about: &str) -> Self {
        let mut paper = Self(String::new());
        let (w, h) = (round(width.ceil()), round(height.ceil()));
        paper.raw(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n"
        ));
        paper.tooltip(about);
        paper.raw(&format!(
            "<style>\n{STYLE}</style>\n<rect class=\"sheet\" width=\"{w}\" height=\"{h}\"/>\n"
        ));
        paper
    }

    /// Markup as it is.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// What viewers show for the element that is open when the pointer rests on it.
    pub(crate) fn tooltip(&mut self, words: &str) {
        let _ = writeln!(self.0, "<title>{}</title>", escape(words));
    }

    /// Words; `anchor` is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, class: &str, anchor: &str, (x, y): (f64, f64), words: &str) {
        let (x, y, words) = (round(x), round(y), escape(words));
        let _ = writeln!(
            self.0,
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{words}</text>"
        );
    }

    /// A line along `path`.
    pub(crate) fn path(&mut self, class: &str, path: &str) {
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// A rectangle with corners rounded by `radius`.
    pub(crate) fn rect(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (w, h): (f64, f64),
        radius: f64,
    ) {
        let (x, y, w, h) = (round(x), round(y), round(w), round(h));
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>"
        );
    }

    /// A small circle.
    pub(crate) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let (x, y) = (round(x), round(y));
        let _ = writeln!(
            self.0,
            "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
        );
    }

    /// The whole document.
    pub(crate) fn finish(mut self) -> String {
        self.raw("</svg>\n");
        self.0
    }
}

/// A length with one digit after the point at most: enough for pixels, and the same everywhere.
pub(crate) fn round(length: f64) -> String {
    let tenths = (length * 10.0).round() as i64;
    match tenths % 10 {
        0 => format!("{}", tenths / 10),
        part => {
            let sign = if tenths < 0 { "-" } else { "" };
            format!("{sign}{}.{}", tenths.abs() / 10, part.abs())
        }
    }
}

/// `text` as XML may have it: characters that XML cannot say at all become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_digit_after_the_point() {
        assert_eq!(
            [round(1.0), round(-0.26), round(12.349), round(-3.0)],
            ["1", "-0.3", "12.3", "-3"]
        );
    }

    #[test]
    fn what_xml_cannot_say_is_escaped() {
        assert_eq!(
            escape("a<b & \"c\"\u{0}\u{1b}"),
            "a&lt;b &amp; &quot;c&quot;  "
        );
    }
}
