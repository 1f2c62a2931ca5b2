//! The font: Arimo (SIL Open Font License, `font/OFL.txt`), reduced to Latin, Greek, Cyrillic and a few symbols.
//!
//! Arimo has the metrics of Helvetica and Arial, so a viewer without it that falls back to one of them breaks and fits
//! text alike. `skrifa` reads its tables. Lengths in this file are in ems: multiples of the font size.

use super::item::PathSegment;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::{GlyphMetrics, Metrics};
use skrifa::outline::{DrawSettings, OutlineGlyphCollection, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::sync::LazyLock;

/// A weight of the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Face {
    Regular,
    Bold,
}

const REGULAR: &[u8] = include_bytes!("../../font/Arimo-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../font/Arimo-Bold.ttf");

/// The tables of a face that are used.
struct Tables {
    metrics: Metrics,
    glyph_metrics: GlyphMetrics<'static>,
    charmap: Charmap<'static>,
    outlines: OutlineGlyphCollection<'static>,
}

static TABLES: LazyLock<[Tables; 2]> = LazyLock::new(|| {
    [REGULAR, BOLD].map(|file| {
        let font = FontRef::new(file).expect("a test reads both files");
        let (size, location) = (Size::unscaled(), LocationRef::default());
        Tables {
            metrics: font.metrics(size, location),
            glyph_metrics: font.glyph_metrics(size, location),
            charmap: font.charmap(),
            outlines: font.outline_glyphs(),
        }
    })
});

impl Face {
    /// The font file.
    pub(crate) fn file(self) -> &'static [u8] {
        match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        }
    }

    fn tables(self) -> &'static Tables {
        &TABLES[self as usize]
    }

    /// Metrics of the whole face, in font units.
    pub(crate) fn metrics(self) -> &'static Metrics {
        &self.tables().metrics
    }

    /// The glyph of `c`, if the font has one.
    pub(crate) fn glyph(self, c: char) -> Option<u16> {
        let glyph = self.tables().charmap.map(c)?;
        u16::try_from(glyph.to_u32()).ok()
    }

    /// Horizontal advance of a glyph.
    pub(crate) fn glyph_advance(self, glyph: u16) -> f64 {
        let advance = self
            .tables()
            .glyph_metrics
            .advance_width(GlyphId::from(glyph));
        f64::from(advance.unwrap_or(0.0)) / self.units_per_em()
    }

    /// Outline of a glyph with its origin on the baseline, y downwards.
    pub(crate) fn outline(self, glyph: u16) -> Vec<PathSegment> {
        let mut outline = Outline {
            segments: Vec::new(),
            scale: 1.0 / self.units_per_em(),
            at: (0.0, 0.0),
        };
        if let Some(glyph) = self.tables().outlines.get(GlyphId::from(glyph)) {
            let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
            // A glyph that cannot be read stays empty; a test reads all of both files.
            let _ = glyph.draw(settings, &mut outline);
        }
        outline.segments
    }

    fn units_per_em(self) -> f64 {
        f64::from(self.metrics().units_per_em)
    }
}

/// Width of `text`.
pub(crate) fn width(face: Face, text: &str) -> f64 {
    text.chars().map(|c| advance(face, c)).sum()
}

/// Horizontal advance of `c`. Characters that the font lacks are shown as a box: an em wide from U+1100 on, where the
/// East Asian scripts and the pictographs are.
pub(crate) fn advance(face: Face, c: char) -> f64 {
    match face.glyph(c) {
        Some(glyph) => face.glyph_advance(glyph),
        None if is_combining(c) => 0.0,
        None if c < '\u{1100}' => face.glyph_advance(0),
        None => 1.0,
    }
}

/// Returns true if `c` is placed on the character before it, or takes no room.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20ff}')
}

/// `text` on one line: control characters and those that change the writing direction become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if is_control(c) { ' ' } else { c })
        .collect()
}

fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// `text` on one line, shortened with an ellipsis if it is wider than `room`; empty if not even that fits.
pub(crate) fn fit(face: Face, text: &str, room: f64) -> String {
    let mut taken = 0.0;
    let ellipsis = advance(face, '…');
    // The end of the longest prefix that leaves room for the ellipsis.
    let mut cut = 0;
    for (at, c) in text.char_indices() {
        if taken + ellipsis <= room {
            cut = at;
        }
        taken += advance(face, if is_control(c) { ' ' } else { c });
        if taken > room {
            let kept = text[..cut].trim_end();
            return if kept.is_empty() {
                String::new()
            } else {
                printable(kept) + "…"
            };
        }
    }
    printable(text)
}

/// Collects the outline of a glyph as path segments.
struct Outline {
    segments: Vec<PathSegment>,
    /// Ems in a font unit.
    scale: f64,
    /// The current point.
    at: (f64, f64),
}

impl Outline {
    fn point(&self, x: f32, y: f32) -> (f64, f64) {
        (f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }
}

impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.segments.push(PathSegment::Move(self.at.0, self.at.1));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.segments.push(PathSegment::Line(self.at.0, self.at.1));
    }

    /// A quadratic curve as a cubic one: each control point goes two thirds of the way to the quadratic's.
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, control, to) = (self.at, self.point(x1, y1), self.point(x, y));
        let toward = |end: (f64, f64)| {
            (
                end.0 + (control.0 - end.0) * 2.0 / 3.0,
                end.1 + (control.1 - end.1) * 2.0 / 3.0,
            )
        };
        self.segments
            .push(PathSegment::Curve([toward(from), toward(to), to]));
        self.at = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let points = [self.point(x1, y1), self.point(x2, y2), self.point(x, y)];
        self.segments.push(PathSegment::Curve(points));
        self.at = points[2];
    }

    fn close(&mut self) {
        self.segments.push(PathSegment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_are_as_wide_as_helveticas() {
        // From the published metrics of Helvetica and Helvetica-Bold, in thousandths.
        for (face, c, thousandths) in [
            (Face::Regular, 'A', 667.0),
            (Face::Regular, 'i', 222.0),
            (Face::Regular, ' ', 278.0),
            (Face::Bold, 'm', 889.0),
            (Face::Bold, 'W', 944.0),
        ] {
            assert!((advance(face, c) * 1000.0 - thousandths).abs() < 1.0, "{c}");
        }
    }

    #[test]
    fn text_is_shortened_to_the_room_there_is() {
        let face = Face::Regular;
        assert_eq!(fit(face, "reverb", 100.0), "reverb");
        let cut = fit(face, "reverberation", 4.0);
        assert!(cut.ends_with('…') && width(face, &cut) <= 4.0 && cut.len() > 6);
        assert_eq!(fit(face, "reverb", 0.5), "");
        assert_eq!(fit(face, "a\tb\u{202e}c", 9.0), "a b c");
    }

    #[test]
    fn missing_characters_have_a_width_and_combining_ones_have_none() {
        assert_eq!(advance(Face::Bold, '漢'), 1.0);
        assert_eq!(advance(Face::Bold, '\u{301}'), 0.0);
    }

    #[test]
    fn every_glyph_of_both_files_has_an_outline_that_can_be_read() {
        for face in [Face::Regular, Face::Bold] {
            let accented = face.outline(face.glyph('é').unwrap());
            assert!(accented.len() > 10);
            let settings = || DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
            for (_, glyph) in face.tables().outlines.iter() {
                let mut outline = Outline {
                    segments: Vec::new(),
                    scale: 1.0,
                    at: (0.0, 0.0),
                };
                glyph.draw(settings(), &mut outline).unwrap();
            }
        }
    }
}
