//! Bar plots.
//!
//! ```text
//!   ▲        ▄
//!   │  █     █        █ series 1   ▄ series 2
//!   │  █▄    █▄
//!   └──rake──diamond──▶ groups
//! ```
//!
//! A value that the axis cannot show has no bar. The plot says how many there are, so that such a gap is not mistaken for a small
//! value, and how many series and groups it leaves out. Groups whose names do not fit side by side are named vertically.

use super::data::{BarPlot, BarSeries, DataPoint};
use super::frame::{Field, Frame};
use super::range::Range;
use super::series;
use crate::picture::color;
use crate::picture::{Picture, regular};
use crate::ticks;

/// Groups beyond this number are not drawn.
const MAX_GROUPS: usize = 200;
/// Widest name of a group that is written vertically.
const MAX_VERTICAL: f64 = 130.0;

/// A bar plot: a group of bars for each case, a bar for each series.
pub fn bars(plot: &BarPlot) -> Picture {
    let drawn = Drawn::of(plot);
    let names = GroupNames::of(drawn.groups);
    let frame = Frame {
        title: &plot.title,
        note: ticks::omissions(&drawn.omitted()),
        x: None,
        y: &plot.y,
        below: names.room,
        names: drawn.series.iter().map(|s| s.name.clone()).collect(),
    };
    let unused = Range {
        low: 0.0,
        high: 1.0,
        is_log: false,
    };
    let (field, mut picture, legend) = frame.draw(unused, drawn.range());
    let pitch = (field.right - field.left) / drawn.groups.len().max(1) as f64;
    for (g, name) in drawn.groups.iter().enumerate() {
        let middle = field.left + (g as f64 + 0.5) * pitch;
        names.draw(&mut picture, &field, middle, pitch, name);
        drawn.group(&mut picture, &field, g, middle, pitch);
    }
    for (i, (x, y)) in legend.iter().enumerate() {
        series::bar(&mut picture, (x + 4.0, y - 10.0), (20.0, 11.0), i);
    }
    picture
}

/// The part of a plot that can be drawn.
struct Drawn<'a> {
    plot: &'a BarPlot,
    series: &'a [BarSeries],
    groups: &'a [String],
}

impl<'a> Drawn<'a> {
    fn of(plot: &'a BarPlot) -> Self {
        Self {
            plot,
            series: &plot.series[..plot.series.len().min(series::MAX_SERIES)],
            groups: &plot.groups[..plot.groups.len().min(MAX_GROUPS)],
        }
    }

    fn given(&self, series: usize, group: usize) -> Option<DataPoint> {
        self.series[series].values.get(group).copied().flatten()
    }

    fn valid(&self, series: usize, group: usize) -> Option<DataPoint> {
        self.given(series, group)
            .filter(|point| self.plot.y.can_show(point.value))
    }

    fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        let groups = 0..self.groups.len();
        (0..self.series.len()).flat_map(move |s| groups.clone().map(move |g| (s, g)))
    }

    fn omitted(&self) -> [(usize, &'static str); 3] {
        let is_invalid =
            |(s, g): &(usize, usize)| self.given(*s, *g).is_some() && self.valid(*s, *g).is_none();
        let series = self.plot.series.len() - self.series.len();
        let groups = self.plot.groups.len() - self.groups.len();
        [
            (
                self.cells().filter(is_invalid).count(),
                "values cannot be drawn",
            ),
            (series, "more series are not drawn"),
            (groups, "more groups are not drawn"),
        ]
    }

    fn range(&self) -> Range {
        let points = self.cells().filter_map(|(s, g)| self.valid(s, g));
        Range::of(&self.plot.y, points.flat_map(DataPoint::all), true)
    }

    /// The bars of the group around `middle`, which is `pitch` wide.
    fn group(&self, picture: &mut Picture, field: &Field, group: usize, middle: f64, pitch: f64) {
        let count = self.series.len();
        let width = (pitch * 0.78 / count.max(1) as f64).min(64.0);
        let left = middle - width * count as f64 / 2.0;
        for s in 0..count {
            if let Some(point) = self.valid(s, group) {
                bar(picture, field, (left + s as f64 * width, width), point, s);
            }
        }
    }
}

/// The bar of series `s` from `x` on, with its value if there is room.
fn bar(picture: &mut Picture, field: &Field, (x, width): (f64, f64), point: DataPoint, s: usize) {
    let (y, ground) = (field.py(point.value), field.ground());
    let inner = (width * 0.92).max(0.5);
    series::bar(picture, (x, y.min(ground)), (inner, (y - ground).abs()), s);
    let middle = x + inner / 2.0;
    if let Some(max) = point.max.filter(|max| max.is_finite()) {
        series::max(picture, (middle, y), field.py(max), color::TEXT);
    }
    let label = ticks::number(point.value, point.value.abs() / 50.0);
    // Above a cross it would be taken for the maximum.
    if point.max.is_none() && regular(9.5).width(&label) < width + 4.0 {
        let below = if point.value < 0.0 { 11.0 } else { -4.0 };
        let at = (middle, y + below);
        picture.text(at, &label, regular(9.5).color(color::TEXT).middle());
    }
}

/// Direction of the groups' names: horizontal if they have room, else vertical.
struct GroupNames {
    /// Their height.
    room: f64,
    is_vertical: bool,
}

impl GroupNames {
    fn of(groups: &[String]) -> Self {
        let widths = groups.iter().map(|name| regular(11.0).width(name));
        let widest = widths.fold(0.0, f64::max);
        let is_vertical = widest * groups.len() as f64 > 640.0 && groups.len() > 4;
        let room = if is_vertical {
            widest.min(MAX_VERTICAL) + 14.0
        } else {
            24.0
        };
        Self { room, is_vertical }
    }

    fn draw(&self, picture: &mut Picture, field: &Field, x: f64, pitch: f64, name: &str) {
        let font = regular(11.0);
        if !self.is_vertical {
            let name = font.fit(name, pitch - 6.0);
            let at = (x, field.bottom + 17.0);
            picture.text(at, &name, font.color(color::TEXT).middle());
        } else if pitch >= 8.0 {
            let name = font.fit(name, MAX_VERTICAL);
            let at = (x + 4.0, field.bottom + 7.0 + font.width(&name) / 2.0);
            picture.vertical_text(at, &name, font.color(color::TEXT_MUTED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(groups: usize) -> BarPlot {
        let value = |i: usize| match i % 5 {
            4 => None,
            3 => Some(f64::NAN.into()),
            i => Some(DataPoint {
                value: 2.0 + i as f64,
                max: Some(9.0),
            }),
        };
        let series = |name: &str| BarSeries {
            name: name.into(),
            values: (0..groups).map(value).collect(),
        };
        BarPlot {
            title: "locks".into(),
            groups: (0..groups).map(|i| format!("group {i}")).collect(),
            series: vec![series("before"), series("after")],
            ..BarPlot::default()
        }
    }

    #[test]
    fn there_is_a_bar_for_every_valid_value() {
        let svg = bars(&plot(5)).svg();
        let first = svg.matches("stroke=\"#0072b2\"").count();
        assert_eq!(first, 3 + 1, "three, and the legend's");
        assert!(svg.contains("2 values cannot be drawn"));
    }

    #[test]
    fn plots_with_many_groups_and_with_none_are_drawn_too() {
        assert!(bars(&plot(3000)).svg().contains("2800 more groups"));
        let svg = bars(&BarPlot::default()).svg();
        assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"));
    }
}
