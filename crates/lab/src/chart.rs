//! Charts of a page: curves, bars with whiskers, and Gantt charts of threads.

use divisi::draw::plot::{self, Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
use divisi::draw::{GanttChart, gantt};
use std::fmt::Display;

/// One chart, drawn by `draw`.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Name of its file, without the extension.
    pub(crate) file: String,
    plot: Plot,
}

#[derive(Clone, Debug)]
enum Plot {
    Lines(LinePlot),
    Bars(BarPlot),
    Gantt(GanttChart),
}

/// A curve: its name in the legend, and its points.
pub(crate) type Curve = (String, Vec<(f64, f64)>);

/// Bars of one series, one for each group: the height, and the end of the whisker. `None` where there is no bar.
type BarRow = (String, Vec<Option<(f64, f64)>>);

/// Bars of which the highest is more than this many times the lowest have a logarithmic axis.
const MAX_LINEAR_RATIO: f64 = 30.0;

impl Chart {
    /// Curves. An axis is what it shows, with a unit after a comma: `mean, µs`. `log`: true for an axis in powers.
    pub(crate) fn curves(
        file: impl Into<String>,
        title: impl Into<String>,
        [x, y]: [&str; 2],
        log: [bool; 2],
        curves: impl IntoIterator<Item = Curve>,
    ) -> Self {
        let [x_scale, y_scale] = log.map(|log| if log { Scale::Log } else { Scale::Linear });
        let series = curves.into_iter().map(series);
        Self {
            file: file.into(),
            plot: Plot::Lines(LinePlot {
                title: title.into(),
                x: axis(x, x_scale),
                y: axis(y, y_scale),
                series: series.filter(|s| !s.points.is_empty()).collect(),
                ..LinePlot::default()
            }),
        }
    }

    /// Writes words at points of the curves.
    pub(crate) fn with_labels(mut self, labels: Vec<(f64, f64, String)>) -> Self {
        if let Plot::Lines(lines) = &mut self.plot {
            lines.labels = labels;
        }
        self
    }

    /// A group of bars for each of `groups`, in it a bar for each of `rows`: its height, and the end of its whisker.
    pub(crate) fn bars<R: Display, C, V>(
        file: impl Into<String>,
        title: impl Into<String>,
        y: &str,
        rows: impl IntoIterator<Item = (R, V)>,
        groups: &[(String, C)],
        value: impl Fn(&V, &C) -> Option<(f64, f64)>,
    ) -> Self {
        let row = |(name, row): (R, V)| {
            let values = groups.iter().map(|(_, group)| value(&row, group));
            (name.to_string(), values.collect())
        };
        let rows: Vec<BarRow> = rows.into_iter().map(row).collect();
        let is_wide = spread(&rows) > MAX_LINEAR_RATIO;
        let point = |(at, worst): (f64, f64)| DataPoint {
            value: at,
            max: (worst > at).then_some(worst),
        };
        let series = rows.into_iter().map(|(name, values)| BarSeries {
            name,
            values: values.into_iter().map(|v| v.map(point)).collect(),
        });
        let series = series.filter(|s| s.values.iter().any(Option::is_some));
        Self {
            file: file.into(),
            plot: Plot::Bars(BarPlot {
                title: title.into(),
                groups: groups.iter().map(|(name, _)| name.clone()).collect(),
                y: axis(y, if is_wide { Scale::Log } else { Scale::Linear }),
                series: series.collect(),
            }),
        }
    }

    /// A Gantt chart.
    pub(crate) fn gantt(file: impl Into<String>, chart: GanttChart) -> Self {
        Self {
            file: file.into(),
            plot: Plot::Gantt(chart),
        }
    }

    /// Returns true if the chart shows no value.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.plot {
            Plot::Lines(lines) => lines.series.is_empty(),
            Plot::Bars(bars) => bars.series.is_empty(),
            Plot::Gantt(chart) => chart.rows.iter().all(|row| row.bars.is_empty()),
        }
    }

    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        match &self.plot {
            Plot::Lines(lines) => plot::lines(lines).svg(),
            Plot::Bars(bars) => plot::bars(bars).svg(),
            Plot::Gantt(chart) => gantt(chart).svg(),
        }
    }
}

fn axis(name: &str, scale: Scale) -> Axis {
    let (label, unit) = name.rsplit_once(", ").unwrap_or((name, ""));
    Axis {
        label: label.into(),
        unit: unit.into(),
        scale,
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

    fn curves(points: Vec<(f64, f64)>) -> Chart {
        let curves = [("etf".into(), points), ("nobody".into(), vec![])];
        Chart::curves("x", "a < b", ["nodes", "mean, µs"], [true; 2], curves)
    }

    fn bars(rows: &[(&str, Option<(f64, f64)>)]) -> Chart {
        let groups = [("2 threads".to_owned(), ())];
        let rows = rows.iter().copied();
        Chart::bars("x", "x", "mean, µs", rows, &groups, |value, ()| *value)
    }

    #[test]
    fn charts_show_every_name_and_nothing_without_values() {
        let chart = curves(vec![(1.0, 2.0), (2.0, 4.0)]);
        assert!(!chart.is_empty() && curves(vec![]).is_empty());
        let svg = chart.with_labels(vec![(1.0, 2.0, "82 %".into())]).svg();
        for word in ["etf", "a &lt; b", "82 %"] {
            assert!(svg.contains(word), "{word}");
        }
        let bar_svg = bars(&[("hlfet", Some((1.0, 100.0))), ("nobody", None)]).svg();
        assert!(bar_svg.contains("hlfet") && !bar_svg.contains("nobody"));
        assert!(!svg.contains("nobody") && bars(&[("hlfet", None)]).is_empty());
        assert!(Chart::gantt("x", GanttChart::default()).is_empty());
        assert_eq!(spread(&[("hlfet".into(), vec![Some((1.0, 100.0))])]), 100.0);
    }

    #[test]
    fn a_curve_goes_from_left_to_right_in_whatever_order_it_was_measured() {
        let [a, b] = [[1.0, 2.0, 8.0], [8.0, 1.0, 2.0]]
            .map(|order| curves(order.map(|x| (x, 10.0 / x)).into()).svg());
        assert_eq!(a, b);
    }
}
