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
//!
//! A task that another thread feeds may wait for a [`PollRequest`]: then it is not polled while it has nothing to do.
//!
//! | [`PollRequest`] | by | memory order |
//! |---|---|---|
//! | none to pending | who feeds the task, after it has fed it | Release: publishes what it fed |
//! | pending to none | who polls, before the poll | Acquire: the poll sees what was fed before the request |

use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Request to poll a task, shared by who feeds it and who polls it.
#[derive(Clone, Debug)]
pub struct PollRequest(Arc<AtomicBool>);

impl Default for PollRequest {
    /// Pending: a task is polled once without being asked.
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl PollRequest {
    /// Asks for a poll. What the caller has done before is seen by it.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn send(&self) {
        // pairs with `take`. Always written: a request that is still pending may be taken at this moment, by a poll that
        // began before what was fed last. An exchange, as that of `take`: so each comes after the other, in the model too,
        // which puts a mere store anywhere.
        self.0.swap(true, Ordering::Release);
    }

    /// Takes the request. Returns false if there is none.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn take(&self) -> bool {
        // Relaxed: a request that is not seen yet is seen at the next look. Then the exchange pairs with `send`.
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Acquire)
    }
}

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

    /// The request by which it is polled, asked for when the task is added; `None` to be polled always. A poll that returned
    /// [`TaskStatus::More`] is followed by the next without a request.
    ///
    /// Real-time: setup.
    fn poll_request(&self) -> Option<PollRequest> {
        None
    }

    /// Completes what the task has begun, such as a file's header. Called once, after the last [`poll`](Self::poll).
    ///
    /// Real-time: waits, on the task's own files.
    fn end(&mut self) {}
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::PollRequest;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU32, Ordering};

    /// All that was fed is polled in the end, whenever the polls come.
    #[test]
    fn nothing_that_was_fed_stays_behind() {
        loom::model(|| {
            let (request, fed) = (PollRequest::default(), Arc::new(AtomicU32::new(0)));
            let feeder = loom::thread::spawn({
                let (request, fed) = (request.clone(), fed.clone());
                move || {
                    for n in 1..=2 {
                        // Relaxed: the request publishes it.
                        fed.store(n, Ordering::Relaxed);
                        request.send();
                    }
                }
            });
            let mut polled = 0;
            let mut poll = || {
                if request.take() {
                    polled = fed.load(Ordering::Relaxed);
                }
            };
            poll();
            poll();
            feeder.join().unwrap();
            poll();
            assert_eq!(polled, 2);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::PollRequest;

    #[test]
    fn a_request_is_pending_at_first_and_taken_once() {
        let request = PollRequest::default();
        assert_eq!([request.take(), request.take()], [true, false]);
        request.clone().send();
        assert_eq!([request.take(), request.take()], [true, false]);
    }
}
