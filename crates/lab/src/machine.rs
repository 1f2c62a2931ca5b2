//! The machine that makes the runs: without it their numbers mean nothing.

use divisi::units::Frames;
use divisi::workers::{Grants, cores};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine that this process runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MachineInfo {
    /// Name of the processor.
    pub(crate) cpu: String,
    /// Number of cores that this process may run on.
    pub(crate) cores: usize,
    /// The system and its version.
    pub(crate) kernel: String,
    /// `granted`, or why real-time priority is refused.
    pub(crate) priority: String,
    /// `granted`, or why the processor cannot be kept out of deep sleep.
    pub(crate) wakes: String,
}

impl MachineInfo {
    /// Reads them from the system.
    pub(crate) fn detect() -> Self {
        let grants = Grants::probe();
        let granted = |refused: Option<String>| match refused {
            None => "granted".to_owned(),
            Some(why) => format!("refused: {why}"),
        };
        Self {
            cpu: cpu(),
            cores: cores().len().max(1),
            kernel: kernel(),
            priority: granted(grants.real_time.err().map(|r| r.to_string())),
            wakes: granted(grants.dma_latency.err().map(|r| r.to_string())),
        }
    }

    /// Processor, cores and system: two runs are comparable only if these are the same.
    pub(crate) fn name(&self) -> String {
        let Self {
            cpu, cores, kernel, ..
        } = self;
        format!("{cpu}; {cores} cores; {kernel}")
    }
}

fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text
            .lines()
            .find(|line| line.split(':').next().is_some_and(|k| k.trim() == key));
        line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()))
    };
    let name = value("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match (value("cpu family"), value("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family} model {model})"),
        _ => name,
    }
}

fn kernel() -> String {
    let read = |name| fs::read_to_string(name).unwrap_or_default();
    let system = read("/proc/sys/kernel/ostype");
    let release = read("/proc/sys/kernel/osrelease");
    format!("{} {}", system.trim(), release.trim())
        .trim()
        .to_owned()
}

/// Date and time now, in UTC, as 2026-11-21 13:50.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    date(since.map_or(0, |d| d.as_secs()))
}

/// Civil date of a number of seconds since 1970 (Hinnant, "chrono-compatible low-level date algorithms",
/// `civil_from_days`).
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era * 400 + year + late;
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// Period of a block at [`RATE_HZ`], in µs.
pub(crate) fn period_us(block: Frames) -> f64 {
    f64::from(block.0) * 1e6 / f64::from(RATE_HZ)
}

/// Sample rate of every experiment but *convolution*, which has its paper's.
pub(crate) const RATE_HZ: u32 = 48_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_agree_with_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_399), "2000-02-28 23:59");
        assert_eq!(date(951_868_800), "2000-03-01 00:00");
        assert_eq!(date(1_795_269_000), "2026-11-21 13:50");
    }

    #[test]
    fn this_machine_has_a_name_and_a_core() {
        let machine = MachineInfo::detect();
        assert!(machine.cores > 0 && !machine.cpu.is_empty());
        assert!(!machine.name().contains('\n'));
    }
}
