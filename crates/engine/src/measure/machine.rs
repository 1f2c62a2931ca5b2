//! Measures the machine: the costs of data, tasks and wakes between its cores.

use super::crossing::{crossing, crossing_ns, nanos_per_tick};
use super::pair::stamp_after;
use super::wake::{claim, steal, wake};
use costs::{CoreLink, CoreTimings};
use plan::{TraceEvent, TraceRecord};
use rt::stamp::{self, TickScale};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use workers::{CoreId, DmaLatency};

/// Number of parts into which the time is divided where there are two cores: half of them are for the links.
const PARTS: u32 = 8;
/// Smallest time for one pair of cores: where more pairs do not fit, not every pair is measured.
const MIN_PAIR_TIME: Duration = Duration::from_millis(20);
/// Time that both sleep before a wake: less than most periods, long enough for a core to rest.
const SLEEP: Duration = Duration::from_micros(500);
/// The same for a quick look, and the time of that.
const QUICK: (Duration, Duration) = (Duration::from_micros(50), Duration::from_micros(500));
/// Number of time stamps that are timed.
const STAMPS: usize = 4096;

/// Measures this machine as it is now, within about `limit`: half a second is enough for a few cores. Where there are
/// many cores, their pairs are measured one after the other, as far as the time reaches. Meanwhile the machine's power
/// saving is prevented where that is allowed, as it is while sound plays.
///
/// Real-time: waits, for `limit`.
pub fn measure_machine(limit: Duration) -> CoreTimings {
    let scale = TickScale::calibrated();
    let _held = DmaLatency::acquire().ok();
    let tick = nanos_per_tick(scale);
    let links = links(limit / 2, scale);
    let share = limit / PARTS;
    let two = first_two_cores();
    let asked = two.and_then(|two| wake(two, SLEEP, share));
    let steal_ns = two.and_then(|two| Some(steal(two, share)? * tick));
    // The thief's answer is one more crossing.
    let answer = links.first().map_or(0.0, |link| link.base_ns);
    let at = SystemTime::now().duration_since(UNIX_EPOCH);
    CoreTimings {
        at_s: at.map_or(0, |at| at.as_secs()),
        wake_ns: asked.map(|(waker, _)| waker * tick),
        woken_ns: asked.map(|(_, sleeper)| sleeper * tick),
        claim_ns: two.and_then(|two| Some(claim(two, share)? * tick)),
        steal_ns: steal_ns.map(|ns| (ns - answer).max(0.0)),
        mark_ns: mark_ns(scale),
        links,
    }
}

/// Name of this machine in the costs file, with the kernels that compute.
pub fn machine_key() -> String {
    costs::machine_key("scalar")
}

/// A quick look at the first two cores: a crossing without data, and a wake after 50 µs of sleep, in ns. Some
/// milliseconds, and less exact than [`measure_machine`].
pub(crate) fn quick_pair(scale: TickScale) -> (Option<f64>, Option<f64>) {
    let two = first_two_cores();
    let waker = two.and_then(|two| Some(wake(two, QUICK.0, QUICK.1)?.0));
    let crossed = two.and_then(|two| crossing_ns(two, 0, QUICK.1, scale));
    (crossed, waker.map(|ticks| ticks * nanos_per_tick(scale)))
}

/// Cost of a wake for the waker, on this machine now after `sleep`, in ns; `None` where there is only one core.
pub(crate) fn wake_after(sleep: Duration, scale: TickScale) -> Option<f64> {
    let (waker, _) = wake(first_two_cores()?, sleep, Duration::ZERO)?;
    Some(waker * nanos_per_tick(scale))
}

fn first_two_cores() -> Option<(CoreId, CoreId)> {
    match workers::cores() {
        [one, two, ..] => Some((*one, *two)),
        _ => None,
    }
}

/// Links of every pair of cores, or of as many as fit: those of the first core first.
fn links(limit: Duration, scale: TickScale) -> Vec<CoreLink> {
    let cores = workers::cores();
    let pairs =
        (0..cores.len()).flat_map(|a| (a + 1..cores.len()).map(move |b| (cores[a], cores[b])));
    let count = cores.len() * cores.len().saturating_sub(1) / 2;
    let share = (limit / count.max(1) as u32).max(MIN_PAIR_TIME);
    let begun = Instant::now();
    let in_time = pairs.take_while(|_| begun.elapsed() < limit);
    in_time
        .filter_map(|pair| crossing(pair, share, scale))
        .collect()
}

/// Cost of taking a step's time and recording it, as every traced step does, in ns: the minimum of many.
pub(crate) fn mark_ns(scale: TickScale) -> f64 {
    const RUN: u32 = 64;
    let (mut writer, mut reader) = rt::trace::ring(2 * RUN as usize);
    let mut run = || {
        let start = stamp_after();
        for index in 0..RUN {
            let (stamp, mark) = (stamp::now(), TraceEvent::Step);
            writer.record(TraceRecord {
                stamp,
                cycle: 0,
                index,
                worker: 0,
                event: mark,
            });
        }
        let ticks = stamp_after() - start;
        reader.drain(drop);
        ticks
    };
    let min = (0..STAMPS / RUN as usize).map(|_| run()).min().unwrap_or(0);
    min as f64 * nanos_per_tick(scale) / f64::from(RUN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_number_for_all_that_its_cores_allow() {
        let facts = measure_machine(Duration::from_millis(80));
        let cores = workers::cores().len();
        assert!(facts.mark_ns > 0.0 && facts.at_s > 0);
        assert_eq!(facts.links.is_empty(), cores < 2);
        assert_eq!(facts.claim_ns.is_some(), cores > 1);
        assert_eq!(facts.steal_ns.is_some(), cores > 1);
        assert!(
            facts
                .links
                .iter()
                .all(|l| l.from < l.to && l.base_ns >= 0.0 && l.per_kib_ns >= 0.0)
        );
    }
}
