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
    let sheet = Sheet::of(plot);
    let size = (
        (sheet.left + sheet.width() + 40.0).max(520.0),
        sheet.bottom() + sheet.below + 80.0,
    );
    let mut picture = Picture::new(size.0, size.1, &plot.title);
    sheet.head(&mut picture);
    let shades = sheet.shades();
    for (row, name) in sheet.rows.iter().enumerate() {
        sheet.row(&mut picture, row, name, &shades);
    }
    for (column, name) in sheet.columns.iter().enumerate() {
        sheet.column(&mut picture, column, name);
    }
    let (left, bottom) = (sheet.left, sheet.bottom() + sheet.below);
    let x = (left + sheet.width() / 2.0, bottom + 12.0);
    picture.text(x, &plot.x, plain(12.0), ink::DARK, Anchor::Middle);
    let y = (20.0, (TOP + sheet.bottom()) / 2.0);
    picture.upright(y, &plot.y, plain(12.0), ink::DARK);
    shades.legend(&mut picture, (left, bottom + 34.0), &plot.value.title());
    picture
}

/// Where everything is.
struct Sheet<'a> {
    plot: &'a Heat,
    columns: &'a [String],
    rows: &'a [String],
    /// Where cells begin.
    left: f64,
    /// The size of a cell.
    cell: (f64, f64),
    is_upright: bool,
    /// The room for the columns' names.
    below: f64,
}

impl<'a> Sheet<'a> {
    fn of(plot: &'a Heat) -> Self {
        let columns = &plot.columns[..plot.columns.len().min(MOST)];
        let rows = &plot.rows[..plot.rows.len().min(MOST)];
        let widest = |names: &[String]| {
            let widths = names.iter().map(|name| plain(11.0).width(name));
            widths.fold(20.0, f64::max).min(150.0)
        };
        let wide = (640.0 / columns.len().max(1) as f64).clamp(12.0, 84.0);
        let high = (420.0 / rows.len().max(1) as f64).clamp(12.0, 34.0);
        let is_upright = widest(columns) > wide - 4.0;
        let below = match is_upright {
            true => widest(columns) + 12.0,
            false => 22.0,
        };
        Self {
            plot,
            columns,
            rows,
            left: 46.0 + widest(rows),
            cell: (wide, high),
            is_upright,
            below,
        }
    }

    fn width(&self) -> f64 {
        self.cell.0 * self.columns.len() as f64
    }

    fn bottom(&self) -> f64 {
        TOP + self.cell.1 * self.rows.len() as f64
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.plot.values.get(row)?.get(column)?;
        can_show(&self.plot.value, *value).then_some(*value)
    }

    fn shades(&self) -> Shades {
        let columns = 0..self.columns.len();
        let all = (0..self.rows.len()).flat_map(|row| columns.clone().map(move |c| (row, c)));
        let values = all.filter_map(|(row, column)| self.value(row, column));
        Shades::of(self.plot.value.scale, values)
    }

    fn head(&self, picture: &mut Picture) {
        let room = picture.size().0 - 48.0;
        let title = bold(15.0).fit(&self.plot.title, room);
        picture.text((24.0, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
        let columns = self.plot.columns.len() - self.columns.len();
        let rows = self.plot.rows.len() - self.rows.len();
        let left_out = [
            (columns, "more columns are not drawn"),
            (rows, "more rows are not drawn"),
        ];
        let note = plain(11.5).fit(&noted(&self.plot.note, &left_out), room);
        picture.text((24.0, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
    }

    /// The name of a row, and its cells.
    fn row(&self, picture: &mut Picture, row: usize, name: &str, shades: &Shades) {
        let y = TOP + row as f64 * self.cell.1;
        let at = (self.left - 8.0, y + self.cell.1 / 2.0 + 4.0);
        let name = plain(11.0).fit(name, 150.0);
        picture.text(at, &name, plain(11.0), ink::DARK, Anchor::End);
        for column in 0..self.columns.len() {
            let at = (self.left + column as f64 * self.cell.0, y);
            cell(picture, at, self.cell, self.value(row, column), shades);
        }
    }

    /// The name of a column.
    fn column(&self, picture: &mut Picture, column: usize, name: &str) {
        let x = self.left + (column as f64 + 0.5) * self.cell.0;
        let font = plain(11.0);
        let name = font.fit(name, 150.0);
        if self.is_upright {
            let at = (x + 4.0, self.bottom() + 6.0 + font.width(&name) / 2.0);
            picture.upright(at, &name, font, ink::DARK);
        } else {
            let at = (x, self.bottom() + 16.0);
            picture.text(at, &name, font, ink::DARK, Anchor::Middle);
        }
    }
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
        let (low, high) = (text(self.low), text(self.high));
        picture.text((x, y + 24.0), &low, font, ink::FAINT, Anchor::Start);
        picture.text((end, y + 24.0), &high, font, ink::FAINT, Anchor::End);
        let beside = (end + 12.0, y + 10.0);
        picture.text(beside, title, plain(11.5), ink::DARK, Anchor::Start);
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
