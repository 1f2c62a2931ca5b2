//! The executors: one file for each way of giving tasks to workers.
//!
//! | file | a worker takes its next task from | a task that becomes ready goes to |
//! |---|---|---|
//! | [`sequential`] | the plan's order; there is one worker | – |
//! | [`static_schedule`] | its own list of the plan, or a list whose worker has not come | the list in which it stands |
//! | [`stealing`] | its own deque, else another worker's | the releasing worker's deque |
//! | [`global`] | one lock-free queue for all | that queue |
//! | [`weighted`] | its own queue, filled by batches from a shared one | its own queue up to a share, else the shared one |
//! | [`deadline`] | one set for all, by latest start time | that set, except the most urgent one |
//! | [`mutex`] | one queue behind a lock, for comparison | that queue |
//!
//! [`sources`] distributes the tasks that are ready when a cycle begins.

pub(crate) mod deadline;
pub(crate) mod global;
pub(crate) mod mutex;
pub(crate) mod sequential;
mod sources;
pub(crate) mod static_schedule;
pub(crate) mod stealing;
pub(crate) mod weighted;
