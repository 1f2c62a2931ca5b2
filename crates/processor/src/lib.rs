//! The contract between an executor and the running half of a node.
//!
//! Takes nothing from other rooms; gives the trait [`Processor`], the [`Block`] that it processes, and the [`Registry`]
//! that makes it. May: use `unsafe` in the views of a block (`block/`), with its reason. May not: implement a
//! processor (but the wrapper of those whose parameters are driven), start a thread, know a plan.
//!
//! # The lifetime of a node
//!
//! A node has two halves. The maker, an entry of the [`Registry`], stays with the user: it may read files, allocate and
//! fail. The [`Processor`] that it makes goes to the audio threads.
//!
//! ```text
//!   user's thread                                   audio threads
//!   ─────────────                                   ─────────────
//!   Registry::make ─▶ Processor
//!                       setup()         once, and again with another rate or block size
//!                       latency(), tail(), length(), max_parallelism()
//!                       │
//!                       └──────────────────────────▶ process() once a block ◀──┐
//!                                                    reset(), save(), load()   │
//!                                                        │ next block          │
//!                                                        └─────────────────────┘
//!   drop ◀───────────────────────────────────────── the plan that held it is retired
//! ```
//!
//! From the first [`Processor::process`] on, every function that an audio thread calls is *hot*: it never allocates,
//! frees, locks, waits or makes a system call.
//!
//! # Four kinds of work
//!
//! | work | how | runs |
//! |---|---|---|
//! | the step | [`Processor::process`] | once a block, when its inputs are there |
//! | fork and join | [`Block::fork`], [`Block::split`] | inside the step, on idle workers too |
//! | deferred | [`SetupServices::defer`], [`Block::take_deferred`] | in pieces of about 20 µs, with a deadline in frames |
//! | background | [`SetupServices::spawn_background`] | without a deadline, on a thread that may wait |
//!
//! The first two end within the block. Deferred work is due in a later block and is spread over the blocks before it;
//! in the form of [`DeferredWork`] another process may do it.
//! Background work reads and writes files, and talks to the step through rings.

mod bank;
mod block;
mod contract;
mod event;
mod exp2;
mod expansion;
mod file_log;
mod gauge;
mod held_notes;
mod midi_ports;
mod modulated;
mod own_param;
mod registry;
mod services;
pub mod state;
pub mod steps;
mod text_id;
mod transport;
mod work;

pub use bank::{BankKind, BankMember, BankMembers, MAX_BANK};
pub use block::{
    Block, BlockPart, Content, DelayLineView, ForkState, InRow, InputBuffer, IoCold, MAX_ROW,
    OutputBuffer, ProcessInfo, RawChannel, RawDelayLine, RawEvents, RawParamSignal, RawPort,
    RawPorts, RowKind, RowMember, RowStatus, RowSteps, StepIo, StepRow,
};
pub use contract::{Mode, Past, ProcessStatus, Processor, Setup, StateError, Tail};
pub use event::{Event, EventBody, EventTarget, Events, MODULATION_INTERVAL, SysExPart};
pub use exp2::exp2;
pub use expansion::{
    Console, ExpandContext, ExpandFormat, ExpandedGroup, ExpandedNode, Expansion, Inbox, InnerPort,
    Meeting, ORDER, TakenWords, WordsRoom,
};
pub use file_log::{FileLog, FileProblem};
pub use gauge::Gauge;
pub use held_notes::HeldNotes;
pub use midi_ports::{
    MAX_NODES_PER_MIDI_PORT, MidiPortInUse, MidiPortNames, MidiPortReader, MidiPortWriter,
    MidiPorts, MidiPortsCallback, TimedMidi,
};
pub use own_param::{BoxFace, OwnParam, ShownBox};
pub use registry::{MakeContext, MakeError, Registry, WorkContext};
pub use rt::background::{BackgroundTask, PollRequest, TaskStatus};
pub use rt::fork::{ForkAbandoned, ForkTask};
pub use services::{ProcessServices, SetupServices};
pub use text_id::TextId;
pub use transport::{MAX_TRANSPORT_CHANGES, Transport, TransportChange, TransportSegment};
pub use work::{DeferredWork, MAX_WORK_WORDS, NodeWork, WordJob, WorkChannel, WorkHost, WorkSeat};
