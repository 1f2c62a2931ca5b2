//! Histograms of durations.

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Durations, counted in classes exact to 0.1 %, from 1 ns to a minute; longer ones count as a minute.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// Upper bound on durations: a minute.
const MAX_NS: u64 = 60_000_000_000;

/// Summary of durations, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSummary {
    /// The mean.
    pub mean: f64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// Maximum.
    pub max: u64,
}

/// One bar of a histogram: the number of durations in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Least duration of the range.
    pub from_ns: u64,
    /// End of the range, exclusive.
    pub to_ns: u64,
    /// Number of durations.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    ///
    /// Real-time: setup.
    pub fn new() -> Self {
        let made = hdrhistogram::Histogram::new_with_bounds(1, MAX_NS, 3);
        Self(made.expect("1 ns to a minute in three digits is a range that the library takes"))
    }

    /// Adds one duration.
    ///
    /// Real-time: hot.
    pub fn record(&mut self, time: Nanos) {
        self.0.saturating_record(time.0);
    }

    /// Adds all durations of `other`.
    pub fn add(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("both have the same range, so every class of one is a class of the other");
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Mean, percentiles and maximum; zeros where there is none.
    pub fn summary(&self) -> TimeSummary {
        TimeSummary {
            mean: self.0.mean(),
            p50: self.0.value_at_quantile(0.5),
            p99: self.0.value_at_quantile(0.99),
            p99_9: self.0.value_at_quantile(0.999),
            max: self.0.max(),
        }
    }

    /// Bars from the shortest to the longest duration, without a gap: `per_octave` for each doubling, at least one.
    pub fn buckets(&self, per_octave: u32) -> Vec<Bucket> {
        if self.count() == 0 {
            return Vec::new();
        }
        let per_octave = f64::from(per_octave.max(1));
        let class = |ns: u64| ((ns.max(1) as f64).log2() * per_octave).floor() as i32;
        let bound = |class: i32| (f64::from(class) / per_octave).exp2().ceil() as u64;
        let first = class(self.0.min());
        let mut buckets: Vec<Bucket> = (first..=class(self.0.max()))
            .map(|class| Bucket {
                from_ns: bound(class),
                to_ns: bound(class + 1),
                count: 0,
            })
            .collect();
        for times in self.0.iter_recorded() {
            let index =
                (class(times.value_iterated_to().min(self.0.max())) - first).max(0) as usize;
            let last = buckets.len() - 1;
            buckets[index.min(last)].count += times.count_since_last_iteration();
        }
        // Small bounds fall together when they are rounded to whole nanoseconds.
        buckets.retain(|bucket| bucket.count > 0 || bucket.from_ns < bucket.to_ns);
        buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_known_durations_are_right() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|n| histogram.record(Nanos(n * 1000)));
        let summary = histogram.summary();
        let near = |is: u64, should: f64| (is as f64 / should - 1.0).abs() < 0.002;
        assert!(near(summary.p50, 500e3) && near(summary.p99, 990e3) && near(summary.p99_9, 999e3));
        assert!(near(summary.max, 1000e3) && (summary.mean / 500.5e3 - 1.0).abs() < 0.002);
    }

    #[test]
    fn every_duration_is_in_one_bucket() {
        let mut histogram = Histogram::new();
        for n in [0, 1, 1, 2, 3, 900, 1_000_000, u64::MAX] {
            histogram.record(Nanos(n));
        }
        for per_octave in [0, 1, 4] {
            let buckets = histogram.buckets(per_octave);
            assert_eq!(buckets.iter().map(|b| b.count).sum::<u64>(), 8);
            assert!(
                buckets
                    .windows(2)
                    .all(|pair| pair[0].to_ns == pair[1].from_ns)
            );
        }
        assert!(Histogram::new().buckets(4).is_empty());
    }

    #[test]
    fn two_merged_histograms_equal_one() {
        let (mut a, mut b, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
        for n in 0..500u64 {
            let time = Nanos(n * n * 37);
            if n % 3 == 0 {
                a.record(time)
            } else {
                b.record(time)
            }
            both.record(time);
        }
        a.add(&b);
        assert_eq!(a, both);
    }
}
