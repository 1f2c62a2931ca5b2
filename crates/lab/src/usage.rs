//! Processor time of this process's threads, as the system counts it.

use divisi::workers::MachineTime;
use std::fs;

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
        let stolen = MachineTime::so_far().stolen_since(MachineTime::default());
        let mut times = Self {
            stolen_ns: stolen.as_nanos() as u64,
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
}
