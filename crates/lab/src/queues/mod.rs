//! The experiment *queues*: a filter by FFT straight from a mirrored ring beside one that copies its overlap, as in the
//! study of Allen, Zucknick and Evans; and what it takes to pass memory between threads and between processes.

mod cells;
mod echo;
mod filter;
mod page;
mod pass;
mod streams;

pub(crate) use cells::cells;
pub use echo::echo;
pub(crate) use page::page;

/// How many columns say which run it is.
pub(crate) const KEYS: usize = 5;
pub(crate) const COLUMNS: &[&str] = &[
    "what",
    "size",
    "overlap",
    "between",
    "runs",
    "date",
    "unit",
    "mirrored",
    "mirrored_sd",
    "copying",
    "copying_sd",
    "slices",
    "slices_sd",
    "gain",
    "gain_sd",
    "ms",
    "stolen_ms",
    "loadavg",
    "nice",
    "others_ms",
];

/// What is found out.
const FILTER: &str = "filter";
const CONTROL: &str = "control";
const TRIP: &str = "trip";
const STREAM: &str = "stream";

/// Between whom.
const ONE: &str = "one thread";
const TWO: &str = "two threads";
const PROCESSES: &str = "two processes";
