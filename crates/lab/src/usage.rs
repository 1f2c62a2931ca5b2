//! Processor time as the system counts it: of this process's threads, of the host, and of other programs.

use std::fs;
use std::time::Duration;

/// Nanoseconds in a tick of `/proc/stat`, a hundredth of a second.
const TICK_NS: u64 = 10_000_000;

/// Times of several threads together since each began, and what the host took from the whole machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    /// On a core.
    pub(crate) ran_ns: u64,
    /// Ready, without a core.
    pub(crate) waited_ns: u64,
    /// Time that the host of a virtual machine gave to others, of all cores.
    pub(crate) stolen_ns: u64,
}

impl ThreadTimes {
    /// Times so far of the threads whose name satisfies `is_counted`. Zeros where the system has no numbers.
    pub(crate) fn so_far(is_counted: impl Fn(&str) -> bool) -> Self {
        let mut times = Self {
            stolen_ns: machine_ticks(7) * TICK_NS,
            ..Self::default()
        };
        let Ok(threads) = fs::read_dir("/proc/self/task") else {
            return times;
        };
        for thread in threads.flatten() {
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            if is_counted(name.trim_end()) {
                let numbers =
                    fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
                let mut numbers = numbers.split_whitespace().map_while(|n| n.parse().ok());
                times.ran_ns += numbers.next().unwrap_or(0);
                times.waited_ns += numbers.next().unwrap_or(0);
            }
        }
        times
    }

    /// Difference to `before`. A thread that ended meanwhile takes its times with it.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            stolen_ns: self.stolen_ns.saturating_sub(before.stolen_ns),
        }
    }
}

/// Busy time of the machine's cores, and this process's share of it, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    all: u64,
    own: u64,
}

impl CpuTime {
    /// So far. Zeros where the system has no numbers.
    pub(crate) fn so_far() -> Self {
        let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let behind = own.rsplit_once(')').map_or("", |(_, behind)| behind);
        // Of this process, and of those that it started and waited for.
        let own = behind.split_whitespace().skip(11).take(4);
        Self {
            // User, nice, system, then (not work: idle, waiting for a disk) interrupts.
            all: [0, 1, 2, 5, 6].map(machine_ticks).iter().sum(),
            own: own.map_while(|t| t.parse::<u64>().ok()).sum(),
        }
    }

    /// Time for which other programs were busy since `before`, about.
    pub(crate) fn others_since(self, before: Self) -> Duration {
        let all = self.all.saturating_sub(before.all);
        let own = self.own.saturating_sub(before.own);
        Duration::from_nanos(TICK_NS * all.saturating_sub(own))
    }
}

/// A number of the first line of `/proc/stat`, which sums up all cores (see `man proc_stat`): 0 user, 1 nice, 2 system, 3
/// idle, 4 waiting for a disk, 5 and 6 interrupts, 7 stolen by the host.
fn machine_ticks(at: usize) -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let number = line.split_whitespace().nth(1 + at);
    number.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_of_the_name_are_counted() {
        let named = std::thread::Builder::new().name("lab-counted".into());
        let work = || {
            let mut x = 1_u64;
            for i in 0..20_000_000_u64 {
                x = std::hint::black_box(x.wrapping_mul(i | 1));
            }
            ["lab-counted", "no such name"].map(|of| ThreadTimes::so_far(|name| name == of).ran_ns)
        };
        let [counted, others] = named.spawn(work).unwrap().join().unwrap();
        let is_readable = fs::read_to_string("/proc/self/schedstat").is_ok();
        assert!(counted > 0 || !is_readable);
        assert_eq!(others, 0);
    }

    #[test]
    fn time_of_others_is_all_busy_time_less_our_own() {
        let busy = |all, own| CpuTime { all, own };
        let ms = Duration::from_millis;
        assert_eq!(busy(130, 25).others_since(busy(100, 5)), ms(100));
        assert_eq!(busy(100, 25).others_since(busy(100, 5)), ms(0));
    }
}
