//! Requests to the Linux kernel.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};

use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use units::Nanos;

use super::{CoreId, Priority};
use crate::{Refusal, ThreadUsage};

const DMA_LATENCY_FILE: &str = "/dev/cpu_dma_latency";
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_NICE: u32 = 23;

pub(super) fn allowed_cores() -> Vec<CoreId> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|core| set.is_set(*core)).map(CoreId).collect()
}

/// Restricts the calling thread to `cores`. The error is the system's number.
pub(super) fn run_on(cores: &[CoreId]) -> Result<(), i32> {
    let mut set = CpuSet::new();
    for core in cores.iter().filter(|core| core.0 < CpuSet::MAX_CPU) {
        set.set(core.0);
    }
    sched_setaffinity(None, &set).map_err(|error| error.raw_os_error())
}

pub(super) fn pin_refusal(core: CoreId, errno: i32) -> Refusal {
    match errno {
        libc::EINVAL => Refusal::Pin(core),
        errno => Refusal::System {
            what: "pinning to a core",
            errno,
        },
    }
}

pub(super) fn set_ordinary() -> Result<(), Refusal> {
    set_scheduler(libc::SCHED_OTHER, 0).map_err(|errno| Refusal::System {
        what: "return to ordinary priority",
        errno,
    })
}

pub(super) fn lower_priority() {
    // SAFETY: it takes numbers; 0 is the calling thread. No thread is refused less than it has.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
}

pub(super) fn set_real_time(level: u8) -> Result<(), Refusal> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    set_scheduler(policy, level.into()).map_err(|errno| match (errno, highest_priority()) {
        (libc::EPERM, allowed) if allowed < level => Refusal::RealTime {
            wanted: level,
            allowed,
        },
        (libc::EPERM, _) => Refusal::RealTimeInGroup,
        (errno, _) => Refusal::System {
            what: "real-time priority",
            errno,
        },
    })
}

pub(super) fn current_priority() -> Priority {
    // Thread 0 is the caller.
    thread_priority(0).unwrap_or(Priority::Ordinary)
}

/// Priority of thread `number`; `None` if there is none.
pub(crate) fn thread_priority(number: u32) -> Option<Priority> {
    let mut parameter = Parameter { priority: 0 };
    // SAFETY: the kernel writes one number into `parameter`, which is as it expects.
    let (policy, got) = unsafe {
        let policy = libc::syscall(libc::SYS_sched_getscheduler, number);
        (
            policy,
            libc::syscall(libc::SYS_sched_getparam, number, &raw mut parameter),
        )
    };
    if policy < 0 || got != 0 {
        return None;
    }
    let policy = policy as i32 & !libc::SCHED_RESET_ON_FORK;
    Some(match policy {
        libc::SCHED_FIFO | libc::SCHED_RR => Priority::RealTime(parameter.priority as u8),
        _ => Priority::Ordinary,
    })
}

/// The system's number of the calling thread.
pub(crate) fn thread_number() -> u32 {
    // SAFETY: it takes nothing and gives a number.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Usage of thread `number` of this process; `None` if there is none.
pub(crate) fn thread_usage(number: u32) -> Option<ThreadUsage> {
    let path = format!("/proc/self/task/{number}/stat");
    let line = std::fs::read_to_string(path).ok()?;
    // The name before it, in brackets, may hold anything.
    let (_, after_name) = line.rsplit_once(')')?;
    let state = after_name.trim_start().chars().next()?;
    Some(ThreadUsage {
        processor_time: processor_time(number)?,
        is_blocked: matches!(state, 'S' | 'D'),
    })
}

fn processor_time(number: u32) -> Option<Nanos> {
    // The kernel's clock of one thread's time on a core (`MAKE_THREAD_CPUCLOCK` with `CPUCLOCK_SCHED`).
    let clock = (!(number as libc::clockid_t) << 3) | 6;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes a time into `time`, or refuses a clock that does not exist.
    let got = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let nanos = (time.tv_sec as u64).checked_mul(1_000_000_000)?;
    (got == 0).then(|| Nanos(nanos + time.tv_nsec as u64))
}

/// The kernel's `sched_param`.
#[repr(C)]
struct Parameter {
    priority: libc::c_int,
}

/// Makes the system call itself: musl's function always refuses.
fn set_scheduler(policy: i32, priority: i32) -> Result<(), i32> {
    let parameter = Parameter { priority };
    // SAFETY: thread 0 is the caller; the kernel reads one number from `parameter`, which is as it expects.
    match unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            policy,
            &raw const parameter,
        )
    } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
    }
}

/// The highest real-time priority that this user may have; 0 for none.
pub(crate) fn highest_priority() -> u8 {
    if has_capability(CAP_SYS_NICE) {
        return 99;
    }
    getrlimit(Resource::Rtprio)
        .current
        .map_or(99, |limit| limit.min(99) as u8)
}

/// Returns the error that locking all memory would return. Locks nothing.
pub(crate) fn may_lock() -> Result<(), Refusal> {
    match getrlimit(Resource::Memlock).current {
        Some(limit) if !has_capability(CAP_IPC_LOCK) => Err(Refusal::MemoryLock { limit }),
        _ => Ok(()),
    }
}

pub(super) fn lock_memory() -> Result<(), Refusal> {
    // Under a limit the lock itself might succeed, and then every later allocation beyond the limit would fail.
    may_lock()?;
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    rustix::mm::mlockall(all).map_err(|error| Refusal::System {
        what: "locked memory",
        errno: error.raw_os_error(),
    })
}

pub(super) fn unlock_memory() {
    // If it fails, the memory stays locked, which does no harm.
    let _ = rustix::mm::munlockall();
}

fn has_capability(capability: u32) -> bool {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set >> capability & 1 != 0)
}

/// Time that real-time threads may run in each second, in microseconds; negative for no limit.
pub(crate) fn rt_runtime_us() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").ok()?;
    text.trim().parse().ok()
}

/// Keeps the CPU from deep sleep states as long as it lives, so that threads wake fast. It costs power. See the
/// kernel's `Documentation/power/pm_qos_interface.rst`.
#[derive(Debug)]
#[must_use = "the request holds as long as this value lives"]
pub struct DmaLatency {
    _request: File,
}

impl DmaLatency {
    /// Requests a wake-up latency of 0.
    ///
    /// Real-time: setup.
    pub fn acquire() -> Result<Self, Refusal> {
        let mut request = open_request()?;
        let written = request.write_all(&0u32.to_ne_bytes());
        written.map_err(|error| dma_latency_refusal(&error))?;
        Ok(Self { _request: request })
    }
}

/// Returns the error that [`DmaLatency::acquire`] would return.
pub(crate) fn may_hold_dma_latency() -> Result<(), Refusal> {
    // Opening the file is a request of its own, which is dropped at once.
    open_request().map(drop)
}

fn open_request() -> Result<File, Refusal> {
    let open = OpenOptions::new().write(true).open(DMA_LATENCY_FILE);
    open.map_err(|error| dma_latency_refusal(&error))
}

fn dma_latency_refusal(error: &std::io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::NotFound => Refusal::NoDmaLatency,
        ErrorKind::PermissionDenied => Refusal::DmaLatency,
        _ => Refusal::System {
            what: "limit on the wake-up latency",
            errno: error.raw_os_error().unwrap_or(0),
        },
    }
}
