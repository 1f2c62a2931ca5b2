//! The experiment *scale*: simulated cycle times on up to 128 cores, and the simulator's error on the cores here.
//!
//! | | |
//! |---|---|
//! | source | none: the sources measured few cores; the question is theirs, how the schedulers compare on many |
//! | varied | graph, scheduler, 1 to 128 cores |
//! | measured | node costs by kind; transfer, claim, steal and wake between two cores; overhead of each executor per task and cycle, from lines of empty nodes of two lengths |
//! | simulated | [`crate::simulator`] on those costs; on 1 and 2 cores the graph is played too, and the medians compared |
//! | control | the line, which no distribution can shorten |
//! | void | see [`crate::state`]; a void playback gives no error |
//!
//! | column | holds |
//! |---|---|
//! | `what` | `machine`, `nodes` or `overhead` (measurements), or `cycle` (a simulation) |
//! | `graph`, `nodes`, `scheduler`, `cores`, `ms` | what is measured or simulated; `-` and 0 where it does not matter |
//! | `facts` | measured times in ns, by name ([`measured`]) |
//! | `predicted_us`, `predicted_takes`, `predicted_busy` | a simulated cycle: its duration, takes from shared structures, busy share of all cores |
//! | `measured_us`, `worst_us`, `measured_takes`, `waited` | the same cycle played: median and worst duration, takes, share of time without a core |
//!
//! Result: where each scheduler stops gaining from more cores, and why it can be believed up to two: there the error
//! of every simulation is printed. Queues that all workers share flatten first, because one core at a time has their line.
//!
//! Rows of `what` = `machine`, `nodes` and `overhead` are the measurements, which the rows `cycle` read from the table:
//! so their order is fixed.

mod measured;
mod page;
mod runs;

use crate::definition::Definition;

pub(crate) const DEFINITION: Definition = Definition {
    name: "scale",
    title: "From 1 to 128 cores",
    template: include_str!("page.html"),
    columns: "what,graph,nodes,scheduler,cores,ms,date,facts,predicted_us,predicted_takes,predicted_busy,measured_us,\
              worst_us,measured_takes,waited,stolen_ms,loadavg,nice,others_ms",
    keys: 6,
    runs: runs::runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};
