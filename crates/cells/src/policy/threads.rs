//! All threads of another process, switched together.

use crate::raw;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io;
use workers::Priority;

/// Class of threads with the system's scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// They run only while no other thread wants their core.
    Idle,
    /// They have this priority.
    At(Priority),
}

/// Puts all threads of `process` into a class.
///
/// # Errors
///
/// The system refuses it for one of them.
///
/// Real-time: setup.
pub(crate) fn set_class(process: i32, class: Class) -> io::Result<()> {
    let (policy, level) = match class {
        Class::Idle => (libc::SCHED_IDLE, 0),
        Class::At(Priority::RealTime(level)) => (libc::SCHED_FIFO, i32::from(level)),
        Class::At(_) => (libc::SCHED_OTHER, 0),
    };
    // Only a privileged process may take this flag back.
    let policy = policy | libc::SCHED_RESET_ON_FORK;
    each_thread(process, |thread| raw::set_scheduler(thread, policy, level))
}

/// Keeps all threads of `process` on `cores`; on all of the machine's, if there are none.
///
/// # Errors
///
/// The system refuses it for one of them.
///
/// Real-time: setup.
pub(crate) fn place_threads(process: i32, cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    let all = workers::cores().iter().map(|core| core.0);
    let cores = match cores.is_empty() {
        true => all.collect(),
        false => cores.to_vec(),
    };
    let known = cores.into_iter().filter(|core| *core < CpuSet::MAX_CPU);
    known.for_each(|core| set.set(core));
    each_thread(process, |thread| {
        sched_setaffinity(Pid::from_raw(thread), &set).map_err(io::Error::from)
    })
}

/// Calls `change` with the number of each thread. Those that end meanwhile are passed over.
fn each_thread(process: i32, change: impl Fn(i32) -> io::Result<()>) -> io::Result<()> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"))?;
    for task in tasks {
        let name = task?.file_name();
        let Some(thread) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        match change(thread) {
            Err(error) if error.raw_os_error() != Some(libc::ESRCH) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
