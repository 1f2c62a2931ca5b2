//! Plots of measured values: lines and bars.
//!
//! Plots have one theme, dark on white. Series differ in the shape of their points, in dashes and in hatching too, so that
//! they can be told apart without colours. `data` has what is plotted, `range` the scale of an axis, `frame` axes,
//! title and legend, `series` the looks of a series, `lines` and `bars` the two kinds of plots.

mod bars;
mod data;
mod frame;
mod lines;
mod range;
mod series;

pub use bars::bars;
pub use data::{Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
pub use lines::lines;
