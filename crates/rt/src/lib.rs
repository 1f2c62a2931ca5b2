//! Data structures that threads and processes share without waiting: queues, counters, claims, jobs, rings.
//!
//! Takes values, gives wait-free structures that pass them to other threads (a function that waits says so). May: use
//! `unsafe`, with its reason beside it and a loom model below it. May not: know audio.
//!
//! Each protocol is one file. Its head has a table of who owns what when; its foot has a loom model.
//!
//! | question | modules |
//! |---|---|
//! | who may use what is shared? | [`owner`] (one party after the other), [`claim_cell`] (who comes first) |
//! | which tasks are ready? | [`deque`] (one a worker, others steal), [`ready_queue`] (one for all, oldest first), [`rank_set`] (one for all, most urgent first), [`static_queues`] (lists of a static schedule), [`claim`] (one list) |
//! | what is finished? | [`countdown`] (the inputs of a step), [`fork`] (the branches of a step), [`progress`] (the tasks of a cycle) |
//! | who sleeps, and who is woken? | [`wake`] (a futex), [`idle_set`] (workers that left a cycle), [`doorbell`] (words in shared memory), [`fence`] (a fence that is free on one side) |
//! | what runs beside the cycle? | [`deferred`] (jobs in pieces), [`job_service`] (threads for such jobs), [`background`] (work that may wait) |
//! | how do data travel? | [`mirror`] (frames, in place, between processes too), [`newest`] (the newest value only), [`numbered`] (the message of a number), [`trace`] (records), [`ring`] (values, in rings of the crate `rtrb`) |
//! | what does the machine offer? | [`stamp`] (its time-stamp counter), [`ftz`] (flush-to-zero mode), [`arena`] (aligned blocks), [`pad`] (cache lines), [`cache_sweep`] (cold caches), [`vectors`] (wide ones) |
//!
//! # Epochs
//!
//! Each cycle has a number, its *epoch*. A worker can lose its core at any instruction and go on many cycles later.
//! Therefore each word by which something can be taken holds the epoch beside the value:
//!
//! ```text
//!   63                32 31                 0
//!  ┌────────────────────┬────────────────────┐
//!  │       epoch        │   index or bits    │
//!  └────────────────────┴────────────────────┘
//! ```
//!
//! A compare-and-exchange that expects an old epoch fails. So a late worker takes nothing of a newer cycle, and no
//! cycle waits for a late worker. Epochs wrap around after 2^32 cycles: 66 days at 48 kHz and 64 frames. Each module
//! says how it deals with that.

pub mod arena;
pub mod background;
pub mod cache_sweep;
pub mod claim;
pub mod claim_cell;
pub mod countdown;
pub mod deferred;
pub mod deque;
pub mod doorbell;
mod epoch;
pub mod fence;
pub mod fork;
pub mod ftz;
pub mod idle_set;
pub mod job_service;
#[cfg(unix)]
pub mod mirror;
pub mod newest;
pub mod numbered;
pub mod owner;
pub mod pad;
pub mod progress;
pub mod rank_set;
pub mod ready_queue;
pub mod ring;
pub mod stamp;
pub mod static_queues;
mod sync;
pub mod trace;
pub mod vectors;
pub mod wake;
