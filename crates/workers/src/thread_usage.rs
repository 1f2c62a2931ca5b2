//! [`ThreadUsage`]: the processor time that a thread of this process has used, and if it is blocked; for another thread
//! that watches it.

use std::cell::Cell;

use units::Nanos;

use crate::Priority;
use crate::system::kernel;

/// The system's number of a thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(u32);

/// Use of the processor by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Time that it has run on a core since it was started.
    pub processor_time: Nanos,
    /// It waits in a system call or for a page, at this moment. A thread that is ready and has no core is not blocked,
    /// nor is one that was stopped by a signal.
    pub is_blocked: bool,
}

thread_local! {
    /// Number of this thread, or 0 before it was asked for.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

#[cold]
fn ask_number() -> u32 {
    NUMBER.set(kernel::thread_number());
    NUMBER.get()
}

impl ThreadId {
    /// The calling thread; `None` if the system has no number for it. Asks the system in the first call of each thread.
    ///
    /// Real-time: hot, but for a thread's first call.
    #[inline]
    pub fn current() -> Option<Self> {
        let known = NUMBER.get();
        Self::from_number(match known {
            0 => ask_number(),
            _ => known,
        })
    }

    /// The thread with this number; `None` for 0.
    #[inline]
    pub fn from_number(number: u32) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// Its number, which is not 0.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// Its usage so far; `None` if it has ended, or on a system that does not tell.
    ///
    /// Real-time: setup.
    pub fn usage(self) -> Option<ThreadUsage> {
        kernel::thread_usage(self.0)
    }

    /// Its priority; `None` if it has ended, or on a system that does not tell.
    ///
    /// Real-time: setup.
    pub fn priority(self) -> Option<Priority> {
        kernel::thread_priority(self.0)
    }
}

#[cfg(all(test, not(loom), target_os = "linux"))]
mod tests {
    use super::ThreadId;
    use crate::Priority;
    use std::sync::mpsc;

    #[test]
    fn another_thread_sees_what_a_thread_has_used_and_that_it_is_blocked() {
        let (sender, number) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut sum = 0_u64;
            for n in 0..2_000_000_u64 {
                sum = std::hint::black_box(sum ^ n);
            }
            sender.send(ThreadId::current().unwrap()).unwrap();
            let _ = ended.recv();
        });
        let id = number.recv().unwrap();
        assert_ne!(Some(id), ThreadId::current());
        assert_eq!(id.priority(), Some(Priority::Ordinary));
        while !id.usage().unwrap().is_blocked {
            std::thread::yield_now();
        }
        let used = id.usage().unwrap().processor_time;
        assert!(used.0 > 0);
        // Blocked, it uses no more.
        assert_eq!(id.usage().unwrap().processor_time, used);
        drop(end);
        thread.join().unwrap();
        assert_eq!(id.usage(), None);
    }
}
