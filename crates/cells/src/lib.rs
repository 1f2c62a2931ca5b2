//! Parts of a graph in processes of their own, which cannot hurt each other.
//!
//! Takes a graph and a table of cells, gives the graph that the supervisor plays, the graphs that the cells play, and
//! the processes. May: start processes, map shared memory, restrict its own process; use `unsafe` in `raw` alone.
//! May not: trust a byte that a cell wrote, wait for a cell longer than its budget where a deadline runs.
//!
//! ```text
//!   supervisor                                     cell (a process)
//!   ┌───────────────────────────────┐              ┌──────────────────────────┐
//!   │ engine: a ─▶ cell ─▶ tap ─▶ c │  requests    │ engine: in ─▶ b ─▶ out   │
//!   │              │  ▲             ├─────────────▶│                          │
//!   │              └──┘ one node    │◀─────────────┤                          │
//!   │                               │   replies    └──────────────────────────┘
//!   │ monitor thread: starts,       │  mirrored rings in sealed shared memory
//!   │ watches, kills, starts again  │
//!   └───────────────────────────────┘
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `section` | [`CellSpec`]: the tables `[cell.NAME]` of a session |
//! | `target` | [`Target`] of a cell and [`Goal`] of all |
//! | `shares`, `machine` | shares of caches, bandwidth, clock rates and cpusets, where the machine gives them |
//! | `admission` | [`admit`]: the cells that fit the cores, and by how much the others do not |
//! | `split` | [`Split`]: the graph cut at the borders of cells |
//! | `message` | what the two rings carry, block by block, and what the supervisor believes of it |
//! | `events` | numbers, notes and MIDI in a message |
//! | `border` | nodes at both sides of a border: taps, inputs and outputs |
//! | `node` | the cell as a node of the supervisor's graph: sends, receives, fades what is lost |
//! | `slots` | targets of events inside a cell |
//! | `inner_events` | parameters, numbers, MIDI and words for nodes inside a cell |
//! | `transport` | the supervisor's transport on its way into a cell |
//! | `midi_memory` | the MIDI messages that a new process is told again |
//! | `node_events` | what a new process is told again, and what is released when one is lost |
//! | `policy` | [`Policy`]: rules by which cells share cores, and what holds them to these |
//! | `service` | [`CellService`]: cells are stopped, started, resized, added and removed while they play |
//! | `status` | what the node and the monitor tell each other |
//! | `guardian` | [`run_guardian`]: the process that starts all others, and replaces a supervisor |
//! | `supervised` | [`SupervisedCallback`]: the supervisor's heartbeat, its own checkpoints |
//! | `monitor` | [`Monitor`]: the processes, their deaths and their new starts |
//! | `child` | [`run_cell`]: the cell's process |
//! | `keeper` | what its nodes hold, written into shared memory while it plays, for the process after it |
//! | `checkpoint` | that memory, and what the supervisor believes of it |
//! | `live_edit` | an edit of the cell's own engine: the order and the answer |
//! | `handed` | [`HandedSession`]: the session as the supervisor has read it, for each process |
//! | `work` | deferred work of nodes elsewhere, done in the process of a cell |
//! | `gauges` | the newest values of a cell's meters |
//! | `own_params` | what a cell's patches receive by name, for the supervisor |
//! | `taps` | samples of outputs inside a cell, for meters |
//! | `word_fates` | what has become of messages in words |
//! | `begin`, `descriptors` | the first steps of a cell's process; what was left open for it |
//! | `isolation` | what a cell's process gives up before it plays, and attempts to get it back |
//! | `raw` | the calls of the kernel that need `unsafe` |
//!
//! # Who owns what, when
//!
//! | state of a cell | rings | process | left by |
//! |---|---|---|---|
//! | starts | the monitor's | alive, answers nothing yet | its first message: the rings go to the node |
//! | plays | the node's | alive | its end, a hang or nonsense in a ring: the monitor kills it, the node gives the rings back |
//! | waits | nobody's | none | the end of its back-off: new rings, a new process |
//! | is stopped | nobody's | none | an order of the service |
//!
//! A process that comes after another continues from the newest whole checkpoint that the other one left. The
//! fourth failure in a row gets none: what it left may be the cause.
//!
//! Rings are made anew for each process. So what a dying process still writes is in memory that nobody reads.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod admission;
mod begin;
mod border;
mod checkpoint;
mod child;
mod descriptors;
mod events;
mod gauges;
mod guardian;
mod handed;
mod inner_events;
mod isolation;
mod keeper;
mod live_edit;
mod machine;
mod message;
mod midi_memory;
mod monitor;
mod node;
mod node_events;
mod own_params;
mod policy;
mod raw;
mod section;
mod service;
mod shares;
mod slots;
mod split;
mod status;
mod supervised;
mod taps;
mod target;
mod transport;
mod word_fates;
mod work;

pub use admission::{CellDemand, ComputedCosts, CoreCapacity, JobCost, Misfit, NodeCost, admit};
pub use begin::begin_process;
pub use border::BorderPort;
pub use child::{CellJob, ReadPart, run_cell};
pub use guardian::{ChangeTable, GuardianOptions, Succession, join_guardian, run_guardian};
pub use handed::HandedSession;
pub use isolation::{Isolation, try_to_leave};
pub use machine::MachineFiles;
pub use monitor::{
    CellEvent, Launch, LaunchRequest, Monitor, MonitorOptions, PlannedCell, Start, StartedCell,
};
pub use node::{CellLink, CellLinks, Drill, DrillKind, register_cells};
pub use policy::{Policy, Server, TimeWindow, Windows};
pub use section::{CellLatency, CellSpec, SECTION, extend_schema, read_cells};
pub use service::{
    CellChange, CellInfo, CellMoved, CellService, CellState, ChangeDone, GraphGoal, InnerChange,
    InnerTap, KeptCell, ServiceOptions, WorkAway, WorstCosts, cell_text, check_cores_of_machine,
    work_away,
};
pub use shares::MachineShares;
pub use split::{CellPart, Split, split};
pub use status::CellStatus;
pub use supervised::{SUPERVISOR_DRILLS, Silence, SupervisedCallback};
pub use target::{Goal, SYSTEM_SECTION, SystemSpec, Target, read_system};
pub use work::{WorkCounts, WorkLinks, WorkOfCell, work_mistakes};
