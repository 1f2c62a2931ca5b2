//! The calls of the kernel that need `unsafe`: to have descriptors closed by number, to trace another process, to read clocks, and
//! to schedule the threads of other processes.
#![allow(unsafe_code)]

use std::io;
use units::Nanos;

/// Has the kernel close every descriptor but standard input, output and error with the next `exec` of this process. Until then
/// all stay open, whoever owns them.
///
/// Real-time: setup.
pub(crate) fn close_with_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
    // SAFETY: it takes numbers, and closes nothing: it sets a flag that only `exec` looks at.
    match unsafe { libc::close_range(3, libc::c_uint::MAX, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Attaches to another process as a debugger does: an attempt to leave a cell.
///
/// Real-time: setup.
pub(crate) fn trace_process(process: i32) -> io::Result<()> {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: this request reads and writes no memory.
    match unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, nothing, nothing) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Time of the machine's monotonic clock.
///
/// Real-time: hot.
pub(crate) fn now() -> Nanos {
    clock(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// Processor time that all threads of a process have used.
///
/// Real-time: setup.
pub(crate) fn process_time(process: i32) -> Option<Nanos> {
    let mut id = 0;
    // SAFETY: `id` is a clock id that the call may write.
    match unsafe { libc::clock_getcpuclockid(process, &raw mut id) } {
        0 => clock(id),
        _ => None,
    }
}

fn clock(id: libc::clockid_t) -> Option<Nanos> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a timespec that the call may write.
    match unsafe { libc::clock_gettime(id, &raw mut time) } {
        0 => Some(Nanos(
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
        )),
        _ => None,
    }
}

/// Gives a thread a policy and a level of the system's scheduler.
///
/// Real-time: setup.
pub(crate) fn set_scheduler(thread: i32, policy: i32, level: i32) -> io::Result<()> {
    // SAFETY: all zeros is a valid value of this structure of integers.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = level;
    // SAFETY: `param` lives through the call, which only reads it.
    match unsafe { libc::sched_setscheduler(thread, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Arguments of `sched_setattr`, in its first form.
#[repr(C)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Gives a thread `budget` in each `period`, by SCHED_DEADLINE.
///
/// Real-time: setup.
pub(crate) fn set_deadline(thread: i32, budget: Nanos, period: Nanos) -> io::Result<()> {
    let attr = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        policy: libc::SCHED_DEADLINE as u32,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: budget.0,
        deadline: period.0,
        period: period.0,
    };
    let attr = &raw const attr;
    // SAFETY: `attr` has the size that it names and lives through the call, which only reads it.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, thread, attr, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
