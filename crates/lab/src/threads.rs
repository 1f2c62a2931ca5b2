//! What the system says of this process's threads: how long they ran, and how long they were ready and had no core; and
//! how busy the machine was with others.

use std::fs;
use std::time::Duration;

/// Times of all threads together, in ns, since each began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// On a core.
    pub(crate) ran: u64,
    /// Ready, without a core.
    pub(crate) waited: u64,
    /// What the host took from all cores of the machine.
    pub(crate) stolen: u64,
}

impl Spent {
    /// So far, by the threads for whose name `is_one` holds. Zeros where the system does not tell.
    pub(crate) fn so_far(is_one: impl Fn(&str) -> bool) -> Self {
        let mut spent = Self {
            stolen: stolen(),
            ..Self::default()
        };
        let Ok(threads) = fs::read_dir("/proc/self/task") else {
            return spent;
        };
        for thread in threads.flatten() {
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            let times = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            if is_one(name.trim_end()) {
                let mut times = times.split_whitespace().map_while(|t| t.parse().ok());
                spent.ran += times.next().unwrap_or(0);
                spent.waited += times.next().unwrap_or(0);
            }
        }
        spent
    }

    /// Since `before`. A thread that has ended meanwhile takes its times along.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            ran: self.ran.saturating_sub(before.ran),
            waited: self.waited.saturating_sub(before.waited),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }
}

/// How long the machine's cores were busy, and how much of that was this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Busy {
    all: u64,
    ours: u64,
}

impl Busy {
    /// So far, in hundredths of a second. Zeros where the system does not tell.
    pub(crate) fn so_far() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let cores = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = (cores.split_whitespace().skip(1))
            .map_while(|t| t.parse().ok())
            .collect();
        // User, nice, system, then idle and waiting for a disk, which are not work, then interrupts.
        let work = [0, 1, 2, 5, 6].map(|at| ticks.get(at).copied().unwrap_or(0));
        let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let behind = own.rsplit_once(')').map_or("", |(_, behind)| behind);
        // Of this process and of those that it started and waited for.
        let own = behind.split_whitespace().skip(11).take(4);
        Self {
            all: work.iter().sum(),
            ours: own.map_while(|t| t.parse::<u64>().ok()).sum(),
        }
    }

    /// How long others were busy since `before`, about.
    pub(crate) fn others_since(self, before: Self) -> Duration {
        let all = self.all.saturating_sub(before.all);
        let ours = self.ours.saturating_sub(before.ours);
        Duration::from_millis(10 * all.saturating_sub(ours))
    }
}

/// Hundredths of a second that the host gave to others, in ns.
fn stolen() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = stat
        .lines()
        .next()
        .and_then(|l| l.split_whitespace().nth(8));
    ticks.and_then(|t| t.parse::<u64>().ok()).unwrap_or(0) * 10_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_a_named_thread_is_counted_and_no_other() {
        let begun = std::thread::Builder::new().name("lab-counted".into());
        let (ran, others) = begun
            .spawn(|| {
                let mut x = 1_u64;
                for i in 0..20_000_000_u64 {
                    x = std::hint::black_box(x.wrapping_mul(i | 1));
                }
                let ran = Spent::so_far(|name| name == "lab-counted").ran;
                (ran, Spent::so_far(|name| name == "no such name").ran)
            })
            .unwrap()
            .join()
            .unwrap();
        let told = fs::read_to_string("/proc/self/schedstat").is_ok();
        assert!(ran > 0 || !told);
        assert_eq!(others, 0);
    }

    #[test]
    fn what_others_did_is_what_is_left_of_all() {
        let busy = |all, ours| Busy { all, ours };
        let ms = Duration::from_millis;
        assert_eq!(busy(130, 25).others_since(busy(100, 5)), ms(100));
        assert_eq!(busy(100, 25).others_since(busy(100, 5)), ms(0));
    }
}
