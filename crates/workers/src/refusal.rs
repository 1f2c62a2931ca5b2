//! [`Refusal`]: a request that the system refused, and the remedy.

use crate::CoreId;

/// A request that the system refused. Audio works without it, with less safety; [`fix`](Self::fix) is the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The user may not have real-time threads of this priority.
    #[error("{}", real_time(*.wanted, *.allowed))]
    RealTime {
        /// The priority asked for.
        wanted: u8,
        /// Highest priority that this user may have; 0 for none.
        allowed: u8,
    },
    /// The user may have real-time threads, but the control group or sandbox of the process may not.
    #[error("the control group or sandbox of this process has no real-time priority")]
    RealTimeInGroup,
    /// More workers than cores were asked for: at real-time priority they would starve each other.
    #[error("no real-time priority for {workers} workers on {cores} cores")]
    MoreWorkersThanCores {
        /// Number of workers.
        workers: usize,
        /// Number of cores.
        cores: usize,
    },
    /// Workers that spin between cycles were asked for: at real-time priority the kernel would stop them.
    #[error("no real-time priority for workers that spin between cycles")]
    SpinAtRealTime,
    /// The process may not keep its memory from being paged out.
    #[error("only {limit} bytes of memory may be locked")]
    MemoryLock {
        /// Number of bytes that may be locked.
        limit: u64,
    },
    /// This user may not write `/dev/cpu_dma_latency`, which keeps the CPU from deep sleep.
    #[error("this user may not limit the wake-up latency (/dev/cpu_dma_latency)")]
    DmaLatency,
    /// This kernel has no `/dev/cpu_dma_latency`, so the CPU cannot be kept from deep sleep.
    #[error("this kernel cannot limit the wake-up latency (no /dev/cpu_dma_latency)")]
    NoDmaLatency,
    /// The thread may not run on this core.
    #[error("this process may not run on {0}")]
    Pin(CoreId),
    /// This build has no implementation for this operating system.
    #[error("no {0} on this system")]
    Unsupported(&'static str),
    /// The system refused for another reason.
    #[error("no {what}: {}", std::io::Error::from_raw_os_error(*.errno))]
    System {
        /// The thing that was refused, as a noun phrase.
        what: &'static str,
        /// The system's error number.
        errno: i32,
    },
}

impl Refusal {
    /// Remedy for the user, in one line.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::RealTime { .. } => {
                "allow real-time priority: add `@audio - rtprio 95` to /etc/security/limits.d/audio.conf, join the \
                 group by `sudo usermod -aG audio $USER`, and log in again"
            }
            Self::RealTimeInGroup => {
                "run outside this container or service, or start it with real-time rights: docker wants \
                 `--cap-add SYS_NICE --ulimit rtprio=95`, a CPU control group wants cpu.rt_runtime_us above 0"
            }
            Self::MoreWorkersThanCores { .. } => {
                "ask for at most as many workers as there are cores"
            }
            Self::SpinAtRealTime => "choose `--wait hybrid` for real-time priority",
            Self::MemoryLock { .. } => {
                "allow locked memory: add `@audio - memlock unlimited` to /etc/security/limits.d/audio.conf, join the \
                 group by `sudo usermod -aG audio $USER`, and log in again"
            }
            Self::DmaLatency => {
                "allow the request: put `KERNEL==\"cpu_dma_latency\", GROUP=\"audio\", MODE=\"0660\"` into \
                 /etc/udev/rules.d/99-cpu-dma-latency.rules and restart; until then, run as root"
            }
            Self::NoDmaLatency => {
                "use a kernel with CONFIG_CPU_IDLE and CONFIG_PM; inside a container, \
                 pass /dev/cpu_dma_latency in"
            }
            Self::Pin(_) => "choose a core that this process may use; `taskset -p $$` shows them",
            Self::Unsupported(_) => "none: only Linux is supported so far",
            Self::System { .. } => "none known: see the error",
        }
    }
}

fn real_time(wanted: u8, allowed: u8) -> String {
    match allowed {
        0 => format!("no real-time priority for this user (asked for {wanted})"),
        _ => format!("real-time priority {wanted} asked for, but this user has {allowed} at most"),
    }
}
