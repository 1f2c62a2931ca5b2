//! The experiment *queues*: a filter by FFT straight from a mirrored ring beside one that copies its overlap, as in the
//! study of Allen, Zucknick and Evans; and what it takes to pass memory between threads and between processes.

mod cells;
mod filter;
mod page;
mod pass;
mod peer;
mod pipe;
mod streams;

pub(crate) use cells::cells;
pub(crate) use page::page;
pub use peer::{PeerRole, serve_peer};

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
/// By rings, and by pipes in their stead: what stands under `copying` is the pipes.
const PIPES: &str = "two processes beside pipes";

/// Spins, and gives the core up where the other one seems to wait for it.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        match self.0 < 2_000 {
            true => std::hint::spin_loop(),
            false => std::thread::yield_now(),
        }
    }

    fn end(&mut self) {
        self.0 = 0;
    }
}
