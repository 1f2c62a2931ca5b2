//! Cost of moving data from one worker to another.

use super::Dag;
use crate::TaskId;
use units::Nanos;

/// Cost of moving data from one core to another: `base + per_kib * bytes / 1024`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Cost of any transfer.
    pub base: Nanos,
    /// Cost of 1024 bytes.
    pub per_kib: Nanos,
}

impl Link {
    /// Cost of moving `bytes` bytes, rounded up.
    pub fn transfer_time(self, bytes: u32) -> Nanos {
        let product = u128::from(self.per_kib.0) * u128::from(bytes);
        let part = u64::try_from(product.div_ceil(1024)).unwrap_or(u64::MAX);
        self.base.saturating_add(Nanos(part))
    }
}

/// A number of workers, and a link from each of them to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineModel {
    workers: usize,
    /// From each to each, row by row.
    links: Vec<Link>,
    mean: Link,
    max: Link,
}

impl MachineModel {
    /// At least one worker, all links alike.
    pub fn uniform(workers: usize, link: Link) -> Self {
        let workers = workers.max(1);
        Self::with_links(workers, vec![link; workers * workers])
    }

    /// At least one worker, transfers cost nothing.
    pub fn without_transfer_cost(workers: usize) -> Self {
        Self::uniform(workers, Link::default())
    }

    /// With the links from worker 0 to each worker, then those from worker 1, and so on. Links from a worker to itself
    /// are ignored.
    ///
    /// Returns `None` if there are not `workers * workers` links, or no workers.
    pub fn new(workers: usize, links: Vec<Link>) -> Option<Self> {
        let fits = workers > 0 && workers.checked_mul(workers) == Some(links.len());
        fits.then(|| Self::with_links(workers, links))
    }

    fn with_links(workers: usize, links: Vec<Link>) -> Self {
        let between = || {
            let all = links.iter().enumerate();
            all.filter(|(at, _)| at / workers != at % workers)
                .map(|(_, link)| link)
        };
        let count = between().count().max(1) as u128;
        let mean = |of: fn(&Link) -> Nanos| {
            let sum: u128 = between().map(|link| u128::from(of(link).0)).sum();
            Nanos(u64::try_from(sum.div_ceil(count)).unwrap_or(u64::MAX))
        };
        let max = |of: fn(&Link) -> Nanos| between().map(of).max().unwrap_or_default();
        let [base, per_kib]: [fn(&Link) -> Nanos; 2] = [|l| l.base, |l| l.per_kib];
        Self {
            mean: Link {
                base: mean(base),
                per_kib: mean(per_kib),
            },
            max: Link {
                base: max(base),
                per_kib: max(per_kib),
            },
            workers,
            links,
        }
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Cost of moving `bytes` from one worker to another; nothing from a worker to itself.
    pub fn transfer_time(&self, from: usize, to: usize, bytes: u32) -> Nanos {
        if from == to {
            return Nanos(0);
        }
        self.links[from * self.workers + to].transfer_time(bytes)
    }

    /// Cost of moving `bytes` over the mean of all links, rounded up.
    pub fn mean_transfer_time(&self, bytes: u32) -> Nanos {
        self.mean.transfer_time(bytes)
    }

    /// Upper bound on the cost of moving `bytes` over any link.
    pub fn max_transfer_time(&self, bytes: u32) -> Nanos {
        self.max.transfer_time(bytes)
    }

    /// Returns true if all links are alike.
    pub(crate) fn is_uniform(&self) -> bool {
        self.mean == self.max
    }

    /// Time at which the data of all predecessors of `task` is at `worker`.
    ///
    /// `copies` gives the copies of a task that are scheduled, as (worker, finish time); the copy whose data arrives
    /// first counts, and predecessors without one are left out.
    pub(super) fn data_ready<'a>(
        &self,
        dag: &Dag,
        task: TaskId,
        worker: usize,
        copies: impl Fn(TaskId) -> &'a [(usize, Nanos)],
    ) -> Nanos {
        let arrivals = dag.predecessors(task).iter().filter_map(|edge| {
            let from = copies(edge.task).iter();
            let times = from.map(|(from, finish)| {
                finish.saturating_add(self.transfer_time(*from, worker, edge.bytes))
            });
            times.min()
        });
        arrivals.max().unwrap_or_default()
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
    fn the_cost_of_bytes_is_rounded_up() {
        assert_eq!(link(100, 1024).transfer_time(0), Nanos(100));
        assert_eq!(link(100, 1024).transfer_time(256), Nanos(356));
        assert_eq!(link(100, 10).transfer_time(1), Nanos(101));
        assert_eq!(link(1, u64::MAX).transfer_time(u32::MAX), Nanos(u64::MAX));
    }

    #[test]
    fn mean_and_max_leave_out_links_from_a_worker_to_itself() {
        let links = vec![link(900, 900), link(10, 1), link(30, 3), link(900, 900)];
        let machine = MachineModel::new(2, links).expect("four links");
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
