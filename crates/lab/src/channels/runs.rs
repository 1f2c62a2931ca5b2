//! The runs of the experiment *channels*.

use super::peer::ChannelPeer;
use super::{GRAPH, GRAPH_BYTES, TRIP, bare};
use crate::queues::program;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError};
use divisi::rt::stamp::TickScale;
use std::time::Duration;

/// Bytes of the messages of table 1.
pub(crate) const SIZES: [usize; 6] = [512, 1024, 1280, 2048, 4096, 4480];
/// Turns in which channel and bare ping-pong alternate.
const TURNS: usize = 10;

/// Every run.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let trips = effort.choose(100_000, 100_000, 200);
    let sizes: &[usize] = effort.choose(&SIZES, &SIZES, &[1280]);
    let table = sizes.iter().map(|size| (TRIP, *size));
    let run = |(what, size): (&'static str, usize)| {
        let settings = format!("{what},{size}");
        let duration = Duration::from_micros(10 * trips as u64);
        Run::new(settings, trips, duration, move |_, _, record| {
            measure(what, size, trips, record)
        })
    };
    table.chain([(GRAPH, GRAPH_BYTES)]).map(run).collect()
}

/// Times of both, in turns.
fn measure(
    what: &'static str,
    size: usize,
    trips: usize,
    record: &mut Record,
) -> Result<(), LabError> {
    let scale = TickScale::calibrated();
    let (mut channel, mut bare_times) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        // The other process lives for one turn only: it would spin beside the bare ping-pong.
        if let Some(program) = program() {
            let refused = |error: std::io::Error| LabError::Play(error.to_string());
            let mut peer = ChannelPeer::start(&program, size, what == GRAPH).map_err(refused)?;
            channel.extend(peer.round_trips(size, trips / TURNS).map_err(refused)?);
        }
        bare_times.extend(bare::round_trips(size, trips / TURNS));
    }
    if let Some(mean) = mean(&channel) {
        record.set_number("mean_cycles", mean, 0);
    }
    let channel_columns = ["min_ns", "mean_ns", "p999_ns", "max_ns"];
    let bare_columns = ["bare_min_ns", "bare_mean_ns", "bare_p999_ns", "bare_max_ns"];
    for (times, columns) in [
        (&mut channel, channel_columns),
        (&mut bare_times, bare_columns),
    ] {
        times.sort_unstable();
        let ns_per_tick = scale.nanos(1 << 30).0 as f64 / f64::from(1 << 30);
        let (Some(mean), Some(min), Some(max)) = (mean(times), times.first(), times.last()) else {
            continue;
        };
        let p999 = times[(times.len() - 1) * 999 / 1000];
        let values = [*min as f64, mean, p999 as f64, *max as f64];
        for (column, ticks) in columns.into_iter().zip(values) {
            record.set_number(column, ticks * ns_per_tick, 0);
        }
    }
    Ok(())
}

fn mean(times: &[u64]) -> Option<f64> {
    let sum: f64 = times.iter().map(|time| *time as f64).sum();
    (!times.is_empty()).then(|| sum / times.len() as f64)
}
