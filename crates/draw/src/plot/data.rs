//! The data of a plot.

/// A line plot: series of points over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; the first 24 are drawn.
    pub series: Vec<Series>,
    /// Texts at points, as (x, y, text); the first 200 are drawn.
    pub labels: Vec<(f64, f64, String)>,
}

/// A bar plot: groups of bars, one group for each case and one bar for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarPlot {
    /// The title.
    pub title: String,
    /// The names of the groups; the first 200 are drawn.
    pub groups: Vec<String>,
    /// The vertical axis.
    pub y: Axis,
    /// The series; the first 24 are drawn.
    pub series: Vec<BarSeries>,
}

/// An axis: quantity, unit and scale. Its ends follow from the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity: `cycle time`.
    pub label: String,
    /// The unit: `µs`. May be empty.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Shortest distance between its ends, if it is linear. Values that are equal but for rounding lie on one line.
    pub min_span: f64,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal lengths for equal differences.
    #[default]
    Linear,
    /// Equal lengths for equal ratios. Values at or below 0 cannot be drawn; a note says how many there were.
    Log,
}

/// One measured value, perhaps with its maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataPoint {
    /// The value: a median, a mean.
    pub value: f64,
    /// The largest value that was seen; a cross above the value.
    pub max: Option<f64>,
}

/// The points of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// x and value of each point, in the order in which the line joins them.
    pub points: Vec<(f64, DataPoint)>,
}

/// One bar of every group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// A value for each group, in the order of the groups; `None` where there is none.
    pub values: Vec<Option<DataPoint>>,
}

impl From<f64> for DataPoint {
    fn from(value: f64) -> Self {
        Self { value, max: None }
    }
}

impl Axis {
    /// Label and unit as one text.
    pub(super) fn title(&self) -> String {
        match (self.label.is_empty(), self.unit.is_empty()) {
            (_, true) => self.label.clone(),
            (true, false) => self.unit.clone(),
            (false, false) => format!("{} ({})", self.label, self.unit),
        }
    }

    /// Returns true if the axis can show `value`.
    pub(super) fn can_show(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }
}

impl DataPoint {
    /// Its value and its maximum.
    pub(super) fn all(self) -> impl Iterator<Item = f64> {
        [Some(self.value), self.max].into_iter().flatten()
    }
}
