//! The experiment *channels*: round trips of messages between two processes, as between two cells.
//!
//! | | |
//! |---|---|
//! | source | Colmenares et al., Tessellation OS: table 1 (round trips of a message to another cell), and experiment B (1280 bytes through a loop-back graph) |
//! | varied | bytes of a message: 512 to 4480 |
//! | measured | each round trip, by the time-stamp counter: minimum, mean, 99.9th percentile, maximum |
//! | how | a process of this program sends each message back from shared memory; both spin. Turns of the bare ping-pong lie between turns of the channel |
//! | control | the bare ping-pong: one flag and the payload, between two threads of this process |
//! | void | see [`crate::state`] |
//!
//! | column | holds |
//! |---|---|
//! | `what` | `trip`, or `graph`: through a graph of 10 channels x 32 frames in the other process |
//! | `size`, `trips` | bytes of a message, number of round trips |
//! | `min_ns` … `max_ns` | the channel; empty where the program cannot start itself again |
//! | `bare_min_ns` … `bare_max_ns` | the bare ping-pong |
//! | `mean_cycles` | the mean of the channel in ticks of the time-stamp counter |
//!
//! Result: the cost of a border between two cells, beside what the machine's caches cost alone.

mod bare;
mod page;
mod peer;
mod runs;

use crate::definition::Definition;

pub(crate) use peer::ChannelPeer;
pub use peer::serve_channel;
pub(crate) use runs::SIZES;

pub(crate) const DEFINITION: Definition = Definition {
    name: "channels",
    title: "Channels between cells",
    template: include_str!("page.html"),
    columns: "what,size,trips,date,min_ns,mean_ns,p999_ns,max_ns,mean_cycles,bare_min_ns,bare_mean_ns,bare_p999_ns,bare_max_ns,\
              ms,stolen_ms,loadavg,nice,others_ms",
    keys: 3,
    runs: runs::runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};

/// Values of the column `what`.
const TRIP: &str = "trip";
const GRAPH: &str = "graph";

/// Bytes of the graph's message: 10 channels x 32 frames of 4 bytes.
const GRAPH_BYTES: usize = 4 * GRAPH_CHANNELS * GRAPH_FRAMES;
const GRAPH_CHANNELS: usize = 10;
const GRAPH_FRAMES: usize = 32;
