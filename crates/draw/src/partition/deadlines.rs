//! The deadlines of one partition: when the work of each level arrives and is due.

use super::chart::{PartitionChart, PartitionLevel, PartitionRow};
use super::sheet::{FIELD, LEFT, LINE, MAX_LEVELS, MIN_WIDTH, level_colors};
use crate::picture::color::{self, BoxColors};
use crate::picture::{Picture, Stroke, Style, bold, muted};
use crate::ticks;
use units::Nanos;

/// Draws, from `y` on, a line for each level: at each vertical stroke the work of one period arrives, and the work of the
/// period before is due.
pub(super) fn deadlines(picture: &mut Picture, chart: &PartitionChart, row: &PartitionRow, y: f64) {
    let levels = &row.levels[..row.levels.len().min(MAX_LEVELS)];
    let title = format!("{}: arrivals and deadlines", row.name);
    let title = bold(13.0).fit(&title, FIELD);
    picture.text((LEFT, y), &title, bold(13.0).color(color::TEXT));
    let largest = levels.iter().map(|level| level.size.max(1)).max();
    let window = largest.unwrap_or(1).saturating_mul(2);
    let top = y + 14.0;
    for (i, level) in levels.iter().enumerate() {
        let y = top + i as f64 * LINE;
        line(picture, chart.rate_hz, *level, window, y, level_colors(i));
    }
    let bottom = top + levels.len() as f64 * LINE;
    let x = |value: f64| LEFT + value / window as f64 * FIELD;
    let ticks = ticks::linear(0.0, window as f64, 9);
    picture.tick_labels(ticks, x, bottom + 14.0, None);
    let unit = match chart.rate_hz {
        0 => "frames".to_owned(),
        hz => format!("frames; {} in all", span(window, hz)),
    };
    let at = (LEFT + FIELD, bottom + 28.0);
    picture.text(at, &unit, muted(11.0).end());
}

/// The line of one level over `window` frames.
fn line(
    picture: &mut Picture,
    rate_hz: u32,
    level: PartitionLevel,
    window: u64,
    y: f64,
    colors: BoxColors,
) {
    const HEIGHT: f64 = 22.0;
    let pitch = level.size.max(1) as f64 / window as f64 * FIELD;
    let bottom = y + 14.0 + HEIGHT;
    let every = match rate_hz {
        0 => String::new(),
        hz => format!(" ({})", span(level.size, hz)),
    };
    let when = match level.in_callback {
        true => ", run inside the callback",
        false => "",
    };
    let (count, size) = (level.count, level.size);
    let label = format!("{count} × {size}: every {size}{every}{when}");
    picture.text((LEFT, y + 9.0), &label, muted(10.5));
    picture.begin_group(level.tooltip());
    let field = ((LEFT, y + 14.0), (FIELD, HEIGHT));
    picture.rect(field.0, field.1, 0.0, Style::fill(color::IDLE));
    if pitch < MIN_WIDTH {
        picture.rect(field.0, field.1, 0.0, colors.style(0.8));
        picture.end_group();
        return;
    }
    let periods = (FIELD / pitch).round() as usize;
    for i in 0..periods {
        let x = LEFT + i as f64 * pitch;
        let in_callback = (pitch * 0.25).min(6.0);
        let width = if level.in_callback {
            in_callback
        } else {
            pitch
        };
        let size = ((width - 2.0).max(0.6), HEIGHT - 8.0);
        picture.rect((x + 1.0, y + 18.0), size, 1.5, Style::fill(colors.fill));
    }
    for i in 0..=periods {
        let x = LEFT + i as f64 * pitch;
        let stroke = Stroke::solid(colors.border, 1.4);
        picture.line((x, y + 14.0), (x, bottom), stroke);
    }
    picture.end_group();
}

/// A number of frames as a time.
fn span(frames: u64, hz: u32) -> String {
    Nanos((frames as f64 / f64::from(hz) * 1e9).round() as u64).to_string()
}
