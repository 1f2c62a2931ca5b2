//! A picture as SVG: one file, nothing to fetch, words that can be searched and copied.

use crate::font::Face;
use crate::ink::{Ink, SHEET};
use crate::picture::{Anchor, Form, Item, Look, Picture, Text, Verb};
use std::collections::BTreeMap;
use std::fmt::Write;

const FAMILY: &str = "Arimo,'Liberation Sans',Helvetica,Arial,sans-serif";

impl Picture {
    /// As SVG. Viewers that stand on a dark ground may show a graph or a schedule light on dark; plots stay as they are.
    pub fn svg(&self) -> String {
        let mut svg = Svg {
            out: String::new(),
            by_class: self.is_for_night,
        };
        let (w, h) = (length(self.width), length(self.height));
        let _ = writeln!(
            svg.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" font-family=\"{FAMILY}\">"
        );
        svg.story(&self.about);
        if self.is_for_night {
            svg.style(&self.items);
        }
        let sheet = svg.ink("fill", Some(SHEET));
        let _ = writeln!(svg.out, "<rect{sheet} width=\"{w}\" height=\"{h}\"/>");
        self.items.iter().for_each(|item| svg.item(item));
        svg.out += "</svg>\n";
        svg.out
    }
}

struct Svg {
    out: String,
    by_class: bool,
}

impl Svg {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Open(story) => {
                self.out += "<g>";
                self.story(story);
            }
            Item::Close => self.out += "</g>\n",
            Item::Shape(form, look) => self.shape(form, look),
            Item::Text(text) => self.text(text),
        }
    }

    /// What viewers show when the pointer rests on the element that is open.
    fn story(&mut self, words: &str) {
        if !words.is_empty() {
            let _ = writeln!(self.out, "<title>{}</title>", escape(words));
        }
    }

    fn shape(&mut self, form: &Form, look: &Look) {
        let style = self.style_of(look);
        let _ = match form {
            Form::Rect((x, y), (w, h), r) => {
                let (x, y, w, h) = (length(*x), length(*y), length(*w), length(*h));
                let r = if *r > 0.0 {
                    format!(" rx=\"{}\"", length(*r))
                } else {
                    String::new()
                };
                writeln!(
                    self.out,
                    "<rect{style} x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{r}/>"
                )
            }
            Form::Circle((x, y), r) => {
                let (x, y, r) = (length(*x), length(*y), length(*r));
                writeln!(self.out, "<circle{style} cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>")
            }
            Form::Path(verbs) => writeln!(self.out, "<path{style} d=\"{}\"/>", data(verbs)),
        };
    }

    fn style_of(&self, look: &Look) -> String {
        let line = look.line.map(|pen| pen.ink);
        let mut style = match (self.by_class, look.fill, line) {
            (true, Some(fill), Some(line)) => {
                format!(" class=\"f-{} s-{}\"", fill.name, line.name)
            }
            (true, None, Some(line)) => format!(" class=\"s-{}\" fill=\"none\"", line.name),
            _ => {
                let stroke = line.map(|ink| self.ink("stroke", Some(ink)));
                self.ink("fill", look.fill) + &stroke.unwrap_or_default()
            }
        };
        if let Some(pen) = look.line {
            let _ = write!(style, " stroke-width=\"{}\"", hundredths(pen.width));
            style += " stroke-linejoin=\"round\"";
            if pen.dash != (0.0, 0.0) {
                let (dash, gap) = (length(pen.dash.0), length(pen.dash.1));
                let _ = write!(style, " stroke-dasharray=\"{dash} {gap}\"");
            } else {
                style += " stroke-linecap=\"round\"";
            }
        }
        style
    }

    fn ink(&self, what: &str, ink: Option<Ink>) -> String {
        match ink {
            None => format!(" {what}=\"none\""),
            Some(ink) if self.by_class => format!(" class=\"{}-{}\"", &what[..1], ink.name),
            Some(ink) => format!(" {what}=\"#{:06x}\"", ink.day),
        }
    }

    fn text(&mut self, text: &Text) {
        let (x, y) = (length(text.at.0), length(text.at.1));
        let mut style = self.ink("fill", Some(text.ink));
        let _ = write!(style, " font-size=\"{}\"", length(text.font.size));
        if text.font.face == Face::Bold {
            style += " font-weight=\"700\"";
        }
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => style += " text-anchor=\"middle\"",
            Anchor::End => style += " text-anchor=\"end\"",
        }
        if text.is_upright {
            let _ = write!(style, " transform=\"rotate(-90 {x} {y})\"");
        }
        // Where the viewer has another font, the words still take the room that was measured.
        let wide = length(text.width());
        let words = escape(&text.words);
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\"{style} textLength=\"{wide}\" lengthAdjust=\"spacingAndGlyphs\">{words}</text>"
        );
    }

    /// The colours that are used, by day, and by night where the viewer asks for it. Viewers without media queries show
    /// the day.
    fn style(&mut self, items: &[Item]) {
        let mut used = BTreeMap::from([(("f", SHEET.name), SHEET)]);
        for item in items {
            match item {
                Item::Shape(_, look) => {
                    used.extend(look.fill.map(|ink| (("f", ink.name), ink)));
                    used.extend(look.line.map(|pen| (("s", pen.ink.name), pen.ink)));
                }
                Item::Text(text) => {
                    used.insert(("f", text.ink.name), text.ink);
                }
                Item::Open(_) | Item::Close => {}
            }
        }
        let rules = |colour: fn(&Ink) -> u32| -> String {
            let rule = |((what, name), ink): (&(&str, &str), &Ink)| {
                let property = if *what == "f" { "fill" } else { "stroke" };
                format!(".{what}-{name}{{{property}:#{:06x}}}", colour(ink))
            };
            used.iter().map(rule).collect()
        };
        let (day, night) = (rules(|ink| ink.day), rules(|ink| ink.night));
        let _ = writeln!(
            self.out,
            "<style>\n{day}\n@media (prefers-color-scheme:dark){{{night}}}\n</style>"
        );
    }
}

fn data(verbs: &[Verb]) -> String {
    let mut data = String::new();
    for verb in verbs {
        let _ = match verb {
            Verb::Move(x, y) => write!(data, "M{} {}", length(*x), length(*y)),
            Verb::Line(x, y) => write!(data, "L{} {}", length(*x), length(*y)),
            Verb::Curve([a, b, c]) => {
                let [a, b, c] = [a, b, c].map(|at| (length(at.0), length(at.1)));
                write!(data, "C{} {} {} {} {} {}", a.0, a.1, b.0, b.1, c.0, c.1)
            }
            Verb::Close => write!(data, "Z"),
        };
    }
    data
}

/// A length with one digit after the point at most: enough for pixels, and the same everywhere.
pub(crate) fn length(length: f64) -> String {
    let tenths = (length * 10.0).round() as i64;
    match tenths % 10 {
        0 => format!("{}", tenths / 10),
        part => {
            let sign = if tenths < 0 { "-" } else { "" };
            format!("{sign}{}.{}", tenths.abs() / 10, part.abs())
        }
    }
}

fn hundredths(width: f64) -> String {
    format!("{}", (width * 100.0).round() / 100.0)
}

/// `text` as XML may have it: characters that XML cannot say at all become spaces.
fn escape(text: &str) -> String {
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
            [length(1.0), length(-0.26), length(12.349), length(-3.0)],
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
