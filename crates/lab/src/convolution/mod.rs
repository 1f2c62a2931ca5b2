//! The experiment *convolution*: how an ordinary system schedules partitioned convolution.
//!
//! | | |
//! |---|---|
//! | source | Battenberg and Avižienis, "Implementing real-time partitioned convolution algorithms on conventional operating systems" (DAFx 2011): figure 5 (multiply-add), section 3.3 (synchronisation), figure 6 (walk through), figure 8 (load), figures 9 and 10 (channels on one core and more). Gardner (1995) and Hurchalla (2010) for fewer operations. Colmenares and others (2010) for 524288 frames |
//! | varied | method, length of the response, channels, cores, synchronisation scheme, delay of callbacks |
//! | measured | time of a callback, misses, load of the core, the maximum of channels without a miss |
//! | how | `callback`: a real-time thread at the period of 64 frames at 44.1 kHz, beside a probe of higher priority |
//! | control | everything in the callback (inline) |
//! | void | a miss that a gap of the probe explains is not counted; for the rest see [`crate::state`] |
//!
//! | column | holds |
//! |---|---|
//! | `what` | `kernel`, `sync`, `walk`, `load`, `most`, `jitter`, or `peer` (another program's result) |
//! | `way`, `setting` | method, kernel or scheme; cores, layout, periods or delay (see the table in `runs`) |
//! | `length`, `channels`, `cores` | frames of the response, channels or levels, cores that may be used |
//! | `asked_ms`, `ms` | duration that was asked for, and that of the whole run |
//! | `partition`, `levels` | the partition of a response in words (`15x64 14x512`), and its number of levels |
//! | `held` | channels that were played without a miss |
//! | `p50_us`, `p99_us`, `worst_us` | quantiles of the callback's duration |
//! | `missed`, `unexplained` | misses, and those that no gap of the probe explains |
//! | `percent`, `gaps_us` | load of the cores that may be used; sum of the probe's gaps |
//! | `facts` | `kernel`: none; `sync`: the mean; `walk`: spans in µs; `most`: whether more were tried |
//!
//! Result: that threads with priorities hold more channels than work that is cut by hand, as the paper found; what
//! starting and waiting for those threads costs; and that the product's scheduler without threads comes close to them.
//!
//! `methods` has what is compared, `kernels` and `sync` the two figures on parts of it, `search` looks for the maximum of
//! channels, and `peers` takes over the results of `benches/convolution`.

mod callback;
mod kernels;
mod methods;
mod page;
mod peers;
mod runs;
mod search;
mod sync;

use crate::definition::Definition;
use std::time::Duration;

pub(crate) const DEFINITION: Definition = Definition {
    name: "convolution",
    title: "Partitioned convolution on a conventional system",
    template: include_str!("page.html"),
    columns: "what,way,length,channels,cores,setting,asked_ms,date,priority,partition,levels,held,p50_us,p99_us,worst_us,\
              missed,unexplained,percent,gaps_us,facts,ms,stolen_ms,loadavg,nice,others_ms",
    keys: 7,
    runs: runs::runs,
    import: peers::import,
    fill: page::fill,
};

/// Frames in a block and sample rate, as in the paper.
const BLOCK: usize = 64;
const RATE_HZ: f64 = 44_100.0;

/// Period of a block.
fn period() -> Duration {
    Duration::from_nanos((BLOCK as f64 * 1e9 / RATE_HZ) as u64)
}
