//! Times as bars, over logarithmic axes: a few late ones among many are seen.

use crate::paper::{Paper, round};

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
) -> String {
    let axes = Axes::of(bars, lines);
    let mut paper = Paper::new(SIZE.0, SIZE.1, title);
    paper.text("title", "start", (FIELD.0.0, 28.0), title);
    axes.draw(&mut paper);
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let is_late = deadline_ns.is_some_and(|deadline| bar.from_ns >= deadline);
        let (x0, x1, top) = (
            axes.x(bar.from_ns),
            axes.x(bar.to_ns),
            axes.y(bar.count as f64),
        );
        let size = ((x1 - x0 - 1.0).max(1.5), FIELD.1.1 - top);
        paper.rect(if is_late { "late" } else { "bar" }, (x0, top), size, 1.5);
    }
    for (i, line) in lines.iter().enumerate() {
        let x = axes.x(line.at_ns);
        let top = FIELD.0.1 - 12.0 + (i % 2) as f64 * 11.0;
        paper.path(
            "mark",
            &format!("M{} {}V{}", round(x), round(top + 3.0), round(FIELD.1.1)),
        );
        paper.text("marked", "middle", (x, top), line.label);
    }
    paper.finish()
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

    fn draw(&self, paper: &mut Paper) {
        for decade in 0..=self.decades as i32 {
            let y = self.y(10f64.powi(decade));
            paper.path(
                "grid",
                &format!("M{} {}H{}", round(FIELD.0.0), round(y), round(FIELD.1.0)),
            );
            paper.text(
                "tick",
                "end",
                (FIELD.0.0 - 8.0, y + 4.0),
                &10u64.pow(decade as u32).to_string(),
            );
        }
        let is_wide = self.last - self.first > 2.5;
        for decade in self.first.floor() as i32..=self.last.ceil() as i32 {
            for digit in 1..10u64 {
                let ns = digit as f64 * 10f64.powi(decade);
                if ns < 1.0 || ns.log10() < self.first || ns.log10() > self.last {
                    continue;
                }
                let x = self.x(ns as u64);
                let is_named = if is_wide {
                    digit == 1
                } else {
                    matches!(digit, 1 | 2 | 5) || self.last - self.first < 0.7
                };
                let length = if is_named { 6 } else { 3 };
                paper.path(
                    "axis",
                    &format!("M{} {}v{length}", round(x), round(FIELD.1.1)),
                );
                if is_named {
                    paper.text("tick", "middle", (x, FIELD.1.1 + 20.0), &span(ns));
                }
            }
        }
        paper.path(
            "axis",
            &format!(
                "M{} {}H{}",
                round(FIELD.0.0),
                round(FIELD.1.1),
                round(FIELD.1.0)
            ),
        );
    }
}

fn span(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns} ns"),
        ns if ns < 1e6 => format!("{} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{} ms", ns / 1e6),
        ns => format!("{} s", ns / 1e9),
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
        let picture = histogram("cycles <1>", &bars, &lines, Some(1_333_333));
        assert_eq!(picture.matches("class=\"bar\"").count(), 2);
        assert_eq!(picture.matches("class=\"late\"").count(), 1);
        assert!(picture.contains("cycles &lt;1&gt;") && picture.contains("1 ms"));
        let axes = Axes::of(&bars, &lines);
        for bar in bars {
            assert!(axes.x(bar.from_ns) >= FIELD.0.0 && axes.x(bar.to_ns) <= FIELD.1.0);
            assert!(axes.y(bar.count as f64) >= FIELD.0.1);
        }
    }

    #[test]
    fn nothing_at_all_is_drawn_without_nonsense() {
        let picture = histogram("", &[], &[], None);
        assert!(!picture.contains("NaN") && picture.ends_with("</svg>\n"));
    }
}
