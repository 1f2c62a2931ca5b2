//! A picture as SVG: one self-contained file, with text that can be searched and copied.
//!
//! Viewers may lack the font, so its glyphs are drawn as outlines: each that occurs is defined once, and a text is a row of
//! references to them. The text itself is there too, transparent. A text with a character that the font lacks is shown
//! by the viewer's own font.
//!
//! A picture with a dark theme names its colours by classes (`f-NAME` fills, `s-NAME` strokes) and brings a style sheet; one
//! without has them in attributes.

use crate::picture::color::{BACKGROUND, Color};
use crate::picture::font::{self, Face};
use crate::picture::item::Text;
use crate::picture::{Anchor, Geometry, Item, PathSegment, Picture, Style};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const FAMILY: &str = "Arimo,'Liberation Sans',Helvetica,Arial,sans-serif";

impl Picture {
    /// The picture as SVG. Diagrams and charts have a dark theme for viewers that request it; plots are always light.
    pub fn svg(&self) -> String {
        let mut svg = Svg {
            out: String::new(),
            has_classes: self.has_dark_theme,
        };
        let (w, h) = (length(self.width), length(self.height));
        let _ = writeln!(
            svg.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" font-family=\"{FAMILY}\">"
        );
        svg.title(&self.description);
        if self.has_dark_theme {
            svg.style(&self.items);
        }
        let sheet = svg.color("fill", Some(BACKGROUND));
        let _ = writeln!(svg.out, "<rect{sheet} width=\"{w}\" height=\"{h}\"/>");
        svg.glyphs(&self.items);
        self.items.iter().for_each(|item| svg.item(item));
        svg.out += "</svg>\n";
        svg.out
    }
}

struct Svg {
    out: String,
    /// True if colours are classes of a style sheet.
    has_classes: bool,
}

impl Svg {
    fn item(&mut self, item: &Item) {
        match item {
            Item::GroupStart(tooltip) => {
                self.out += "<g>";
                self.title(tooltip);
            }
            Item::GroupEnd => self.out += "</g>\n",
            Item::Shape(geometry, style) => self.shape(geometry, style),
            Item::Text(text) => self.text(text),
        }
    }

    /// The tooltip of the element that is open.
    fn title(&mut self, title: &str) {
        if !title.is_empty() {
            let _ = writeln!(self.out, "<title>{}</title>", escape(title));
        }
    }

    fn shape(&mut self, geometry: &Geometry, style: &Style) {
        let style = self.attributes(style);
        let _ = match geometry {
            Geometry::Rect((x, y), (w, h), r) => {
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
            Geometry::Circle((x, y), r) => {
                let (x, y, r) = (length(*x), length(*y), length(*r));
                writeln!(self.out, "<circle{style} cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>")
            }
            Geometry::Path(segments) => {
                writeln!(self.out, "<path{style} d=\"{}\"/>", path_data(segments))
            }
        };
    }

    /// The attributes of a style.
    fn attributes(&self, style: &Style) -> String {
        let line = style.stroke.map(|stroke| stroke.color);
        // A colour without a name is in no style sheet.
        let is_named = |color: Option<Color>| color.is_none_or(|color| !color.name.is_empty());
        let has_classes = self.has_classes && is_named(style.fill) && is_named(line);
        let mut attributes = match (has_classes, style.fill, line) {
            (true, Some(fill), Some(line)) => {
                format!(" class=\"f-{} s-{}\"", fill.name, line.name)
            }
            (true, None, Some(line)) => format!(" class=\"s-{}\" fill=\"none\"", line.name),
            _ => {
                let line = line.map(|color| self.color("stroke", Some(color)));
                self.color("fill", style.fill) + &line.unwrap_or_default()
            }
        };
        if let Some(stroke) = style.stroke {
            let _ = write!(attributes, " stroke-width=\"{}\"", hundredths(stroke.width));
            attributes += " stroke-linejoin=\"round\"";
            if !stroke.is_solid() {
                let (dash, gap) = (length(stroke.dash.0), length(stroke.dash.1));
                let _ = write!(attributes, " stroke-dasharray=\"{dash} {gap}\"");
            } else {
                attributes += " stroke-linecap=\"round\"";
            }
        }
        attributes
    }

    /// `property`, which is fill or stroke, as an attribute.
    fn color(&self, property: &str, color: Option<Color>) -> String {
        match color {
            None => format!(" {property}=\"none\""),
            Some(color) if self.has_classes && !color.name.is_empty() => {
                format!(" class=\"{}-{}\"", &property[..1], color.name)
            }
            Some(color) => format!(" {property}=\"#{:06x}\"", color.light),
        }
    }

    /// Defines the glyphs of all texts, a thousand units to an em.
    fn glyphs(&mut self, items: &[Item]) {
        let mut used = BTreeSet::new();
        for item in items {
            if let Item::Text(text) = item
                && has_outlines(text)
            {
                let face = text.style.font.face;
                used.extend(text.content.chars().map(|c| (face, c)));
            }
        }
        self.out += "<defs>\n";
        for (face, c) in used {
            let outline = face.glyph(c).map(|glyph| face.outline(glyph));
            let outline = path_data(&scaled(&outline.unwrap_or_default()));
            if !outline.is_empty() {
                let _ = writeln!(
                    self.out,
                    "<path id=\"{}\" d=\"{outline}\"/>",
                    glyph_id(face, c)
                );
            }
        }
        self.out += "</defs>\n";
    }

    /// The outlines of a text.
    fn outlines(&mut self, text: &Text) {
        let color = self.color("fill", Some(text.style.color));
        let (x, y) = text.start();
        let (x, y, scale) = (length(x), length(y), text.style.font.size / EM);
        let turn = if text.is_vertical { " rotate(-90)" } else { "" };
        let _ = write!(
            self.out,
            "<g{color} transform=\"translate({x} {y}){turn} scale({scale:.4})\">"
        );
        let (face, mut at) = (text.style.font.face, 0.0);
        for c in text.content.chars() {
            if !c.is_whitespace() {
                let (id, x) = (glyph_id(face, c), length(at * EM));
                let _ = write!(self.out, "<use href=\"#{id}\" x=\"{x}\"/>");
            }
            at += font::advance(face, c);
        }
        self.out += "</g>\n";
    }

    fn text(&mut self, text: &Text) {
        let (x, y) = (length(text.at.0), length(text.at.1));
        let mut style = self.color("fill", Some(text.style.color));
        if has_outlines(text) {
            self.outlines(text);
            style = " fill-opacity=\"0\"".into();
        }
        let _ = write!(style, " font-size=\"{}\"", length(text.style.font.size));
        if text.style.font.face == Face::Bold {
            style += " font-weight=\"700\"";
        }
        match text.style.anchor {
            Anchor::Start => {}
            Anchor::Middle => style += " text-anchor=\"middle\"",
            Anchor::End => style += " text-anchor=\"end\"",
        }
        if text.is_vertical {
            let _ = write!(style, " transform=\"rotate(-90 {x} {y})\"");
        }
        // A viewer with another font still gives the text the width that was measured.
        let width = length(text.width());
        let content = escape(&text.content);
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\"{style} textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\">{content}</text>"
        );
    }

    /// A style sheet with the colours that are used. Viewers without media queries show the light theme.
    fn style(&mut self, items: &[Item]) {
        let mut used = BTreeMap::from([(("f", BACKGROUND.name), BACKGROUND)]);
        for item in items {
            match item {
                Item::Shape(_, style) => {
                    used.extend(style.fill.map(|color| (("f", color.name), color)));
                    let line = style.stroke.map(|stroke| stroke.color);
                    used.extend(line.map(|color| (("s", color.name), color)));
                }
                Item::Text(text) => {
                    used.insert(("f", text.style.color.name), text.style.color);
                }
                Item::GroupStart(_) | Item::GroupEnd => {}
            }
        }
        used.retain(|(_, name), _| !name.is_empty());
        let rules = |theme: fn(&Color) -> u32| -> String {
            let rule = |((what, name), color): (&(&str, &str), &Color)| {
                let property = if *what == "f" { "fill" } else { "stroke" };
                format!(".{what}-{name}{{{property}:#{:06x}}}", theme(color))
            };
            used.iter().map(rule).collect()
        };
        let (light, dark) = (rules(|color| color.light), rules(|color| color.dark));
        let _ = writeln!(
            self.out,
            "<style>\n{light}\n@media (prefers-color-scheme:dark){{{dark}}}\n</style>"
        );
    }
}

/// Units of an em in the definitions of glyphs.
const EM: f64 = 1000.0;

/// Returns true if the font has every character of the text.
fn has_outlines(text: &Text) -> bool {
    let face = text.style.font.face;
    text.content.chars().all(|c| face.glyph(c).is_some())
}

/// Id of a glyph's definition.
fn glyph_id(face: Face, c: char) -> String {
    let weight = match face {
        Face::Regular => 'r',
        Face::Bold => 'b',
    };
    format!("{weight}{:x}", u32::from(c))
}

/// An outline with [`EM`] units to an em, in whole units.
fn scaled(outline: &[PathSegment]) -> Vec<PathSegment> {
    let whole = |(x, y): (f64, f64)| ((x * EM).round(), (y * EM).round());
    let segment = |segment: &PathSegment| match segment {
        PathSegment::Move(x, y) => {
            let (x, y) = whole((*x, *y));
            PathSegment::Move(x, y)
        }
        PathSegment::Line(x, y) => {
            let (x, y) = whole((*x, *y));
            PathSegment::Line(x, y)
        }
        PathSegment::Curve(points) => PathSegment::Curve(points.map(whole)),
        PathSegment::Close => PathSegment::Close,
    };
    outline.iter().map(segment).collect()
}

/// The `d` attribute of a path.
fn path_data(segments: &[PathSegment]) -> String {
    let mut data = String::new();
    for segment in segments {
        let _ = match segment {
            PathSegment::Move(x, y) => write!(data, "M{} {}", length(*x), length(*y)),
            PathSegment::Line(x, y) => write!(data, "L{} {}", length(*x), length(*y)),
            PathSegment::Curve([a, b, c]) => {
                let [a, b, c] = [a, b, c].map(|at| (length(at.0), length(at.1)));
                write!(data, "C{} {} {} {} {} {}", a.0, a.1, b.0, b.1, c.0, c.1)
            }
            PathSegment::Close => write!(data, "Z"),
        };
    }
    data
}

/// A length with at most one digit after the point: enough for pixels, and without the rounding of a float's `Display`.
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

/// `text` with XML's entities. Control characters, which XML 1.0 forbids, become spaces.
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
    fn a_picture_brings_the_outlines_of_its_glyphs_once_and_its_text() {
        use crate::picture::{bold, color, regular};
        let mut picture = Picture::new(200.0, 100.0, "p");
        for (y, words) in [(20.0, "noon on"), (40.0, "音 no"), (60.0, "x<y")] {
            picture.text((10.0, y), words, regular(12.0).color(color::TEXT));
        }
        picture.text((10.0, 80.0), "o", bold(12.0).color(color::TEXT));
        let svg = picture.svg();
        let count = |words: &str| svg.matches(words).count();
        assert_eq!((count("id=\"r6f\""), count("id=\"b6f\"")), (1, 1));
        assert_eq!(
            (count("#r6f\""), count("#b6f\""), count("#r6e\"")),
            (3, 1, 3)
        );
        // The font lacks one character of a text: the viewer's font shows it whole.
        assert!(svg.contains(">音 no</text>") && count("fill-opacity=\"0\"") == 3);
        assert!(svg.contains(">noon on</text>") && svg.contains(">x&lt;y</text>"));
        let uses = svg
            .split("href=\"#")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        for id in uses {
            assert_eq!(count(&format!("id=\"{id}\"")), 1, "{id}");
        }
    }

    #[test]
    fn markup_is_escaped_and_forbidden_characters_become_spaces() {
        assert_eq!(
            escape("a<b & \"c\"\u{0}\u{1b}"),
            "a&lt;b &amp; &quot;c&quot;  "
        );
    }
}
