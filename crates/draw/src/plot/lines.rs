//! Line plots.

use super::data::{DataPoint, LinePlot, Series};
use super::frame::{Field, Frame};
use super::range::Range;
use super::series;
use crate::picture::{Picture, Point, Style, muted};
use crate::ticks;
use std::collections::HashSet;

/// Series with more points than this are drawn without symbols.
const MANY_POINTS: usize = 80;
/// Labels beyond this number are not drawn.
const MAX_LABELS: usize = 200;

/// A line plot: each series as a line from point to point.
pub fn lines(plot: &LinePlot) -> Picture {
    let series = &plot.series[..plot.series.len().min(series::MAX_SERIES)];
    let can_show =
        |(x, point): &&(f64, DataPoint)| plot.x.can_show(*x) && plot.y.can_show(point.value);
    let valid = |series: &Series| series.points.iter().filter(can_show).copied().collect();
    let valid: Vec<Vec<(f64, DataPoint)>> = series.iter().map(valid).collect();
    let given: usize = series.iter().map(|series| series.points.len()).sum();
    let drawn: usize = valid.iter().map(Vec::len).sum();
    let frame = Frame {
        title: &plot.title,
        note: ticks::omissions(&[
            (given - drawn, "values cannot be drawn"),
            (
                plot.series.len() - series.len(),
                "more series are not drawn",
            ),
        ]),
        x: Some(&plot.x),
        y: &plot.y,
        below: 44.0,
        names: series.iter().map(|series| series.name.clone()).collect(),
    };
    let points = || valid.iter().flatten();
    let x = Range::of(&plot.x, points().map(|point| point.0), false);
    let y = Range::of(&plot.y, points().flat_map(|point| point.1.all()), false);
    let (field, mut picture, legend) = frame.draw(x, y);
    let has_max = points().any(|(_, point)| point.max.is_some());
    for (i, points) in valid.iter().enumerate() {
        // Maxima at the same x are drawn side by side.
        let middle = (valid.len() as f64 - 1.0) / 2.0;
        let shift = if has_max {
            (i as f64 - middle) * 3.0
        } else {
            0.0
        };
        one(&mut picture, &field, points, i, shift);
    }
    labels(&mut picture, &field, plot);
    for (i, (x, y)) in legend.iter().enumerate() {
        let (x, y) = (*x, y - 4.0);
        picture.line((x, y), (x + 24.0, y), series::stroke(i));
        series::symbol(&mut picture, (x + 12.0, y), i, 3.2);
    }
    picture
}

fn labels(picture: &mut Picture, field: &Field, plot: &LinePlot) {
    let can_show = |(x, y, _): &&(f64, f64, String)| plot.x.can_show(*x) && plot.y.can_show(*y);
    for (x, y, label) in plot.labels.iter().filter(can_show).take(MAX_LABELS) {
        let at = (field.px(*x) + 5.0, field.py(*y) - 6.0);
        picture.text(at, label, muted(9.5));
    }
}

/// Series `i`, shifted to the right by `shift` pixels.
fn one(picture: &mut Picture, field: &Field, points: &[(f64, DataPoint)], i: usize, shift: f64) {
    let place = |point: &(f64, DataPoint)| (field.px(point.0) + shift, field.py(point.1.value));
    let line = thinned(points.iter().map(place));
    picture.polyline(&line, Style::stroke(series::stroke(i)));
    if points.len() > MANY_POINTS {
        return;
    }
    let mut taken = HashSet::new();
    for point in points {
        let (x, y) = place(point);
        // A symbol that would hide another one is left out.
        if !taken.insert((x as i64, y as i64)) {
            continue;
        }
        if let Some(max) = point.1.max.filter(|max| max.is_finite()) {
            series::max(picture, (x, y), field.py(max), series::color(i));
        }
        series::symbol(picture, (x, y), i, 3.2);
    }
}

/// At most four points for each pixel along x: the first, the lowest, the highest and the last.
fn thinned(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut thin: Vec<Point> = Vec::new();
    let mut column: Vec<Point> = Vec::new();
    for point in points {
        if column
            .first()
            .is_some_and(|first| (first.0 as i64) != (point.0 as i64))
        {
            thin.append(&mut column);
        }
        column.push(point);
        if column.len() > 4 {
            // Of the middle three the lowest and the highest stay.
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
    use crate::plot::{Axis, Scale};

    fn plot(points: Vec<(f64, DataPoint)>) -> LinePlot {
        LinePlot {
            title: "speed-up <1>".into(),
            x: Axis {
                label: "block".into(),
                unit: "frames".into(),
                scale: Scale::Log,
                min_span: 0.0,
            },
            series: vec![Series {
                name: "etf".into(),
                points,
            }],
            ..LinePlot::default()
        }
    }

    #[test]
    fn every_point_is_drawn_and_omissions_are_noted() {
        let valid = DataPoint {
            value: 1.5,
            max: Some(1.8),
        };
        let mut plot = plot(vec![
            (16.0, valid),
            (0.0, valid),
            (32.0, f64::NAN.into()),
            (64.0, 1.9.into()),
        ]);
        plot.labels = vec![(16.0, 1.5, "82 %".into()), (0.0, 1.5, "nowhere".into())];
        let svg = lines(&plot).svg();
        assert!(svg.contains("82 %") && !svg.contains("nowhere"));
        assert!(svg.contains("2 values cannot be drawn") && svg.contains("speed-up &lt;1&gt;"));
        let symbols = svg.matches("<circle").count();
        assert_eq!(symbols, 2 + 1, "two points and the legend's");
        assert!(svg.contains("block (frames)"));
        assert_eq!(svg, lines(&plot).svg());
    }

    #[test]
    fn a_hundred_thousand_points_are_thinned() {
        let points = (1..100_000)
            .map(|i| (f64::from(i), f64::from(i % 7).into()))
            .collect();
        assert!(lines(&plot(points)).svg().len() < 100_000);
    }
}
