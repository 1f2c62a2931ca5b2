//! Bars in groups.

use super::field::{Around, Field, Range, can_show, noted};
use super::{Axis, Bars, GuideAt, Value, series};
use crate::ink;
use crate::picture::{Anchor, Picture, plain};
use crate::ticks;

/// More groups than this are not drawn.
const MOST_GROUPS: usize = 200;

/// A group of bars for each case, a bar for each series.
pub fn bars(plot: &Bars) -> Picture {
    let shown = &plot.series[..plot.series.len().min(series::MOST)];
    let groups = &plot.groups[..plot.groups.len().min(MOST_GROUPS)];
    let value = |series: usize, group: usize| {
        let value = shown[series].values.get(group).copied().flatten()?;
        can_show(&plot.y, value.at).then_some(value)
    };
    let all = || (0..shown.len()).flat_map(|s| (0..groups.len()).map(move |g| (s, g)));
    let given = |(s, g): &(usize, usize)| matches!(shown[*s].values.get(*g), Some(Some(_)));
    let missing = all()
        .filter(|at| given(at) && value(at.0, at.1).is_none())
        .count();
    let left_out = [
        (missing, "values cannot be drawn"),
        (plot.series.len() - shown.len(), "more series are not drawn"),
        (
            plot.groups.len() - groups.len(),
            "more groups are not drawn",
        ),
    ];
    let levels = plot
        .guides
        .iter()
        .take(16)
        .filter_map(|guide| match guide.at {
            GuideAt::Y(y) => Some(y),
            GuideAt::X(_) => None,
        });
    let values = all().filter_map(|(s, g)| value(s, g)).flat_map(Value::all);
    let y = Range::of(&plot.y, values.chain(levels), true);
    let x = Range::of(&Axis::default(), [0.0, 1.0].into_iter(), true);
    let names = Names::of(groups);
    let around = Around {
        title: &plot.title,
        note: &noted(&plot.note, &left_out),
        guides: &plot.guides,
        below: names.room + if plot.label.is_empty() { 0.0 } else { 20.0 },
        names: shown.iter().map(|series| series.name.clone()).collect(),
    };
    let (field, mut picture, legend) = Field::draw((None, x), (&plot.y, y), &around);
    let (left, right) = field.sides();
    let pitch = (right - left) / groups.len().max(1) as f64;
    let width = (pitch * 0.78 / shown.len().max(1) as f64).min(64.0);
    let mut busy = Vec::new();
    for (g, name) in groups.iter().enumerate() {
        let middle = left + (g as f64 + 0.5) * pitch;
        names.draw(&mut picture, &field, middle, pitch, name);
        let begin = middle - width * shown.len() as f64 / 2.0;
        for s in 0..shown.len() {
            if let Some(value) = value(s, g) {
                let x = begin + s as f64 * width;
                bar(&mut picture, &field, (x, width), value, s);
                busy.extend(column(&field, (x, width), value));
            }
        }
    }
    field.x_title(&mut picture, &plot.label, field.below() + names.room + 12.0);
    field.guides(&mut picture, around.guides, &busy);
    for (i, (x, y)) in legend.iter().enumerate() {
        series::bar(&mut picture, (x + 4.0, y - 10.0), (20.0, 11.0), i);
    }
    picture
}

/// Points all over a bar and what stands on it.
fn column(field: &Field, (x, width): (f64, f64), value: Value) -> Vec<(f64, f64)> {
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

fn bar(picture: &mut Picture, field: &Field, (x, width): (f64, f64), value: Value, s: usize) {
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
    use crate::plot::{BarSeries, Guide};

    fn plot(groups: usize) -> Bars {
        let value = |i: usize| match i % 5 {
            4 => None,
            3 => Some(f64::NAN.into()),
            i => Some(Value::between(1.0, 2.0 + i as f64, 5.0).worst(9.0)),
        };
        let series = |name: &str| BarSeries {
            name: name.into(),
            values: (0..groups).map(value).collect(),
        };
        Bars {
            title: "locks".into(),
            groups: (0..groups).map(|i| format!("group {i}")).collect(),
            y: Axis::linear("acquisitions", "per cycle"),
            series: vec![series("before"), series("after")],
            guides: vec![Guide {
                at: GuideAt::Y(60.0),
                label: "about 60".into(),
            }],
            ..Bars::default()
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
        let svg = bars(&Bars::default()).svg();
        assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"));
    }
}
