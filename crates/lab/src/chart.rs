//! Charts of a page: curves, bars with whiskers, and Gantt charts of threads.

use divisi::draw::plot::{self, Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
use divisi::draw::{GanttChart, Picture, gantt};
use std::fmt::Display;

/// One chart, drawn by `draw`.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Name of its file, without the extension.
    pub(crate) file: String,
    /// The chart as SVG; `None` if it shows no value.
    pub(crate) svg: Option<String>,
}

/// A curve: its name in the legend, and its points.
pub(crate) type Curve = (String, Vec<(f64, f64)>);

/// Bars of one series, one for each group: the height, and the end of the whisker. `None` where there is no bar.
type BarRow = (String, Vec<Option<(f64, f64)>>);

/// Bars of which the highest is more than this many times the lowest have a logarithmic axis.
const MAX_LINEAR_RATIO: f64 = 30.0;

impl Chart {
    fn new(file: impl Into<String>, is_empty: bool, picture: impl FnOnce() -> Picture) -> Self {
        Self {
            file: file.into(),
            svg: (!is_empty).then(|| picture().svg()),
        }
    }

    /// Curves. An axis is what it shows, with a unit after a comma: `mean, µs`. `log`: true for an axis in powers.
    pub(crate) fn curves(
        file: impl Into<String>,
        title: impl Into<String>,
        axes: [&str; 2],
        log: [bool; 2],
        curves: impl IntoIterator<Item = Curve>,
    ) -> Self {
        Self::labelled_curves(file, title, axes, log, curves, Vec::new())
    }

    /// Curves, and words at some points.
    pub(crate) fn labelled_curves(
        file: impl Into<String>,
        title: impl Into<String>,
        [x, y]: [&str; 2],
        log: [bool; 2],
        curves: impl IntoIterator<Item = Curve>,
        labels: Vec<(f64, f64, String)>,
    ) -> Self {
        let series = curves.into_iter().map(series);
        let series: Vec<_> = series.filter(|s| !s.points.is_empty()).collect();
        Self::new(file, series.is_empty(), || {
            plot::lines(&LinePlot {
                title: title.into(),
                x: axis(x, log[0]),
                y: axis(y, log[1]),
                series,
                labels,
            })
        })
    }

    /// A group of bars for each of `groups`, in it a bar for each of `rows`: its height, and the end of its whisker.
    pub(crate) fn bars<R: Display, C>(
        file: impl Into<String>,
        title: impl Into<String>,
        y: &str,
        rows: impl IntoIterator<Item = R>,
        groups: &[(String, C)],
        value: impl Fn(&R, &C) -> Option<(f64, f64)>,
    ) -> Self {
        let row = |row: R| {
            let values = groups.iter().map(|(_, group)| value(&row, group));
            (row.to_string(), values.collect())
        };
        let rows: Vec<BarRow> = rows.into_iter().map(row).collect();
        let is_wide = spread(&rows) > MAX_LINEAR_RATIO;
        let point = |(at, worst): (f64, f64)| DataPoint {
            value: at,
            max: (worst > at).then_some(worst),
        };
        let rows = rows
            .into_iter()
            .filter(|row| row.1.iter().any(Option::is_some));
        let series = rows.map(|(name, values)| BarSeries {
            name,
            values: values.into_iter().map(|v| v.map(point)).collect(),
        });
        let series: Vec<_> = series.collect();
        Self::new(file, series.is_empty(), || {
            plot::bars(&BarPlot {
                title: title.into(),
                groups: groups.iter().map(|(name, _)| name.clone()).collect(),
                y: axis(y, is_wide),
                series,
            })
        })
    }

    /// A Gantt chart.
    pub(crate) fn gantt(file: impl Into<String>, chart: &GanttChart) -> Self {
        let is_empty = chart.rows.iter().all(|row| row.bars.is_empty());
        Self::new(file, is_empty, || gantt(chart))
    }
}

fn axis(name: &str, is_log: bool) -> Axis {
    let (label, unit) = name.rsplit_once(", ").unwrap_or((name, ""));
    Axis {
        label: label.into(),
        unit: unit.into(),
        scale: if is_log { Scale::Log } else { Scale::Linear },
        min_span: 0.0,
    }
}

/// A curve from left to right: an experiment that was interrupted has its rows in another order.
fn series((name, mut points): Curve) -> Series {
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    Series {
        name,
        points: points.into_iter().map(|(x, y)| (x, y.into())).collect(),
    }
}

/// The greatest value over the least; 1 where there is none or a value is 0.
fn spread(rows: &[BarRow]) -> f64 {
    let values = || rows.iter().flat_map(|(_, values)| values).flatten();
    let min = values().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    let max = values().map(|(_, worst)| *worst).fold(0.0, f64::max);
    if min > 0.0 && max > 0.0 {
        max / min
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(points: Vec<(f64, f64)>) -> Option<String> {
        let labels = vec![(1.0, 2.0, "82 %".into())];
        let curves = [("etf".into(), points), ("empty".into(), vec![])];
        let axes = ["nodes", "mean, µs"];
        Chart::labelled_curves("x", "a < b", axes, [true; 2], curves, labels).svg
    }

    #[test]
    fn charts_show_every_name_and_nothing_without_values() {
        let svg = curves(vec![(1.0, 2.0), (2.0, 4.0)]).unwrap();
        for word in ["etf", "a &lt; b", "82 %"] {
            assert!(svg.contains(word), "{word}");
        }
        assert!(!svg.contains("empty") && curves(vec![]).is_none());
        let bars = |value: fn(&&str, &()) -> Option<(f64, f64)>| {
            let groups = [("2 threads".to_owned(), ())];
            Chart::bars("x", "x", "mean, µs", ["hlfet", "empty"], &groups, value).svg
        };
        let svg = bars(|name, ()| (*name == "hlfet").then_some((1.0, 100.0))).unwrap();
        assert!(svg.contains("hlfet") && !svg.contains("empty"));
        assert!(bars(|_, ()| None).is_none());
        assert!(Chart::gantt("x", &GanttChart::default()).svg.is_none());
        assert_eq!(spread(&[("hlfet".into(), vec![Some((1.0, 100.0))])]), 100.0);
    }

    #[test]
    fn a_curve_goes_from_left_to_right_in_whatever_order_it_was_measured() {
        let [a, b] = [[1.0, 2.0, 8.0], [8.0, 1.0, 2.0]]
            .map(|order| curves(order.map(|x| (x, 10.0 / x)).into()));
        assert!(a.is_some() && a == b);
    }
}
