//! What it costs to hand data from one worker to another.

use crate::levels::sum;
use units::Nanos;

/// What it costs to hand data from one core to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// However little it is.
    pub base: Nanos,
    /// For every 1024 bytes.
    pub per_kib: Nanos,
}

impl Link {
    /// What so many bytes cost, rounded up.
    pub fn transfer_time(self, bytes: u32) -> Nanos {
        let all = u128::from(self.per_kib.0) * u128::from(bytes);
        let part = u64::try_from(all.div_ceil(1024)).unwrap_or(u64::MAX);
        sum(self.base, Nanos(part))
    }
}

/// So many workers, and what it costs to hand data between any two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineModel {
    workers: usize,
    /// From each to each, row by row.
    links: Vec<Link>,
    mean_transfer_time: Link,
    max_transfer_time: Link,
}

impl MachineModel {
    /// All links alike. At least one worker.
    pub fn uniform(workers: usize, link: Link) -> Self {
        let workers = workers.max(1);
        Self::of(workers, vec![link; workers * workers])
    }

    /// Handing over costs nothing.
    pub fn without_transfer_cost(workers: usize) -> Self {
        Self::uniform(workers, Link::default())
    }

    /// With the links from worker 0 to each, from worker 1 to each, and so on; those from a worker to itself are not
    /// looked at. `None` where they are not workers times workers, or nobody works.
    pub fn new(workers: usize, links: Vec<Link>) -> Option<Self> {
        let fits = workers > 0 && workers.checked_mul(workers) == Some(links.len());
        fits.then(|| Self::of(workers, links))
    }

    fn of(workers: usize, links: Vec<Link>) -> Self {
        let across = || {
            let all = links.iter().enumerate();
            all.filter(|(at, _)| at / workers != at % workers)
                .map(|(_, link)| link)
        };
        let count = across().count().max(1) as u128;
        let mean = |of: fn(&Link) -> Nanos| {
            let all: u128 = across().map(|link| u128::from(of(link).0)).sum();
            Nanos(u64::try_from(all.div_ceil(count)).unwrap_or(u64::MAX))
        };
        let most = |of: fn(&Link) -> Nanos| across().map(of).max().unwrap_or_default();
        let [base, per_kib]: [fn(&Link) -> Nanos; 2] = [|l| l.base, |l| l.per_kib];
        Self {
            mean_transfer_time: Link {
                base: mean(base),
                per_kib: mean(per_kib),
            },
            max_transfer_time: Link {
                base: most(base),
                per_kib: most(per_kib),
            },
            workers,
            links,
        }
    }

    /// How many.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// What it costs to hand `bytes` from one worker to another; nothing from a worker to itself.
    pub fn transfer_time(&self, from: usize, to: usize, bytes: u32) -> Nanos {
        if from == to {
            return Nanos(0);
        }
        self.links[from * self.workers + to].transfer_time(bytes)
    }

    /// What it costs on average over all links, rounded up.
    pub fn mean_transfer_time(&self, bytes: u32) -> Nanos {
        self.mean_transfer_time.transfer_time(bytes)
    }

    /// No link is slower.
    pub fn max_transfer_time(&self, bytes: u32) -> Nanos {
        self.max_transfer_time.transfer_time(bytes)
    }

    /// Whether no two workers differ in their links.
    pub(crate) fn is_uniform(&self) -> bool {
        self.mean_transfer_time == self.max_transfer_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(base: u64, per_kib: u64) -> Link {
        Link {
            base: Nanos(base),
            per_kib: Nanos(per_kib),
        }
    }

    #[test]
    fn a_link_costs_by_begun_bytes() {
        assert_eq!(link(100, 1024).transfer_time(0), Nanos(100));
        assert_eq!(link(100, 1024).transfer_time(256), Nanos(356));
        assert_eq!(link(100, 10).transfer_time(1), Nanos(101));
        assert_eq!(link(1, u64::MAX).transfer_time(u32::MAX), Nanos(u64::MAX));
    }

    #[test]
    fn mean_and_slowest_leave_out_a_worker_and_itself() {
        let links = vec![link(900, 900), link(10, 1), link(30, 3), link(900, 900)];
        let machine = MachineModel::new(2, links).expect("they are four");
        assert_eq!(machine.transfer_time(0, 1, 1024), Nanos(11));
        assert_eq!(machine.transfer_time(1, 0, 1024), Nanos(33));
        assert_eq!(machine.transfer_time(1, 1, 1024), Nanos(0));
        assert_eq!(machine.mean_transfer_time(1024), Nanos(22));
        assert_eq!(machine.max_transfer_time(1024), Nanos(33));
        assert_eq!(
            MachineModel::uniform(1, link(5, 5)).mean_transfer_time(9),
            Nanos(0)
        );
        assert_eq!(MachineModel::new(2, vec![link(1, 1); 3]), None);
        assert_eq!(MachineModel::new(0, vec![]), None);
    }
}
