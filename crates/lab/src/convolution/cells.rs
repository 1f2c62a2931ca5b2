//! Which runs the experiment *convolution* has.

use super::cell::{ConvolutionCell, What};
use super::kernels;
use super::sync::{Periods, SCHEMES};
use super::ways::{Pin, Way};
use crate::Effort;

/// The lengths of figure 8.
pub(super) const LENGTHS: [usize; 6] = [16_384, 32_768, 65_536, 131_072, 262_144, 524_288];
/// Those of figures 9 and 10, in the full form.
const HELD: [usize; 4] = [16_384, 65_536, 262_144, 524_288];
/// Those at which ways with fewer operations are to hold the most, in the full form.
const HELD_WITH_FEWER: [usize; 2] = [16_384, 524_288];
/// How many channels figure 8 has.
pub(super) const CHANNELS: usize = 16;
/// By how much of a period callbacks come late.
pub(super) const JITTERS: [u32; 4] = [0, 20, 40, 60];
/// How long what is held is held, in ms; and the longest one, for which the paper has a minute.
const HOLD_MS: u64 = 6000;
const LONG_HOLD_MS: u64 = 20_000;
/// How levels' work is shared over cores.
const PINS: [Pin; 2] = [Pin::ByLevel, Pin::ByChannel];

/// Every run, in the order in which they need one another.
pub(crate) fn cells(effort: Effort) -> Vec<ConvolutionCell> {
    let lengths: &[usize] = effort.choose(&LENGTHS[..], &[16_384, 65_536], &LENGTHS[..1]);
    let held: &[usize] = effort.choose(&HELD[..], lengths, lengths);
    let runs = Runs {
        effort,
        lengths,
        held,
    };
    let all = [
        runs.kernels(),
        runs.sync(),
        vec![runs.cell(What::Walk, 0, 2, 2, effort.choose(200, 60, 24))],
        runs.load(),
        runs.most(),
        runs.cores(),
        runs.jitter(),
        runs.fewer(),
    ];
    all.into_iter().flatten().collect()
}

/// How much of everything.
struct Runs {
    effort: Effort,
    lengths: &'static [usize],
    held: &'static [usize],
}

impl Runs {
    fn cell(
        &self,
        what: What,
        length: usize,
        channels: usize,
        cores: usize,
        ms: u64,
    ) -> ConvolutionCell {
        ConvolutionCell {
            what,
            length,
            channels,
            cores,
            ms,
            effort: self.effort,
        }
    }

    /// Figure 5.
    fn kernels(&self) -> Vec<ConvolutionCell> {
        let sizes = self.effort.choose(5..17, 5..14, 5..6).map(|bits| 1 << bits);
        let ms = self.effort.choose(50, 4, 0);
        let of = |size| {
            let all = kernels::all().into_iter();
            all.map(move |kernel| self.cell(What::Kernel(kernel), size, 0, 1, ms))
        };
        sizes.flat_map(of).collect()
    }

    /// Section 3.3.
    fn sync(&self) -> Vec<ConvolutionCell> {
        let ms = self.effort.choose(1000, 150, 5);
        let mut all = Vec::new();
        for cores in [1, 2] {
            for levels in self.effort.choose(&[1, 2, 3, 5][..], &[1, 3], &[2]) {
                for periods in [Periods::Doubling, Periods::AtOnce] {
                    let trial =
                        |scheme| self.cell(What::Sync(scheme, periods), 0, *levels, cores, ms);
                    all.extend(SCHEMES.map(trial));
                }
            }
        }
        all
    }

    /// Figure 8.
    fn load(&self) -> Vec<ConvolutionCell> {
        self.loads(&Way::ALL)
    }

    fn loads(&self, ways: &[Way]) -> Vec<ConvolutionCell> {
        let ms = self.effort.choose(3000, 400, 10);
        let of = |length: &usize| {
            let length = *length;
            let ways = ways.iter();
            ways.map(move |way| self.cell(What::Load(*way), length, CHANNELS, 1, ms))
        };
        self.lengths.iter().flat_map(of).collect()
    }

    /// Figure 9.
    fn most(&self) -> Vec<ConvolutionCell> {
        self.held_by(&Way::ALL, self.held)
    }

    fn held_by(&self, ways: &[Way], lengths: &[usize]) -> Vec<ConvolutionCell> {
        let of = |length: &usize| {
            let length = *length;
            let ms = match length {
                524_288 => self.effort.choose(LONG_HOLD_MS, 1500, 10),
                _ => self.effort.choose(HOLD_MS, 1500, 10),
            };
            let ways = ways.iter();
            ways.map(move |way| self.cell(What::Most(*way, Pin::OneCore), length, 0, 1, ms))
        };
        lengths.iter().flat_map(of).collect()
    }

    /// Figure 10.
    fn cores(&self) -> Vec<ConvolutionCell> {
        let ms = self.effort.choose(HOLD_MS, 1500, 10);
        let of = |length: &usize| {
            PINS.map(|pin| self.cell(What::Most(Way::Preemptive, pin), *length, 0, 2, ms))
        };
        self.held.iter().flat_map(of).collect()
    }

    /// Callbacks that come late.
    fn jitter(&self) -> Vec<ConvolutionCell> {
        let ms = self.effort.choose(2000, 500, 10);
        let length = *self.lengths.last().expect("there are some");
        let of = |percent: &u32| {
            Way::ALL.map(|way| self.cell(What::Jitter(way, *percent), length, 0, 1, ms))
        };
        let all = self.effort.choose(&JITTERS[..], &[0, 40], &[40]);
        all.iter().flat_map(of).collect()
    }

    /// Fewer operations: load and most channels, beside those without.
    fn fewer(&self) -> Vec<ConvolutionCell> {
        let ways = Way::FEWER.map(|(way, _)| way);
        let held: &[usize] = self
            .effort
            .choose(&HELD_WITH_FEWER[..], &[16_384], self.held);
        let mut all = self.loads(&ways);
        all.extend(self.held_by(&ways, held));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Cell;
    use std::collections::HashSet;

    #[test]
    fn no_two_runs_have_one_key() {
        for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
            let all = cells(effort);
            let keys: HashSet<_> = all.iter().map(ConvolutionCell::key).collect();
            assert_eq!(keys.len(), all.len());
        }
    }
}
