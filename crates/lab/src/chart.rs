//! Figures that become pictures: curves, bars with whiskers, who ran when.

use divisi::draw::plot::{self, Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
use divisi::draw::{GanttChart, gantt};

/// One picture: the file it goes to, and what it shows.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The file's name, without its ending.
    pub(crate) file: String,
    pub(crate) title: String,
    /// What stands on the axes.
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) body: Body,
}

/// A bar a group: its height, and how far its whisker goes.
pub(crate) type Heights = Vec<Option<(f64, f64)>>;

/// A curve's points, and what is said at each.
pub(crate) type Labelled = Vec<(f64, f64, String)>;

/// What is in it.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Values over numbers; both axes may be in powers.
    Curves {
        log: (bool, bool),
        curves: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// For each series a value a group, and how far its whisker goes; `None` where there is none.
    Bars {
        groups: Vec<String>,
        series: Vec<(String, Heights)>,
    },
    /// Values over numbers with words at each, both axes in powers.
    Labelled(Vec<(String, Labelled)>),
    /// Who ran when.
    Lanes(GanttChart),
}

impl Chart {
    /// Whether there is anything to be seen.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Curves { curves, .. } => curves.iter().all(|(_, points)| points.is_empty()),
            Body::Bars { series, .. } => series.iter().all(|(_, v)| v.iter().all(Option::is_none)),
            Body::Labelled(curves) => curves.iter().all(|(_, points)| points.is_empty()),
            Body::Lanes(lanes) => lanes.rows.iter().all(|lane| lane.bars.is_empty()),
        }
    }

    /// The picture.
    pub(crate) fn svg(&self) -> String {
        match &self.body {
            Body::Lanes(lanes) => gantt(lanes).svg(),
            Body::Labelled(curves) => plot::lines(&self.labelled(curves)).svg(),
            Body::Curves { log, curves } => plot::lines(&self.curves(*log, curves)).svg(),
            Body::Bars { groups, series } => plot::bars(&self.bars(groups, series)).svg(),
        }
    }

    fn curves(&self, log: (bool, bool), curves: &[(String, Vec<(f64, f64)>)]) -> LinePlot {
        let scale = |is_log| if is_log { Scale::Log } else { Scale::Linear };
        let series = curves
            .iter()
            .map(|(name, points)| curve(name, points.iter().copied()));
        LinePlot {
            title: self.title.clone(),
            x: Axis {
                scale: scale(log.0),
                ..self.axis(self.x)
            },
            y: Axis {
                scale: scale(log.1),
                ..self.axis(self.y)
            },
            series: series.filter(|s| !s.points.is_empty()).collect(),
            ..LinePlot::default()
        }
    }

    fn bars(&self, groups: &[String], series: &[(String, Heights)]) -> BarPlot {
        let value = |(at, worst): (f64, f64)| DataPoint {
            at,
            worst: (worst > at).then_some(worst),
            ..DataPoint::default()
        };
        let series = series.iter().map(|(name, values)| BarSeries {
            name: name.clone(),
            values: values.iter().map(|v| v.map(value)).collect(),
        });
        let is_wide = spread(&self.body) > 30.0;
        BarPlot {
            title: self.title.clone(),
            groups: groups.to_vec(),
            y: Axis {
                scale: if is_wide { Scale::Log } else { Scale::Linear },
                ..self.axis(self.y)
            },
            series: series
                .filter(|s| s.values.iter().any(Option::is_some))
                .collect(),
            ..BarPlot::default()
        }
    }

    fn labelled(&self, curves: &[(String, Labelled)]) -> LinePlot {
        let axis = |what| Axis {
            scale: Scale::Log,
            ..self.axis(what)
        };
        let series = curves
            .iter()
            .map(|(name, points)| curve(name, points.iter().map(|(x, y, _)| (*x, *y))));
        let labels = curves.iter().flat_map(|(_, points)| points.iter().cloned());
        LinePlot {
            title: self.title.clone(),
            x: axis(self.x),
            y: axis(self.y),
            series: series.filter(|s| !s.points.is_empty()).collect(),
            labels: labels.collect(),
            ..LinePlot::default()
        }
    }

    /// An axis that shows `what`, which may end in its unit: `mean, µs`.
    fn axis(&self, what: &str) -> Axis {
        let (label, unit) = what.rsplit_once(", ").unwrap_or((what, ""));
        Axis {
            label: label.into(),
            unit: unit.into(),
            ..Axis::default()
        }
    }
}

/// A curve from left to right: runs that were broken off stand in the table in the order in which they were made.
fn curve(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let mut points: Vec<_> = points.map(|(x, y)| (x, y.into())).collect();
    points.sort_by(|(a, _): &(f64, DataPoint), (b, _)| a.total_cmp(b));
    Series {
        name: name.into(),
        points,
    }
}

/// The greatest over the least of what bars show, where nothing is 0.
fn spread(body: &Body) -> f64 {
    let Body::Bars { series, .. } = body else {
        return 1.0;
    };
    let all = series.iter().flat_map(|(_, values)| values).flatten();
    let (least, most) = all.fold((f64::INFINITY, 0.0_f64), |(least, most), (at, worst)| {
        (least.min(*at), most.max(*worst))
    });
    if least > 0.0 && most > 0.0 {
        most / least
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_and_bars_are_drawn_with_every_name_and_nothing_without_figures() {
        let curves = vec![
            ("etf".into(), vec![(1.0, 2.0), (2.0, 4.0)]),
            ("nobody".into(), vec![]),
        ];
        let mut chart = Chart {
            file: "x".into(),
            title: "a < b".into(),
            x: "nodes",
            y: "mean, µs",
            body: Body::Curves {
                log: (true, true),
                curves,
            },
        };
        let svg = chart.svg();
        assert!(svg.contains("etf") && svg.contains("a &lt; b") && !svg.contains("nobody"));
        assert!(!chart.is_empty());
        chart.body = Body::Bars {
            groups: vec!["2 threads".into()],
            series: vec![("hlfet".into(), vec![Some((1.0, 100.0))])],
        };
        assert!(chart.svg().contains("hlfet") && spread(&chart.body) == 100.0);
        chart.body = Body::Bars {
            groups: Vec::new(),
            series: vec![("hlfet".into(), vec![None])],
        };
        assert!(chart.is_empty());
        chart.body = Body::Labelled(vec![("etf".into(), vec![(1.0, 2.0, "82 %".into())])]);
        assert!(!chart.is_empty() && chart.svg().contains("82 %"));
        chart.body = Body::Lanes(GanttChart::default());
        assert!(chart.is_empty() && chart.svg().ends_with("</svg>\n"));
    }

    #[test]
    fn a_curve_goes_from_left_to_right_whatever_was_measured_first() {
        let mut chart = Chart {
            file: "x".into(),
            title: "x".into(),
            x: "frames",
            y: "channels",
            body: Body::Lanes(GanttChart::default()),
        };
        let pictures = [[1.0, 2.0, 8.0], [8.0, 1.0, 2.0]].map(|order| {
            let points = order.map(|x| (x, 10.0 / x)).to_vec();
            chart.body = Body::Curves {
                log: (true, false),
                curves: vec![("held".into(), points)],
            };
            chart.svg()
        });
        assert_eq!(pictures[0], pictures[1]);
    }
}
