//! A value for each pair of a row and a column, as a darkness.

use super::field::{can_show, noted};
use super::{Heat, Scale};
use crate::ink::{self, Ink};
use crate::picture::{Anchor, Look, Pen, Picture, bold, plain};
use crate::ticks;

/// More rows or columns than this are not drawn.
const MOST: usize = 128;
const TOP: f64 = 74.0;

/// From light to dark: seven steps of one hue, which stay in order in black and white.
const SHADES: [u32; 7] = [
    0xf3f6fb, 0xd6e2f2, 0xb0cae7, 0x82abd8, 0x5488c2, 0x2f649f, 0x173f6d,
];

/// Cells from light, the least, to dark, the most; each with its value where there is room.
pub fn heat(plot: &Heat) -> Picture {
    let columns = &plot.columns[..plot.columns.len().min(MOST)];
    let rows = &plot.rows[..plot.rows.len().min(MOST)];
    let value = |row: usize, column: usize| {
        let value = plot.values.get(row)?.get(column)?;
        can_show(&plot.value, *value).then_some(*value)
    };
    let all = (0..rows.len()).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
    let shades = Shades::of(
        plot.value.scale,
        all.filter_map(|(row, column)| value(row, column)),
    );
    let widest = |names: &[String]| {
        let widths = names.iter().map(|name| plain(11.0).width(name));
        widths.fold(20.0, f64::max).min(150.0)
    };
    let left = 46.0 + widest(rows);
    let wide = (640.0 / columns.len().max(1) as f64).clamp(12.0, 84.0);
    let high = (420.0 / rows.len().max(1) as f64).clamp(12.0, 34.0);
    let is_upright = widest(columns) > wide - 4.0;
    let below = if is_upright {
        widest(columns) + 12.0
    } else {
        22.0
    };
    let (w, h) = (wide * columns.len() as f64, high * rows.len() as f64);
    let bottom = TOP + h;
    let mut picture = Picture::new(
        (left + w + 40.0).max(520.0),
        bottom + below + 80.0,
        &plot.title,
    );
    let room = picture.size().0 - 48.0;
    let left_out = [
        (
            plot.columns.len() - columns.len(),
            "more columns are not drawn",
        ),
        (plot.rows.len() - rows.len(), "more rows are not drawn"),
    ];
    let title = bold(15.0).fit(&plot.title, room);
    picture.text((24.0, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
    let note = plain(11.5).fit(&noted(&plot.note, &left_out), room);
    picture.text((24.0, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
    for (row, name) in rows.iter().enumerate() {
        let y = TOP + row as f64 * high;
        let at = (left - 8.0, y + high / 2.0 + 4.0);
        let name = plain(11.0).fit(name, 150.0);
        picture.text(at, &name, plain(11.0), ink::DARK, Anchor::End);
        for column in 0..columns.len() {
            let at = (left + column as f64 * wide, y);
            cell(&mut picture, at, (wide, high), value(row, column), &shades);
        }
    }
    for (column, name) in columns.iter().enumerate() {
        let x = left + (column as f64 + 0.5) * wide;
        let name = plain(11.0).fit(name, 150.0);
        if is_upright {
            let half = plain(11.0).width(&name) / 2.0;
            picture.upright(
                (x + 4.0, bottom + 6.0 + half),
                &name,
                plain(11.0),
                ink::DARK,
            );
        } else {
            picture.text(
                (x, bottom + 16.0),
                &name,
                plain(11.0),
                ink::DARK,
                Anchor::Middle,
            );
        }
    }
    let middle = (left + w / 2.0, bottom + below + 12.0);
    picture.text(middle, &plot.x, plain(12.0), ink::DARK, Anchor::Middle);
    picture.upright((20.0, TOP + h / 2.0), &plot.y, plain(12.0), ink::DARK);
    shades.legend(
        &mut picture,
        (left, bottom + below + 34.0),
        &plot.value.title(),
    );
    picture
}

fn cell(
    picture: &mut Picture,
    at: (f64, f64),
    size: (f64, f64),
    value: Option<f64>,
    shades: &Shades,
) {
    let Some(value) = value else {
        let pen = Pen::dashed(ink::GRID, 1.0, (2.0, 2.0));
        let inner = ((at.0 + 1.0, at.1 + 1.0), (size.0 - 2.0, size.1 - 2.0));
        picture.rect(inner.0, inner.1, 0.0, Look::drawn(pen));
        return;
    };
    let shade = shades.step(value);
    picture.rect(
        at,
        size,
        0.0,
        Look::both(shade_ink(shade), Pen::solid(ink::SHEET, 1.0)),
    );
    let words = ticks::number(value, value.abs() / 50.0);
    let font = plain(if size.1 > 16.0 { 10.5 } else { 8.0 });
    if font.width(&words) < size.0 - 4.0 {
        let ink = if shade > 3 { ink::SHEET } else { ink::DARK };
        let at = (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0 + font.size * 0.35);
        picture.text(at, &words, font, ink, Anchor::Middle);
    }
}

fn shade_ink(shade: usize) -> Ink {
    Ink {
        name: "shade",
        day: SHADES[shade],
        night: SHADES[shade],
    }
}

/// Which values have which shade.
struct Shades {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Shades {
    fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        Self {
            low,
            high,
            is_log: scale == Scale::Log,
        }
    }

    fn step(&self, value: f64) -> usize {
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            // Halved, so that the ends of all numbers there are do not overflow.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        // Not a number where all values are one: then the lightest.
        (share * SHADES.len() as f64).clamp(0.0, SHADES.len() as f64 - 1.0) as usize
    }

    fn legend(&self, picture: &mut Picture, (x, y): (f64, f64), title: &str) {
        for shade in 0..SHADES.len() {
            let at = (x + shade as f64 * 22.0, y);
            let look = Look::both(shade_ink(shade), Pen::solid(ink::GRID, 0.6));
            picture.rect(at, (22.0, 11.0), 0.0, look);
        }
        let end = x + SHADES.len() as f64 * 22.0;
        let step = (self.high - self.low).abs() / 50.0;
        let text = |value: f64| ticks::number(value, step);
        let font = plain(10.5);
        picture.text(
            (x, y + 24.0),
            &text(self.low),
            font,
            ink::FAINT,
            Anchor::Start,
        );
        picture.text(
            (end, y + 24.0),
            &text(self.high),
            font,
            ink::FAINT,
            Anchor::End,
        );
        picture.text(
            (end + 12.0, y + 10.0),
            title,
            plain(11.5),
            ink::DARK,
            Anchor::Start,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    #[test]
    fn the_least_is_light_and_the_most_is_dark() {
        let plot = Heat {
            columns: vec!["1".into(), "2".into()],
            rows: vec!["rake".into(), "line".into()],
            value: Axis::log("time", "µs"),
            values: vec![vec![1.0, 1000.0], vec![f64::NAN, 0.0]],
            ..Heat::default()
        };
        let svg = heat(&plot).svg();
        // The legend has each shade once.
        assert_eq!(svg.matches("#f3f6fb").count(), 2);
        assert_eq!(svg.matches("#173f6d").count(), 2);
        assert!(svg.contains("time (µs)"));
    }

    #[test]
    fn nonsense_is_drawn_without_nonsense() {
        let mut plot = Heat {
            columns: vec!["\u{0}".repeat(500); 500],
            rows: vec![String::new(); 2],
            values: vec![vec![f64::MAX, f64::MIN, f64::INFINITY]],
            ..Heat::default()
        };
        let svg = heat(&plot).svg();
        assert!(svg.contains("372 more columns") && !svg.contains("NaN") && !svg.contains("inf"));
        plot = Heat::default();
        assert!(heat(&plot).svg().ends_with("</svg>\n"));
    }
}
