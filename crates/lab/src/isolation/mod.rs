//! The experiment *isolation*: response times of a music application beside a load that takes all it can get.
//!
//! | | |
//! |---|---|
//! | source | Colmenares et al., Tessellation OS, section 5.3 and table 2 |
//! | varied | the application: a session or a Pd patch of eight parallel blocks; the load: see [`Load`] |
//! | measured | from the send of a packet of 1280 bytes to the receipt of the answer, one packet every 725 µs |
//! | how | this process is the device; the application and the load are processes that this program starts |
//! | control | `alone` a second time, as `control`; rounds of all loads alternate |
//! | void | see [`crate::state`]; the application and the load are children of this process, so their time is none of other programs |
//!
//! | column | holds |
//! |---|---|
//! | `app`, `load`, `round`, `ms_asked` | the key; with the app `channel`, `load` has the bytes of a message and `ms_asked` the round trips |
//! | `count`, `min_us` … `max_us` | number of responses, their minimum, mean, 99.9th percentile and maximum |
//! | `late` | packets that were sent late, because the answer before came after 725 µs |
//! | `gaps`, `gap_max_us`, `watched_ms` | gaps of 5 µs and more that the probe saw on the core of the application, the longest, and how long it looked |
//! | `refused` | what the system refused, with the fixes |
//! | `histogram` | tenths of a microsecond and number of responses, `1073:12`, with spaces between |
//!
//! Result: the cost of a neighbour, in a cell, as an ordinary process and in a control group.

mod device;
mod gaps;
mod histogram;
mod load;
mod music;
mod packet;
mod page;
#[cfg(target_os = "linux")]
mod process;
mod runs;

use crate::definition::Definition;

pub use load::Load;
pub use music::MusicApp;
#[cfg(target_os = "linux")]
pub use process::{serve_load, serve_music};

pub(crate) const DEFINITION: Definition = Definition {
    name: "isolation",
    title: "Isolation between cells",
    template: include_str!("page.html"),
    columns: "app,load,round,ms_asked,date,count,late,min_us,mean_us,p50_us,p999_us,max_us,gaps,gap_max_us,watched_ms,refused,histogram,ms,stolen_ms,loadavg,nice,others_ms",
    keys: 4,
    runs: runs::runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};

/// Value of the column `app` for round trips of messages alone.
const CHANNEL: &str = "channel";
