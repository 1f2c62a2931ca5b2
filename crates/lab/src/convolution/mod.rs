//! The experiment *convolution*: partitioned convolution on threads of its own, spread over callbacks, by two levels and
//! by many, as in the paper of Battenberg and Avižienis (2011): kernels, synchronisation, load, channels, cores, jitter.

mod beat;
mod cell;
mod cells;
mod kernels;
mod page;
mod peers;
mod row;
mod search;
mod sync;
mod ways;

pub(crate) use cells::cells;
pub(crate) use page::page;
pub(crate) use peers::take as take_peers;

/// Frames in a block, frames a second, as in the paper.
const BLOCK: usize = 64;
const RATE_HZ: f64 = 44_100.0;

/// How many columns say which run it is.
pub(crate) const KEYS: usize = 7;
pub(crate) const COLUMNS: &[&str] = &[
    "what",
    "way",
    "length",
    "channels",
    "cores",
    "setting",
    "asked_ms",
    "date",
    "priority",
    "partition",
    "levels",
    "held",
    "p50_us",
    "p99_us",
    "worst_us",
    "missed",
    "unexplained",
    "percent",
    "gaps_us",
    "facts",
    "ms",
    "stolen_ms",
    "loadavg",
    "nice",
    "others_ms",
];

/// How long a block lasts.
fn period() -> std::time::Duration {
    std::time::Duration::from_nanos((BLOCK as f64 * 1e9 / RATE_HZ) as u64)
}
