//! [`Server`]: a share of the time for an event-triggered cell, and [`Account`]: what it has used of it.
//!
//! The kernel keeps the account where it grants SCHED_DEADLINE. Else the monitor does: it reads the processor time of the
//! cell and throttles it when its budget is used up. What the cell took above it, before the monitor saw that, is a debt
//! of the next periods. So in the long run it never has more than its share.

use units::Nanos;

/// A budget in each period: a constant-bandwidth server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Processor time in each period.
    pub budget: Nanos,
    /// The period.
    pub period: Nanos,
}

/// Shortest budget that the kernel takes is 1024 ns; below this one, switching costs more than the work.
const MIN_BUDGET: u64 = 20_000;
/// Longest period.
const MAX_PERIOD: u64 = 1_000_000_000;

impl Server {
    /// A server.
    ///
    /// # Errors
    ///
    /// The budget is larger than the period, or they are out of range.
    pub fn new(budget: Nanos, period: Nanos) -> Result<Self, String> {
        match (MIN_BUDGET..=period.0).contains(&budget.0) && period.0 <= MAX_PERIOD {
            true => Ok(Self { budget, period }),
            false => Err(
                "a budget lasts 20 us at least and the period at most, a period 1 s at most"
                    .to_owned(),
            ),
        }
    }

    /// Longest time until work of `cost` is done after it came, if the work before is done: whole periods.
    ///
    /// Real-time: setup.
    pub fn response(&self, cost: Nanos) -> Nanos {
        Nanos(cost.0.div_ceil(self.budget.0).saturating_mul(self.period.0))
    }

    /// Processor time that it may take of each stretch of `length`, in the long run; rounded up.
    ///
    /// Real-time: setup.
    pub fn share_of(&self, length: Nanos) -> Nanos {
        let taken = u128::from(self.budget.0) * u128::from(length.0);
        Nanos(taken.div_ceil(u128::from(self.period.0)) as u64)
    }
}

/// Account of a server that the monitor keeps.
#[derive(Clone, Debug)]
pub(super) struct Account {
    server: Server,
    /// Processor time that was used at the last look.
    used: u64,
    /// Part of the budget that is left; a debt below 0.
    left: i128,
    /// End of the present period.
    ends: u64,
}

impl Account {
    /// An account with a whole budget, of a process that has used `used`.
    pub(super) fn new(server: Server, now: Nanos, used: Nanos) -> Self {
        Self {
            server,
            used: used.0,
            left: i128::from(server.budget.0),
            ends: now.0.saturating_add(server.period.0),
        }
    }

    /// Enters that `used` was used until `now`. Returns true if the cell may run.
    pub(super) fn update(&mut self, now: Nanos, used: Nanos) -> bool {
        let budget = i128::from(self.server.budget.0);
        self.left -= i128::from(used.0.saturating_sub(self.used));
        self.used = used.0.max(self.used);
        if now.0 >= self.ends {
            let periods = 1 + (now.0 - self.ends) / self.server.period.0;
            self.ends = self.ends.saturating_add(periods * self.server.period.0);
            // What was not used does not add up.
            self.left = (self.left + i128::from(periods) * budget).min(budget);
        }
        self.left > 0
    }

    /// Time of the next look at least.
    pub(super) fn next_look(&self, now: Nanos) -> Nanos {
        let left = u64::try_from(self.left).unwrap_or(0);
        match left {
            0 => Nanos(self.ends),
            left => Nanos(self.ends.min(now.0.saturating_add(left.max(MIN_BUDGET)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that a failure can be repeated.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// A cell that uses every nanosecond in which it may run, under a monitor that looks late by less than `late`.
    fn greedy(random: &mut Random, late: u64) -> (Server, u64, u64) {
        let period = 100_000 + random.below(20_000_000);
        let budget = MIN_BUDGET + random.below(period - MIN_BUDGET);
        let server = Server::new(Nanos(budget), Nanos(period)).unwrap();
        let (begin, mut used, mut may_run) = (5, 0, true);
        let mut now = begin;
        let mut account = Account::new(server, Nanos(now), Nanos(used));
        for _ in 0..2000 {
            let next = account.next_look(Nanos(now)).0.max(now) + random.below(late);
            used += if may_run { next - now } else { 0 };
            now = next;
            may_run = account.update(Nanos(now), Nanos(used));
            let share = server.share_of(Nanos(now - begin)).0 + budget;
            // What one late look costs is a debt by then.
            assert!(
                used <= share + late + MIN_BUDGET,
                "{server:?} {used} {share}"
            );
        }
        (server, used, now - begin)
    }

    #[test]
    fn a_cell_that_takes_all_it_can_get_has_no_more_than_its_share() {
        let mut random = Random(11);
        for _ in 0..200 {
            greedy(&mut random, 2_000_000);
        }
    }

    #[test]
    fn it_has_its_whole_share_if_the_monitor_looks_in_time() {
        let mut random = Random(12);
        for _ in 0..200 {
            let (server, used, elapsed) = greedy(&mut random, 1);
            let share = server.share_of(Nanos(elapsed)).0;
            let least = share.saturating_sub(2 * server.budget.0 + MIN_BUDGET);
            assert!(used >= least, "{server:?} {used} {share}");
        }
    }

    #[test]
    fn work_takes_as_many_periods_as_budgets() {
        let server = Server::new(Nanos(30_000), Nanos(100_000)).unwrap();
        assert_eq!(server.response(Nanos(30_000)), Nanos(100_000));
        assert_eq!(server.response(Nanos(30_001)), Nanos(200_000));
        assert_eq!(server.response(Nanos(0)), Nanos(0));
        assert_eq!(server.share_of(Nanos(1_000_001)), Nanos(300_001));
    }

    #[test]
    fn a_server_without_a_sensible_share_is_refused() {
        for (budget, period) in [
            (0, 0),
            (0, 100_000),
            (100_001, 100_000),
            (19_999, 100_000),
            (30_000, u64::MAX),
        ] {
            assert!(
                Server::new(Nanos(budget), Nanos(period)).is_err(),
                "{budget} {period}"
            );
        }
    }
}
