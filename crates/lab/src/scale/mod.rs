//! The experiment *scale*: what a simulator says of up to 128 cores, from costs measured here, and how far it is off on
//! the cores that are here.

mod cells;
mod facts;
mod page;

pub(crate) use cells::cells;
pub(crate) use page::page;

/// How many columns say which run it is.
pub(crate) const KEYS: usize = 6;
pub(crate) const COLUMNS: &[&str] = &[
    "what",
    "graph",
    "nodes",
    "scheduler",
    "cores",
    "ms",
    "date",
    "facts",
    "predicted_us",
    "predicted_takes",
    "predicted_busy",
    "measured_us",
    "worst_us",
    "measured_takes",
    "waited",
    "stolen_ms",
    "loadavg",
    "nice",
    "others_ms",
];
