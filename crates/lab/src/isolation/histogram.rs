//! [`Histogram`]: response times in steps of a tenth of a microsecond, which rounds of a run add up to.

use std::collections::BTreeMap;
use std::fmt;

/// Nanoseconds of one step.
const STEP_NS: u64 = 100;

/// Number of times in each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Histogram(BTreeMap<u64, u64>);

impl Histogram {
    /// Of times in nanoseconds.
    pub(super) fn of(times_ns: &[u64]) -> Self {
        let mut all = Self::default();
        times_ns.iter().for_each(|ns| all.add(ns / STEP_NS, 1));
        all
    }

    /// Reads the text that [`fmt::Display`] writes; words of another form are left out.
    pub(super) fn read(text: &str) -> Self {
        let mut all = Self::default();
        for word in text.split(' ') {
            let numbers = word.split_once(':');
            let numbers =
                numbers.and_then(|(at, count)| Some((at.parse().ok()?, count.parse().ok()?)));
            if let Some((at, count)) = numbers {
                all.add(at, count);
            }
        }
        all
    }

    /// Adds `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(at, count)| self.add(*at, *count));
    }

    fn add(&mut self, at: u64, count: u64) {
        let held = self.0.entry(at).or_default();
        *held = held.saturating_add(count);
    }

    /// Number of times.
    pub(super) fn count(&self) -> u64 {
        self.0
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The time in microseconds below or at which a share of all times is; `None` without any.
    pub(super) fn quantile_us(&self, share: f64) -> Option<f64> {
        let rank = (share * self.count() as f64).ceil().max(1.0);
        let mut below = 0.0;
        let found = self.0.iter().find(|(_, count)| {
            below += **count as f64;
            below >= rank
        });
        found.map(|(at, _)| *at as f64 / 10.0)
    }

    /// Points of a curve: microseconds, and the number of times in each whole microsecond.
    pub(super) fn points(&self) -> Vec<(f64, f64)> {
        let mut whole = BTreeMap::<u64, u64>::new();
        self.0
            .iter()
            .for_each(|(at, count)| *whole.entry(at / 10).or_default() += count);
        whole
            .into_iter()
            .map(|(us, count)| (us.max(1) as f64, count as f64))
            .collect()
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (at, count) in &self.0 {
            write!(to, "{gap}{at}:{count}")?;
            gap = " ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_add_up_and_survive_the_table() {
        let mut times: Vec<u64> = (1..=1000).map(|us| us * 1000).collect();
        let mut all = Histogram::of(&times);
        assert_eq!(Histogram::read(&all.to_string()), all);
        assert_eq!(all.quantile_us(0.5), Some(500.0));
        assert_eq!(all.quantile_us(0.999), Some(999.0));
        assert_eq!(all.quantile_us(1.0), Some(1000.0));
        all.merge(&Histogram::of(&[99]));
        assert_eq!((all.count(), all.quantile_us(0.0)), (1001, Some(0.0)));
        times.clear();
        assert_eq!(Histogram::of(&times).quantile_us(0.5), None);
        assert_eq!(Histogram::read("x 1:y :: 5:2").count(), 2);
    }
}
