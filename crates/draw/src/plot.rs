//! Times as bars, over logarithmic axes: a few late ones among many are seen.

use crate::ink;
use crate::picture::{Anchor, Look, Pen, Picture, bold, plain};
use crate::ticks;

/// One bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The least time that counts, in ns.
    pub from_ns: u64,
    /// The greatest that does not count any more.
    pub to_ns: u64,
    /// How many.
    pub count: u64,
}

/// A time worth a line of its own: a deadline, a percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// When.
    pub at_ns: u64,
    /// What it is.
    pub label: &'a str,
}

const SIZE: (f64, f64) = (760.0, 340.0);
/// The corners of the field that bars stand in.
const FIELD: ((f64, f64), (f64, f64)) = ((64.0, 60.0), (736.0, 284.0));

/// Bars over time. Those wholly after `deadline_ns` have another colour.
pub fn histogram(
    title: &str,
    bars: &[Bar],
    lines: &[Line<'_>],
    deadline_ns: Option<u64>,
) -> Picture {
    let axes = Axes::of(bars, lines);
    let mut picture = Picture::new(SIZE.0, SIZE.1, title);
    let at = (FIELD.0.0, 28.0);
    picture.text(at, title, bold(15.0), ink::DARK, Anchor::Start);
    axes.draw(&mut picture);
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let is_late = deadline_ns.is_some_and(|deadline| bar.from_ns >= deadline);
        let (x0, x1, top) = (
            axes.x(bar.from_ns),
            axes.x(bar.to_ns),
            axes.y(bar.count as f64),
        );
        let size = ((x1 - x0 - 1.0).max(1.5), FIELD.1.1 - top);
        let ink = if is_late { ink::ALARM } else { ink::BLUE.line };
        picture.rect((x0, top), size, 1.5, Look::filled(ink));
    }
    for (i, line) in lines.iter().enumerate() {
        let x = axes.x(line.at_ns);
        let top = FIELD.0.1 - 12.0 + (i % 2) as f64 * 11.0;
        let pen = Pen::dashed(ink::ALARM, 1.0, (5.0, 3.0));
        picture.line((x, top + 3.0), (x, FIELD.1.1), pen);
        picture.text(
            (x, top),
            line.label,
            plain(11.0),
            ink::ALARM,
            Anchor::Middle,
        );
    }
    picture
}

/// Both axes, in powers of ten.
struct Axes {
    first: f64,
    last: f64,
    decades: f64,
}

impl Axes {
    fn of(bars: &[Bar], lines: &[Line<'_>]) -> Self {
        let counted = bars.iter().filter(|bar| bar.count > 0);
        let ends = counted
            .flat_map(|bar| [bar.from_ns, bar.to_ns])
            .chain(lines.iter().map(|line| line.at_ns));
        let (least, most) = ends.fold((u64::MAX, 1), |(least, most), ns| {
            (least.min(ns.max(1)), most.max(ns))
        });
        let (first, last) = ((least.min(most) as f64).log10(), (most as f64).log10());
        // At least a third of a decade is shown, with some air at both ends.
        let air = ((last - first) * 0.04).max((0.33 - (last - first)) / 2.0);
        let tallest = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(1);
        Self {
            first: first - air,
            last: last + air,
            decades: (tallest as f64).log10().max(1.0) * 1.04,
        }
    }

    fn x(&self, ns: u64) -> f64 {
        let share = ((ns.max(1) as f64).log10() - self.first) / (self.last - self.first);
        FIELD.0.0 + share * (FIELD.1.0 - FIELD.0.0)
    }

    /// One stands a little above the ground, so that it is seen.
    fn y(&self, count: f64) -> f64 {
        let share = 0.04 + 0.96 * count.max(1.0).log10() / self.decades;
        FIELD.1.1 - share * (FIELD.1.1 - FIELD.0.1)
    }

    fn draw(&self, picture: &mut Picture) {
        for decade in 0..=self.decades as i32 {
            let y = self.y(10f64.powi(decade));
            picture.line((FIELD.0.0, y), (FIELD.1.0, y), Pen::solid(ink::GRID, 1.0));
            let words = 10u64.pow(decade as u32).to_string();
            let at = (FIELD.0.0 - 8.0, y + 4.0);
            picture.text(at, &words, plain(11.0), ink::FAINT, Anchor::End);
        }
        let (low, high) = (10f64.powf(self.first), 10f64.powf(self.last));
        for (ns, is_named) in ticks::logarithmic(low, high, 9) {
            let x = self.x(ns as u64);
            let end = FIELD.1.1 + if is_named { 6.0 } else { 3.0 };
            picture.line((x, FIELD.1.1), (x, end), Pen::solid(ink::AXIS, 1.0));
            if is_named {
                let at = (x, FIELD.1.1 + 20.0);
                picture.text(
                    at,
                    &ticks::span(ns),
                    plain(11.0),
                    ink::FAINT,
                    Anchor::Middle,
                );
            }
        }
        let ends = ((FIELD.0.0, FIELD.1.1), (FIELD.1.0, FIELD.1.1));
        picture.line(ends.0, ends.1, Pen::solid(ink::AXIS, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_is_drawn_inside_the_field() {
        let bars = [(1, 2, 3), (1000, 1500, 100_000), (2_000_000, 3_000_000, 1)];
        let bars = bars.map(|(from_ns, to_ns, count)| Bar {
            from_ns,
            to_ns,
            count,
        });
        let lines = [Line {
            at_ns: 1_333_333,
            label: "deadline",
        }];
        let picture = histogram("cycles <1>", &bars, &lines, Some(1_333_333)).svg();
        assert_eq!(picture.matches("<rect fill=\"#4c78c0\"").count(), 2);
        assert_eq!(picture.matches("<rect fill=\"#b8306f\"").count(), 1);
        assert!(picture.contains("cycles &lt;1&gt;") && picture.contains("1 ms"));
        let axes = Axes::of(&bars, &lines);
        for bar in bars {
            assert!(axes.x(bar.from_ns) >= FIELD.0.0 && axes.x(bar.to_ns) <= FIELD.1.0);
            assert!(axes.y(bar.count as f64) >= FIELD.0.1);
        }
    }

    #[test]
    fn nothing_at_all_is_drawn_without_nonsense() {
        let picture = histogram("", &[], &[], None).svg();
        assert!(!picture.contains("NaN") && picture.ends_with("</svg>\n"));
    }
}
