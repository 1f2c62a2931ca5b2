//! Lines and points over two axes.

use super::field::{Around, Field, Range, can_show, noted};
use super::{DataPoint, GuideAt, LinePlot, Series, series};
use crate::ink;
use crate::picture::{Anchor, Look, Picture, plain};
use std::collections::HashSet;

/// Lines with more points than this have none drawn.
const MANY: usize = 80;
/// More labels than this are not drawn.
const MOST_LABELS: usize = 200;

/// Series as lines from point to point.
pub fn lines(plot: &LinePlot) -> Picture {
    draw(plot, true)
}

/// Series as points alone.
pub fn scatter(plot: &LinePlot) -> Picture {
    draw(plot, false)
}

fn draw(plot: &LinePlot, is_joined: bool) -> Picture {
    let shown = Shown::of(plot);
    let around = Around {
        title: &plot.title,
        note: &noted(&plot.note, &shown.left_out),
        guides: &plot.guides,
        below: 44.0,
        names: shown.series.iter().map(|s| s.name.clone()).collect(),
    };
    let (x, y) = shown.ranges(plot);
    let (field, mut picture, legend) = Field::draw((Some(&plot.x), x), (&plot.y, y), &around);
    for (i, points) in shown.good.iter().enumerate() {
        let aside = shown.aside(i);
        one(&mut picture, &field, points, i, aside, is_joined);
    }
    labels(&mut picture, &field, plot);
    let busy: Vec<(f64, f64)> = (shown.points())
        .flat_map(|(x, value)| value.all().map(|y| (field.px(*x), field.py(y))))
        .take(20_000)
        .collect();
    field.guides(&mut picture, around.guides, &busy);
    for (i, (x, y)) in legend.iter().enumerate() {
        let (x, y) = (*x, y - 4.0);
        if is_joined {
            picture.line((x, y), (x + 24.0, y), series::pen(i));
        }
        series::point(&mut picture, (x + 12.0, y), i, 3.2);
    }
    picture
}

/// What of a plot can be drawn.
struct Shown<'a> {
    series: &'a [Series],
    /// By series, the points that both axes can show.
    good: Vec<Vec<(f64, DataPoint)>>,
    left_out: [(usize, &'static str); 2],
}

impl<'a> Shown<'a> {
    fn of(plot: &'a LinePlot) -> Self {
        let series = &plot.series[..plot.series.len().min(series::MOST)];
        let can =
            |(x, value): &&(f64, DataPoint)| can_show(&plot.x, *x) && can_show(&plot.y, value.at);
        let good = |series: &Series| series.points.iter().filter(can).copied().collect();
        let good: Vec<Vec<(f64, DataPoint)>> = series.iter().map(good).collect();
        let all: usize = series.iter().map(|series| series.points.len()).sum();
        let drawn: usize = good.iter().map(Vec::len).sum();
        let more = plot.series.len() - series.len();
        Self {
            series,
            good,
            left_out: [
                (all - drawn, "values cannot be drawn"),
                (more, "more series are not drawn"),
            ],
        }
    }

    fn points(&self) -> impl Iterator<Item = &(f64, DataPoint)> {
        self.good.iter().flatten()
    }

    /// Both axes, with room for the guides.
    fn ranges(&self, plot: &LinePlot) -> (Range, Range) {
        let guides = || plot.guides.iter().take(16);
        let upright = guides().filter_map(|guide| match guide.at {
            GuideAt::X(x) => Some(x),
            GuideAt::Y(_) => None,
        });
        let level = guides().filter_map(|guide| match guide.at {
            GuideAt::X(_) => None,
            GuideAt::Y(y) => Some(y),
        });
        let x = self.points().map(|point| point.0);
        let y = self.points().flat_map(|point| point.1.all());
        (
            Range::of(&plot.x, x.chain(upright), false),
            Range::of(&plot.y, y.chain(level), false),
        )
    }

    /// How far a series is moved to the right: spreads at the same place stand beside one another.
    fn aside(&self, series: usize) -> f64 {
        let is_spread = |(_, v): &(f64, DataPoint)| v.low.or(v.high).or(v.worst).is_some();
        match self.points().any(is_spread) {
            true => (series as f64 - (self.good.len() as f64 - 1.0) / 2.0) * 3.0,
            false => 0.0,
        }
    }
}

/// Words at points.
fn labels(picture: &mut Picture, field: &Field, plot: &LinePlot) {
    let can = |(x, y, _): &&(f64, f64, String)| can_show(&plot.x, *x) && can_show(&plot.y, *y);
    for (x, y, words) in plot.labels.iter().filter(can).take(MOST_LABELS) {
        let at = (field.px(*x) + 5.0, field.py(*y) - 6.0);
        picture.text(at, words, plain(9.5), ink::FAINT, Anchor::Start);
    }
}

fn one(
    picture: &mut Picture,
    field: &Field,
    points: &[(f64, DataPoint)],
    i: usize,
    aside: f64,
    is_joined: bool,
) {
    let place = |point: &(f64, DataPoint)| (field.px(point.0) + aside, field.py(point.1.at));
    if is_joined {
        let course = thinned(points.iter().map(place));
        picture.polyline(&course, Look::drawn(series::pen(i)));
    }
    if is_joined && points.len() > MANY {
        return;
    }
    let radius = if points.len() > 200 { 1.8 } else { 3.2 };
    let mut taken = HashSet::new();
    for point in points {
        let (x, y) = place(point);
        // A point that would hide another wholly is not drawn twice: so there are no more than pixels.
        if !taken.insert((x as i64, y as i64)) {
            continue;
        }
        let (low, high) = (
            point.1.low.unwrap_or(point.1.at),
            point.1.high.unwrap_or(point.1.at),
        );
        let worst = point.1.worst.filter(|worst| worst.is_finite());
        let ends = (field.py(low), field.py(high));
        series::whisker(
            picture,
            x,
            ends,
            worst.map(|v| field.py(v)),
            series::ink_of(i),
        );
        series::point(picture, (x, y), i, radius);
    }
}

/// At most four points for each pixel along x: the first, the lowest, the highest and the last.
fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut thin: Vec<(f64, f64)> = Vec::new();
    let mut column: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if column
            .first()
            .is_some_and(|first| (first.0 as i64) != (point.0 as i64))
        {
            thin.append(&mut column);
        }
        column.push(point);
        if column.len() > 4 {
            // The middle three give way to the lowest and the highest of them.
            let inner = &mut column[1..4];
            inner.sort_by(|a, b| a.1.total_cmp(&b.1));
            column.remove(2);
        }
    }
    thin.append(&mut column);
    thin
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Guide};

    fn plot(points: Vec<(f64, DataPoint)>) -> LinePlot {
        LinePlot {
            title: "speed-up <1>".into(),
            x: Axis::log("block", "frames"),
            y: Axis::linear("speed-up", ""),
            series: vec![Series {
                name: "etf".into(),
                points,
            }],
            guides: vec![Guide {
                at: GuideAt::Y(2.0),
                label: "bound".into(),
            }],
            ..LinePlot::default()
        }
    }

    #[test]
    fn every_point_is_drawn_and_what_cannot_be_is_said() {
        let good = DataPoint::between(1.0, 1.5, 1.8).worst(1.1);
        let mut plot = plot(vec![
            (16.0, good),
            (0.0, good),
            (32.0, f64::NAN.into()),
            (64.0, 1.9.into()),
        ]);
        plot.labels = vec![(16.0, 1.5, "82 %".into()), (0.0, 1.5, "nowhere".into())];
        let svg = lines(&plot).svg();
        assert!(svg.contains("82 %") && !svg.contains("nowhere"));
        assert!(svg.contains("2 values cannot be drawn") && svg.contains("speed-up &lt;1&gt;"));
        assert_eq!(
            svg.matches("<circle").count(),
            2 + 1,
            "two points and the legend's"
        );
        assert!(svg.contains("bound") && svg.contains("block (frames)"));
        assert_eq!(svg, lines(&plot).svg());
    }

    #[test]
    fn a_hundred_thousand_points_are_thinned() {
        let points = (1..100_000)
            .map(|i| (f64::from(i), f64::from(i % 7).into()))
            .collect();
        let plot = plot(points);
        assert!(lines(&plot).svg().len() < 100_000);
        assert!(scatter(&plot).items.len() < 100_000);
    }

    #[test]
    fn nonsense_is_drawn_without_nonsense() {
        let odd = [f64::NAN, f64::INFINITY, -1e308, 1e308, 0.0, 1e-308];
        let points = odd
            .iter()
            .flat_map(|x| odd.map(|y| (*x, y.into())))
            .collect();
        let mut plot = plot(points);
        for _ in 0..2 {
            let svg = lines(&plot).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            plot.x = Axis {
                from: Some(f64::NAN),
                to: Some(-4.0),
                ticks: vec![(f64::INFINITY, "\u{0}".into()); 1000],
                ..Axis::default()
            };
        }
        assert!(lines(&LinePlot::default()).svg().ends_with("</svg>\n"));
    }
}
