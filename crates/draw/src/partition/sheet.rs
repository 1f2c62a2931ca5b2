//! Sizes and positions that the parts of the chart share, in pixels.

use crate::picture::color::{self, BoxColors};

/// Levels of a row beyond this number are not drawn.
pub(super) const MAX_LEVELS: usize = 32;
/// Parts narrower than this are drawn as one area.
pub(super) const MIN_WIDTH: f64 = 2.5;
/// Left margin.
pub(super) const LEFT: f64 = 24.0;
/// Width of the field.
pub(super) const FIELD: f64 = 880.0;
/// Upper edge of the first row.
pub(super) const TOP: f64 = 64.0;
/// Height of a row.
pub(super) const ROW: f64 = 66.0;
/// Height of a line of deadlines.
pub(super) const LINE: f64 = 44.0;

const COLORS: [BoxColors; 6] = [
    color::BLUE,
    color::AMBER,
    color::GREEN,
    color::VIOLET,
    color::PINK,
    color::GREY,
];

/// The colours of a row's level `i`.
pub(super) fn level_colors(i: usize) -> BoxColors {
    COLORS[i % COLORS.len()]
}
