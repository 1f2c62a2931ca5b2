//! The font: Arimo (SIL Open Font License, `font/OFL.txt`), cut down to Latin, Greek, Cyrillic and a few signs. Its
//! letters are as wide as Helvetica's and Arial's, so every format and viewer breaks and fits words alike.

use crate::picture::Verb;
use std::sync::LazyLock;
use ttf_parser::{GlyphId, OutlineBuilder};

/// How heavy letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Face {
    Regular,
    Bold,
}

const REGULAR: &[u8] = include_bytes!("../font/Arimo-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../font/Arimo-Bold.ttf");

static PARSED: LazyLock<[ttf_parser::Face<'static>; 2]> = LazyLock::new(|| {
    [REGULAR, BOLD].map(|file| ttf_parser::Face::parse(file, 0).expect("a test reads both files"))
});

impl Face {
    /// The font file.
    pub(crate) fn file(self) -> &'static [u8] {
        match self {
            Self::Regular => REGULAR,
            Self::Bold => BOLD,
        }
    }

    /// Its tables.
    pub(crate) fn tables(self) -> &'static ttf_parser::Face<'static> {
        &PARSED[self as usize]
    }

    /// The sign for `c`, if there is one.
    pub(crate) fn glyph(self, c: char) -> Option<u16> {
        self.tables().glyph_index(c).map(|glyph| glyph.0)
    }

    /// How far a sign moves the pen, in units of the letters' size.
    pub(crate) fn advance(self, glyph: u16) -> f64 {
        let units = self.tables().glyph_hor_advance(GlyphId(glyph));
        f64::from(units.unwrap_or(0)) / self.units()
    }

    /// The outline of a sign, upright at the origin with y downwards, in units of the letters' size.
    pub(crate) fn outline(self, glyph: u16) -> Vec<Verb> {
        let mut outline = Outline {
            verbs: Vec::new(),
            scale: 1.0 / self.units(),
            at: (0.0, 0.0),
        };
        self.tables().outline_glyph(GlyphId(glyph), &mut outline);
        outline.verbs
    }

    fn units(self) -> f64 {
        f64::from(self.tables().units_per_em())
    }
}

/// How wide `words` are, in units of the letters' size.
pub(crate) fn width(face: Face, words: &str) -> f64 {
    words.chars().map(|c| step(face, c)).sum()
}

/// How far the pen moves for `c`, in units of the letters' size. Signs that the font lacks stand in a box.
pub(crate) fn step(face: Face, c: char) -> f64 {
    match face.glyph(c) {
        Some(glyph) => face.advance(glyph),
        None if is_on_top(c) => 0.0,
        None if c < '\u{1100}' => face.advance(0),
        None => 1.0,
    }
}

/// Whether `c` stands on the letter before it.
pub(crate) fn is_on_top(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{20d0}'..='\u{20ff}')
}

/// `words` on one line: what has no sign of its own, breaks lines or turns the reading direction becomes a space.
pub(crate) fn shown(words: &str) -> String {
    words
        .chars()
        .map(|c| if is_hidden(c) { ' ' } else { c })
        .collect()
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// `words` in at most `room` units of the letters' size, with a sign where some are left out.
pub(crate) fn fit(face: Face, words: &str, room: f64) -> String {
    let mut taken = 0.0;
    let dots = step(face, '…');
    // As far as words and the sign have room together.
    let mut cut = 0;
    for (at, c) in words.char_indices() {
        if taken + dots <= room {
            cut = at;
        }
        taken += step(face, if is_hidden(c) { ' ' } else { c });
        if taken > room {
            let kept = words[..cut].trim_end();
            return if kept.is_empty() {
                String::new()
            } else {
                shown(kept) + "…"
            };
        }
    }
    shown(words)
}

struct Outline {
    verbs: Vec<Verb>,
    scale: f64,
    at: (f64, f64),
}

impl Outline {
    fn point(&self, x: f32, y: f32) -> (f64, f64) {
        (f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.verbs.push(Verb::Move(self.at.0, self.at.1));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.verbs.push(Verb::Line(self.at.0, self.at.1));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (from, bend, to) = (self.at, self.point(x1, y1), self.point(x, y));
        let toward = |end: (f64, f64)| {
            (
                end.0 + (bend.0 - end.0) * 2.0 / 3.0,
                end.1 + (bend.1 - end.1) * 2.0 / 3.0,
            )
        };
        self.verbs.push(Verb::Curve([toward(from), toward(to), to]));
        self.at = to;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let points = [self.point(x1, y1), self.point(x2, y2), self.point(x, y)];
        self.verbs.push(Verb::Curve(points));
        self.at = points[2];
    }

    fn close(&mut self) {
        self.verbs.push(Verb::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_as_wide_as_helveticas() {
        // From the published metrics of Helvetica and Helvetica-Bold, in thousandths.
        for (face, c, thousandths) in [
            (Face::Regular, 'A', 667.0),
            (Face::Regular, 'i', 222.0),
            (Face::Regular, ' ', 278.0),
            (Face::Bold, 'm', 889.0),
            (Face::Bold, 'W', 944.0),
        ] {
            assert!((step(face, c) * 1000.0 - thousandths).abs() < 1.0, "{c}");
        }
    }

    #[test]
    fn words_are_cut_to_the_room_there_is() {
        let face = Face::Regular;
        assert_eq!(fit(face, "reverb", 100.0), "reverb");
        let cut = fit(face, "reverberation", 4.0);
        assert!(cut.ends_with('…') && width(face, &cut) <= 4.0 && cut.len() > 6);
        assert_eq!(fit(face, "reverb", 0.5), "");
        assert_eq!(fit(face, "a\tb\u{202e}c", 9.0), "a b c");
    }

    #[test]
    fn signs_that_the_font_lacks_have_a_width_and_accents_have_none() {
        assert_eq!(step(Face::Bold, '漢'), 1.0);
        assert_eq!(step(Face::Bold, '\u{301}'), 0.0);
        assert!(
            Face::Regular
                .outline(Face::Regular.glyph('é').unwrap())
                .len()
                > 10
        );
    }
}
