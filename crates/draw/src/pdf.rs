//! A picture as PDF: one page as large as the picture, lines as lines, words as words, its font in the file.

use crate::font::{self, Face};
use crate::ink::{Ink, SHEET};
use crate::picture::{Form, Item, Look, Picture, Text, Verb};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Points in a pixel.
const POINTS: f64 = 0.75;
/// The longest side that a page may have, in its own units.
const LONGEST: f64 = 14_400.0;
/// Objects before the fonts'.
const FIRST_FONT: usize = 6;
/// Objects of each font.
const FONT_OBJECTS: usize = 5;

impl Picture {
    /// As PDF, by day.
    pub fn pdf(&self) -> Vec<u8> {
        let mut page = Page::default();
        let (w, h) = (self.width * POINTS, self.height * POINTS);
        // Where a page would be too large its unit grows.
        let unit = (w.max(h) / LONGEST).ceil().max(1.0);
        let scale = POINTS / unit;
        let _ = writeln!(
            page.out,
            "{} 0 0 {} 0 {} cm",
            fine(scale),
            fine(-scale),
            num(h / unit)
        );
        let sheet = Form::Rect((0.0, 0.0), (self.width, self.height), 0.0);
        page.shape(&sheet, &Look::filled(SHEET));
        self.items.iter().for_each(|item| page.item(item));
        let mut file = File::default();
        file.object("<</Type/Catalog/Pages 2 0 R>>");
        file.object("<</Type/Pages/Kids[3 0 R]/Count 1>>");
        let faces: Vec<Face> = page.used.keys().copied().collect();
        let mut fonts = String::new();
        for (i, face) in faces.iter().enumerate() {
            let _ = write!(
                fonts,
                "/{} {} 0 R",
                key(*face),
                FIRST_FONT + i * FONT_OBJECTS
            );
        }
        let user_unit = if unit > 1.0 {
            format!("/UserUnit {unit}")
        } else {
            String::new()
        };
        file.object(&format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {} {}]{user_unit}/Contents 4 0 R/Resources<</Font<<{fonts}>>>>>>",
            num(w / unit),
            num(h / unit)
        ));
        file.stream("", page.out.as_bytes());
        file.object(&format!("<</Title {}>>", utf16(&self.about)));
        for (face, glyphs) in &page.used {
            file.font(*face, glyphs);
        }
        file.finish()
    }
}

/// What is drawn on the page, in PDF's operators.
#[derive(Default)]
struct Page {
    out: String,
    /// The signs of each face that are used, with the letter each stands for.
    used: BTreeMap<Face, BTreeMap<u16, char>>,
}

impl Page {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Shape(form, look) => self.shape(form, look),
            Item::Text(text) => self.text(text),
            Item::Open(_) | Item::Close => {}
        }
    }

    fn shape(&mut self, form: &Form, look: &Look) {
        if let Some(ink) = look.fill {
            let _ = writeln!(self.out, "{} rg", colour(ink));
        }
        if let Some(pen) = look.line {
            let (dash, gap) = pen.dash;
            let is_solid = pen.dash == (0.0, 0.0);
            let dashes = if is_solid {
                String::new()
            } else {
                format!("{} {}", num(dash), num(gap))
            };
            let cap = u8::from(is_solid);
            let (ink, width) = (colour(pen.ink), num(pen.width));
            let _ = writeln!(self.out, "{ink} RG {width} w {cap} J 1 j [{dashes}] 0 d");
        }
        for verb in form.verbs() {
            let _ = match verb {
                Verb::Move(x, y) => writeln!(self.out, "{} {} m", num(x), num(y)),
                Verb::Line(x, y) => writeln!(self.out, "{} {} l", num(x), num(y)),
                Verb::Curve([a, b, c]) => {
                    let [a, b, c] = [a, b, c].map(|at| format!("{} {}", num(at.0), num(at.1)));
                    writeln!(self.out, "{a} {b} {c} c")
                }
                Verb::Close => writeln!(self.out, "h"),
            };
        }
        self.out += match (look.fill, look.line) {
            (Some(_), Some(_)) => "B\n",
            (Some(_), None) => "f\n",
            (None, Some(_)) => "S\n",
            (None, None) => "n\n",
        };
    }

    fn text(&mut self, text: &Text) {
        if text.words.is_empty() {
            return;
        }
        let face = text.font.face;
        let (x, y) = text.begin();
        let (x, y) = (num(x), num(y));
        let turn = if text.is_upright {
            "0 -1 -1 0"
        } else {
            "1 0 0 -1"
        };
        let (run, is_whole) = self.run(face, &text.words);
        if !is_whole {
            // Letters that the font lacks are copied and searched as what they are all the same.
            let _ = writeln!(self.out, "/Span<</ActualText {}>>BDC", utf16(&text.words));
        }
        let (key, size, ink) = (key(face), num(text.font.size), colour(text.ink));
        let _ = writeln!(
            self.out,
            "BT {ink} rg /{key} {size} Tf {turn} {x} {y} Tm [{run}] TJ ET"
        );
        if !is_whole {
            self.out += "EMC\n";
        }
    }

    /// Words as signs, and whether the font has them all.
    fn run(&mut self, face: Face, words: &str) -> (String, bool) {
        let used = self.used.entry(face).or_default();
        let (mut run, mut is_whole) = (String::from("<"), true);
        for c in words.chars() {
            if let Some(glyph) = face.glyph(c) {
                used.entry(glyph).or_insert(c);
                let _ = write!(run, "{glyph:04X}");
                continue;
            }
            is_whole = false;
            let step = font::step(face, c);
            if step > 0.0 {
                let more = (step - face.advance(0)) * 1000.0;
                let _ = write!(run, "0000>{}<", num(-more));
            }
        }
        (run + ">", is_whole)
    }
}

/// The file: numbered objects, and where each begins.
struct File {
    out: Vec<u8>,
    begins: Vec<usize>,
}

impl Default for File {
    fn default() -> Self {
        Self {
            out: b"%PDF-1.6\n%\xc2\xb5\xc2\xb6\n".to_vec(),
            begins: Vec::new(),
        }
    }
}

impl File {
    fn object(&mut self, body: &str) {
        self.begin();
        self.out.extend_from_slice(body.as_bytes());
        self.out.extend_from_slice(b"\nendobj\n");
    }

    fn begin(&mut self) {
        self.begins.push(self.out.len());
        let number = self.begins.len();
        self.out
            .extend_from_slice(format!("{number} 0 obj\n").as_bytes());
    }

    fn stream(&mut self, entries: &str, data: &[u8]) {
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(data, 6);
        self.begin();
        let length = packed.len();
        let head = format!("<<{entries}/Length {length}/Filter/FlateDecode>>\nstream\n");
        self.out.extend_from_slice(head.as_bytes());
        self.out.extend_from_slice(&packed);
        self.out.extend_from_slice(b"\nendstream\nendobj\n");
    }

    /// A face: the font, its letters' widths, its measures, its file, and what its signs mean.
    fn font(&mut self, face: Face, glyphs: &BTreeMap<u16, char>) {
        let first = self.begins.len() + 1;
        let name = match face {
            Face::Regular => "Arimo-Regular",
            Face::Bold => "Arimo-Bold",
        };
        self.object(&format!(
            "<</Type/Font/Subtype/Type0/BaseFont/{name}/Encoding/Identity-H/DescendantFonts[{} 0 R]/ToUnicode {} 0 R>>",
            first + 1,
            first + 4
        ));
        let mut widths = String::new();
        for glyph in std::iter::once(0)
            .chain(glyphs.keys().copied())
            .collect::<BTreeSet<u16>>()
        {
            let _ = write!(widths, "{glyph}[{}]", num(face.advance(glyph) * 1000.0));
        }
        self.object(&format!(
            "<</Type/Font/Subtype/CIDFontType2/BaseFont/{name}/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)\
             /Supplement 0>>/FontDescriptor {} 0 R/CIDToGIDMap/Identity/W[{widths}]>>",
            first + 2
        ));
        let tables = face.tables();
        let units =
            |length: i16| num(f64::from(length) * 1000.0 / f64::from(tables.units_per_em()));
        let limits = tables.global_bounding_box();
        let [x0, y0, x1, y1] = [limits.x_min, limits.y_min, limits.x_max, limits.y_max].map(units);
        let (up, down) = (units(tables.ascender()), units(tables.descender()));
        let capital = units(tables.capital_height().unwrap_or(1409));
        let stem = if face == Face::Bold { 140 } else { 80 };
        self.object(&format!(
            "<</Type/FontDescriptor/FontName/{name}/Flags 32/FontBBox[{x0} {y0} {x1} {y1}]/ItalicAngle 0/Ascent {up}\
             /Descent {down}/CapHeight {capital}/StemV {stem}/FontFile2 {} 0 R>>",
            first + 3
        ));
        let file = face.file();
        self.stream(&format!("/Length1 {}", file.len()), file);
        self.stream("", meanings(glyphs).as_bytes());
    }

    /// Closes the file with the table of where objects begin.
    fn finish(mut self) -> Vec<u8> {
        let table = self.out.len();
        let count = self.begins.len() + 1;
        let mut end = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for begin in &self.begins {
            let _ = writeln!(end, "{begin:010} 00000 n ");
        }
        let _ = write!(
            end,
            "trailer\n<</Size {count}/Root 1 0 R/Info 5 0 R>>\nstartxref\n{table}\n%%EOF\n"
        );
        self.out.extend_from_slice(end.as_bytes());
        self.out
    }
}

/// Which letter each sign stands for, so that words can be copied and searched.
fn meanings(glyphs: &BTreeMap<u16, char>) -> String {
    let mut map = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo <</Registry(Adobe)\
         /Ordering(UCS)/Supplement 0>> def\n/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
         1 begincodespacerange\n<0000><FFFF>\nendcodespacerange\n",
    );
    let pairs: Vec<(&u16, &char)> = glyphs.iter().collect();
    for some in pairs.chunks(100) {
        let _ = writeln!(map, "{} beginbfchar", some.len());
        for (glyph, c) in some {
            let _ = writeln!(map, "<{glyph:04X}><{}>", hex(&c.to_string()));
        }
        map += "endbfchar\n";
    }
    map + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
}

/// What a page calls a face.
fn key(face: Face) -> &'static str {
    match face {
        Face::Regular => "R",
        Face::Bold => "B",
    }
}

fn colour(ink: Ink) -> String {
    let part = |shift: u32| fine(f64::from((ink.day >> shift) & 0xff) / 255.0);
    format!("{} {} {}", part(16), part(8), part(0))
}

/// Text as a string object.
fn utf16(text: &str) -> String {
    format!("<FEFF{}>", hex(text))
}

fn hex(text: &str) -> String {
    text.encode_utf16()
        .map(|unit| format!("{unit:04X}"))
        .collect()
}

/// With two digits after the point at most.
fn num(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// With five.
fn fine(value: f64) -> String {
    trimmed(format!("{value:.5}"))
}

fn trimmed(number: String) -> String {
    let short = number.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".into()
    } else {
        short.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::{ALARM, DARK};
    use crate::picture::{Anchor, Pen, bold, plain};

    fn sample() -> Picture {
        let mut picture = Picture::new(200.0, 100.0, "a (sample) µ");
        picture.rect(
            (10.0, 10.0),
            (50.0, 20.0),
            4.0,
            Look::both(ALARM, Pen::solid(DARK, 1.0)),
        );
        picture.line(
            (0.0, 0.0),
            (100.0, 50.0),
            Pen::dashed(ALARM, 1.0, (3.0, 2.0)),
        );
        picture.text(
            (20.0, 50.0),
            "osc (µ) 漢",
            plain(12.0),
            DARK,
            Anchor::Middle,
        );
        picture.upright((20.0, 50.0), "Bold", bold(12.0), DARK);
        picture
    }

    /// The objects of a file as its own table tells them, streams unpacked.
    fn objects(pdf: &[u8]) -> Vec<(String, Vec<u8>)> {
        // As many characters as bytes.
        let ascii = |byte: &u8| {
            if byte.is_ascii() {
                char::from(*byte)
            } else {
                '?'
            }
        };
        let text: String = pdf.iter().map(ascii).collect();
        let at = text.rfind("startxref\n").unwrap() + 10;
        let table: usize = text[at..].lines().next().unwrap().parse().unwrap();
        let table = &text[table..];
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("xref"));
        let count: usize = lines
            .next()
            .unwrap()
            .strip_prefix("0 ")
            .unwrap()
            .parse()
            .unwrap();
        let begins = lines.skip(1).take(count - 1).map(|line| {
            assert_eq!(line.len(), 19, "an entry is 20 bytes with its line end");
            line[..10].parse::<usize>().unwrap()
        });
        begins
            .enumerate()
            .map(|(i, begin)| object(pdf, i + 1, begin))
            .collect()
    }

    fn object(pdf: &[u8], number: usize, begin: usize) -> (String, Vec<u8>) {
        let head = format!("{number} 0 obj\n");
        assert!(pdf[begin..].starts_with(head.as_bytes()), "object {number}");
        let body = &pdf[begin + head.len()..];
        let end = body.windows(8).position(|w| w == b"\nendobj\n").unwrap();
        let mark = b">>\nstream\n";
        let Some(split) = body[..end].windows(mark.len()).position(|w| w == mark) else {
            return (String::from_utf8(body[..end].to_vec()).unwrap(), Vec::new());
        };
        let dict = String::from_utf8(body[..split].to_vec()).unwrap();
        let length: usize = dict
            .split("/Length ")
            .nth(1)
            .unwrap()
            .split('/')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let data = &body[split + mark.len()..][..length];
        assert!(body[split + mark.len() + length..].starts_with(b"\nendstream"));
        (
            dict,
            miniz_oxide::inflate::decompress_to_vec_zlib(data).unwrap(),
        )
    }

    #[test]
    fn the_table_finds_every_object_and_streams_unpack() {
        let objects = objects(&sample().pdf());
        assert_eq!(objects.len(), 5 + 2 * FONT_OBJECTS);
        assert!(objects[2].0.contains("/MediaBox[0 0 150 75]"));
        let page = String::from_utf8(objects[3].1.clone()).unwrap();
        assert_eq!(page.matches(" TJ ET").count(), 2);
        assert!(
            page.contains("/ActualText <FEFF006F00730063"),
            "for the letter that the font lacks"
        );
        assert!(objects.iter().any(|object| object.1 == Face::Bold.file()));
        assert!(
            objects
                .iter()
                .any(|object| object.0.contains("/Ascent 905.27"))
        );
        let meanings = String::from_utf8(objects[9].1.clone()).unwrap();
        let o = Face::Regular.glyph('o').unwrap();
        assert!(meanings.contains(&format!("<{o:04X}><006F>")));
    }

    #[test]
    fn the_same_picture_gives_the_same_bytes() {
        assert_eq!(sample().pdf(), sample().pdf());
    }

    #[test]
    fn an_enormous_picture_gets_a_page_that_readers_bear() {
        let picture = Picture::new(1e9, 50.0, "long");
        let objects = objects(&picture.pdf());
        let sides = objects[2].0.split(['[', ']']).nth(1).unwrap();
        let sides: Vec<f64> = sides.split(' ').map(|side| side.parse().unwrap()).collect();
        assert!(sides[2] <= LONGEST && objects[2].0.contains("/UserUnit"));
    }
}
