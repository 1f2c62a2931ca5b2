//! Loudness: momentary, short-term and integrated.
//!
//! Each channel goes through two filters (a shelf for the head, a high-pass). Its mean square is weighted and added to those of
//! the others. The momentary loudness is that of the last 400 ms, the short-term one that of the last 3 s. The integrated one
//! is the mean over all blocks of 400 ms, each 100 ms after the one before, that are louder than -70 LUFS and louder than
//! 10 LU below the mean of those.
//!
//! Source: ITU-R BS.1770-4 (2015); EBU R 128 (2020) and EBU Tech 3341.

use super::decibels;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::f64::consts::PI;

/// Pieces of 100 ms in a momentary and a short-term value.
const MOMENTARY: usize = 4;
const SHORT_TERM: usize = 30;
/// Bins of the histogram of blocks: a tenth of a LU each, from -70 LUFS to +10.
const BINS: usize = 800;
/// Loudness of a mean square of 1.
const OFFSET: f64 = -0.691;

/// Measures the loudness of all channels together.
pub(super) struct LoudnessMeter {
    filters: Vec<[WeightingStage; 2]>,
    weights: Vec<f64>,
    /// Weighted sum of squares of the piece that is not complete.
    sum: f64,
    /// Mean squares of the last pieces.
    hops: VecDeque<f64>,
    /// Number and sum of mean squares of the blocks in each bin.
    bins: Vec<(u64, f64)>,
}

impl LoudnessMeter {
    pub(super) fn new(channels: usize, rate_hz: f64) -> Self {
        let filter = [shelf(rate_hz), high_pass(rate_hz)];
        // In 5.1 the fourth channel is that for low frequencies, which does not count, and the last two are surrounds.
        let weight = |channel| match (channels, channel) {
            (6, 3) => 0.0,
            (5, 3..) | (6, 4..) => 1.41,
            _ => 1.0,
        };
        Self {
            filters: vec![filter; channels],
            weights: (0..channels).map(weight).collect(),
            sum: 0.0,
            hops: VecDeque::new(),
            bins: vec![(0, 0.0); BINS],
        }
    }

    /// Takes a frame.
    pub(super) fn write(&mut self, frame: &[f32]) {
        let channels = self.filters.iter_mut().zip(&self.weights).zip(frame);
        for (([shelf, high_pass], weight), x) in channels {
            // What is not finite would stay in the filters for ever.
            let x = if x.is_finite() { f64::from(*x) } else { 0.0 };
            let y = high_pass.filter(shelf.filter(x));
            self.sum += weight * y * y;
        }
    }

    /// Ends a piece of `frames` frames.
    pub(super) fn end_hop(&mut self, frames: usize) {
        self.hops
            .push_back(std::mem::take(&mut self.sum) / frames as f64);
        if self.hops.len() > SHORT_TERM {
            self.hops.pop_front();
        }
        if let Some(power) = self.mean(MOMENTARY) {
            let bin = ((loudness(power) + 70.0) * 10.0).floor();
            if bin >= 0.0 {
                let (count, sum) = &mut self.bins[(bin as usize).min(BINS - 1)];
                *count += 1;
                *sum += power;
            }
        }
    }

    pub(super) fn values(&self) -> Value {
        let shown = |power: Option<f64>| {
            power
                .and_then(decibels)
                .map(|db| ((db + OFFSET) * 100.0).round() / 100.0)
        };
        json!({
            "momentary_lufs": shown(self.mean(MOMENTARY)),
            "short_term_lufs": shown(self.mean(SHORT_TERM)),
            "integrated_lufs": shown(self.integrated()),
        })
    }

    /// Mean square of the last `count` pieces; `None` if there are fewer.
    fn mean(&self, count: usize) -> Option<f64> {
        let last = self.hops.iter().rev().take(count);
        (self.hops.len() >= count).then(|| last.sum::<f64>() / count as f64)
    }

    /// Mean square of the blocks above both gates.
    fn integrated(&self) -> Option<f64> {
        let mean_from = |first: usize| {
            let bins = self.bins[first..].iter();
            let (count, sum) = bins.fold((0, 0.0), |(n, sum), bin| (n + bin.0, sum + bin.1));
            (count > 0).then(|| sum / count as f64)
        };
        let gate = loudness(mean_from(0)?) - 10.0;
        let first = ((gate + 70.0) * 10.0).ceil().max(0.0) as usize;
        mean_from(first.min(BINS - 1))
    }
}

/// Loudness of a mean square, in LUFS.
fn loudness(power: f64) -> f64 {
    10.0 * power.log10() + OFFSET
}

/// A second-order filter, in the transposed direct form II.
#[derive(Clone, Copy)]
struct WeightingStage {
    forward: [f64; 3],
    back: [f64; 2],
    state: [f64; 2],
}

impl WeightingStage {
    fn filter(&mut self, x: f64) -> f64 {
        let ([b0, b1, b2], [a1, a2]) = (self.forward, self.back);
        let y = b0 * x + self.state[0];
        self.state = [b1 * x - a1 * y + self.state[1], b2 * x - a2 * y];
        y
    }
}

/// The shelf of BS.1770, whose table is for 48 kHz, at any rate: its analogue filter, by the bilinear transform.
fn shelf(rate_hz: f64) -> WeightingStage {
    let (frequency, gain_db, q) = (
        1_681.974_450_955_533,
        3.999_843_853_973_347,
        0.707_175_236_955_419_6,
    );
    let k = (PI * frequency / rate_hz).tan();
    let high = 10_f64.powf(gain_db / 20.0);
    let band = high.powf(0.499_666_774_154_541_6);
    let a0 = 1.0 + k / q + k * k;
    WeightingStage {
        forward: [
            (high + band * k / q + k * k) / a0,
            2.0 * (k * k - high) / a0,
            (high - band * k / q + k * k) / a0,
        ],
        back: [2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0],
        state: [0.0; 2],
    }
}

/// The high-pass of BS.1770 at any rate.
fn high_pass(rate_hz: f64) -> WeightingStage {
    let (frequency, q) = (38.135_470_876_024_44, 0.500_327_037_323_877_3);
    let k = (PI * frequency / rate_hz).tan();
    let a0 = 1.0 + k / q + k * k;
    WeightingStage {
        forward: [1.0, -2.0, 1.0],
        back: [2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0],
        state: [0.0; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::super::PortMeter;
    use super::super::tests::sine;
    use super::*;

    #[test]
    fn the_filters_are_those_of_the_table_for_48_khz() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let shelf = shelf(48_000.0);
        assert!(near(shelf.forward[0], 1.535_124_859_586_97));
        assert!(near(shelf.forward[1], -2.691_696_189_406_38));
        assert!(near(shelf.back[1], 0.732_480_774_215_85));
        let high_pass = high_pass(48_000.0);
        assert!(near(high_pass.back[0], -1.990_047_454_833_98));
        assert!(near(high_pass.back[1], 0.990_072_250_366_21));
    }

    #[test]
    fn the_test_signals_of_tech_3341_have_their_loudness() {
        // Cases 1, 2 and 3: a stereo sine of 1 kHz.
        for (parts, expected) in [
            (&[(-23.0, 20.0)][..], -23.0),
            (&[(-33.0, 20.0)], -33.0),
            (&[(-36.0, 10.0), (-23.0, 60.0), (-36.0, 10.0)], -23.0),
        ] {
            let mut meter = PortMeter::new(2, 48_000.0);
            for (level_db, seconds) in parts {
                meter.write(&sine(1000.0, *level_db, *seconds, 2));
            }
            let values = meter.loudness();
            let integrated = values["integrated_lufs"].as_f64().unwrap();
            assert!((integrated - expected).abs() <= 0.1, "{expected}: {values}");
        }
        let mut meter = PortMeter::new(2, 48_000.0);
        meter.write(&sine(1000.0, -23.0, 5.0, 2));
        let values = meter.loudness();
        for name in ["momentary_lufs", "short_term_lufs"] {
            assert!(
                (values[name].as_f64().unwrap() + 23.0).abs() <= 0.1,
                "{values}"
            );
        }
    }
}
