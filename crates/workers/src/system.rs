//! Requests of threads to the operating system: cores, priority, locked memory, wake-up latency.
//!
//! | request | Linux | refused if |
//! |---|---|---|
//! | [`pin`] | `sched_setaffinity` | the core is not in the process's CPU set |
//! | [`set_priority`] | `sched_setscheduler`, `SCHED_FIFO`, not inherited by children | `RLIMIT_RTPRIO` is below the level and there is no `CAP_SYS_NICE`; or the control group has no real-time share |
//! | [`MemoryLock`] | `mlockall`, current and future pages | `RLIMIT_MEMLOCK` is finite and there is no `CAP_IPC_LOCK` |
//! | [`DmaLatency`] | 0 written to `/dev/cpu_dma_latency`, which stays open | the user may not write the file, or the kernel has none |
//!
//! A refusal is a value, [`Refusal`], with a remedy for the user.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Refusal;

#[cfg(target_os = "linux")]
#[path = "system/linux.rs"]
pub(crate) mod kernel;
#[cfg(not(target_os = "linux"))]
#[path = "system/other.rs"]
pub(crate) mod kernel;

pub use kernel::DmaLatency;
pub(crate) use kernel::{highest_priority, may_hold_dma_latency, may_lock, rt_runtime_us};

/// One of the machine's cores, by the system's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreId(pub usize);

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {}", self.0)
    }
}

/// Scheduling priority of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// The normal time-sharing policy.
    #[default]
    Ordinary,
    /// First-in, first-out real-time policy, at a level from 1 to 99; others are clamped. It runs before every ordinary
    /// thread, and before real-time threads of a lower level.
    RealTime(u8),
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordinary => write!(f, "ordinary priority"),
            Self::RealTime(level) => write!(f, "real-time priority {level}"),
        }
    }
}

/// The cores that this process may use, lowest first; never empty. The result of the first call is kept, since a thread
/// that pins itself would change it.
///
/// Real-time: setup.
pub fn cores() -> &'static [CoreId] {
    static CORES: OnceLock<Vec<CoreId>> = OnceLock::new();
    CORES.get_or_init(|| {
        let cores = kernel::allowed_cores();
        if cores.is_empty() {
            vec![CoreId(0)]
        } else {
            cores
        }
    })
}

/// Keeps the calling thread on `core`. Threads that it starts inherit that.
///
/// Real-time: setup.
pub fn pin(core: CoreId) -> Result<(), Refusal> {
    cores();
    kernel::run_on(&[core]).map_err(|errno| kernel::pin_refusal(core, errno))
}

/// Lets the calling thread run on all of [`cores`].
///
/// Real-time: setup.
pub fn unpin() -> Result<(), Refusal> {
    kernel::run_on(cores()).map_err(|errno| Refusal::System {
        what: "return to all cores",
        errno,
    })
}

/// Gives the calling thread a priority. Threads that it starts do not inherit a real-time one.
///
/// Real-time: setup.
pub fn set_priority(priority: Priority) -> Result<(), Refusal> {
    match priority {
        Priority::Ordinary => kernel::set_ordinary(),
        Priority::RealTime(level) => kernel::set_real_time(level.clamp(1, 99)),
    }
}

/// Gives the calling thread, of ordinary priority, the lowest niceness: it runs when no other thread wants the core. A
/// thread without privilege cannot undo it.
///
/// Real-time: setup.
pub(crate) fn lower_priority() {
    kernel::lower_priority();
}

/// The calling thread's priority.
///
/// Real-time: setup.
pub fn current_priority() -> Priority {
    kernel::current_priority()
}

/// Number of [`MemoryLock`]s of this process.
static MEMORY_LOCKS: Mutex<usize> = Mutex::new(0);

/// Keeps all memory of this process from being paged out as long as it lives, including memory that is mapped later. Only
/// the last of several unlocks it.
#[derive(Debug)]
#[must_use = "the memory is locked as long as this value lives"]
pub struct MemoryLock(());

impl MemoryLock {
    /// Locks all memory of this process. The kernel maps every page of it.
    ///
    /// Real-time: setup.
    pub fn acquire() -> Result<Self, Refusal> {
        let mut locks = MEMORY_LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if *locks == 0 {
            kernel::lock_memory()?;
        }
        *locks += 1;
        Ok(Self(()))
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        let mut locks = MEMORY_LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        *locks -= 1;
        if *locks == 0 {
            kernel::unlock_memory();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Runs `check` on a thread of its own, which may change its core and priority.
    fn on_own_thread(check: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(check).join().unwrap());
    }

    /// Kilobytes of this process that are locked.
    #[cfg(target_os = "linux")]
    fn locked_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.unwrap().parse().unwrap()
    }

    #[test]
    // ThreadSanitizer replaces the system call by nothing.
    #[cfg(all(target_os = "linux", not(tsan)))]
    fn memory_stays_locked_until_the_last_lock_is_gone() {
        let Ok(first) = MemoryLock::acquire() else {
            eprintln!("SKIPPED memory_stays_locked_until_the_last_lock_is_gone: not granted");
            return;
        };
        let second = MemoryLock::acquire().unwrap();
        drop(first);
        assert!(locked_kib() > 0);
        drop(second);
        assert_eq!(locked_kib(), 0);
    }

    #[test]
    fn there_is_a_core_to_run_on_and_a_thread_may_be_pinned_to_it() {
        on_own_thread(|| {
            assert!(cores().is_sorted() && !cores().is_empty());
            if cfg!(target_os = "linux") {
                assert_eq!(pin(cores()[0]), Ok(()));
                assert_eq!(unpin(), Ok(()));
                let nowhere = CoreId(1023);
                assert_eq!(pin(nowhere), Err(Refusal::Pin(nowhere)));
                let beyond = CoreId(usize::MAX);
                assert_eq!(pin(beyond), Err(Refusal::Pin(beyond)));
            }
        });
    }

    #[test]
    fn a_thread_has_the_priority_it_was_granted_and_its_children_are_ordinary() {
        on_own_thread(|| match set_priority(Priority::RealTime(3)) {
            Ok(()) => {
                assert_eq!(current_priority(), Priority::RealTime(3));
                on_own_thread(|| assert_eq!(current_priority(), Priority::Ordinary));
                assert_eq!(set_priority(Priority::Ordinary), Ok(()));
                assert_eq!(current_priority(), Priority::Ordinary);
            }
            Err(refusal) => {
                assert!(!refusal.fix().is_empty());
                assert_eq!(current_priority(), Priority::Ordinary);
            }
        });
    }
}
