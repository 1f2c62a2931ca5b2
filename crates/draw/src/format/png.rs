//! A picture as PNG: painted in the light theme with `tiny-skia`, encoded with `png`.

use crate::picture::color::{BACKGROUND, Color};
use crate::picture::item::{Point, Text};
use crate::picture::{Item, PathSegment, Picture, Stroke, Style, font};
use std::io::Write;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

/// Largest number of pixels: 48 million take 192 MB while they are painted.
const MAX_PIXELS: f64 = 48.0e6;
/// Lines thinner than this many pixels would only be paler.
const MIN_STROKE: f64 = 0.6;
/// Lines with more dashes than this are drawn solid.
const MAX_DASHES: f64 = 20_000.0;
/// Pixels of 1/96 inch in a metre.
const PIXELS_PER_METRE: f64 = 96.0 / 0.0254;

/// The picture cannot be written as PNG.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// It would have too many pixels: use a smaller scale, or SVG or PDF.
    #[error(
        "a PNG of {width} x {height} pixels would be too large; SVG and PDF have no such limit"
    )]
    TooLarge {
        /// Its width in pixels.
        width: u64,
        /// Its height in pixels.
        height: u64,
    },
    /// The scale is not a number above 0.
    #[error("the scale of a picture is a number above 0")]
    Scale,
}

impl Picture {
    /// The picture as PNG: RGB, 8 bits a channel, `scale` pixels for each of the picture's.
    ///
    /// # Errors
    ///
    /// [`PngError::Scale`] if `scale` is not above 0, [`PngError::TooLarge`] above 48 million pixels.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, PngError> {
        let scale = f64::from(scale);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(PngError::Scale);
        }
        let whole = |length: f64| (length * scale).ceil().max(1.0);
        let (width, height) = (whole(self.width), whole(self.height));
        if width * height > MAX_PIXELS {
            let (width, height) = (width as u64, height as u64);
            return Err(PngError::TooLarge { width, height });
        }
        let pixmap = Pixmap::new(width as u32, height as u32).expect("its size is checked");
        let mut canvas = Canvas { pixmap, scale };
        let [r, g, b] = BACKGROUND.rgb();
        canvas
            .pixmap
            .fill(tiny_skia::Color::from_rgba8(r, g, b, 255));
        for item in &self.items {
            match item {
                Item::Shape(geometry, style) => canvas.shape(&geometry.segments(), style),
                Item::Text(text) => canvas.text(text),
                Item::GroupStart(_) | Item::GroupEnd => {}
            }
        }
        Ok(encode(&canvas.pixmap, scale).expect("writing to a Vec does not fail"))
    }

    /// The picture as PNG at `scale`, or at the largest scale that is not [too large](PngError::TooLarge); and the scale
    /// that was used.
    ///
    /// # Errors
    ///
    /// [`PngError::Scale`] if `scale` is not above 0.
    pub fn png_within_limit(&self, scale: f32) -> Result<(Vec<u8>, f32), PngError> {
        let max = (MAX_PIXELS * 0.98 / (self.width * self.height)).sqrt() as f32;
        let scale = scale.min(max);
        Ok((self.png(scale)?, scale))
    }
}

/// The pixels, and their number per pixel of the picture.
struct Canvas {
    pixmap: Pixmap,
    scale: f64,
}

impl Canvas {
    fn shape(&mut self, segments: &[PathSegment], style: &Style) {
        let mut builder = PathBuilder::new();
        let scale = self.scale;
        append(&mut builder, segments, |(x, y)| (x * scale, y * scale));
        let Some(path) = builder.finish() else { return };
        if let Some(color) = style.fill {
            self.fill(&path, color);
        }
        if let Some(stroke) = style.stroke {
            let line = line_style(&stroke, &path, self.scale);
            let identity = Transform::identity();
            self.pixmap
                .stroke_path(&path, &paint(stroke.color), &line, identity, None);
        }
    }

    /// All glyphs of a text as one path.
    fn text(&mut self, text: &Text) {
        let (face, size, scale) = (text.style.font.face, text.style.font.size, self.scale);
        let (x, y) = text.start();
        let mut advanced = 0.0;
        let mut builder = PathBuilder::new();
        for c in text.content.chars() {
            let advance = font::advance(face, c);
            if let Some(glyph) = face.glyph(c).or((advance > 0.0).then_some(0)) {
                let place = |(right, down): Point| {
                    let (right, down) = ((advanced + right) * size, down * size);
                    let at = if text.is_vertical {
                        (x + down, y - right)
                    } else {
                        (x + right, y + down)
                    };
                    (at.0 * scale, at.1 * scale)
                };
                append(&mut builder, &face.outline(glyph), place);
            }
            advanced += advance;
        }
        if let Some(path) = builder.finish() {
            self.fill(&path, text.style.color);
        }
    }

    fn fill(&mut self, path: &Path, color: Color) {
        let (paint, identity) = (paint(color), Transform::identity());
        self.pixmap
            .fill_path(path, &paint, FillRule::Winding, identity, None);
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    let [r, g, b] = color.rgb();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

/// Adds `segments` to a path, each point moved by `place`.
fn append(builder: &mut PathBuilder, segments: &[PathSegment], place: impl Fn(Point) -> Point) {
    for segment in segments {
        match segment.map(&place) {
            PathSegment::Move(x, y) => builder.move_to(x as f32, y as f32),
            PathSegment::Line(x, y) => builder.line_to(x as f32, y as f32),
            PathSegment::Curve(points) => {
                let [a, b, c] = points.map(|(x, y)| (x as f32, y as f32));
                builder.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1);
            }
            PathSegment::Close => builder.close(),
        }
    }
}

/// The painter's settings for a line; `path` is measured to see how many dashes there would be.
fn line_style(stroke: &Stroke, path: &Path, scale: f64) -> tiny_skia::Stroke {
    let [dash, gap] = [stroke.dash.0, stroke.dash.1].map(|length| (length * scale) as f32);
    let bounds = path.bounds();
    let dashes = f64::from(bounds.width() + bounds.height()) / f64::from(dash + gap);
    let is_dashed = !stroke.is_solid() && dashes < MAX_DASHES;
    tiny_skia::Stroke {
        width: (stroke.width * scale).max(MIN_STROKE) as f32,
        line_cap: match stroke.is_solid() {
            true => LineCap::Round,
            false => LineCap::Butt,
        },
        line_join: LineJoin::Round,
        dash: is_dashed
            .then(|| StrokeDash::new(vec![dash, gap], 0.0))
            .flatten(),
        ..tiny_skia::Stroke::default()
    }
}

/// The file, with the size of a pixel on paper.
fn encode(pixmap: &Pixmap, scale: f64) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Each row as its difference to the one above, which suits level and upright lines.
    encoder.set_filter(png::Filter::Up);
    let per_metre = (scale * PIXELS_PER_METRE).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    let mut rows = writer.stream_writer()?;
    let mut rgb = Vec::with_capacity(3 * pixmap.width() as usize);
    for row in pixmap.data().chunks(4 * pixmap.width() as usize) {
        rgb.clear();
        // The background is opaque, so every pixel is: alpha can go.
        rgb.extend(row.chunks(4).flat_map(|rgba| &rgba[..3]));
        rows.write_all(&rgb)?;
    }
    rows.finish()?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::color::{ALERT, TEXT};
    use crate::picture::regular;

    /// Width, height, and the colour of each pixel.
    fn decode(file: &[u8]) -> (usize, usize, Vec<u32>) {
        let decoder = png::Decoder::new(std::io::Cursor::new(file));
        let mut reader = decoder.read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        let color = |p: &[u8]| u32::from_be_bytes([0, p[0], p[1], p[2]]);
        let pixels = data.chunks(3).map(color).collect();
        (info.width as usize, info.height as usize, pixels)
    }

    #[test]
    fn pixels_are_where_the_picture_says() {
        let mut picture = Picture::new(40.0, 30.0, "");
        picture.rect((10.0, 5.0), (20.0, 10.0), 0.0, Style::fill(ALERT));
        picture.line((0.0, 20.5), (40.0, 20.5), Stroke::solid(TEXT, 1.0));
        for scale in [1, 2, 3] {
            let (w, h, pixels) = decode(&picture.png(scale as f32).unwrap());
            assert_eq!((w, h), (40 * scale, 30 * scale));
            let at = |x: usize, y: usize| pixels[y * scale * w + x * scale];
            assert_eq!(
                [at(0, 0), at(9, 6), at(30, 6), at(20, 15)],
                [BACKGROUND.light; 4]
            );
            assert_eq!([at(10, 5), at(29, 14), at(20, 10)], [ALERT.light; 3]);
            assert_eq!([at(1, 20), at(38, 20)], [TEXT.light; 2]);
        }
    }

    #[test]
    fn text_is_as_wide_as_it_was_measured() {
        let mut picture = Picture::new(300.0, 40.0, "");
        let (font, text) = (regular(20.0), "HHHHHHHHH|");
        picture.text((10.0, 30.0), text, font.color(TEXT));
        let (w, _, pixels) = decode(&picture.png(1.0).unwrap());
        let is_inked = |x: &usize| (0..40).any(|y| pixels[y * w + x] != BACKGROUND.light);
        let (first, last) = (
            (0..w).find(is_inked).unwrap(),
            (0..w).rev().find(is_inked).unwrap(),
        );
        let end = 10.0 + font.width(text);
        assert!((10..13).contains(&first) && last as f64 > end - 4.0 && (last as f64) < end);
    }

    #[test]
    fn items_outside_the_sheet_change_nothing() {
        let mut picture = Picture::new(20.0, 20.0, "");
        picture.line(
            (-1e9, -1e9),
            (1e9, 1e9),
            Stroke::dashed(TEXT, 2.0, (1e-9, 1e-9)),
        );
        picture.rect((f64::NAN, 1e300), (1e300, f64::NAN), 3.0, Style::fill(TEXT));
        picture.rect((-5.0, -5.0), (8.0, 8.0), 0.0, Style::fill(ALERT));
        picture.text((1e300, 5.0), "far", regular(1e4).color(TEXT).end());
        let (_, _, pixels) = decode(&picture.png(1.0).unwrap());
        assert_eq!((pixels[0], pixels[2 * 20 + 1]), (ALERT.light, ALERT.light));
        assert_eq!(pixels[19], BACKGROUND.light);
    }

    #[test]
    fn too_many_pixels_are_refused_or_scaled_down() {
        let picture = Picture::new(20_000.0, 10_000.0, "");
        let refused = picture.png(2.0).unwrap_err();
        let (width, height) = (40_000, 20_000);
        assert_eq!(refused, PngError::TooLarge { width, height });
        assert!(refused.to_string().contains("40000 x 20000"));
        for scale in [0.0, f32::NAN, -1.0, f32::INFINITY] {
            assert_eq!(picture.png(scale), Err(PngError::Scale));
        }
        let long = Picture::new(1e9, 10.0, "");
        assert!(long.png_within_limit(2.0).unwrap().1 < 2.0);
    }
}
