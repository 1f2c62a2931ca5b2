//! The experiment *graphs*: lines, diamonds and rakes under every scheduler.
//!
//! | | |
//! |---|---|
//! | source | Chen-yen-su and Delgado, student's report (2019): cycle times of test graphs under sequential, HLFET, ETF and work-stealing execution, by threads, by buffer size and with a video playing; histograms at 2048 frames |
//! | varied | shape and size of the graph, cost of its inner nodes, threads, block size, load of the machine, scheduler, fusion, pace |
//! | measured | cycle time (mean, p50, p99, worst), missed cycles, takes from shared queues, wakes, time on a core |
//! | how | `playback`: at the period of a clock driver, or block after block; the first 8 cycles do not count |
//! | control | an oscillator into an output on one thread, with the same settings |
//! | void | see [`crate::state`] |
//!
//! | column | holds |
//! |---|---|
//! | `shape`, `nodes` | the test graph: `line`, `diamond`, `rake` or `control` |
//! | `inner` | its inner nodes: `sound` (modulators) or `dear` (20 ns a frame) |
//! | `threads`, `block` | number of threads, frames in a block |
//! | `load` | the machine: `rest`, or `video` with [`crate::background_load`] |
//! | `scheduler`, `fuse` | the scheduler; `on` with fusion of cheap steps |
//! | `pace`, `ms` | `beat` or `behind` (see [`crate::playback`]), for as long |
//! | `bars` | only at 2048 frames: the histogram, as `from-to:count` in ns |
//!
//! The others are those of [`PlaybackStats`](crate::playback::PlaybackStats) and of [`crate::state`].
//!
//! Results, by section of the page: how much each scheduler gains with 2, 3 and 4 threads (*Threads*);
//! from which size on a graph gains (*Sizes*); how much of the period is left at each block size (*Buffers*); what a busy
//! machine costs (*A machine in use*); how even cycles are (*Stability*); and all settings with each other.

mod page;
mod runs;

use crate::definition::Definition;
use crate::playback::playback_columns;

pub(crate) const DEFINITION: Definition = Definition {
    name: "graphs",
    title: "Audio graphs under every scheduler",
    template: include_str!("page.html"),
    columns: concat!(
        "shape,nodes,inner,threads,block,load,scheduler,fuse,pace,ms,",
        playback_columns!(),
        ",bars,loadavg,nice,others_ms"
    ),
    keys: 10,
    runs: runs::runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};
