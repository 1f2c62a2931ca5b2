//! The contract between an executor and the running half of a node.
//!
//! Takes nothing, gives the [`Processor`] trait, the [`Block`] it sees and the [`Registry`] that makes it.
//! May: use `unsafe` in the views of a block (`view.rs`, `split.rs`), with its reason. May not: implement a processor,
//! start a thread, know a plan.
//!
//! A node lives in two halves. Its constructor (a [`Registry`] entry) lives with the user: it may read files, allocate,
//! fail. Its [`Processor`] lives with the audio threads: it is told everything in [`Processor::setup`], and from then
//! on [`Processor::process`] is *hot*. Four kinds of work are open to it:
//!
//! | work | how | runs |
//! |---|---|---|
//! | the step itself | [`Processor::process`] | once a block, when its inputs are there |
//! | fork and join | [`Block::fork`], [`Block::split`] | inside the step, over idle workers too |
//! | deferred | [`SetupServices::defer`], [`Block::take_deferred`] | in pieces of about 20 µs, by a stated frame |
//! | background | [`SetupServices::spawn_background`] | some time, on a thread that may wait |

mod contract;
mod event;
mod gauge;
mod registry;
mod split;
mod view;
mod work;

pub use contract::{Mode, ProcessStatus, Processor, Setup, SetupServices, StateError, Tail};
pub use event::{Event, EventBody, EventTarget, Events};
pub use gauge::Gauge;
pub use registry::{MakeContext, MakeError, Registry};
pub use split::BlockPart;
pub use view::{
    Block, DelayLineView, InputBuffer, IoCold, OutputBuffer, ProcessInfo, RawChannel, RawDelayLine,
    RawEvents, RawPort, RawPorts, StepIo,
};
pub use work::{BackgroundTask, ProcessServices, TaskStatus};
