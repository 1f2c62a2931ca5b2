//! The field that figures stand in: both axes, the words around them, guides and the legend.

use super::{Axis, Guide, GuideAt, Scale};
use crate::ink;
use crate::picture::{Anchor, Pen, Picture, bold, plain};
use crate::ticks;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
/// More guides than this are not drawn.
const MOST_GUIDES: usize = 16;
/// More named ticks than this are not drawn.
const MOST_TICKS: usize = 64;

/// An axis with both ends known.
#[derive(Clone, Debug)]
pub(super) struct Range {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Range {
    /// From the axis' own words, else from the values, with a little air.
    pub(super) fn of(axis: &Axis, values: impl Iterator<Item = f64>, has_ground: bool) -> Self {
        let is_log = axis.scale == Scale::Log;
        let is_shown = |v: &f64| can_show(axis, *v);
        let named = axis.ticks.iter().take(MOST_TICKS).map(|tick| tick.0);
        let (mut low, mut high) = values
            .chain(named)
            .filter(is_shown)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
        if low > high {
            (low, high) = if is_log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        let fixed = |end: Option<f64>| end.filter(is_shown);
        let (mut first, mut last) = if is_log {
            let air = (high / low).powf(0.04).max(1.12);
            (low / air, high * air)
        } else {
            // What is near 0 or stands on the ground begins there.
            let begins = low >= 0.0 && (has_ground || low < 0.6 * high);
            let air = ((high - low) * 0.05).max(high.abs() * 1e-3).max(1e-12);
            let first = if begins { 0.0 } else { low - air };
            let last = if has_ground && high <= 0.0 {
                0.0
            } else {
                high + air
            };
            (first, last)
        };
        first = fixed(axis.from).unwrap_or(first);
        last = fixed(axis.to).unwrap_or(last);
        if !(last > first && (last - first).is_finite()) {
            (first, last) = if is_log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        Self {
            low: first,
            high: last,
            is_log,
        }
    }

    /// The share of the axis at which `value` is: 0 to 1 if it is inside.
    fn share(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }

    pub(super) fn has(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    fn ticks(&self, axis: &Axis, most: usize) -> Vec<(f64, Option<String>)> {
        if !axis.ticks.is_empty() {
            let named = axis.ticks.iter().take(MOST_TICKS);
            let inside = named.filter(|tick| self.has(tick.0));
            return inside
                .map(|(value, name)| (*value, Some(name.clone())))
                .collect();
        }
        if self.is_log {
            let ticks = ticks::logarithmic(self.low, self.high, most);
            let name = |(v, is_named): (f64, bool)| (v, is_named.then(|| ticks::number(v, v)));
            return ticks.into_iter().map(name).collect();
        }
        let (values, step) = ticks::linear(self.low, self.high, most);
        values
            .into_iter()
            .map(|v| (v, Some(ticks::number(v, step))))
            .collect()
    }
}

/// Whether an axis can show `value` at all.
pub(super) fn can_show(axis: &Axis, value: f64) -> bool {
    value.is_finite() && (axis.scale == Scale::Linear || value > 0.0)
}

/// The field between the axes.
pub(super) struct Field {
    pub(super) x: Range,
    pub(super) y: Range,
    left: f64,
    top: f64,
    bottom: f64,
    right: f64,
}

/// The words around a field.
pub(super) struct Around<'a> {
    pub(super) title: &'a str,
    pub(super) note: &'a str,
    pub(super) guides: &'a [Guide],
    /// What stands below the level axis.
    pub(super) below: f64,
    /// The legend's entries.
    pub(super) names: Vec<String>,
}

impl Field {
    /// A picture with everything but the figures and the legend's signs; those go at the places that are returned.
    pub(super) fn draw(
        (x, x_range): (Option<&Axis>, Range),
        (y, y_range): (&Axis, Range),
        around: &Around<'_>,
    ) -> (Self, Picture, Vec<(f64, f64)>) {
        let named = y_range.ticks(y, 8);
        let names = named.iter().filter_map(|tick| tick.1.as_ref());
        let widest = names
            .map(|name| plain(11.0).width(name))
            .fold(16.0, f64::max);
        let left = 46.0 + widest.min(140.0);
        let (legend, rows) = places(&around.names, left, WIDTH - RIGHT);
        let bottom = TOP + HEIGHT;
        let legend_top = bottom + around.below + 22.0;
        let height = legend_top + rows as f64 * 18.0;
        let field = Self {
            x: x_range,
            y: y_range,
            left,
            top: TOP,
            bottom,
            right: WIDTH - RIGHT,
        };
        let mut picture = Picture::new(WIDTH, height, around.title);
        field.head(&mut picture, around);
        field.level(&mut picture, y, &named);
        if let Some(x) = x {
            field.upright(&mut picture, x);
        }
        let legend: Vec<_> = legend
            .into_iter()
            .map(|(x, row)| (x, legend_top + row * 18.0))
            .collect();
        for (name, (x, y)) in around.names.iter().zip(&legend) {
            let name = plain(11.5).fit(name, 260.0);
            picture.text((x + 30.0, *y), &name, plain(11.5), ink::DARK, Anchor::Start);
        }
        (field, picture, legend)
    }

    pub(super) fn px(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    pub(super) fn py(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    /// The ends of the level axis.
    pub(super) fn sides(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// Where the ground is.
    pub(super) fn ground(&self) -> f64 {
        if self.y.is_log {
            self.bottom
        } else {
            self.py(0.0)
        }
    }

    /// Below the level axis.
    pub(super) fn below(&self) -> f64 {
        self.bottom
    }

    fn head(&self, picture: &mut Picture, around: &Around<'_>) {
        let room = WIDTH - 48.0;
        let title = bold(15.0).fit(around.title, room);
        picture.text((24.0, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
        let note = plain(11.5).fit(around.note, room);
        picture.text((24.0, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
    }

    /// The upright axis and its level lines.
    fn level(&self, picture: &mut Picture, axis: &Axis, ticks: &[(f64, Option<String>)]) {
        for (value, name) in ticks {
            let y = self.py(*value);
            let Some(name) = name else {
                picture.line(
                    (self.left - 3.0, y),
                    (self.left, y),
                    Pen::solid(ink::AXIS, 1.0),
                );
                continue;
            };
            picture.line((self.left, y), (self.right, y), Pen::solid(ink::GRID, 1.0));
            let name = plain(11.0).fit(name, 140.0);
            picture.text(
                (self.left - 7.0, y + 4.0),
                &name,
                plain(11.0),
                ink::FAINT,
                Anchor::End,
            );
        }
        let pen = Pen::solid(ink::AXIS, 1.0);
        picture.line((self.left, self.top), (self.left, self.bottom), pen);
        picture.line((self.left, self.bottom), (self.right, self.bottom), pen);
        if !self.y.is_log && self.y.low < 0.0 && self.y.high > 0.0 {
            picture.line((self.left, self.py(0.0)), (self.right, self.py(0.0)), pen);
        }
        let title = plain(12.0).fit(&axis.title(), HEIGHT);
        let at = (22.0, (self.top + self.bottom) / 2.0);
        picture.upright(at, &title, plain(12.0), ink::DARK);
    }

    /// The level axis with its marks.
    fn upright(&self, picture: &mut Picture, axis: &Axis) {
        let mut until = f64::NEG_INFINITY;
        for (value, name) in self.x.ticks(axis, 9) {
            let x = self.px(value);
            let long = if name.is_some() { 5.0 } else { 3.0 };
            let pen = Pen::solid(ink::AXIS, 1.0);
            picture.line((x, self.bottom), (x, self.bottom + long), pen);
            let Some(name) = name else { continue };
            let name = plain(11.0).fit(&name, 120.0);
            let half = plain(11.0).width(&name) / 2.0;
            if x - half > until {
                let at = (x, self.bottom + 18.0);
                picture.text(at, &name, plain(11.0), ink::FAINT, Anchor::Middle);
                until = x + half + 4.0;
            }
        }
        self.x_title(picture, &axis.title(), self.bottom + 36.0);
    }

    pub(super) fn x_title(&self, picture: &mut Picture, title: &str, y: f64) {
        let title = plain(12.0).fit(title, self.right - self.left);
        let at = ((self.left + self.right) / 2.0, y);
        picture.text(at, &title, plain(12.0), ink::DARK, Anchor::Middle);
    }

    /// Lines to compare with; their words where they do not stand on one another.
    /// `busy` tells where figures are, which the words shall not hide.
    pub(super) fn guides(&self, picture: &mut Picture, guides: &[Guide], busy: &[(f64, f64)]) {
        let mut rows = [f64::NEG_INFINITY; 2];
        let mut upright: Vec<(f64, &Guide)> = Vec::new();
        for guide in guides.iter().take(MOST_GUIDES) {
            match guide.at {
                GuideAt::X(x) if self.x.has(x) => upright.push((self.px(x), guide)),
                GuideAt::Y(y) if self.y.has(y) => {
                    self.level_guide(picture, self.py(y), guide, busy)
                }
                _ => {}
            }
        }
        upright.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pen = Pen::dashed(ink::ALARM, 1.2, (5.0, 3.0));
        for (x, guide) in upright {
            picture.open(guide.label.clone());
            let words = plain(11.0).fit(&guide.label, 200.0);
            let half = plain(11.0).width(&words) / 2.0;
            let middle = x.clamp(self.left + half, self.right - half);
            let free = rows.iter().position(|until| middle - half > *until);
            let top = self.top - 4.0 - free.unwrap_or(0) as f64 * 12.0;
            picture.line((x, top), (x, self.bottom), pen);
            if let Some(row) = free {
                rows[row] = middle + half + 6.0;
                let at = (middle, top - 2.0);
                picture.text(at, &words, plain(11.0), ink::ALARM, Anchor::Middle);
            }
            picture.close();
        }
    }

    fn level_guide(&self, picture: &mut Picture, y: f64, guide: &Guide, busy: &[(f64, f64)]) {
        let pen = Pen::dashed(ink::ALARM, 1.2, (5.0, 3.0));
        picture.line((self.left, y), (self.right, y), pen);
        let words = plain(11.0).fit(&guide.label, 240.0);
        let width = plain(11.0).width(&words);
        let free = self.right - self.left - width - 12.0;
        let places = [1.0, 0.0, 0.75, 0.5, 0.25]
            .map(|share| self.left + 6.0 + share * free)
            .into_iter()
            .flat_map(|x| [(x, y - 4.0), (x, y + 12.0)])
            .filter(|(_, base)| base - 10.0 > self.top && *base < self.bottom);
        let hidden = |(x, base): &(f64, f64)| {
            let is_in = |at: &&(f64, f64)| {
                at.0 > x - 6.0 && at.0 < x + width + 6.0 && at.1 > base - 14.0 && at.1 < base + 6.0
            };
            busy.iter().filter(is_in).count()
        };
        if let Some(at) = places.min_by_key(hidden) {
            picture.text(at, &words, plain(11.0), ink::ALARM, Anchor::Start);
        }
    }
}

/// Where the legend's entries go: how far right, in which row; and how many rows there are.
fn places(names: &[String], left: f64, right: f64) -> (Vec<(f64, f64)>, usize) {
    let (mut x, mut row) = (left, 0);
    let mut places = Vec::new();
    for name in names {
        let width = 30.0 + plain(11.5).width(&plain(11.5).fit(name, 260.0)) + 22.0;
        if x > left && x + width > right + 22.0 {
            (x, row) = (left, row + 1);
        }
        places.push((x, f64::from(row)));
        x += width;
    }
    (
        places,
        if names.is_empty() {
            0
        } else {
            row as usize + 1
        },
    )
}

/// Adds to a note what could not be drawn.
pub(super) fn noted(note: &str, left_out: &[(usize, &str)]) -> String {
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let said = left_out.map(|(count, what)| format!("{count} {what}"));
    let own = (!note.is_empty()).then(|| note.to_owned());
    own.into_iter().chain(said).collect::<Vec<_>>().join(" · ")
}
