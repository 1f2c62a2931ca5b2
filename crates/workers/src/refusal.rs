//! [`Refusal`]: a request that the system refused, and the remedy.

use std::fmt;

use crate::CoreId;

/// A request that the system refused. Audio works without it, with less safety; [`fix`](Self::fix) is the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The user may not have real-time threads of this priority.
    RealTime {
        /// The priority asked for.
        wanted: u8,
        /// Highest priority that this user may have; 0 for none.
        allowed: u8,
    },
    /// The user may have real-time threads, but the control group or sandbox of the process may not.
    RealTimeInGroup,
    /// More workers than cores were asked for: at real-time priority they would starve each other.
    MoreWorkersThanCores {
        /// Number of workers.
        workers: usize,
        /// Number of cores.
        cores: usize,
    },
    /// Workers that spin between cycles were asked for: at real-time priority the kernel would stop them.
    SpinAtRealTime,
    /// The process may not keep its memory from being paged out.
    MemoryLock {
        /// Number of bytes that may be locked.
        limit: u64,
    },
    /// This user may not write `/dev/cpu_dma_latency`, which keeps the CPU from deep sleep.
    DmaLatency,
    /// This kernel has no `/dev/cpu_dma_latency`, so the CPU cannot be kept from deep sleep.
    NoDmaLatency,
    /// The thread may not run on this core.
    Pin(CoreId),
    /// This build has no implementation for this operating system.
    Unsupported(&'static str),
    /// The system refused for another reason.
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RealTime { wanted, allowed: 0 } => {
                write!(
                    f,
                    "no real-time priority for this user (asked for {wanted})"
                )
            }
            Self::RealTime { wanted, allowed } => {
                write!(
                    f,
                    "real-time priority {wanted} asked for, but this user has {allowed} at most"
                )
            }
            Self::RealTimeInGroup => f.write_str(
                "the control group or sandbox of this process has no real-time priority",
            ),
            Self::MoreWorkersThanCores { workers, cores } => {
                write!(
                    f,
                    "no real-time priority for {workers} workers on {cores} cores"
                )
            }
            Self::SpinAtRealTime => {
                f.write_str("no real-time priority for workers that spin between cycles")
            }
            Self::MemoryLock { limit } => {
                write!(f, "only {limit} bytes of memory may be locked")
            }
            Self::DmaLatency => {
                f.write_str("this user may not limit the wake-up latency (/dev/cpu_dma_latency)")
            }
            Self::NoDmaLatency => f.write_str(
                "this kernel cannot limit the wake-up latency (no /dev/cpu_dma_latency)",
            ),
            Self::Pin(core) => write!(f, "this process may not run on {core}"),
            Self::Unsupported(what) => write!(f, "no {what} on this system"),
            Self::System { what, errno } => {
                let error = std::io::Error::from_raw_os_error(*errno);
                write!(f, "no {what}: {error}")
            }
        }
    }
}

impl std::error::Error for Refusal {}
