//! The runs of the experiment *convolution*.

use super::callback::{CallbackSchedule, CallbackStats, Placement, measure_callbacks};
use super::kernels::{self, Kernel};
use super::methods::{Method, Player, ThreadCores};
use super::search::find_max_channels;
use super::sync::{self, PeriodPattern, SCHEMES, SyncTrace, Trial};
use super::{RATE_HZ, period};
use crate::calibration::Calibration;
use crate::playback::priority_name;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use std::time::Duration;

/// Response lengths of figure 8.
pub(super) const LENGTHS: [usize; 6] = [16_384, 32_768, 65_536, 131_072, 262_144, 524_288];
/// Those of figures 9 and 10, and those of methods with fewer operations, in full.
const MAX_CHANNEL_LENGTHS: [usize; 4] = [16_384, 65_536, 262_144, 524_288];
const FEWER_OPERATIONS_LENGTHS: [usize; 2] = [16_384, 524_288];
/// Number of channels of figure 8.
pub(super) const CHANNELS: usize = 16;
/// Maximal delays of callbacks, in percent of a period.
pub(super) const JITTERS: [u32; 4] = [0, 20, 40, 60];
/// Duration of the last try of a number of channels, and that at the longest length, for which the paper has a minute.
const HOLD_MS: u64 = 6000;
const LONG_HOLD_MS: u64 = 20_000;
/// Share of the channels that a method holds without delay with which it plays late callbacks.
const JITTERED_SHARE: f64 = 0.75;
/// Memory for a frame of a channel's response, with all spectra.
const BYTES_PER_FRAME: usize = 24;
/// The scheme that figure 6 shows.
const WALK_SCHEME: &str = "counter-atomic";

/// Subject of a run.
#[derive(Clone, Copy)]
enum Subject {
    /// Figure 5.
    Kernel(Kernel),
    /// Section 3.3.
    Sync(&'static str, PeriodPattern),
    /// Figure 6.
    Walk,
    /// Figure 8.
    Load(Method),
    /// Figures 9 and 10.
    MaxChannels(Method, ThreadCores),
    /// Late callbacks: by up to so many percent of a period.
    Jitter(Method, u32),
}

/// A run.
#[derive(Clone, Copy)]
struct ConvolutionRun {
    subject: Subject,
    length: usize,
    channels: usize,
    cores: usize,
    ms: u64,
    effort: Effort,
}

/// Every run, in the order in which they need one another.
pub(super) fn runs(effort: Effort) -> Vec<Box<dyn Run>> {
    let mut list = RunList {
        effort,
        runs: Vec::new(),
    };
    let lengths: &[usize] = effort.choose(&LENGTHS[..], &[16_384, 65_536], &LENGTHS[..1]);
    let held: &[usize] = effort.choose(&MAX_CHANNEL_LENGTHS[..], lengths, lengths);
    let fewer: &[usize] = effort.choose(&FEWER_OPERATIONS_LENGTHS[..], &[16_384], held);
    list.add_kernels();
    list.add_sync();
    list.add(Subject::Walk, 0, 2, 2, effort.choose(200, 60, 24));
    list.add_loads(&Method::ALL, lengths);
    list.add_max_channels(&Method::ALL, held);
    list.add_two_cores(held);
    list.add_jitter(lengths[lengths.len() - 1]);
    list.add_loads(&Method::STUDY, lengths);
    list.add_max_channels(&Method::STUDY, fewer);
    list.runs
}

struct RunList {
    effort: Effort,
    runs: Vec<Box<dyn Run>>,
}

impl RunList {
    fn add(&mut self, subject: Subject, length: usize, channels: usize, cores: usize, ms: u64) {
        self.runs.push(Box::new(ConvolutionRun {
            subject,
            length,
            channels,
            cores,
            ms,
            effort: self.effort,
        }));
    }

    /// Figure 5.
    fn add_kernels(&mut self) {
        let ms = self.effort.choose(50, 4, 0);
        for size in self.effort.choose(5..17, 5..14, 5..6).map(|bits| 1 << bits) {
            for kernel in kernels::all() {
                self.add(Subject::Kernel(kernel), size, 0, 1, ms);
            }
        }
    }

    /// Section 3.3.
    fn add_sync(&mut self) {
        let ms = self.effort.choose(1000, 150, 5);
        for cores in [1, 2] {
            for levels in self.effort.choose(&[1, 2, 3, 5][..], &[1, 3], &[2]) {
                for periods in [PeriodPattern::Doubling, PeriodPattern::AtOnce] {
                    for scheme in SCHEMES {
                        self.add(Subject::Sync(scheme, periods), 0, *levels, cores, ms);
                    }
                }
            }
        }
    }

    /// Figure 8.
    fn add_loads(&mut self, methods: &[Method], lengths: &[usize]) {
        let ms = self.effort.choose(3000, 400, 10);
        for length in lengths {
            for method in methods {
                self.add(Subject::Load(*method), *length, CHANNELS, 1, ms);
            }
        }
    }

    /// Figure 9.
    fn add_max_channels(&mut self, methods: &[Method], lengths: &[usize]) {
        for length in lengths {
            let full_ms = if *length == 524_288 {
                LONG_HOLD_MS
            } else {
                HOLD_MS
            };
            let ms = self.effort.choose(full_ms, 1500, 10);
            for method in methods {
                let subject = Subject::MaxChannels(*method, ThreadCores::One);
                self.add(subject, *length, 0, 1, ms);
            }
        }
    }

    /// Figure 10.
    fn add_two_cores(&mut self, lengths: &[usize]) {
        let ms = self.effort.choose(HOLD_MS, 1500, 10);
        for length in lengths {
            for cores in [ThreadCores::ByLevel, ThreadCores::ByChannel] {
                self.add(
                    Subject::MaxChannels(Method::Preemptive, cores),
                    *length,
                    0,
                    2,
                    ms,
                );
            }
        }
    }

    /// Late callbacks.
    fn add_jitter(&mut self, length: usize) {
        let ms = self.effort.choose(2000, 500, 10);
        for percent in self.effort.choose(&JITTERS[..], &[0, 40], &[40]) {
            for method in Method::ALL {
                self.add(Subject::Jitter(method, *percent), length, 0, 1, ms);
            }
        }
    }
}

impl Run for ConvolutionRun {
    fn key(&self) -> Vec<String> {
        let (what, name, setting) = match self.subject {
            Subject::Kernel(kernel) => ("kernel", &*kernel.name(), kernel.layout().to_owned()),
            Subject::Sync(scheme, periods) => ("sync", scheme, periods.name().to_owned()),
            Subject::Walk => ("walk", WALK_SCHEME, "doubling".to_owned()),
            Subject::Load(method) => ("load", method.name(), "one-core".to_owned()),
            Subject::MaxChannels(method, cores) => ("most", method.name(), cores.name().to_owned()),
            Subject::Jitter(method, percent) => ("jitter", method.name(), format!("{percent}%")),
        };
        let [length, channels, cores] =
            [self.length, self.channels, self.cores].map(|n| n.to_string());
        let ms = self.ms.to_string();
        vec![
            what.into(),
            name.into(),
            length,
            channels,
            cores,
            setting,
            ms,
        ]
    }

    fn duration(&self) -> Duration {
        let times = match self.subject {
            Subject::MaxChannels(..) => 2,
            _ => 1,
        };
        Duration::from_millis(self.ms * times + 20)
    }

    fn measure(
        &self,
        _: &mut Calibration,
        table: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        match self.subject {
            Subject::Kernel(kernel) => self.kernel(kernel, record),
            Subject::Sync(scheme, periods) => self.sync(scheme, periods, record),
            Subject::Walk => self.walk(record),
            Subject::Load(method) => {
                let (stats, partition) =
                    self.play(method, self.channels, self.ms, 0, ThreadCores::One)?;
                record_stats(record, &stats, &partition);
            }
            Subject::MaxChannels(method, cores) => {
                self.max_channels(method, cores, table, record)?
            }
            Subject::Jitter(method, percent) => self.jitter(method, percent, table, record)?,
        }
        Ok(())
    }
}

/// Sets the columns of a run of callbacks.
fn record_stats(record: &mut Record, stats: &CallbackStats, (partition, levels): &(String, usize)) {
    record.set("priority", priority_name(stats.is_real_time));
    record.set("partition", partition);
    record.set("levels", levels);
    for (column, per_mille) in [("p50_us", 500), ("p99_us", 990), ("worst_us", 1000)] {
        record.set_number(column, stats.quantile_us(per_mille), 1);
    }
    record.set("missed", stats.missed);
    record.set("unexplained", stats.unexplained);
    record.set_number("percent", 100.0 * stats.load, 2);
    record.set_number("gaps_us", stats.gaps_ns as f64 / 1e3, 0);
}

impl ConvolutionRun {
    fn placement(&self) -> Placement {
        Placement {
            cores: self.cores,
            is_real_time: self.effort != Effort::Minimal,
        }
    }

    fn kernel(&self, kernel: Kernel, record: &mut Record) {
        let ns = kernel.median_ns(self.length, Duration::from_millis(self.ms));
        record.set_number("p50_us", ns / 1e3, 4);
        record.set_number(
            "percent",
            100.0 * ns * RATE_HZ / 1e9 / self.length as f64,
            6,
        );
    }

    fn trace_sync(
        &self,
        scheme: &'static str,
        periods: PeriodPattern,
        period: Duration,
        load: f64,
    ) -> SyncTrace {
        sync::trace(Trial {
            scheme,
            levels: self.channels,
            periods,
            calls: (self.ms * 1000 / period.as_micros() as u64).max(8) as u32,
            period,
            load,
            placement: self.placement(),
        })
    }

    fn sync(&self, scheme: &'static str, periods: PeriodPattern, record: &mut Record) {
        let trace = self.trace_sync(scheme, periods, Duration::from_micros(500), 0.0);
        let warm_up = trace.calls.len() / 8;
        let calls = trace.calls[warm_up..].iter();
        let mut ns: Vec<u64> = calls
            .map(|[begun, waited, started]| (*waited).max(*started) - begun)
            .collect();
        ns.sort_unstable();
        let us = |per_mille: usize| ns[(ns.len() - 1) * per_mille / 1000] as f64 / 1e3;
        for (column, per_mille) in [("p50_us", 500), ("p99_us", 990), ("worst_us", 1000)] {
            record.set_number(column, us(per_mille), 2);
        }
        let mean_us = ns.iter().sum::<u64>() as f64 / ns.len() as f64 / 1e3;
        record.set("facts", format!("mean {mean_us:.2}"));
        record.set("levels", self.channels);
    }

    fn walk(&self, record: &mut Record) {
        let trace = self.trace_sync(WALK_SCHEME, PeriodPattern::Doubling, period(), 0.3);
        record.set("levels", self.channels + 1);
        record.set("facts", last_spans(&trace, 8));
    }

    /// Plays so many channels. Returns also the partition in words, and its number of levels.
    fn play(
        &self,
        method: Method,
        channels: usize,
        ms: u64,
        jitter_percent: u32,
        cores: ThreadCores,
    ) -> Result<(CallbackStats, (String, usize)), LabError> {
        let placement = self.placement();
        let mut player = Player::new(method, channels, self.length, placement, cores)?;
        let partition = player.partition();
        // Before the longest level has its first result, none of its results can be late.
        let longest = player.longest_period() as usize;
        let calls = (ms as f64 / 1e3 / period().as_secs_f64()).ceil() as usize;
        let schedule = CallbackSchedule {
            period: period(),
            warm_up: self.effort.choose(2 * longest, longest, 4),
            calls: calls.max(self.effort.choose(2 * longest, longest, 4)),
            max_delay: period() * jitter_percent / 100,
            placement,
        };
        Ok((measure_callbacks(&mut player, schedule), partition))
    }

    fn max_channels(
        &self,
        method: Method,
        cores: ThreadCores,
        table: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let fits = available_memory() / 2 / (self.length * BYTES_PER_FRAME);
        let limit = self.effort.choose(2000, 400, 2).min(fits).max(1);
        let partition = Player::new(method, 1, self.length, self.placement(), cores)?.partition();
        let play = |channels, ms| Ok::<_, LabError>(self.play(method, channels, ms, 0, cores)?.0);
        let short_ms = self.effort.choose(700, 300, 10);
        let found = find_max_channels(
            self.expected_channels(method, table),
            limit,
            |channels| play(channels, short_ms),
            |channels| play(channels, self.ms),
        )?;
        record_stats(record, &found.stats, &partition);
        record.set("held", found.channels);
        if found.channels == limit {
            record.set("facts", "no more were tried");
        }
        Ok(())
    }

    /// Expected maximum of channels, from the load of figure 8.
    fn expected_channels(&self, method: Method, table: &Table) -> usize {
        let length = self.length.to_string();
        let load = table.find(&[
            ("what", "load"),
            ("way", method.name()),
            ("length", &length),
        ]);
        let percent = load.and_then(|row| row.number("percent")).unwrap_or(20.0);
        let of_one = percent.max(0.1) / CHANNELS as f64;
        (75.0 * self.cores as f64 / of_one) as usize
    }

    fn jitter(
        &self,
        method: Method,
        percent: u32,
        table: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let length = self.length.to_string();
        let held = table.find(&[
            ("what", "most"),
            ("way", method.name()),
            ("length", &length),
            ("cores", "1"),
        ]);
        let held = held.and_then(|row| row.number("held")).unwrap_or(1.0);
        let channels = (held * JITTERED_SHARE).max(1.0) as usize;
        let (stats, partition) = self.play(method, channels, self.ms, percent, ThreadCores::One)?;
        record_stats(record, &stats, &partition);
        record.set("held", channels);
        Ok(())
    }
}

/// Bytes of memory that are available.
fn available_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(1 << 21).saturating_mul(1024)
}

/// The last `calls` calls as a cell: threads separated by `;`, each with its spans `from-to` in µs.
fn last_spans(trace: &SyncTrace, calls: usize) -> String {
    // From a call in which every level begins.
    let at = trace.calls.len().saturating_sub(2 * calls) / calls * calls;
    let (Some(first), Some(last)) = (trace.calls.get(at), trace.calls.get(at + calls)) else {
        return String::new();
    };
    let (from, to) = (first[0], last[2]);
    let us = |ns: u64| ns.saturating_sub(from) as f64 / 1e3;
    let thread = |spans: &mut dyn Iterator<Item = (u64, u64)>| {
        let within = spans.filter(|(a, b)| *b > from && *a < to);
        let words = within.map(|(a, b)| format!("{:.1}-{:.1}", us(a), us(b.min(to))));
        words.collect::<Vec<_>>().join(" ")
    };
    let callback = thread(&mut trace.calls.iter().map(|[a, b, c]| (*a, (*b).max(*c))));
    let levels = trace
        .levels
        .iter()
        .map(|spans| thread(&mut spans.iter().copied()));
    let threads: Vec<_> = std::iter::once(callback).chain(levels).collect();
    threads.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_last_calls() {
        let call = |n: u64| [1000 * n, 1000 * n + 100, 1000 * n + 200];
        let trace = SyncTrace {
            calls: (0..20).map(call).collect(),
            levels: vec![(0..10).map(|n| (2000 * n + 300, 2000 * n + 900)).collect()],
        };
        let cell = last_spans(&trace, 4);
        let threads: Vec<_> = cell.split(';').collect();
        assert_eq!(threads[0].split(' ').next(), Some("0.0-0.2"));
        assert_eq!(threads[1], "0.3-0.9 2.3-2.9");
        assert_eq!(last_spans(&SyncTrace::default(), 4), "");
    }
}
