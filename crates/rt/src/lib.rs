//! What threads and processes share without waiting: rings, mailboxes, claims, queues, slots.
//!
//! Takes values, gives wait-free ways to pass them on (a form that waits says so). May: use `unsafe`, with its reason
//! beside it and a loom test below it. May not: know audio.

pub mod arena;
pub mod background;
pub mod cache_sweep;
pub mod claim;
pub mod countdown;
pub mod deferred;
pub mod deque;
pub mod fence;
pub mod fork;
pub mod ftz;
pub mod idle_set;
pub mod job_service;
#[cfg(unix)]
pub mod mirror;
pub mod pad;
pub mod progress;
pub mod rank_set;
pub mod ready_queue;
pub mod stamp;
pub mod static_queues;
mod sync;
pub mod trace;
pub mod wake;
