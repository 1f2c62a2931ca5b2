//! What each run of the experiment *convolution* does.

use super::beat::{self, Beat, Place, Seen};
use super::cells::CHANNELS;
use super::kernels::Kernel;
use super::row::Row;
use super::search::most;
use super::sync::{self, Periods, Trial, Walk};
use super::ways::{Pin, Player, Way};
use super::{KEYS, RATE_HZ, period};
use crate::bench::Bench;
use crate::run::Cell;
use crate::threads::Spent;
use crate::{Effort, LabError, Table};
use std::time::{Duration, Instant};

/// Of what a way holds without jitter, so much plays with it.
const JITTERED: f64 = 0.75;
/// Bytes that a frame of a channel's response takes, with all that belongs to it.
const BYTES: usize = 24;

/// What a run finds out.
#[derive(Clone, Copy)]
pub(super) enum What {
    /// Figure 5.
    Kernel(Kernel),
    /// Section 3.3.
    Sync(&'static str, Periods),
    /// Figure 6.
    Walk,
    /// Figure 8.
    Load(Way),
    /// Figures 9 and 10.
    Most(Way, Pin),
    /// Callbacks that come late.
    Jitter(Way, u32),
}

/// A run.
pub(crate) struct ConvolutionCell {
    pub(super) what: What,
    pub(super) length: usize,
    pub(super) channels: usize,
    pub(super) cores: usize,
    pub(super) ms: u64,
    pub(super) effort: Effort,
}

impl Cell for ConvolutionCell {
    fn key(&self) -> Vec<String> {
        let (what, way, setting) = match self.what {
            What::Kernel(kernel) => ("kernel", &*kernel.name(), kernel.layout().to_owned()),
            What::Sync(scheme, periods) => ("sync", scheme, periods.name().to_owned()),
            What::Walk => ("walk", WALKED, "doubling".to_owned()),
            What::Load(way) => ("load", way.name(), "one-core".to_owned()),
            What::Most(way, pin) => ("most", way.name(), pin.name().to_owned()),
            What::Jitter(way, percent) => ("jitter", way.name(), format!("{percent}%")),
        };
        let numbers = [self.length, self.channels, self.cores].map(|n| n.to_string());
        let [length, channels, cores] = numbers;
        let key = [
            what.into(),
            way.into(),
            length,
            channels,
            cores,
            setting,
            self.ms.to_string(),
        ];
        debug_assert_eq!(key.len(), KEYS);
        key.into()
    }

    fn is_loaded(&self) -> bool {
        false
    }

    fn lasts(&self) -> Duration {
        let times = match self.what {
            What::Most(..) => 2,
            _ => 1,
        };
        Duration::from_millis(self.ms * times + 20)
    }

    fn run(&self, _: &mut Bench, table: &Table) -> Result<Vec<String>, LabError> {
        let (begun, before) = (Instant::now(), Spent::so_far(|_| false));
        let mut row = Row::default();
        match self.what {
            What::Kernel(kernel) => self.kernel(kernel, &mut row),
            What::Sync(scheme, periods) => self.sync(scheme, periods, &mut row),
            What::Walk => self.walk(&mut row),
            What::Load(way) => {
                let (seen, player) = self.play(way, self.channels, self.ms, 0, Pin::OneCore)?;
                row.seen(&seen, &player);
            }
            What::Most(way, pin) => self.most(way, pin, table, &mut row)?,
            What::Jitter(way, percent) => self.jitter(way, percent, table, &mut row)?,
        }
        let stolen = Spent::so_far(|_| false).since(before).stolen;
        row.set("ms", begun.elapsed().as_millis().to_string());
        row.set("stolen_ms", format!("{:.0}", stolen as f64 / 1e6));
        Ok(row.cells())
    }
}

/// The scheme that figure 6 shows.
const WALKED: &str = "counter-atomic";

impl ConvolutionCell {
    fn place(&self) -> Place {
        Place {
            cores: self.cores,
            is_urgent: self.effort != Effort::Minimal,
        }
    }

    fn kernel(&self, kernel: Kernel, row: &mut Row) {
        let ns = kernel.time_ns(self.length, Duration::from_millis(self.ms));
        row.set("p50_us", format!("{:.4}", ns / 1e3));
        row.set(
            "percent",
            format!("{:.6}", 100.0 * ns * RATE_HZ / 1e9 / self.length as f64),
        );
    }

    fn trial(&self, scheme: &'static str, periods: Periods, beat: Duration, busy: f64) -> Walk {
        sync::walk(Trial {
            scheme,
            levels: self.channels,
            periods,
            calls: (self.ms * 1000 / beat.as_micros() as u64).max(8) as u32,
            period: beat,
            busy,
            place: self.place(),
        })
    }

    fn sync(&self, scheme: &'static str, periods: Periods, row: &mut Row) {
        let walk = self.trial(scheme, periods, Duration::from_micros(500), 0.0);
        let warm = walk.calls.len() / 8;
        let times = |of: &dyn Fn(&[u64; 3]) -> u64| {
            let mut all: Vec<u64> = walk.calls[warm..].iter().map(of).collect();
            all.sort_unstable();
            all
        };
        // Calls in which nothing begins cost nothing: the busiest ones are what counts, so half of all are left out.
        let all = times(&|[begun, there, started]| (*there).max(*started) - begun);
        let at = |per_mille: usize| {
            format!(
                "{:.2}",
                all[(all.len() - 1) * per_mille / 1000] as f64 / 1e3
            )
        };
        row.set("p50_us", at(500));
        row.set("p99_us", at(990));
        row.set("worst_us", at(1000));
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        row.set("facts", format!("mean {:.2}", mean / 1e3));
        row.set("levels", self.channels.to_string());
    }

    fn walk(&self, row: &mut Row) {
        let walk = self.trial(WALKED, Periods::Doubling, period(), 0.3);
        row.set("levels", (self.channels + 1).to_string());
        row.set("facts", spans(&walk, 8));
    }

    /// Plays so many channels; gives the partition and its levels along.
    fn play(
        &self,
        way: Way,
        channels: usize,
        ms: u64,
        jitter: u32,
        pin: Pin,
    ) -> Result<(Seen, (String, usize)), LabError> {
        let place = self.place();
        let mut player = Player::new(way, channels, self.length, (place, pin))?;
        let cut = player.partition();
        // Until the longest level gives sound, nothing of it can be late.
        let longest = player.longest() as usize;
        let calls = (ms as f64 / 1e3 / period().as_secs_f64()).ceil() as usize;
        let beat = Beat {
            period: period(),
            warm: self.effort.choose(2 * longest, longest, 4),
            calls: calls.max(self.effort.choose(2 * longest, longest, 4)),
            jitter: period() * jitter / 100,
            place,
        };
        Ok((beat::play(&mut player, beat), cut))
    }

    fn most(&self, way: Way, pin: Pin, table: &Table, row: &mut Row) -> Result<(), LabError> {
        let limit = self
            .effort
            .choose(2000, 400, 2)
            .min(memory() / 2 / (self.length * BYTES))
            .max(1);
        let cut = Player::new(way, 1, self.length, (self.place(), pin))?.partition();
        let try_for = |channels, ms| Ok::<_, LabError>(self.play(way, channels, ms, 0, pin)?.0);
        let ms = self.effort.choose(700, 300, 10);
        let found = most(
            self.guess(way, table),
            limit,
            |channels| try_for(channels, ms),
            |channels| try_for(channels, self.ms),
        )?;
        row.seen(&found.seen, &cut);
        row.set("held", found.channels.to_string());
        if found.channels == limit {
            row.set("facts", "no more were tried".into());
        }
        Ok(())
    }

    /// What a way should hold, from what sixteen channels cost it.
    fn guess(&self, way: Way, table: &Table) -> usize {
        let wanted = [
            ("what", "load"),
            ("way", way.name()),
            ("length", &self.length.to_string()),
        ];
        let percent = table.find(&wanted).and_then(|row| row.number("percent"));
        let one = percent.unwrap_or(20.0).max(0.1) / CHANNELS as f64;
        (75.0 * self.cores as f64 / one) as usize
    }

    fn jitter(&self, way: Way, percent: u32, table: &Table, row: &mut Row) -> Result<(), LabError> {
        let wanted = [
            ("what", "most"),
            ("way", way.name()),
            ("length", &self.length.to_string()),
            ("cores", "1"),
        ];
        let held = table.find(&wanted).and_then(|row| row.number("held"));
        let channels = (held.unwrap_or(1.0) * JITTERED).max(1.0) as usize;
        let (seen, cut) = self.play(way, channels, self.ms, percent, Pin::OneCore)?;
        row.seen(&seen, &cut);
        row.set("held", channels.to_string());
        Ok(())
    }
}

/// Bytes of memory that there are to have.
fn memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(1 << 21).saturating_mul(1024)
}

/// Its last `calls` calls as text: lanes with `;` between, in each `from-to` in µs.
fn spans(walk: &Walk, calls: usize) -> String {
    // From a call at which everything begins.
    let at = walk.calls.len().saturating_sub(2 * calls) / calls * calls;
    let (Some(first), Some(last)) = (walk.calls.get(at), walk.calls.get(at + calls)) else {
        return String::new();
    };
    let (from, to) = (first[0], last[2]);
    let us = |ns: u64| ns.saturating_sub(from) as f64 / 1e3;
    let lane = |spans: &mut dyn Iterator<Item = (u64, u64)>| {
        let within = spans.filter(|(a, b)| *b > from && *a < to);
        let words: Vec<_> = within
            .map(|(a, b)| format!("{:.1}-{:.1}", us(a), us(b.min(to))))
            .collect();
        words.join(" ")
    };
    let callback = lane(&mut walk.calls.iter().map(|[a, b, c]| (*a, (*b).max(*c))));
    let levels = walk
        .levels
        .iter()
        .map(|spans| lane(&mut spans.iter().copied()));
    std::iter::once(callback)
        .chain(levels)
        .collect::<Vec<_>>()
        .join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_calls_shown() {
        let call = |n: u64| [1000 * n, 1000 * n + 100, 1000 * n + 200];
        let walk = Walk {
            calls: (0..20).map(call).collect(),
            levels: vec![(0..10).map(|n| (2000 * n + 300, 2000 * n + 900)).collect()],
        };
        let told = spans(&walk, 4);
        let lanes: Vec<_> = told.split(';').collect();
        assert_eq!(lanes[0].split(' ').next(), Some("0.0-0.2"));
        assert_eq!(lanes[1], "0.3-0.9 2.3-2.9");
        assert_eq!(spans(&Walk::default(), 4), "");
    }
}
