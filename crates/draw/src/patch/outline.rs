//! Sizes of boxes, and places of their inlets and outlets.

use super::{PatchBoxShape, PatchFont, PatchShape};
use crate::picture::Point;

/// Width of an inlet or outlet.
pub(super) const PORT: f64 = 7.0;
/// Margin that a box adds to the width and the height of its text, in pixels.
const MARGIN: (f64, f64) = (4.0, 6.0);

impl PatchBoxShape {
    /// Width and height in pixels, with the letters of its window.
    pub fn size(&self, font: PatchFont) -> (f64, f64) {
        let (width, height) = self.size.unwrap_or_default();
        let (width, height) = (finite(width), finite(height));
        let text = self.text_size(font);
        match self.shape {
            PatchShape::Object | PatchShape::Missing | PatchShape::Message => {
                let ports = self.ports.0.max(self.ports.1) as f64 * (PORT + 3.0);
                let text = (text.0.max(3.0 * font.width) + MARGIN.0, text.1 + MARGIN.1);
                (width.max(text.0).max(ports), height.max(text.1))
            }
            PatchShape::Comment => text,
            _ => (width.max(8.0), height.max(8.0)),
        }
    }

    fn text_size(&self, font: PatchFont) -> (f64, f64) {
        let letters = self.text.split('\n').map(|line| line.chars().count()).max();
        let lines = self.text.split('\n').count();
        (
            letters.unwrap_or(0) as f64 * font.width,
            lines as f64 * font.height,
        )
    }

    /// Left end of port `at` of `count`.
    pub(super) fn port_x(&self, at: usize, count: usize, font: PatchFont) -> f64 {
        let room = self.size(font).0 - PORT;
        let steps = count.saturating_sub(1).max(1) as f64;
        self.at.0 + room * at as f64 / steps
    }

    pub(super) fn inlet(&self, at: usize, font: PatchFont) -> Point {
        (self.port_x(at, self.ports.0, font) + PORT / 2.0, self.at.1)
    }

    pub(super) fn outlet(&self, at: usize, font: PatchFont) -> Point {
        let x = self.port_x(at, self.ports.1, font) + PORT / 2.0;
        (x, self.at.1 + self.size(font).1)
    }
}

fn finite(length: f64) -> f64 {
    if length.is_finite() {
        length.clamp(0.0, 1e5)
    } else {
        0.0
    }
}
