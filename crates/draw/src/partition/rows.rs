//! The rows: each partition as boxes over the frames of the impulse response.

use super::axis::Axis;
use super::chart::{PartitionLevel, PartitionRow};
use super::sheet::{FIELD, LEFT, MAX_LEVELS, MIN_WIDTH, level_colors};
use crate::picture::color::{self, BoxColors};
use crate::picture::{Picture, Stroke, Style, bold, muted, regular};

/// A row with its upper edge at `y`: a box for each part. Its name is bold if its deadlines are drawn.
pub(super) fn row(
    picture: &mut Picture,
    axis: &Axis,
    y: f64,
    row: &PartitionRow,
    has_deadlines: bool,
) {
    let font = match has_deadlines {
        true => bold(12.0),
        false => regular(12.0),
    };
    let name = font.fit(&row.name, FIELD / 3.0);
    picture.text((LEFT, y + 10.0), &name, font.color(color::TEXT));
    let from = LEFT + font.width(&name) + 14.0;
    let note = regular(11.0).fit(&row.note, LEFT + FIELD - from);
    picture.text((from, y + 10.0), &note, muted(11.0));
    for (i, part) in row.levels.iter().take(MAX_LEVELS).enumerate() {
        level(picture, axis, y + 16.0, *part, level_colors(i));
    }
}

/// The parts of a level, with lines between them where they are wide enough.
fn level(picture: &mut Picture, axis: &Axis, y: f64, level: PartitionLevel, colors: BoxColors) {
    const HEIGHT: f64 = 30.0;
    let (left, right) = (axis.x(level.start), axis.x(level.end()));
    picture.begin_group(level.tooltip());
    let size = ((right - left).max(0.6), HEIGHT);
    picture.rect((left, y), size, 0.0, colors.style(1.0));
    let mut last = left;
    for i in 1..level.count.min(FIELD as u64) {
        let x = axis.x(level.start.saturating_add(level.size.saturating_mul(i)));
        if x - last >= MIN_WIDTH && right - x >= MIN_WIDTH {
            picture.line((x, y), (x, y + HEIGHT), Stroke::solid(colors.border, 0.8));
            last = x;
        }
    }
    let label = format!("{} × {}", level.count, level.size);
    let size = (regular(10.5).width(&label) + 6.0, HEIGHT - 14.0);
    if size.0 < right - left {
        let (middle, baseline) = ((left + right) / 2.0, y + HEIGHT / 2.0 + 4.0);
        let at = (middle - size.0 / 2.0, y + 7.0);
        picture.rect(at, size, 2.0, Style::fill(colors.fill));
        let style = regular(10.5).color(color::TEXT).middle();
        picture.text((middle, baseline), &label, style);
    }
    picture.end_group();
}
