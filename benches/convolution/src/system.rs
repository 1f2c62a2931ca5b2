//! What is asked of the system: a core, a priority, memory that stays; and what it tells of this process.

use std::fs;
use std::io;

/// Keeps this thread, and those it starts, on a core.
pub fn pin(core: usize) -> io::Result<()> {
    // SAFETY: a set of bits, all clear, is one of no core.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `core` is below the set's size, or the macro ignores it.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the set lives through the call; 0 is this thread.
    done(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) })
}

/// Gives this thread a real-time priority; 0 takes it back.
pub fn prioritise(level: i32) -> io::Result<()> {
    let policy = if level > 0 {
        libc::SCHED_FIFO
    } else {
        libc::SCHED_OTHER
    };
    let how = libc::sched_param {
        sched_priority: level,
    };
    // SAFETY: `how` lives through the call; 0 is this thread.
    done(unsafe { libc::sched_setscheduler(0, policy, &how) })
}

/// Keeps all memory where it is.
pub fn lock_memory() -> io::Result<()> {
    // SAFETY: it has no other effect than that.
    done(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
}

/// Keeps the processor from deep sleep as long as the file lives.
pub fn stay_awake() -> Option<fs::File> {
    use std::io::Write;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// How much memory of this process is there that is not a file's, in bytes; what was given back to the allocator does not
/// count.
pub fn resident_bytes() -> u64 {
    // SAFETY: it gives free pages back to the system, nothing else.
    unsafe { libc::malloc_trim(0) };
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB"));
    kib.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The threads of this process: how many, and how many of them sleep.
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

/// The processor's name.
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
