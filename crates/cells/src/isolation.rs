//! Isolation of a cell's process: the rights that it gives up before it plays, and attempts to get them back.
//!
//! | given up | by | what happens to an attempt |
//! |---|---|---|
//! | other cores | affinity, and no `sched_setaffinity` afterwards | refused |
//! | privileges of other programs | `no_new_privs` | a set-user-id program stays ours |
//! | files | Landlock on the main thread; seccomp on all: no `open` | refused |
//! | network, other processes, threads, programs | seccomp: no `socket`, `kill`, `ptrace`, `clone`, `execve` | refused |
//! | memory beyond its share | `RLIMIT_AS` | there is none; the cell ends |
//! | its core for good, at real-time priority | `RLIMIT_RTTIME`; a cell that the monitor switches: windows or budget, and the look for hangs | SIGXCPU; it is killed |
//! | core dumps, new descriptors | `RLIMIT_CORE`, `RLIMIT_NOFILE` | refused |
//!
//! The list of seccomp names what is allowed. All else gives EPERM: a library that tries sees an error, as it would without
//! the right.

use crate::descriptors::left_open;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};
use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use seccompiler::{SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use workers::Priority;

/// Longest time in microseconds for which a real-time thread of a cell may compute without a pause.
const REAL_TIME_LIMIT_US: u64 = 200_000;

/// System calls that a cell makes while it plays.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mlock,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_munlockall,
    libc::SYS_nanosleep,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
];

/// The limits of one cell.
#[derive(Clone, Debug, Default)]
pub struct Isolation {
    /// Cores that its threads may run on; empty for all.
    pub cores: Vec<usize>,
    /// Memory in MiB that it may take from now on.
    pub memory_mib: u64,
    /// Priority of its thread.
    pub priority: Priority,
    /// The monitor switches its threads. The kernel then cannot tell how long they compute without a pause: it begins to
    /// count anew only where a thread wakes up at real-time priority.
    pub is_switched: bool,
}

impl Isolation {
    /// Keeps this process on its cores. Threads that it starts inherit that, so it comes first. Returns what the system
    /// refused, with its fix.
    ///
    /// Real-time: setup.
    pub fn place(&self) -> Vec<String> {
        if self.cores.is_empty() {
            return Vec::new();
        }
        let mut set = CpuSet::new();
        let known = self.cores.iter().filter(|core| **core < CpuSet::MAX_CPU);
        known.for_each(|core| set.set(*core));
        let refused = sched_setaffinity(None, &set).err();
        let refused = refused.map(|error| {
            let cores = &self.cores;
            format!("not kept on the cores {cores:?}: {error}: name cores that this process may use; `taskset -p $$` shows them")
        });
        refused.into_iter().collect()
    }

    /// Takes the priority, and gives up for good what a cell does not need. Returns what the system refused, with its fix.
    ///
    /// Real-time: setup.
    pub fn restrict(&self) -> Vec<String> {
        // Read first: afterwards no file can be opened.
        let now = address_bytes();
        let mut refused = Vec::new();
        let mut check = |done: Result<(), String>| refused.extend(done.err());
        check(workers::set_priority(self.priority).map_err(|it| format!("{it}: {}", it.fix())));
        // A descriptor is needed to give up files, so their number is limited afterwards.
        check(restrict_files());
        check(self.limit_resources(now));
        check(restrict_calls());
        refused
    }

    /// Limits what the process may take, which has `now` bytes of addresses.
    fn limit_resources(&self, now: Option<u64>) -> Result<(), String> {
        let now = now.ok_or("no limit of memory: /proc/self/statm cannot be read: mount /proc")?;
        let memory = now.saturating_add(self.memory_mib << 20);
        let limits = [
            (Resource::As, memory),
            (Resource::Core, 0),
            (Resource::Nofile, 0),
            (Resource::Nproc, 0),
            (Resource::Rttime, REAL_TIME_LIMIT_US),
        ];
        for (resource, limit) in limits {
            let both = Rlimit {
                current: Some(limit),
                maximum: Some(limit),
            };
            if resource == Resource::Rttime && self.is_switched {
                continue;
            }
            setrlimit(resource, both).map_err(|error| {
                format!("no limit of {resource:?}: {error}: start divisi with higher hard limits (`ulimit -H -a`)")
            })?;
        }
        Ok(())
    }
}

/// Bytes of addresses that this process has.
fn address_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// Ends this process with its parent, which has the number `parent`.
///
/// # Errors
///
/// The parent has ended already.
///
/// Real-time: setup.
pub(crate) fn end_with_parent(parent: i32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before the call.
    match is_parent(parent) {
        true => Ok(()),
        false => Err(io::Error::other(
            "the process that started this one has ended",
        )),
    }
}

/// Returns true if `parent` is still the parent of this process.
pub(crate) fn is_parent(parent: i32) -> bool {
    rustix::process::getppid().is_some_and(|it| it.as_raw_nonzero().get() == parent)
}

/// Gives up every file, port and foreign process, where the kernel has Landlock.
fn restrict_files() -> Result<(), String> {
    let fix = "use a kernel with CONFIG_SECURITY_LANDLOCK, and `landlock` in its parameter lsm=; seccomp holds meanwhile";
    let abi = ABI::V6;
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    match restricted {
        Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
        Ok(_) => Err(format!("no Landlock: {fix}")),
        Err(error) => Err(format!("no Landlock: {error}: {fix}")),
    }
}

/// Gives up every system call but [`ALLOWED`], on all threads.
fn restrict_calls() -> Result<(), String> {
    let fix = "use a kernel with CONFIG_SECCOMP_FILTER";
    let refused = |error: &dyn std::fmt::Display| format!("no seccomp: {error}: {fix}");
    // Landlock may have set it; the filter needs it in any case.
    rustix::thread::set_no_new_privs(true).map_err(|error| refused(&error))?;
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| refused(&error))?;
    let rules: BTreeMap<i64, _> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, denied, SeccompAction::Allow, arch);
    let filter = filter.map_err(|error| refused(&error))?;
    let program: seccompiler::BpfProgram = filter.try_into().map_err(|error| refused(&error))?;
    apply_filter_all_threads(&program).map_err(|error| refused(&error))
}

/// Restricts this process as a cell's and tries to leave: one line for each attempt, with true if it failed.
///
/// Real-time: setup.
pub fn try_to_leave(parent: i32) -> Vec<(&'static str, bool)> {
    let isolation = Isolation {
        memory_mib: 64,
        ..Isolation::default()
    };
    let home = std::env::var_os("HOME").unwrap_or_else(|| "/root".into());
    let is_clean = left_open().is_ok_and(|left| left.is_empty());
    let refused = isolation.restrict();
    refused.iter().for_each(|it| eprintln!("refused: {it}"));
    let other = Pid::from_raw(parent);
    let signalled = |signal| other.map(|pid| rustix::process::kill_process(pid, signal));
    vec![
        ("use what was left open", is_clean),
        (
            "open the home folder",
            File::open(&home).is_err() && std::fs::read_dir(&home).is_err(),
        ),
        (
            "write a file",
            File::create("/tmp/divisi-cell-left").is_err(),
        ),
        (
            "connect",
            TcpStream::connect(("127.0.0.1", 9))
                .is_err_and(|it| it.raw_os_error() != Some(libc::ECONNREFUSED)),
        ),
        ("open a local socket", UnixDatagram::unbound().is_err()),
        ("trace another process", raw_trace(parent)),
        (
            "end another process",
            signalled(Signal::KILL).is_none_or(|it| it.is_err()),
        ),
        (
            "start a program",
            Command::new("/bin/true").status().is_err(),
        ),
        (
            "start a thread",
            std::thread::Builder::new().spawn(|| ()).is_err(),
        ),
        (
            "use other cores",
            sched_setaffinity(None, &CpuSet::new()).is_err_and(|it| it == rustix::io::Errno::PERM),
        ),
        ("take 4 GiB", !gets_memory(4 << 30)),
    ]
}

fn raw_trace(parent: i32) -> bool {
    crate::raw::trace_process(parent).is_err()
}

/// Returns true if this process gets so many bytes.
fn gets_memory(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    let got = memory.try_reserve_exact(bytes);
    // Otherwise the compiler leaves the allocation out.
    std::hint::black_box(&mut memory);
    got.is_ok()
}
