//! [`MachineTime`]: processor time of all cores, as the system counts it: of this process, of other programs, of the host; and
//! the [`load_average`].

use std::fs;
use std::time::Duration;

/// Nanoseconds in a tick of `/proc/stat`, a hundredth of a second.
const TICK_NS: u64 = 10_000_000;

/// Times for which the machine's cores were busy so far, in ticks of 10 ms. Zeros where the system has no numbers: they
/// are read on Linux only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    /// Of all programs.
    all: u64,
    /// Of this process.
    own: u64,
    /// Taken by the host of a virtual machine.
    stolen: u64,
}

impl MachineTime {
    /// Reads the times.
    ///
    /// Real-time: waits, for a system call.
    pub fn so_far() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        Self::parse(&stat, &own)
    }

    /// Of the first line of `/proc/stat`, which sums up all cores, and of `/proc/self/stat`.
    fn parse(stat: &str, own: &str) -> Self {
        let words = stat.lines().next().unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        // 0 user, 1 nice, 2 system, 3 idle, 4 waiting for a disk, 5 and 6 interrupts, 7 stolen by the host.
        let ticks = |at: usize| {
            let word = words.get(1 + at).and_then(|word| word.parse().ok());
            word.unwrap_or(0_u64)
        };
        // The process's name may hold anything.
        let behind = own.rsplit_once(')').map_or("", |(_, behind)| behind);
        // Of this process, and of those that it started and waited for.
        let own = behind.split_whitespace().skip(11).take(4);
        Self {
            all: [0, 1, 2, 5, 6].map(ticks).iter().sum(),
            own: own.map_while(|word| word.parse::<u64>().ok()).sum(),
            stolen: ticks(7),
        }
    }

    /// Time for which other programs were busy since `before`, of all cores together.
    pub fn others_since(self, before: Self) -> Duration {
        let all = self.all.saturating_sub(before.all);
        let own = self.own.saturating_sub(before.own);
        Duration::from_nanos(TICK_NS * all.saturating_sub(own))
    }

    /// Time that the host of a virtual machine gave to others since `before`, of all cores together.
    pub fn stolen_since(self, before: Self) -> Duration {
        Duration::from_nanos(TICK_NS * self.stolen.saturating_sub(before.stolen))
    }
}

/// Number of threads that had or wanted a core, on average over the last minute; `None` where the system has no such number.
///
/// Real-time: waits, for a system call.
pub fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_others_is_all_busy_time_less_our_own() {
        let before = MachineTime::parse(
            "cpu  10 20 30 4000 50 1 2 7 0 0\ncpu0 1 1 1 1",
            "42 (a) b) S 1 1 1 0 -1 4194304 100 0 0 0 3 4 5 6 20 0",
        );
        assert_eq!((before.all, before.own, before.stolen), (63, 18, 7));
        let after = MachineTime {
            all: 93,
            own: 38,
            stolen: 9,
        };
        let ms = Duration::from_millis;
        assert_eq!(after.others_since(before), ms(100));
        assert_eq!(after.stolen_since(before), ms(20));
        assert_eq!(before.others_since(after), ms(0));
        assert_eq!(MachineTime::parse("", ""), MachineTime::default());
    }
}
