//! A picture as PNG: painted here, with the font that is built in, the same on every machine.

mod encode;
mod outline;
mod paint;

use crate::font;
use crate::ink::SHEET;
use crate::picture::{Item, Look, Picture, Text, Verb};
use outline::Point;
use paint::Canvas;
use std::fmt;

/// More pixels than this are refused: some 140 MB.
const MOST_PIXELS: f64 = 48.0e6;

/// Why there is no PNG.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PngError {
    /// It would have too many pixels: take a smaller scale, or SVG or PDF.
    TooLarge {
        /// How wide it would be.
        width: u64,
        /// How high.
        height: u64,
    },
    /// The scale is not a number above 0.
    Scale,
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { width, height } => {
                write!(
                    f,
                    "a PNG of {width} x {height} pixels would be too large; SVG and PDF have no such limit"
                )
            }
            Self::Scale => write!(f, "the scale of a picture is a number above 0"),
        }
    }
}

impl std::error::Error for PngError {}

impl Picture {
    /// As PNG, by day, with `scale` pixels for each of the picture's.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        let scale = f64::from(scale);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(PngError::Scale);
        }
        let whole = |length: f64| (length * scale).ceil().max(1.0);
        let (width, height) = (whole(self.width), whole(self.height));
        if width * height > MOST_PIXELS {
            let (width, height) = (width as u64, height as u64);
            return Err(PngError::TooLarge { width, height });
        }
        let mut canvas = Canvas::new(width as usize, height as usize, SHEET.day);
        for item in &self.items {
            match item {
                Item::Shape(form, look) => shape(&mut canvas, &form.verbs(), look, scale),
                Item::Text(words) => text(&mut canvas, words, scale),
                Item::Open(_) | Item::Close => {}
            }
        }
        Ok(encode::encode(canvas, scale))
    }

    /// As PNG at `scale`, or at the largest smaller one at which it is not too large; with the scale it got.
    pub fn png_within_limit(&self, scale: f32) -> Result<(Vec<u8>, f32), PngError> {
        let most = (MOST_PIXELS * 0.98 / (self.width * self.height)).sqrt() as f32;
        let scale = scale.min(most);
        Ok((self.png(scale)?, scale))
    }
}

fn shape(canvas: &mut Canvas, verbs: &[Verb], look: &Look, scale: f64) {
    let lines = outline::flatten(verbs, |(x, y)| (x * scale, y * scale));
    if let Some(ink) = look.fill {
        let loops: Vec<Vec<Point>> = lines.iter().map(|line| line.points.clone()).collect();
        canvas.fill(&loops, ink.day);
    }
    if let Some(pen) = look.line {
        let dash = (pen.dash.0 * scale, pen.dash.1 * scale);
        // Thinner than a pixel it would only be paler; a little below that is still seen as a line.
        let width = (pen.width * scale).max(0.6);
        canvas.fill(&outline::stroke(&lines, width, dash), pen.ink.day);
    }
}

fn text(canvas: &mut Canvas, text: &Text, scale: f64) {
    let (face, size) = (text.font.face, text.font.size);
    let (x, y) = text.begin();
    let mut along = 0.0;
    let mut loops = Vec::new();
    for c in text.words.chars() {
        let step = font::step(face, c);
        let glyph = face.glyph(c).or((step > 0.0).then_some(0));
        if let Some(glyph) = glyph {
            let place = |(right, down): Point| {
                let (right, down) = ((along + right) * size, down * size);
                let at = if text.is_upright {
                    (x + down, y - right)
                } else {
                    (x + right, y + down)
                };
                (at.0 * scale, at.1 * scale)
            };
            let lines = outline::flatten(&face.outline(glyph), place);
            loops.extend(lines.into_iter().map(|line| line.points));
        }
        along += step;
    }
    canvas.fill(&loops, text.ink.day);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::{ALARM, DARK};
    use crate::picture::{Anchor, Pen, plain};

    /// Width, height, and each pixel's colour.
    fn decode(png: &[u8]) -> (usize, usize, Vec<u32>) {
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let mut rest = &png[8..];
        let (mut size, mut packed) = ((0, 0), Vec::new());
        let mut names = Vec::new();
        while !rest.is_empty() {
            let number =
                |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
            let (length, name) = (number(0), &rest[4..8]);
            assert_eq!(number(8 + length) as u32, encode::crc(&rest[4..8 + length]));
            match name {
                b"IHDR" => size = (number(8), number(12)),
                b"IDAT" => packed.extend_from_slice(&rest[8..8 + length]),
                _ => {}
            }
            names.push(name);
            rest = &rest[12 + length..];
        }
        assert_eq!(names.last(), Some(&&b"IEND"[..]));
        let data = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap();
        assert_eq!(data.len(), size.1 * (1 + 3 * size.0));
        let mut above = vec![0u8; 3 * size.0];
        let mut pixels = Vec::new();
        for row in data.chunks(1 + 3 * size.0) {
            assert_eq!(
                row[0], 2,
                "each row is told as the difference to the one above"
            );
            above
                .iter_mut()
                .zip(&row[1..])
                .for_each(|(old, new)| *old = old.wrapping_add(*new));
            let colour = |p: &[u8]| u32::from_be_bytes([0, p[0], p[1], p[2]]);
            pixels.extend(above.chunks(3).map(colour));
        }
        (size.0, size.1, pixels)
    }

    #[test]
    fn pixels_are_where_the_picture_says() {
        let mut picture = Picture::new(40.0, 30.0, "");
        picture.rect((10.0, 5.0), (20.0, 10.0), 0.0, Look::filled(ALARM));
        picture.line((0.0, 20.5), (40.0, 20.5), Pen::solid(DARK, 1.0));
        for scale in [1, 2, 3] {
            let (w, h, pixels) = decode(&picture.png(scale as f32).unwrap());
            assert_eq!((w, h), (40 * scale, 30 * scale));
            let at = |x: usize, y: usize| pixels[y * scale * w + x * scale];
            assert_eq!([at(0, 0), at(9, 6), at(30, 6), at(20, 15)], [SHEET.day; 4]);
            assert_eq!([at(10, 5), at(29, 14), at(20, 10)], [ALARM.day; 3]);
            assert_eq!([at(1, 20), at(38, 20)], [DARK.day; 2]);
        }
    }

    #[test]
    fn words_are_as_wide_as_they_were_measured() {
        let mut picture = Picture::new(300.0, 40.0, "");
        let (font, words) = (plain(20.0), "HHHHHHHHH|");
        picture.text((10.0, 30.0), words, font, DARK, Anchor::Start);
        let (w, _, pixels) = decode(&picture.png(1.0).unwrap());
        let is_inked = |x: &usize| (0..40).any(|y| pixels[y * w + x] != SHEET.day);
        let (first, last) = (
            (0..w).find(is_inked).unwrap(),
            (0..w).rev().find(is_inked).unwrap(),
        );
        let end = 10.0 + font.width(words);
        assert!((10..13).contains(&first) && last as f64 > end - 4.0 && (last as f64) < end);
    }

    #[test]
    fn what_lies_off_the_sheet_costs_nothing_and_harms_nothing() {
        let mut picture = Picture::new(20.0, 20.0, "");
        picture.line(
            (-1e9, -1e9),
            (1e9, 1e9),
            Pen::dashed(DARK, 2.0, (1e-9, 1e-9)),
        );
        picture.rect(
            (f64::NAN, 1e300),
            (1e300, f64::NAN),
            3.0,
            Look::filled(DARK),
        );
        picture.rect((-5.0, -5.0), (8.0, 8.0), 0.0, Look::filled(ALARM));
        picture.text((1e300, 5.0), "far", plain(1e4), DARK, Anchor::End);
        let (_, _, pixels) = decode(&picture.png(1.0).unwrap());
        assert_eq!((pixels[0], pixels[2 * 20 + 1]), (ALARM.day, ALARM.day));
        assert_eq!(pixels[19], SHEET.day);
    }

    #[test]
    fn too_many_pixels_are_refused_or_made_fewer() {
        let picture = Picture::new(20_000.0, 10_000.0, "");
        let refused = picture.png(2.0).unwrap_err();
        assert_eq!(
            refused,
            PngError::TooLarge {
                width: 40_000,
                height: 20_000
            }
        );
        assert!(refused.to_string().contains("40000 x 20000"));
        for scale in [0.0, f32::NAN, -1.0, f32::INFINITY] {
            assert_eq!(picture.png(scale), Err(PngError::Scale));
        }
        assert!(Picture::new(1e9, 10.0, "").png_within_limit(2.0).unwrap().1 < 2.0);
    }
}
