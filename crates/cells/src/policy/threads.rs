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

/// Name of the thread of a cell that edits and measures.
pub(crate) const EDITS: &str = "divisi-edits";
/// Names of the threads that no block waits for: they run at ordinary priority, where the others have a higher one. The last two are
/// those of an engine.
const BACKGROUND: [&str; 3] = [EDITS, "divisi-disk", "divisi-ahead"];

/// The threads of `process` that no block waits for, by their names. One that takes such a name without a reason has a lower priority
/// by it.
///
/// Real-time: setup.
pub(super) fn background_threads(process: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let has_name = |thread: i32| {
        let path = format!("/proc/{process}/task/{thread}/comm");
        std::fs::read_to_string(path).is_ok_and(|it| BACKGROUND.contains(&it.trim_end()))
    };
    // Without it there are none that are told apart.
    let _ = each_thread(process, |thread| {
        found.extend(has_name(thread).then_some(thread));
        Ok(())
    });
    found
}

/// Puts all threads of `process` into a class, and those of `ordinary` into none above that of ordinary programs.
///
/// # Errors
///
/// The system refuses it for one of them.
///
/// Real-time: setup.
pub(crate) fn set_class(process: i32, class: Class, ordinary: &[i32]) -> io::Result<()> {
    each_thread(process, |thread| {
        let class = match class {
            Class::At(_) if ordinary.contains(&thread) => Class::At(Priority::Ordinary),
            class => class,
        };
        set_thread_class(thread, class)
    })
}

/// Puts one thread into a class.
///
/// # Errors
///
/// The system refuses it.
///
/// Real-time: setup.
pub(crate) fn set_thread_class(thread: i32, class: Class) -> io::Result<()> {
    let (policy, level) = match class {
        Class::Idle => (libc::SCHED_IDLE, 0),
        Class::At(Priority::RealTime(level)) => (libc::SCHED_FIFO, i32::from(level)),
        Class::At(_) => (libc::SCHED_OTHER, 0),
    };
    // Only a privileged process may take this flag back.
    let policy = policy | libc::SCHED_RESET_ON_FORK;
    raw::set_scheduler(thread, policy, level)
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
fn each_thread(process: i32, mut change: impl FnMut(i32) -> io::Result<()>) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    const THREADS: usize = 4;
    const NAME: &str =
        "policy::threads::tests::all_threads_of_a_process_change_their_class_together";
    /// Set in the process whose threads are switched.
    const IS_SWITCHED: &str = "DIVISI_IS_SWITCHED";

    /// The scheduler's class of each thread of a process.
    fn classes(process: u32) -> Vec<i32> {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let class = tasks.filter_map(|task| {
            let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
            // Of the words behind the name the 39th.
            let (_, behind) = stat.rsplit_once(')')?;
            behind.split_whitespace().nth(38)?.parse().ok()
        });
        class.collect()
    }

    #[test]
    fn all_threads_of_a_process_change_their_class_together() {
        if std::env::var_os(IS_SWITCHED).is_some() {
            let wait = || std::thread::sleep(Duration::from_secs(60));
            let mut threads: Vec<_> = (0..THREADS).map(|_| std::thread::spawn(wait)).collect();
            let edits = std::thread::Builder::new().name(EDITS.to_owned());
            threads.push(edits.spawn(wait).unwrap());
            threads.into_iter().for_each(|it| it.join().unwrap());
            return;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME]).env(IS_SWITCHED, "1");
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let process = child.id();
        let edits = || background_threads(process as i32);
        while classes(process).len() < THREADS + 2 || edits().len() != 1 {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
        let set = [Class::Idle, Class::At(Priority::RealTime(50)), Class::Idle];
        let ordinary = edits();
        let found =
            set.map(|class| set_class(process as i32, class, &ordinary).map(|()| classes(process)));
        let wanted = [libc::SCHED_IDLE, libc::SCHED_FIFO, libc::SCHED_IDLE];
        child.kill().unwrap();
        child.wait().unwrap();
        for (found, wanted) in found.into_iter().zip(wanted) {
            match found {
                Err(error) => println!("SKIPPED {NAME}: {error}"),
                Ok(all) => {
                    let others = all.iter().filter(|it| **it & 0xff != wanted);
                    let others: Vec<i32> = others.map(|it| *it & 0xff).collect();
                    assert!(all.len() > THREADS + 1, "{all:?}");
                    match wanted {
                        libc::SCHED_FIFO => assert_eq!(others, [libc::SCHED_OTHER], "{all:?}"),
                        _ => assert!(others.is_empty(), "{all:?}"),
                    }
                }
            }
        }
    }
}
