//! Background work: what may wait (reading and writing files, decoding), done a part at a time on an ordinary thread.
//!
//! The trait stands here because two crates meet in it and may not know each other: a processor brings a
//! [`BackgroundTask`] along in its set-up (`processor`), and a thread of ordinary priority polls it (`workers`).
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

/// State of a [`BackgroundTask`] after a [`poll`](BackgroundTask::poll): when it wants the next one.
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
/// Live, each task is polled every few milliseconds. Offline, every task is polled between two blocks until it answers
/// [`TaskStatus::Idle`] or [`TaskStatus::Done`], so that no block lacks anything.
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
