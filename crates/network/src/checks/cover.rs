//! Sizes of which single demands are known, each that some queue or some other has so many frames: the cheapest that meet
//! all of them.
//!
//! Queues that no demand joins are looked at by themselves. Of those that are joined one is given each size that some
//! demand names, from the least on, and for each the others are found the same way; what would be dearer than what has
//! been found already is left. With each demand it can only become dearer: so what has been paid before is tried first.

use std::collections::HashMap;

/// At least one of these queues, by number, has at least so many frames.
pub(super) type Demand = Vec<(usize, u64)>;

/// What is to be covered. One is made for a part, and demands are added as they become known.
pub(super) struct Cover {
    /// What each queue has at least.
    least: Vec<u64>,
    /// Samples a frame of each.
    price: Vec<u64>,
    demands: Vec<Demand>,
    /// What queues that hang together have cost, by which they are.
    paid: HashMap<Vec<usize>, u128>,
    /// Steps that may still be made before it is given up.
    pub(super) steps: u64,
}

/// It was not found with the steps that were allowed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GaveUp;

impl Cover {
    pub(super) fn new(least: Vec<u64>, price: Vec<u64>, steps: u64) -> Self {
        Self {
            least,
            price,
            demands: Vec::new(),
            paid: HashMap::new(),
            steps,
        }
    }

    pub(super) fn add(&mut self, demand: Demand) {
        debug_assert!(!demand.is_empty(), "it can be met");
        self.demands.push(demand);
    }

    /// The cheapest sizes that meet all demands.
    pub(super) fn cheapest(&mut self) -> Result<Vec<u64>, GaveUp> {
        let mut sizes = self.least.clone();
        let (_, demands) = self.without_choice(&mut sizes, self.demands.clone());
        for group in groups(sizes.len(), demands) {
            let mut named: Vec<usize> = group.iter().flatten().map(|(queue, _)| *queue).collect();
            named.sort_unstable();
            named.dedup();
            let base = self.cost(&named, &sizes);
            let before = self.paid.get(&named).map(|paid| paid.saturating_sub(base));
            let again = match before {
                Some(paid) => self.choose(&mut sizes, group.clone(), paid + 1)?,
                None => None,
            };
            if again.is_none() {
                self.choose(&mut sizes, group, u128::MAX)?;
            }
            let paid = self.cost(&named, &sizes);
            self.paid.insert(named, paid);
        }
        Ok(sizes)
    }

    fn cost(&self, queues: &[usize], sizes: &[u64]) -> u128 {
        let cost = |queue: &usize| u128::from(sizes[*queue]) * u128::from(self.price[*queue]);
        queues.iter().map(cost).sum()
    }

    /// What is to be paid for `sizes` above what there was, if that is less than `limit`: the cheapest that meet `demands`.
    /// Only sizes of queues that these name are raised.
    fn solve(
        &mut self,
        sizes: &mut [u64],
        demands: Vec<Demand>,
        limit: u128,
    ) -> Result<Option<u128>, GaveUp> {
        self.steps = self
            .steps
            .checked_sub(1 + demands.len() as u64)
            .ok_or(GaveUp)?;
        let (mut paid, demands) = self.without_choice(sizes, demands);
        let dearest = demands
            .iter()
            .map(|demand| self.cheapest_way(sizes, demand));
        if paid.saturating_add(dearest.max().unwrap_or(0)) >= limit {
            return Ok(None);
        }
        for group in groups(sizes.len(), demands) {
            if paid >= limit {
                return Ok(None);
            }
            match self.choose(sizes, group, limit - paid)? {
                Some(more) => paid += more,
                None => return Ok(None),
            }
        }
        Ok((paid < limit).then_some(paid))
    }

    /// Meets demands that leave no choice; what was paid, and what is left to be met.
    fn without_choice(&self, sizes: &mut [u64], mut demands: Vec<Demand>) -> (u128, Vec<Demand>) {
        let mut paid = 0;
        for demand in &demands {
            if let [(queue, size)] = demand[..] {
                paid += self.raise(sizes, queue, size);
            }
        }
        demands.retain(|demand| !demand.iter().any(|(queue, size)| sizes[*queue] >= *size));
        (paid, demands)
    }

    /// The least that a demand costs.
    fn cheapest_way(&self, sizes: &[u64], demand: &Demand) -> u128 {
        let cost = |(queue, size): &(usize, u64)| {
            u128::from(size.saturating_sub(sizes[*queue])) * u128::from(self.price[*queue])
        };
        demand.iter().map(cost).min().unwrap_or(0)
    }

    fn raise(&self, sizes: &mut [u64], queue: usize, size: u64) -> u128 {
        let more = size.saturating_sub(sizes[queue]);
        sizes[queue] += more;
        u128::from(more) * u128::from(self.price[queue])
    }

    /// The same for demands that hang together.
    fn choose(
        &mut self,
        sizes: &mut [u64],
        demands: Vec<Demand>,
        limit: u128,
    ) -> Result<Option<u128>, GaveUp> {
        let Some(queue) = most_named(sizes.len(), &demands) else {
            return Ok(Some(0));
        };
        let named = demands
            .iter()
            .flatten()
            .filter(|(named, _)| *named == queue);
        let mut values: Vec<u64> = named.map(|(_, size)| *size).collect();
        values.push(sizes[queue]);
        values.sort_unstable();
        values.dedup();
        let (mut best, mut limit) = (None, limit);
        let mut best_sizes = Vec::new();
        for value in values {
            let mut tried = sizes.to_vec();
            let own = self.raise(&mut tried, queue, value);
            if own >= limit {
                break;
            }
            let left = demands.iter().filter(|demand| {
                let is_met = |(named, size): &(usize, u64)| *named == queue && *size <= value;
                !demand.iter().any(is_met)
            });
            let left = left.map(|demand| {
                let others = demand.iter().filter(|(named, _)| *named != queue);
                others.copied().collect::<Demand>()
            });
            let left: Vec<Demand> = left.collect();
            // Nobody but this queue could meet it.
            if left.iter().any(Vec::is_empty) {
                continue;
            }
            if let Some(more) = self.solve(&mut tried, left, limit - own)? {
                limit = own + more;
                (best, best_sizes) = (Some(limit), tried);
            }
        }
        if best.is_some() {
            sizes.copy_from_slice(&best_sizes);
        }
        Ok(best)
    }
}

/// The queue that most demands name.
fn most_named(queues: usize, demands: &[Demand]) -> Option<usize> {
    let mut times = vec![0_usize; queues];
    for (queue, _) in demands.iter().flatten() {
        times[*queue] += 1;
    }
    let most = (0..queues).max_by_key(|queue| times[*queue])?;
    (times[most] > 0).then_some(most)
}

/// Demands in groups that have no queue in common.
fn groups(queues: usize, demands: Vec<Demand>) -> Vec<Vec<Demand>> {
    let mut group_of: Vec<usize> = (0..queues).collect();
    for demand in &demands {
        let first = group_of[demand[0].0];
        for (queue, _) in demand {
            let other = group_of[*queue];
            if other != first {
                group_of
                    .iter_mut()
                    .filter(|g| **g == other)
                    .for_each(|g| *g = first);
            }
        }
    }
    let mut found: Vec<Vec<Demand>> = vec![Vec::new(); queues];
    for demand in demands {
        found[group_of[demand[0].0]].push(demand);
    }
    found.retain(|group| !group.is_empty());
    found
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least price by trying every size up to 6.
    fn by_force(least: &[u64], price: &[u64], demands: &[Demand]) -> u64 {
        let mut sizes = least.to_vec();
        let mut cheapest = u64::MAX;
        loop {
            let meets = |demand: &Demand| demand.iter().any(|(queue, size)| sizes[*queue] >= *size);
            if demands.iter().all(meets) {
                let all = sizes.iter().zip(price).map(|(size, price)| size * price);
                cheapest = cheapest.min(all.sum());
            }
            let Some(place) = sizes.iter().position(|size| *size < 6) else {
                return cheapest;
            };
            sizes[..place].copy_from_slice(&least[..place]);
            sizes[place] += 1;
        }
    }

    proptest! {
        #[test]
        fn nothing_cheaper_meets_all_demands(
            least in proptest::collection::vec(0..3u64, 4),
            price in proptest::collection::vec(1..4u64, 4),
            demands in proptest::collection::vec(
                proptest::collection::btree_map(0..4usize, 1..7u64, 1..4), 0..8),
        ) {
            let demands: Vec<Demand> = demands.into_iter().map(|d| d.into_iter().collect()).collect();
            let mut cover = Cover::new(least.clone(), price.clone(), 1_000_000);
            demands.iter().for_each(|demand| cover.add(demand.clone()));
            let sizes = cover.cheapest().unwrap();
            for demand in &demands {
                prop_assert!(demand.iter().any(|(queue, size)| sizes[*queue] >= *size));
            }
            prop_assert!(sizes.iter().zip(&least).all(|(size, least)| size >= least));
            let paid: u64 = sizes.iter().zip(&price).map(|(size, price)| size * price).sum();
            prop_assert_eq!(paid, by_force(&least, &price, &demands));
        }
    }

    #[test]
    fn it_is_given_up_after_so_many_steps() {
        let mut cover = Cover::new(vec![0; 10], vec![1; 10], 1000);
        for i in 0..9 {
            for size in 1..20 {
                cover.add(vec![(i, size), (i + 1, 20 - size)]);
            }
        }
        assert_eq!(cover.cheapest(), Err(GaveUp));
    }
}
