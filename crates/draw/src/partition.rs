//! How an impulse response is cut, and when each level's work arrives and is due: one row a way of cutting, one lane a
//! level.

use crate::ink::{self, Pair};
use crate::picture::{Anchor, Look, Pen, Picture, bold, plain};
use crate::ticks;

/// Ways of cutting an impulse response, and the deadlines of one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionChart {
    /// What it is, in a few words.
    pub title: String,
    /// What else is to be said. May be empty.
    pub note: String,
    /// How long the impulse response is, in frames.
    pub length: u64,
    /// Frames in a block.
    pub block: u64,
    /// Frames a second; with 0, times are in frames only.
    pub rate_hz: u32,
    /// From top to bottom.
    pub rows: Vec<PartitionRow>,
    /// Whose deadlines are drawn, by number; none if there is no such way.
    pub deadlines_of: Option<usize>,
}

/// One way of cutting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionRow {
    /// Its name.
    pub name: String,
    /// What else is to be said of it. May be empty.
    pub note: String,
    /// From the shortest partitions to the longest.
    pub levels: Vec<PartitionLevel>,
}

/// One level: partitions of one size, one behind the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionLevel {
    /// The first frame of the impulse response that it has.
    pub start: u64,
    /// Frames in each partition, and frames between two deadlines.
    pub size: u64,
    /// How many there are.
    pub count: u64,
    /// Whether it is run whole inside each callback: its work is due at once.
    pub in_callback: bool,
}

/// More ways than this are not drawn.
const MOST_WAYS: usize = 12;
/// More levels of a way than this are not drawn.
const MOST_LEVELS: usize = 32;
/// Partitions narrower than this, in pixels, are not told apart.
const NARROW: f64 = 2.5;
/// From how many blocks on the frames' axis is logarithmic.
const LONG: u64 = 1024;
const LEFT: f64 = 24.0;
const FIELD: f64 = 880.0;
const TOP: f64 = 64.0;
const ROW: f64 = 66.0;
const LANE: f64 = 44.0;
const HUES: [Pair; 6] = [
    ink::BLUE,
    ink::AMBER,
    ink::GREEN,
    ink::VIOLET,
    ink::PINK,
    ink::GREY,
];

/// The ways of cutting one above another over the same frames, and below them when the work of each level of one way
/// arrives and is due: a line at each such moment, the work of one period as a bar between two.
pub fn partitions(all: &PartitionChart) -> Picture {
    let ways = &all.rows[..all.rows.len().min(MOST_WAYS)];
    let due = all.deadlines_of.and_then(|i| ways.get(i));
    let lanes = due.map_or(0, |way| way.levels.len().min(MOST_LEVELS));
    let below = TOP + ways.len() as f64 * ROW + 40.0;
    let height = match due {
        Some(_) => below + 56.0 + lanes as f64 * LANE + 40.0,
        None => below,
    };
    let about = format!("{}: {} ways of cutting", all.title, ways.len());
    let mut picture = Picture::new(LEFT + FIELD + 40.0, height, &about);
    picture.is_for_night = true;
    head(&mut picture, all);
    let axis = Axis::of(all, ways);
    axis.draw(&mut picture, ways.len());
    for (i, way) in ways.iter().enumerate() {
        row(
            &mut picture,
            &axis,
            TOP + i as f64 * ROW,
            way,
            all.deadlines_of == Some(i),
        );
    }
    if let Some(way) = due {
        deadlines(&mut picture, all, way, below + 24.0);
    }
    picture
}

fn head(picture: &mut Picture, all: &PartitionChart) {
    let title = bold(15.0).fit(&all.title, FIELD);
    picture.text((LEFT, 28.0), &title, bold(15.0), ink::DARK, Anchor::Start);
    let note = plain(11.5).fit(&all.note, FIELD);
    picture.text((LEFT, 46.0), &note, plain(11.5), ink::FAINT, Anchor::Start);
}

/// The frames of the impulse response, from left to right.
struct Axis {
    end: f64,
    block: f64,
    is_long: bool,
    length: u64,
}

impl Axis {
    fn of(all: &PartitionChart, ways: &[PartitionRow]) -> Self {
        let cuts = ways.iter().flat_map(|way| way.levels.iter());
        let last = cuts.map(|cut| end_of(*cut)).max().unwrap_or(0);
        let end = last.max(all.length).max(1);
        let block = all.block.max(1);
        Self {
            end: end as f64,
            block: block as f64,
            is_long: end / block > LONG,
            length: all.length,
        }
    }

    fn x(&self, frame: u64) -> f64 {
        let frame = frame as f64;
        let share = if self.is_long {
            (1.0 + frame / self.block).log2() / (1.0 + self.end / self.block).log2()
        } else {
            frame / self.end
        };
        LEFT + share.clamp(0.0, 1.0) * FIELD
    }

    fn values(&self) -> (Vec<f64>, f64) {
        if !self.is_long {
            return ticks::linear(0.0, self.end, 9);
        }
        let mut values = vec![0.0];
        let mut at = self.block;
        while at <= self.end && values.len() < 64 {
            values.push(at);
            at *= 4.0;
        }
        (values, 1.0)
    }

    fn draw(&self, picture: &mut Picture, rows: usize) {
        let bottom = TOP + rows as f64 * ROW + 4.0;
        let (values, step) = self.values();
        for value in values {
            let x = self.x(value as u64);
            picture.line((x, TOP - 4.0), (x, bottom), Pen::solid(ink::GRID, 1.0));
            let words = ticks::number(value, step);
            let at = (x, bottom + 14.0);
            picture.text(at, &words, plain(11.0), ink::FAINT, Anchor::Middle);
        }
        let x = self.x(self.length);
        let pen = Pen::dashed(ink::ALARM, 1.2, (5.0, 3.0));
        picture.line((x, TOP - 4.0), (x, bottom), pen);
        let scale = if self.is_long { ", logarithmic" } else { "" };
        let words = format!("frames of the impulse response{scale}");
        let at = (LEFT + FIELD, bottom + 28.0);
        picture.text(at, &words, plain(11.0), ink::FAINT, Anchor::End);
    }
}

/// One way of cutting: a box a partition.
fn row(picture: &mut Picture, axis: &Axis, y: f64, way: &PartitionRow, is_due: bool) {
    let font = if is_due { bold(12.0) } else { plain(12.0) };
    let name = font.fit(&way.name, FIELD / 3.0);
    picture.text((LEFT, y + 10.0), &name, font, ink::DARK, Anchor::Start);
    let from = LEFT + font.width(&name) + 14.0;
    let note = plain(11.0).fit(&way.note, LEFT + FIELD - from);
    picture.text(
        (from, y + 10.0),
        &note,
        plain(11.0),
        ink::FAINT,
        Anchor::Start,
    );
    for (i, cut) in way.levels.iter().take(MOST_LEVELS).enumerate() {
        level(picture, axis, y + 16.0, *cut, HUES[i % HUES.len()]);
    }
}

/// The partitions of a level, one by one where they can be told apart.
fn level(picture: &mut Picture, axis: &Axis, y: f64, cut: PartitionLevel, hue: Pair) {
    const HEIGHT: f64 = 30.0;
    let (left, right) = (axis.x(cut.start), axis.x(end_of(cut)));
    picture.open(story(cut));
    let size = ((right - left).max(0.6), HEIGHT);
    picture.rect(
        (left, y),
        size,
        0.0,
        Look::both(hue.fill, Pen::solid(hue.line, 1.0)),
    );
    let mut last = left;
    for i in 1..cut.count.min(FIELD as u64) {
        let x = axis.x(cut.start.saturating_add(cut.size.saturating_mul(i)));
        if x - last >= NARROW && right - x >= NARROW {
            picture.line((x, y), (x, y + HEIGHT), Pen::solid(hue.line, 0.8));
            last = x;
        }
    }
    let words = format!("{} × {}", cut.count, cut.size);
    if plain(10.5).width(&words) + 6.0 < right - left {
        let (middle, base) = ((left + right) / 2.0, y + HEIGHT / 2.0 + 4.0);
        let room = plain(10.5).width(&words) + 6.0;
        let label = ((middle - room / 2.0, y + 7.0), (room, HEIGHT - 14.0));
        picture.rect(label.0, label.1, 2.0, Look::filled(hue.fill));
        picture.text(
            (middle, base),
            &words,
            plain(10.5),
            ink::DARK,
            Anchor::Middle,
        );
    }
    picture.close();
}

/// When the work of each level arrives and is due.
fn deadlines(picture: &mut Picture, all: &PartitionChart, way: &PartitionRow, y: f64) {
    let levels = &way.levels[..way.levels.len().min(MOST_LEVELS)];
    let title = format!("{}: arrivals and deadlines", way.name);
    let title = bold(13.0).fit(&title, FIELD);
    picture.text((LEFT, y), &title, bold(13.0), ink::DARK, Anchor::Start);
    let largest = levels.iter().map(|cut| cut.size).max().unwrap_or(1).max(1);
    let window = largest.saturating_mul(2);
    let top = y + 14.0;
    for (i, cut) in levels.iter().enumerate() {
        lane(
            picture,
            all,
            *cut,
            window,
            (top + i as f64 * LANE, HUES[i % HUES.len()]),
        );
    }
    let bottom = top + levels.len() as f64 * LANE;
    let (values, step) = ticks::linear(0.0, window as f64, 9);
    for value in values {
        let x = LEFT + value / window as f64 * FIELD;
        let at = (x, bottom + 14.0);
        picture.text(
            at,
            &ticks::number(value, step),
            plain(11.0),
            ink::FAINT,
            Anchor::Middle,
        );
    }
    let words = match all.rate_hz {
        0 => "frames".to_owned(),
        hz => format!("frames; {} in all", span(window, hz)),
    };
    let at = (LEFT + FIELD, bottom + 28.0);
    picture.text(at, &words, plain(11.0), ink::FAINT, Anchor::End);
}

fn lane(
    picture: &mut Picture,
    all: &PartitionChart,
    cut: PartitionLevel,
    window: u64,
    (y, hue): (f64, Pair),
) {
    const HEIGHT: f64 = 22.0;
    let pitch = cut.size.max(1) as f64 / window as f64 * FIELD;
    let bottom = y + 14.0 + HEIGHT;
    let every = match all.rate_hz {
        0 => String::new(),
        hz => format!(" ({})", span(cut.size, hz)),
    };
    let when = if cut.in_callback {
        ", run inside the callback"
    } else {
        ""
    };
    let words = format!(
        "{} × {}: every {}{every}{when}",
        cut.count, cut.size, cut.size
    );
    picture.text(
        (LEFT, y + 9.0),
        &words,
        plain(10.5),
        ink::FAINT,
        Anchor::Start,
    );
    picture.open(story(cut));
    picture.rect(
        (LEFT, y + 14.0),
        (FIELD, HEIGHT),
        0.0,
        Look::filled(ink::IDLE),
    );
    if pitch < NARROW {
        let look = Look::both(hue.fill, Pen::solid(hue.line, 0.8));
        picture.rect((LEFT, y + 14.0), (FIELD, HEIGHT), 0.0, look);
        picture.close();
        return;
    }
    let periods = (FIELD / pitch).round() as usize;
    for i in 0..periods {
        let x = LEFT + i as f64 * pitch;
        let width = if cut.in_callback {
            (pitch * 0.25).min(6.0)
        } else {
            pitch
        };
        let size = ((width - 2.0).max(0.6), HEIGHT - 8.0);
        picture.rect((x + 1.0, y + 18.0), size, 1.5, Look::filled(hue.fill));
    }
    for i in 0..=periods {
        let x = LEFT + i as f64 * pitch;
        picture.line((x, y + 14.0), (x, bottom), Pen::solid(hue.line, 1.4));
    }
    picture.close();
}

fn span(frames: u64, hz: u32) -> String {
    ticks::span(frames as f64 / f64::from(hz) * 1e9)
}

fn end_of(cut: PartitionLevel) -> u64 {
    cut.start.saturating_add(cut.size.saturating_mul(cut.count))
}

fn story(cut: PartitionLevel) -> String {
    let (start, end) = (cut.start, end_of(cut));
    format!(
        "{} partitions of {} frames\nframes {start} to {end}",
        cut.count, cut.size
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(name: &str, cuts: &[(u64, u64, u64)]) -> PartitionRow {
        let cut = |(start, size, count)| PartitionLevel {
            start,
            size,
            count,
            in_callback: false,
        };
        PartitionRow {
            name: name.into(),
            note: "so much".into(),
            levels: cuts.iter().copied().map(cut).collect(),
        }
    }

    #[test]
    fn every_level_is_drawn_in_its_way_and_in_its_lane() {
        let picture = partitions(&PartitionChart {
            title: "16128 frames".into(),
            length: 16128,
            block: 128,
            rate_hz: 44_100,
            rows: vec![
                way("doubling", &[(0, 128, 2), (256, 256, 2), (768, 512, 2)]),
                way("optimum", &[(0, 128, 14), (1792, 1024, 14)]),
            ],
            deadlines_of: Some(1),
            ..PartitionChart::default()
        });
        let svg = picture.svg();
        assert_eq!(svg.matches("14 partitions of 1024 frames").count(), 2);
        assert_eq!(svg.matches("2 partitions of 512 frames").count(), 1);
        assert!(svg.contains("14 × 1024: every 1024 (23.2 ms)"));
        assert!(!svg.contains("logarithmic"));
    }

    #[test]
    fn nonsense_is_drawn_without_nonsense() {
        let most = u64::MAX;
        let svg = partitions(&PartitionChart {
            title: "\u{0}".repeat(900),
            length: most,
            rows: vec![way("x", &[(most, most, most), (0, 0, 0), (0, 0, most)]); 99],
            deadlines_of: Some(0),
            ..PartitionChart::default()
        })
        .svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(
            partitions(&PartitionChart::default())
                .svg()
                .ends_with("</svg>\n")
        );
    }
}
