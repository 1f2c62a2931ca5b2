//! A picture as PDF: one page as large as the picture, in the light theme, with the font in the file.
//!
//! The page's content is drawn in the picture's own pixels with y downwards; one transformation at its start turns that
//! into PDF's points with y upwards. A face is five objects: a composite font whose character codes are glyph numbers
//! (`Identity-H`), its descendant with the widths, the descriptor, the font file, and a map from glyphs back to
//! characters, so that text can be copied and searched.
//!
//! ```text
//! CATALOG ──▶ PAGES ──▶ PAGE ──▶ CONTENT                           lines, areas and glyphs
//!                        └─────▶ font +0 ──▶ +1 ──▶ +2 ──▶ +3      composite, descendant, descriptor, file
//!                                     └────▶ +4                    glyphs to characters
//! ```

use crate::picture::color::{BACKGROUND, Color};
use crate::picture::font::{self, Face};
use crate::picture::item::Text;
use crate::picture::{Geometry, Item, PathSegment, Picture, Stroke, Style};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap,
};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use std::io::Write;

/// Points of 1/72 inch in a pixel of 1/96 inch.
const POINTS: f64 = 0.75;
/// Longest side of a page, in its unit (ISO 32000-1, annex C.2).
const MAX_SIDE: f64 = 14_400.0;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
/// First object of the first face.
const FIRST_FONT: i32 = 6;
/// Objects of each face.
const FONT_OBJECTS: i32 = 5;

const IDENTITY: SystemInfo<'static> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};

impl Picture {
    /// The picture as PDF 1.6, in the light theme.
    pub fn pdf(&self) -> Vec<u8> {
        let (w, h) = (self.width * POINTS, self.height * POINTS);
        // The unit of a page that would be too large grows, which is why the version is 1.6.
        let unit = (w.max(h) / MAX_SIDE).ceil().max(1.0);
        let scale = (POINTS / unit) as f32;
        let mut page = PageContent {
            content: Content::new(),
            glyphs: BTreeMap::new(),
        };
        let bottom = round(h / unit);
        page.content
            .transform([scale, 0.0, 0.0, -scale, 0.0, bottom]);
        let sheet = Geometry::Rect((0.0, 0.0), (self.width, self.height), 0.0);
        page.shape(&sheet, &Style::fill(BACKGROUND));
        for item in &self.items {
            match item {
                Item::Shape(geometry, style) => page.shape(geometry, style),
                Item::Text(text) => page.text(text),
                Item::GroupStart(_) | Item::GroupEnd => {}
            }
        }
        let mut pdf = Pdf::new();
        pdf.set_version(1, 6);
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        let mut dict = pdf.page(PAGE);
        dict.parent(PAGES).contents(CONTENT);
        dict.media_box(Rect::new(0.0, 0.0, round(w / unit), bottom));
        if unit > 1.0 {
            dict.user_unit(unit as f32);
        }
        let mut resources = dict.resources();
        let mut fonts = resources.fonts();
        for (face, first) in page.glyphs.keys().zip(font_objects()) {
            fonts.pair(name(*face), first);
        }
        fonts.finish();
        resources.finish();
        dict.finish();
        compressed(&mut pdf, CONTENT, &page.content.finish());
        pdf.document_info(INFO).title(TextStr(&self.description));
        for ((face, glyphs), first) in page.glyphs.iter().zip(font_objects()) {
            write_font(&mut pdf, first, *face, glyphs);
        }
        pdf.finish()
    }
}

/// The first object of each face.
fn font_objects() -> impl Iterator<Item = Ref> {
    (0..).map(|i| Ref::new(FIRST_FONT + i * FONT_OBJECTS))
}

/// The content stream of the page.
struct PageContent {
    content: Content,
    /// The glyphs of each face that are used, with the character that each stands for.
    glyphs: BTreeMap<Face, BTreeMap<u16, char>>,
}

impl PageContent {
    fn shape(&mut self, geometry: &Geometry, style: &Style) {
        if let Some(color) = style.fill {
            let [r, g, b] = rgb(color);
            self.content.set_fill_rgb(r, g, b);
        }
        if let Some(stroke) = style.stroke {
            self.stroke_style(&stroke);
        }
        for segment in geometry.segments() {
            match segment {
                PathSegment::Move(x, y) => self.content.move_to(round(x), round(y)),
                PathSegment::Line(x, y) => self.content.line_to(round(x), round(y)),
                PathSegment::Curve(points) => {
                    let [a, b, c] = points.map(|(x, y)| (round(x), round(y)));
                    self.content.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1)
                }
                PathSegment::Close => self.content.close_path(),
            };
        }
        match (style.fill, style.stroke) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
    }

    fn stroke_style(&mut self, stroke: &Stroke) {
        let [r, g, b] = rgb(stroke.color);
        let (dash, cap) = if stroke.is_solid() {
            (Vec::new(), LineCapStyle::RoundCap)
        } else {
            let (dash, gap) = stroke.dash;
            (vec![round(dash), round(gap)], LineCapStyle::ButtCap)
        };
        self.content
            .set_stroke_rgb(r, g, b)
            .set_line_width(round(stroke.width))
            .set_line_cap(cap)
            .set_line_join(LineJoinStyle::RoundJoin)
            .set_dash_pattern(dash, 0.0);
    }

    fn text(&mut self, text: &Text) {
        if text.content.is_empty() {
            return;
        }
        let face = text.style.font.face;
        let run = self.glyph_run(face, &text.content);
        if !run.is_complete {
            // Characters that the font lacks are still copied and searched as what they are.
            let span = Name(b"Span");
            let mut mark = self.content.begin_marked_content_with_properties(span);
            mark.properties().actual_text(TextStr(&text.content));
        }
        let (x, y) = text.start();
        let [xx, xy, yx, yy] = match text.is_vertical {
            true => [0.0, -1.0, -1.0, 0.0],
            false => [1.0, 0.0, 0.0, -1.0],
        };
        let [r, g, b] = rgb(text.style.color);
        self.content
            .begin_text()
            .set_fill_rgb(r, g, b)
            .set_font(name(face), round(text.style.font.size))
            .set_text_matrix([xx, xy, yx, yy, round(x), round(y)]);
        let mut positioned = self.content.show_positioned();
        let mut items = positioned.items();
        for (codes, space) in &run.pieces {
            items.show(Str(codes));
            if *space != 0.0 {
                items.adjust(-space);
            }
        }
        items.finish();
        positioned.finish();
        self.content.end_text();
        if !run.is_complete {
            self.content.end_marked_content();
        }
    }

    /// The glyphs of a text, which from now on count as used.
    fn glyph_run(&mut self, face: Face, text: &str) -> GlyphRun {
        let used = self.glyphs.entry(face).or_default();
        let mut run = GlyphRun {
            pieces: vec![(Vec::new(), 0.0)],
            is_complete: true,
        };
        for c in text.chars() {
            let last = run.pieces.last_mut().expect("there is always one");
            if let Some(glyph) = face.glyph(c) {
                used.entry(glyph).or_insert(c);
                last.0.extend(glyph.to_be_bytes());
                continue;
            }
            run.is_complete = false;
            let advance = font::advance(face, c);
            if advance > 0.0 {
                last.0.extend([0, 0]);
                last.1 = thousandths(advance - face.glyph_advance(0));
                run.pieces.push((Vec::new(), 0.0));
            }
        }
        run
    }
}

/// A text as glyph numbers of two bytes each.
struct GlyphRun {
    /// Each piece with the space after it, in thousandths of an em.
    pieces: Vec<(Vec<u8>, f32)>,
    /// True if the font has a glyph for every character.
    is_complete: bool,
}

/// Writes the five objects of a face, of which `first` is the first.
fn write_font(pdf: &mut Pdf, first: Ref, face: Face, glyphs: &BTreeMap<u16, char>) {
    let object = |i: i32| Ref::new(first.get() + i);
    let base = match face {
        Face::Regular => Name(b"Arimo-Regular"),
        Face::Bold => Name(b"Arimo-Bold"),
    };
    pdf.type0_font(first)
        .base_font(base)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(object(1))
        .to_unicode(object(4));
    let mut cid_font = pdf.cid_font(object(1));
    cid_font
        .subtype(CidFontType::Type2)
        .base_font(base)
        .system_info(IDENTITY)
        .font_descriptor(object(2))
        .cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid_font.widths();
    // Glyph 0, the box for what the font lacks, has a width too.
    widths.consecutive(0, [thousandths(face.glyph_advance(0))]);
    for glyph in glyphs.keys().copied().filter(|glyph| *glyph > 0) {
        widths.consecutive(glyph, [thousandths(face.glyph_advance(glyph))]);
    }
    widths.finish();
    cid_font.finish();
    let metrics = face.metrics();
    let em = f64::from(metrics.units_per_em);
    let units = |length: f32| thousandths(f64::from(length) / em);
    let bounds = metrics.bounds.unwrap_or_default();
    let [x0, y0, x1, y1] = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(units);
    pdf.font_descriptor(object(2))
        .name(base)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(x0, y0, x1, y1))
        .italic_angle(0.0)
        .ascent(units(metrics.ascent))
        .descent(units(metrics.descent))
        .cap_height(units(metrics.cap_height.unwrap_or(metrics.ascent)))
        .stem_v(if face == Face::Bold { 140.0 } else { 80.0 })
        .font_file2(object(3));
    compressed(pdf, object(3), face.file());
    let mut characters = UnicodeCmap::new(Name(b"Adobe-Identity-UCS"), IDENTITY);
    for (glyph, c) in glyphs {
        characters.pair(*glyph, *c);
    }
    compressed(pdf, object(4), &characters.finish());
}

/// Writes `data` as a compressed stream.
fn compressed(pdf: &mut Pdf, id: Ref, data: &[u8]) {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder
        .write_all(data)
        .and_then(|()| encoder.finish())
        .expect("writing to a Vec does not fail");
    pdf.stream(id, &written).filter(Filter::FlateDecode);
}

/// Name of a face in the page's resources.
fn name(face: Face) -> Name<'static> {
    match face {
        Face::Regular => Name(b"R"),
        Face::Bold => Name(b"B"),
    }
}

fn rgb(color: Color) -> [f32; 3] {
    color.rgb().map(|part| f32::from(part) / 255.0)
}

/// `length` to a hundredth of a pixel: more digits would only make the file larger.
fn round(length: f64) -> f32 {
    ((length * 100.0).round() / 100.0) as f32
}

/// Ems to thousandths, in which PDF measures glyphs.
fn thousandths(ems: f64) -> f32 {
    round(ems * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::color::{ALERT, TEXT};
    use crate::picture::{bold, regular};
    use std::io::Read;

    fn sample() -> Picture {
        let mut picture = Picture::new(200.0, 100.0, "a (sample) µ");
        let style = Style::both(ALERT, Stroke::solid(TEXT, 1.0));
        picture.rect((10.0, 10.0), (50.0, 20.0), 4.0, style);
        let dashed = Stroke::dashed(ALERT, 1.0, (3.0, 2.0));
        picture.line((0.0, 0.0), (100.0, 50.0), dashed);
        let (at, font) = ((20.0, 50.0), regular(12.0));
        picture.text(at, "osc (µ) 漢", font.color(TEXT).middle());
        picture.vertical_text((20.0, 50.0), "Bold", bold(12.0).color(TEXT));
        picture
    }

    /// The object `number` without its stream, and its stream unpacked.
    fn object(pdf: &[u8], number: i32) -> (String, Vec<u8>) {
        let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
        let head = format!("\n{number} 0 obj\n");
        let body = &pdf[find(pdf, head.as_bytes()).unwrap() + head.len()..];
        let body = &body[..find(body, b"\nendobj").unwrap()];
        let Some(split) = find(body, b"stream\n") else {
            return (String::from_utf8(body.to_vec()).unwrap(), Vec::new());
        };
        let dict = String::from_utf8(body[..split].to_vec()).unwrap();
        let mut stream = Vec::new();
        let data = &body[split + 7..];
        flate2::read::ZlibDecoder::new(data)
            .read_to_end(&mut stream)
            .unwrap();
        (dict, stream)
    }

    #[test]
    fn the_page_has_its_size_its_text_and_its_font() {
        let pdf = sample().pdf();
        assert!(object(&pdf, PAGE.get()).0.contains("[0 0 150 75]"));
        let page = String::from_utf8_lossy(&object(&pdf, CONTENT.get()).1).into_owned();
        assert_eq!(page.matches(" TJ").count(), 2);
        let is_marked = page.contains("/ActualText");
        assert!(is_marked, "for the character that the font lacks");
        let (descriptor, _) = object(&pdf, FIRST_FONT + 2);
        assert!(descriptor.contains("/Ascent 905.27"));
        assert_eq!(object(&pdf, FIRST_FONT + 3).1, Face::Regular.file());
        let characters = String::from_utf8(object(&pdf, FIRST_FONT + 4).1).unwrap();
        let o = Face::Regular.glyph('o').unwrap();
        assert!(characters.contains(&format!("<{o:04X}> <006F>")));
    }

    #[test]
    fn the_same_picture_gives_the_same_bytes() {
        assert_eq!(sample().pdf(), sample().pdf());
    }

    #[test]
    fn an_enormous_picture_gets_a_page_that_viewers_accept() {
        let pdf = Picture::new(1e9, 50.0, "long").pdf();
        let (page, _) = object(&pdf, PAGE.get());
        let sides = page.split(['[', ']']).find(|part| part.starts_with("0 0 "));
        let width = sides.unwrap().split(' ').nth(2).unwrap();
        assert!(width.parse::<f64>().unwrap() <= MAX_SIDE && page.contains("/UserUnit"));
    }
}
