//! Background work: work that may wait (files, decoding), done in parts on an ordinary thread.
//!
//! The trait is in this crate because two crates use it that must not know each other: a processor registers a
//! [`BackgroundTask`] in its setup (`processor`), and a thread of ordinary priority polls it (`workers`).
//!
//! ```text
//!            poll() = More                      poll() = Idle
//!          ┌─────────────┐                    ┌──────────────┐
//!          ▼             │                    ▼              │ a few ms later
//!   add ─▶ poll ─────────┴────────────────▶ poll ────────────┘
//!            │ Done, a panic, or the task is removed
//!            ▼
//!          end() once, then the task is dropped
//! ```

/// State of a [`BackgroundTask`] after a [`poll`](BackgroundTask::poll). It decides when the next poll comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// There is more to do: poll again at once.
    More,
    /// There is nothing to do now: poll again in a few milliseconds.
    Idle,
    /// The task is finished: never poll again.
    Done,
}

/// Work that may wait. It runs on an ordinary thread, never at real-time priority.
///
/// Live, each task is polled every few milliseconds. Offline, every task is polled between two blocks until it returns
/// [`TaskStatus::Idle`] or [`TaskStatus::Done`], so that no data is late for a block.
pub trait BackgroundTask: Send {
    /// Does a bounded part of the work, of about 10 ms at most.
    ///
    /// Real-time: waits, on the task's own files.
    fn poll(&mut self) -> TaskStatus;

    /// Completes what the task has begun, such as a file's header. Called once, after the last [`poll`](Self::poll).
    ///
    /// Real-time: waits, on the task's own files.
    fn end(&mut self) {}
}
