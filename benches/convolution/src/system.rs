//! Calls to the system: affinity, priority, memory locks; and figures about this process.

use std::fs;
use std::io;

/// Pins this thread, and the threads that it starts, to a core.
pub fn pin(core: usize) -> io::Result<()> {
    // SAFETY: a zeroed set contains no core.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `core` is below the set's size, or the macro ignores it.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the set lives through the call; 0 is this thread.
    done(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) })
}

/// Sets the real-time priority of this thread; 0 is ordinary scheduling.
pub fn set_priority(level: i32) -> io::Result<()> {
    let policy = if level > 0 {
        libc::SCHED_FIFO
    } else {
        libc::SCHED_OTHER
    };
    let param = libc::sched_param {
        sched_priority: level,
    };
    // SAFETY: `param` lives through the call; 0 is this thread.
    done(unsafe { libc::sched_setscheduler(0, policy, &param) })
}

/// Locks all memory of the process into RAM.
pub fn lock_memory() -> io::Result<()> {
    // SAFETY: it has no other effect than that.
    done(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
}

/// Keeps the processor out of deep sleep states while the returned file is open.
pub fn stay_awake() -> Option<fs::File> {
    use std::io::Write;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// Resident anonymous memory of this process in bytes, after freed memory has been returned to the system.
pub fn resident_bytes() -> u64 {
    // SAFETY: it gives free pages back to the system, nothing else.
    unsafe { libc::malloc_trim(0) };
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    kib.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Number of threads of this process, and number of those that sleep.
pub fn threads() -> (usize, usize) {
    let Ok(all) = fs::read_dir("/proc/self/task") else {
        return (0, 0);
    };
    let state = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        text.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    all.flatten().fold((0, 0), |(all, asleep), thread| {
        (all + 1, asleep + usize::from(state(thread)))
    })
}

/// Name of the processor.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text
            .lines()
            .find(|l| l.split(':').next().is_some_and(|k| k.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let [name, family, model] =
        ["model name", "cpu family", "model"].map(|key| value(key).unwrap_or_else(|| "?".into()));
    format!("{name} (family {family} model {model})")
}

fn done(answer: libc::c_int) -> io::Result<()> {
    match answer {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
