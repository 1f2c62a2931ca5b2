//! Audio threads: pinned to cores, prioritised, woken, put to sleep.
//!
//! Takes jobs and runs them on threads: a [`WorkerPool`] for the work of a cycle, [`DeferredJobs`] for work with a
//! later deadline, a [`BackgroundThread`] for work without one. Reports the requests that the system refused, with the
//! remedy ([`Refusal`], [`Grants`]). May: start threads, ask the system for priority, cores and memory, use `unsafe`.
//! May not: know graphs, or audio.
//!
//! | file | what is in it |
//! |---|---|
//! | `pool` | threads that one broadcast starts; the job board that passes them a job without a lock |
//! | `audio_thread` | set-up of an audio thread: denormals, panics, stack |
//! | `deferred` | pieces of work with a later deadline, for idle workers |
//! | `background` | one ordinary thread for disks and decoding |
//! | `system` | cores, priority, locked memory, wake-up latency; a file for each operating system |
//! | `machine_time` | processor time of all cores: of this process, of others |
//! | `thread_usage` | processor time of a thread, seen from another one |
//! | `grants`, `refusal` | what the system grants and refuses |

mod audio_thread;
mod background;
mod deferred;
mod grants;
mod machine_time;
mod pool;
mod refusal;
mod sync;
mod system;
mod thread_usage;

pub use audio_thread::AudioThread;
pub use background::{BackgroundPoller, BackgroundTaskId, BackgroundThread};
pub use deferred::DeferredJobs;
pub use grants::{Finding, Grants};
pub use machine_time::{MachineTime, load_average};
pub use pool::{
    Job, JobHandle, StopResult, WaitPolicy, WorkerPool, WorkerPoolOptions, WorkerPoolStatus,
    WorkerWaker,
};
pub use refusal::Refusal;
pub use system::{
    CoreId, DmaLatency, MemoryLock, Priority, cores, current_priority, pin, set_priority, unpin,
};
pub use thread_usage::{ThreadId, ThreadUsage};
