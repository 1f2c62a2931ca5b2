//! The experiment *queues*: an FFT filter that reads overlapping windows in place, beside one that copies the overlap.
//!
//! | | |
//! |---|---|
//! | source | Allen, Zucknick and Evans, study of signal-processing queues on mirrored memory: MFLOPS of an overlap-save filter by FFT length and overlap, with and without copies |
//! | varied | FFT length 2^6 to 2^17, overlap 10 to 90 %, one thread or two; message size for transfers between threads and processes |
//! | measured | MFLOPS of the filter; round-trip time and throughput of messages |
//! | how | the kinds of queue take turns; a cell is the mean of 10 turns with its standard deviation |
//! | control | the copying queue against itself |
//! | void | see [`crate::state`] |
//!
//! | column | holds |
//! |---|---|
//! | `what` | `filter` or its `control`; `trip` (there and back) or `stream` (one way) |
//! | `size`, `overlap` | the FFT's length and its overlap in %; the bytes of a message, and 0 |
//! | `between` | one thread, two threads, two processes, or two processes with pipes beside the rings |
//! | `runs` | number of turns |
//! | `mirrored`, `copying` | mean over the turns, in `unit`; between processes, `copying` are the pipes |
//! | `mirrored_sd`, `copying_sd` | their standard deviations |
//!
//! Result: how much a filter gains if no overlap is copied, by the length of its FFT (the study's figures of MFLOPS),
//! and what passing a message on costs between threads and between processes.
//!
//! `filtering` has the two queues with a filter between them, `transfer` messages between two ends, `peer` the second
//! process and `pipes` its other transport. The columns `slices` and `slices_sd` hold values in older tables only.

mod filter;
mod filtering;
mod page;
mod peer;
mod pipes;
mod runs;
mod transfer;

use crate::definition::Definition;

pub(crate) use peer::program;
pub use peer::{PeerRole, serve_peer};

pub(crate) const DEFINITION: Definition = Definition {
    name: "queues",
    title: "Queues without copies",
    template: include_str!("page.html"),
    columns: "what,size,overlap,between,runs,date,unit,mirrored,mirrored_sd,copying,copying_sd,slices,slices_sd,ms,\
              stolen_ms,loadavg,nice,others_ms",
    keys: 5,
    runs: runs::runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};

/// Values of the column `what`.
const FILTER: &str = "filter";
const CONTROL: &str = "control";
const ROUND_TRIP: &str = "trip";
const THROUGHPUT: &str = "stream";

/// Values of the column `between`.
const ONE_THREAD: &str = "one thread";
const TWO_THREADS: &str = "two threads";
const PROCESSES: &str = "two processes";
/// Rings beside pipes: the columns `copying` are the pipes.
const PIPES: &str = "two processes beside pipes";

/// Spins, and after a while offers the core to the thread that it waits for.
#[derive(Default)]
struct Backoff(u32);

impl Backoff {
    fn wait(&mut self) {
        self.0 += 1;
        match self.0 < 2_000 {
            true => std::hint::spin_loop(),
            false => std::thread::yield_now(),
        }
    }

    fn reset(&mut self) {
        self.0 = 0;
    }
}
