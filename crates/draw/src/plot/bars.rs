//! Bars in groups.

use super::field::{Around, Field, Range, can_show, noted};
use super::{Axis, BarPlot, BarSeries, DataPoint, GuideAt, series};
use crate::ink;
use crate::picture::{Anchor, Picture, plain};
use crate::ticks;

/// More groups than this are not drawn.
const MOST_GROUPS: usize = 200;

/// A group of bars for each case, a bar for each series.
pub fn bars(plot: &BarPlot) -> Picture {
    let shown = Shown::of(plot);
    let names = Names::of(shown.groups);
    let around = Around {
        title: &plot.title,
        note: &noted(&plot.note, &shown.left_out()),
        guides: &plot.guides,
        below: names.room + if plot.label.is_empty() { 0.0 } else { 20.0 },
        names: shown.series.iter().map(|s| s.name.clone()).collect(),
    };
    let x = Range::of(&Axis::default(), [0.0, 1.0].into_iter(), true);
    let (field, mut picture, legend) = Field::draw((None, x), (&plot.y, shown.range()), &around);
    let (left, right) = field.sides();
    let pitch = (right - left) / shown.groups.len().max(1) as f64;
    let mut busy = Vec::new();
    for (g, name) in shown.groups.iter().enumerate() {
        let middle = left + (g as f64 + 0.5) * pitch;
        names.draw(&mut picture, &field, middle, pitch, name);
        shown.group(&mut picture, &field, (g, middle, pitch), &mut busy);
    }
    let below = field.below() + names.room + 12.0;
    field.x_title(&mut picture, &plot.label, below);
    field.guides(&mut picture, around.guides, &busy);
    for (i, (x, y)) in legend.iter().enumerate() {
        series::bar(&mut picture, (x + 4.0, y - 10.0), (20.0, 11.0), i);
    }
    picture
}

/// What of a plot can be drawn.
struct Shown<'a> {
    plot: &'a BarPlot,
    series: &'a [BarSeries],
    groups: &'a [String],
}

impl<'a> Shown<'a> {
    fn of(plot: &'a BarPlot) -> Self {
        Self {
            plot,
            series: &plot.series[..plot.series.len().min(series::MOST)],
            groups: &plot.groups[..plot.groups.len().min(MOST_GROUPS)],
        }
    }

    fn given(&self, series: usize, group: usize) -> Option<DataPoint> {
        self.series[series].values.get(group).copied().flatten()
    }

    fn value(&self, series: usize, group: usize) -> Option<DataPoint> {
        let value = self.given(series, group)?;
        can_show(&self.plot.y, value.at).then_some(value)
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let groups = 0..self.groups.len();
        (0..self.series.len()).flat_map(move |s| groups.clone().map(move |g| (s, g)))
    }

    fn left_out(&self) -> [(usize, &'static str); 3] {
        let is_given = |(s, g): &(usize, usize)| self.given(*s, *g).is_some();
        let is_lost = |(s, g): &(usize, usize)| self.value(*s, *g).is_none();
        let series = self.plot.series.len() - self.series.len();
        let groups = self.plot.groups.len() - self.groups.len();
        let lost = self.all().filter(is_given).filter(is_lost).count();
        [
            (lost, "values cannot be drawn"),
            (series, "more series are not drawn"),
            (groups, "more groups are not drawn"),
        ]
    }

    fn range(&self) -> Range {
        let guides = self.plot.guides.iter().take(16);
        let levels = guides.filter_map(|guide| match guide.at {
            GuideAt::Y(y) => Some(y),
            GuideAt::X(_) => None,
        });
        let values = self.all().filter_map(|(s, g)| self.value(s, g));
        let values = values.flat_map(DataPoint::all).chain(levels);
        Range::of(&self.plot.y, values, true)
    }

    /// The bars of a group, whose middle and width are known; adds to `busy` where they are.
    fn group(
        &self,
        picture: &mut Picture,
        field: &Field,
        (group, middle, pitch): (usize, f64, f64),
        busy: &mut Vec<(f64, f64)>,
    ) {
        let count = self.series.len();
        let width = (pitch * 0.78 / count.max(1) as f64).min(64.0);
        let begin = middle - width * count as f64 / 2.0;
        for s in 0..count {
            if let Some(value) = self.value(s, group) {
                let x = begin + s as f64 * width;
                bar(picture, field, (x, width), value, s);
                busy.extend(column(field, (x, width), value));
            }
        }
    }
}

/// Points all over a bar and what stands on it.
fn column(field: &Field, (x, width): (f64, f64), value: DataPoint) -> Vec<(f64, f64)> {
    let tops = [Some(value.at), value.high, value.worst]
        .into_iter()
        .flatten();
    let top = tops.map(|v| field.py(v)).fold(field.ground(), f64::min) - 12.0;
    let steps = ((field.below() - top) / 8.0).clamp(1.0, 60.0) as usize;
    let level = |i: usize| top + i as f64 * 8.0;
    (0..=steps)
        .flat_map(|i| [(x, level(i)), (x + width, level(i))])
        .collect()
}

fn bar(picture: &mut Picture, field: &Field, (x, width): (f64, f64), value: DataPoint, s: usize) {
    let (y, ground) = (field.py(value.at), field.ground());
    let inner = (width * 0.92).max(0.5);
    series::bar(picture, (x, y.min(ground)), (inner, (y - ground).abs()), s);
    let ends = (
        value.low.unwrap_or(value.at),
        value.high.unwrap_or(value.at),
    );
    let (low, high) = (field.py(ends.0), field.py(ends.1));
    let worst = value
        .worst
        .filter(|worst| worst.is_finite())
        .map(|v| field.py(v));
    let middle = x + inner / 2.0;
    series::whisker(picture, middle, (low, high), worst, ink::DARK);
    let words = ticks::number(value.at, value.at.abs() / 50.0);
    // Above a spread it would be taken for the spread's end.
    let has_spread = value.low.or(value.high).or(value.worst).is_some();
    if !has_spread && plain(9.5).width(&words) < width + 4.0 {
        let below = if value.at < 0.0 { 11.0 } else { -4.0 };
        let at = (middle, y + below);
        picture.text(at, &words, plain(9.5), ink::DARK, Anchor::Middle);
    }
}

/// How the groups' names stand: level where they have room, else upright.
struct Names {
    room: f64,
    is_upright: bool,
}

impl Names {
    fn of(groups: &[String]) -> Self {
        let widest = groups
            .iter()
            .map(|name| plain(11.0).width(name))
            .fold(0.0, f64::max);
        let is_upright = widest * groups.len() as f64 > 640.0 && groups.len() > 4;
        let room = if is_upright {
            widest.min(130.0) + 14.0
        } else {
            24.0
        };
        Self { room, is_upright }
    }

    fn draw(&self, picture: &mut Picture, field: &Field, x: f64, pitch: f64, name: &str) {
        if self.is_upright {
            if pitch < 8.0 {
                return;
            }
            let name = plain(11.0).fit(name, 130.0);
            let half = plain(11.0).width(&name) / 2.0;
            picture.upright(
                (x + 4.0, field.below() + 7.0 + half),
                &name,
                plain(11.0),
                ink::FAINT,
            );
        } else {
            let name = plain(11.0).fit(name, pitch - 6.0);
            let at = (x, field.below() + 17.0);
            picture.text(at, &name, plain(11.0), ink::DARK, Anchor::Middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Guide;

    fn plot(groups: usize) -> BarPlot {
        let value = |i: usize| match i % 5 {
            4 => None,
            3 => Some(f64::NAN.into()),
            i => Some(DataPoint::between(1.0, 2.0 + i as f64, 5.0).worst(9.0)),
        };
        let series = |name: &str| BarSeries {
            name: name.into(),
            values: (0..groups).map(value).collect(),
        };
        BarPlot {
            title: "locks".into(),
            groups: (0..groups).map(|i| format!("group {i}")).collect(),
            y: Axis::linear("acquisitions", "per cycle"),
            series: vec![series("before"), series("after")],
            guides: vec![Guide {
                at: GuideAt::Y(60.0),
                label: "about 60".into(),
            }],
            ..BarPlot::default()
        }
    }

    #[test]
    fn there_is_a_bar_for_every_value_that_is_one() {
        let svg = bars(&plot(5)).svg();
        assert_eq!(
            svg.matches("stroke=\"#0072b2\"").count(),
            3 + 1,
            "three, and the legend's"
        );
        assert!(svg.contains("2 values cannot be drawn") && svg.contains("about 60"));
    }

    #[test]
    fn many_groups_and_none_at_all_are_drawn_too() {
        assert!(bars(&plot(3000)).svg().contains("2800 more groups"));
        let svg = bars(&BarPlot::default()).svg();
        assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"));
    }
}
