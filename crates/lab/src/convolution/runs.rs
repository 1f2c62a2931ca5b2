//! The runs of the experiment *convolution*.

use super::callback::{CallbackSchedule, CallbackStats, Placement, measure_callbacks};
use super::kernels;
use super::methods::{Method, Player, ThreadCores};
use super::search::find_max_channels;
use super::sync::{self, PeriodPattern, SCHEMES, SyncTrace, Trial};
use super::{RATE_HZ, period};
use crate::playback::priority_name;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use std::fmt;
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

/// Settings of a run: what it measures, of which method or kernel, and how.
#[derive(Clone, Copy)]
pub(super) struct RunSettings<'a> {
    what: &'static str,
    name: &'a str,
    /// Frames of the response, channels, and cores.
    sizes: [usize; 3],
    setting: &'a str,
}

/// The cells of the key.
impl fmt::Display for RunSettings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, name, setting) = (self.what, self.name, self.setting);
        let [length, channels, cores] = self.sizes;
        write!(f, "{what},{name},{length},{channels},{cores},{setting}")
    }
}

impl<'a> RunSettings<'a> {
    /// | `what` | `name` | `sizes` | `setting` |
    /// |---|---|---|---|
    /// | `kernel`: figure 5 | kernel | frames of a partition | layout of a spectrum |
    /// | `sync`: section 3.3 | scheme | levels instead of channels | periods |
    /// | `walk`: figure 6 | scheme | levels instead of channels | periods |
    /// | `load`: figure 8 | method | all | cores of the threads |
    /// | `most`: figures 9 and 10 | method | no channels: the run finds them | cores of the threads |
    /// | `jitter`: late callbacks | method | no channels | delay of a callback, of its period |
    fn new(what: &'static str, name: &'a str, sizes: [usize; 3], setting: &'a str) -> Self {
        Self {
            what,
            name,
            sizes,
            setting,
        }
    }

    /// Load of a method, by its name in tables.
    pub(super) fn load(name: &'a str, length: usize) -> Self {
        let cores = ThreadCores::One.name();
        Self::new("load", name, [length, CHANNELS, 1], cores)
    }

    /// Maximum of channels of a method, by its name in tables.
    pub(super) fn most(name: &'a str, length: usize, on: ThreadCores) -> Self {
        let cores = if on == ThreadCores::One { 1 } else { 2 };
        Self::new("most", name, [length, 0, cores], on.name())
    }
}

/// Every run, in the order in which they need one another.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let runs = Vec::new();
    let mut list = RunList { effort, runs };
    let lengths: &[usize] = effort.choose(&LENGTHS[..], &[16_384, 65_536], &LENGTHS[..1]);
    let held: &[usize] = effort.choose(&MAX_CHANNEL_LENGTHS[..], lengths, lengths);
    let fewer: &[usize] = effort.choose(&FEWER_OPERATIONS_LENGTHS[..], &[16_384], held);
    list.add_kernels();
    list.add_sync();
    list.add_walk();
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
    runs: Vec<Run>,
}

impl RunList {
    /// Adds a run of `ms`, which is expected to take them `times` times.
    fn add(
        &mut self,
        settings: RunSettings<'_>,
        ms: u64,
        times: u64,
        measure: impl Fn(Conditions, &Table, &mut Record) -> Result<(), LabError> + 'static,
    ) {
        let ([length, _, cores], effort) = (settings.sizes, self.effort);
        let conditions = Conditions {
            length,
            cores,
            ms,
            effort,
        };
        let duration = Duration::from_millis(ms * times + 20);
        let measure =
            move |_: &mut _, table: &_, record: &mut _| measure(conditions, table, record);
        self.runs.push(Run::new(settings, ms, duration, measure));
    }

    /// Figure 5.
    fn add_kernels(&mut self) {
        let ms = self.effort.choose(50, 4, 0);
        for length in self.effort.choose(5..17, 5..14, 5..6).map(|bits| 1 << bits) {
            for kernel in kernels::all() {
                let name = kernel.name();
                let settings = RunSettings::new("kernel", &name, [length, 0, 1], kernel.layout());
                self.add(settings, ms, 1, move |conditions, _, record| {
                    let ns = kernel.median_ns(length, Duration::from_millis(conditions.ms));
                    record.set_number("p50_us", ns / 1e3, 4);
                    let share = ns * RATE_HZ / 1e9 / length as f64;
                    record.set_number("percent", 100.0 * share, 6);
                    Ok(())
                });
            }
        }
    }

    /// Section 3.3.
    fn add_sync(&mut self) {
        let ms = self.effort.choose(1000, 150, 5);
        for cores in [1, 2] {
            for &levels in self.effort.choose(&[1, 2, 3, 5][..], &[1, 3], &[2]) {
                for periods in [PeriodPattern::Doubling, PeriodPattern::AtOnce] {
                    for name in SCHEMES {
                        let sizes = [0, levels, cores];
                        let settings = RunSettings::new("sync", name, sizes, periods.name());
                        self.add(settings, ms, 1, move |conditions, _, record| {
                            let period = Duration::from_micros(500);
                            let trace = conditions.trace_sync(name, levels, periods, period, 0.0);
                            record_sync(record, &trace);
                            Ok(())
                        });
                    }
                }
            }
        }
    }

    /// Figure 6.
    fn add_walk(&mut self) {
        let ms = self.effort.choose(200, 60, 24);
        let periods = PeriodPattern::Doubling;
        let settings = RunSettings::new("walk", WALK_SCHEME, [0, 2, 2], periods.name());
        self.add(settings, ms, 1, move |conditions, _, record| {
            let trace = conditions.trace_sync(WALK_SCHEME, 2, periods, period(), 0.3);
            record.set("levels", trace.levels.len() + 1);
            record.set("facts", last_spans(&trace, 8));
            Ok(())
        });
    }

    /// Figure 8.
    fn add_loads(&mut self, methods: &[Method], lengths: &[usize]) {
        let ms = self.effort.choose(3000, 400, 10);
        for length in lengths {
            for &method in methods {
                let settings = RunSettings::load(method.name(), *length);
                self.add(settings, ms, 1, move |conditions, _, record| {
                    let cores = ThreadCores::One;
                    let (stats, partition) = conditions.play(method, CHANNELS, ms, 0, cores)?;
                    record_stats(record, &stats, &partition);
                    Ok(())
                });
            }
        }
    }

    /// Figure 9.
    fn add_max_channels(&mut self, methods: &[Method], lengths: &[usize]) {
        for length in lengths {
            let is_longest = *length == 524_288;
            let full_ms = if is_longest { LONG_HOLD_MS } else { HOLD_MS };
            for method in methods {
                self.add_most(*method, *length, ThreadCores::One, full_ms);
            }
        }
    }

    /// Figure 10.
    fn add_two_cores(&mut self, lengths: &[usize]) {
        for length in lengths {
            for cores in [ThreadCores::ByLevel, ThreadCores::ByChannel] {
                self.add_most(Method::Preemptive, *length, cores, HOLD_MS);
            }
        }
    }

    fn add_most(&mut self, method: Method, length: usize, cores: ThreadCores, full_ms: u64) {
        let ms = self.effort.choose(full_ms, 1500, 10);
        let settings = RunSettings::most(method.name(), length, cores);
        self.add(settings, ms, 2, move |conditions, table, record| {
            conditions.max_channels(method, cores, table, record)
        });
    }

    /// Late callbacks.
    fn add_jitter(&mut self, length: usize) {
        let ms = self.effort.choose(2000, 500, 10);
        for &percent in self.effort.choose(&JITTERS[..], &[0, 40], &[40]) {
            for method in Method::ALL {
                let setting = format!("{percent}%");
                let settings = RunSettings::new("jitter", method.name(), [length, 0, 1], &setting);
                self.add(settings, ms, 1, move |conditions, table, record| {
                    conditions.jitter(method, percent, table, record)
                });
            }
        }
    }
}

/// Sets the columns of a run of callbacks.
fn record_stats(record: &mut Record, stats: &CallbackStats, (partition, levels): &(String, usize)) {
    record.set("priority", priority_name(stats.is_real_time));
    record.set("partition", partition);
    record.set("levels", levels);
    record_quantiles(record, stats, 1);
    record.set("missed", stats.missed);
    record.set("unexplained", stats.unexplained);
    record.set_number("percent", 100.0 * stats.load, 2);
    record.set_number("gaps_us", stats.gaps_ns as f64 / 1e3, 0);
}

/// Sets the columns of a run of synchronisation: times of the calls without the first eighth.
fn record_sync(record: &mut Record, trace: &SyncTrace) {
    let calls = trace.calls[trace.calls.len() / 8..].iter();
    let ns = calls.map(|[begun, waited, started]| (*waited).max(*started) - begun);
    let mut stats = CallbackStats {
        durations_ns: ns.collect(),
        ..CallbackStats::default()
    };
    stats.durations_ns.sort_unstable();
    record_quantiles(record, &stats, 2);
    let ns = &stats.durations_ns;
    let mean_us = ns.iter().sum::<u64>() as f64 / ns.len() as f64 / 1e3;
    record.set("facts", format!("mean {mean_us:.2}"));
    record.set("levels", trace.levels.len());
}

fn record_quantiles(record: &mut Record, stats: &CallbackStats, decimals: usize) {
    for (column, per_mille) in [("p50_us", 500), ("p99_us", 990), ("worst_us", 1000)] {
        record.set_number(column, stats.quantile_us(per_mille), decimals);
    }
}

/// The settings that every measurement needs.
#[derive(Clone, Copy)]
struct Conditions {
    length: usize,
    cores: usize,
    ms: u64,
    effort: Effort,
}

impl Conditions {
    fn placement(&self) -> Placement {
        Placement {
            cores: self.cores,
            is_real_time: self.effort != Effort::Minimal,
        }
    }

    fn trace_sync(
        &self,
        scheme: &'static str,
        levels: usize,
        periods: PeriodPattern,
        period: Duration,
        load: f64,
    ) -> SyncTrace {
        sync::trace(Trial {
            scheme,
            levels,
            periods,
            calls: (self.ms * 1000 / period.as_micros() as u64).max(8) as u32,
            period,
            load,
            placement: self.placement(),
        })
    }

    /// Plays a number of channels. Returns also the partition in words, and its number of levels.
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
        let load = table.find(RunSettings::load(method.name(), self.length));
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
        let one = ThreadCores::One;
        let held = table.find(RunSettings::most(method.name(), self.length, one));
        let held = held.and_then(|row| row.number("held")).unwrap_or(1.0);
        let channels = (held * JITTERED_SHARE).max(1.0) as usize;
        let (stats, partition) = self.play(method, channels, self.ms, percent, one)?;
        record_stats(record, &stats, &partition);
        record.set("held", channels);
        Ok(())
    }
}

/// Bytes of memory that are available.
fn available_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"));
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
