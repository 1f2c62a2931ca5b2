//! Figures as plots: lines, points, bars, histograms, heat maps. Always dark on white; series differ in form and
//! dashes too, so that they are told apart without colours.

mod bars;
mod field;
mod heat;
mod histogram;
mod lines;
mod series;

pub use bars::bars;
pub use heat::heat;
pub use histogram::histogram;
pub use lines::{lines, scatter};

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured: `cycle time`.
    pub label: String,
    /// In what: `µs`. May be empty.
    pub unit: String,
    /// How lengths stand for values.
    pub scale: Scale,
    /// Where it begins; found from the values if none.
    pub from: Option<f64>,
    /// Where it ends; found from the values if none.
    pub to: Option<f64>,
    /// Values to name, with their names, instead of round numbers: block sizes, thread counts. May be empty.
    pub ticks: Vec<(f64, String)>,
}

/// How lengths along an axis stand for values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal lengths for equal differences.
    #[default]
    Linear,
    /// Equal lengths for equal ratios. Values at or below 0 cannot be drawn and are counted in a note.
    Log,
}

/// One value, perhaps with its spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataPoint {
    /// The value itself: the median, the mean.
    pub at: f64,
    /// The lower quartile, or whatever the whisker's lower end shall mean.
    pub low: Option<f64>,
    /// The whisker's upper end.
    pub high: Option<f64>,
    /// The worst: a mark of its own above the whisker.
    pub worst: Option<f64>,
}

/// What belongs together under one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Where along x, and what. Drawn in this order.
    pub points: Vec<(f64, DataPoint)>,
}

/// A line across the field: a deadline, a bound, a figure from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// Across which axis.
    pub at: GuideAt,
    /// What it is.
    pub label: String,
}

/// Where a guide stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GuideAt {
    /// Upright, at this value of x.
    X(f64),
    /// Level, at this value of y.
    Y(f64),
}

/// Lines, or points, over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// What it shows.
    pub title: String,
    /// How it was got: machine, settings. May be empty.
    pub note: String,
    /// The level axis.
    pub x: Axis,
    /// The upright axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Lines to compare with.
    pub guides: Vec<Guide>,
    /// Words at points: where along x, where along y, what.
    pub labels: Vec<(f64, f64, String)>,
}

/// Bars in groups: a group a case, a bar a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarPlot {
    /// What it shows.
    pub title: String,
    /// How it was got. May be empty.
    pub note: String,
    /// What the groups are, below them. May be empty.
    pub label: String,
    /// The groups' names.
    pub groups: Vec<String>,
    /// The upright axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<BarSeries>,
    /// Lines to compare with; those across x are left out.
    pub guides: Vec<Guide>,
}

/// One bar of every group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// A value for each group, in the groups' order; none where there is none.
    pub values: Vec<Option<DataPoint>>,
}

/// How often what was measured: one series as bars, several as stepped lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// What it shows.
    pub title: String,
    /// How it was got. May be empty.
    pub note: String,
    /// What was measured.
    pub x: Axis,
    /// How often.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<HistogramSeries>,
    /// Lines to compare with.
    pub guides: Vec<Guide>,
    /// Bins that begin here or later have the colour of lateness, where there is one series only.
    pub late_from: Option<f64>,
}

/// The bins of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramSeries {
    /// Its name in the legend.
    pub name: String,
    /// The bins in rising order; those between that are missing are empty.
    pub bins: Vec<Bin>,
}

/// How many values are at least `from` and less than `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// The least value that counts.
    pub from: f64,
    /// The least that does not any more.
    pub to: f64,
    /// How many.
    pub count: u64,
}

/// A value for each pair, as a darkness.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// What it shows.
    pub title: String,
    /// How it was got. May be empty.
    pub note: String,
    /// What the columns are. May be empty.
    pub x: String,
    /// What the rows are. May be empty.
    pub y: String,
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows' names.
    pub rows: Vec<String>,
    /// What is measured, and in what.
    pub value: Axis,
    /// A value for each column, by row; NaN where there is none.
    pub values: Vec<Vec<f64>>,
}

impl From<f64> for DataPoint {
    fn from(at: f64) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(label, unit)
        }
    }

    /// The same axis with these values named, each by its number, and no others.
    pub fn naming(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.ticks = values.into_iter().map(|v| (v, format!("{v}"))).collect();
        self
    }

    fn title(&self) -> String {
        match (self.label.is_empty(), self.unit.is_empty()) {
            (_, true) => self.label.clone(),
            (true, false) => self.unit.clone(),
            (false, false) => format!("{} ({})", self.label, self.unit),
        }
    }
}

impl DataPoint {
    /// The value with a whisker from `low` to `high`.
    pub fn between(low: f64, at: f64, high: f64) -> Self {
        Self {
            at,
            low: Some(low),
            high: Some(high),
            worst: None,
        }
    }

    /// The same value with its worst.
    pub fn worst(self, worst: f64) -> Self {
        Self {
            worst: Some(worst),
            ..self
        }
    }

    fn all(self) -> impl Iterator<Item = f64> {
        [Some(self.at), self.low, self.high, self.worst]
            .into_iter()
            .flatten()
    }
}
