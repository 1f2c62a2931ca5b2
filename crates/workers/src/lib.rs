//! Threads that play: pinned, prioritised, woken, put to sleep.
//!
//! Takes jobs, gives them threads: a [`WorkerPool`] for each cycle, a [`BackgroundThread`] for what may wait, pieces of [`DeferredJobs`]
//! work by deadline; and says what the system refused, with the fix ([`Refusal`], [`Grants`]). May: start threads, ask
//! the system for priority, cores and memory, use `unsafe`. May not: know graphs, or sound.

mod audio_thread;
mod background;
mod deferred;
mod grants;
mod pool;
mod refusal;
mod sync;
mod system;

pub use audio_thread::AudioThread;
pub use background::{BackgroundTaskId, BackgroundThread};
pub use deferred::DeferredJobs;
pub use grants::{Finding, Grants};
pub use pool::{
    Job, JobHandle, StopResult, WaitPolicy, WorkerPool, WorkerPoolOptions, WorkerPoolStatus,
    WorkerWaker,
};
pub use refusal::Refusal;
pub use system::{
    CoreId, DmaLatency, MemoryLock, Priority, cores, current_priority, pin, set_priority, unpin,
};
