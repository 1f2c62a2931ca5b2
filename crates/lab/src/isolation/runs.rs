//! The runs of the experiment *isolation*.

use super::CHANNEL;
use super::device::{MusicCell, Responses};
use super::histogram::Histogram;
use super::load::{Load, RunningLoad};
use super::music::MusicApp;
use super::packet::PRIORITY;
use crate::channels::{ChannelPeer, SIZES};
use crate::queues::program;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError};
use divisi::rt::stamp::TickScale;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Every run: in each round all loads, so that what changes with time changes all of them.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let (rounds, ms) = effort.choose((10, 30_000), (2, 1000), (1, 20));
    let mut all: Vec<Run> = SIZES.iter().map(|size| trips(*size, effort)).collect();
    for round in 0..rounds {
        for app in MusicApp::ALL {
            for load in Load::ALL {
                let settings = format!("{},{},{round}", app.name(), load.name());
                let duration = Duration::from_millis(ms);
                all.push(Run::new(settings, ms, duration, move |_, _, record| {
                    let Some(program) = program() else {
                        return Ok(());
                    };
                    let found = measure(&program, app, load, duration);
                    write(
                        &found.map_err(|error| LabError::Play(error.to_string()))?,
                        record,
                    );
                    Ok(())
                }));
            }
        }
    }
    all
}

/// Round trips of messages of `size` bytes, for table 1.
fn trips(size: usize, effort: Effort) -> Run {
    let trips = effort.choose(100_000, 10_000, 100);
    let duration = Duration::from_micros(2 * trips as u64);
    Run::new(
        format!("{CHANNEL},{size},0"),
        trips,
        duration,
        move |_, _, record| {
            let Some(program) = program() else {
                return Ok(());
            };
            let refused = |error: io::Error| LabError::Play(error.to_string());
            let mut peer = ChannelPeer::start(&program, size, false).map_err(refused)?;
            let ticks = peer.round_trips(size, trips).map_err(refused)?;
            let scale = TickScale::calibrated();
            let times_ns = ticks.into_iter().map(|it| scale.nanos(it).0).collect();
            let found = Responses {
                times_ns,
                ..Responses::default()
            };
            write_times(&found, 2, record);
            Ok(())
        },
    )
}

/// Response times of `app` beside `load`; none where the machine does not grant the load.
fn measure(program: &Path, app: MusicApp, load: Load, duration: Duration) -> io::Result<Responses> {
    let mut cell = MusicCell::start(program, app, 0)?;
    let mut refused = std::mem::take(&mut cell.refused);
    let mut running = match RunningLoad::start(program, load) {
        Err(error) if load == Load::Container => {
            return Ok(Responses {
                refused: vec![error.to_string()],
                ..Responses::default()
            });
        }
        running => running?,
    };
    refused.append(&mut running.refused);
    // On a thread of its own: the cores of this one are inherited by what it starts.
    let mut found = std::thread::scope(|scope| {
        let device = scope.spawn(|| {
            refused.extend(place_device());
            cell.measure(duration)
        });
        device
            .join()
            .map_err(|_| io::Error::other("the device panicked"))?
    });
    drop(running);
    refused.sort();
    refused.dedup();
    if let Ok(found) = &mut found {
        found.refused = refused;
    }
    found
}

/// Gives this thread the first core and its priority. Returns what the system refuses.
fn place_device() -> Vec<String> {
    let mut refused = Vec::new();
    #[cfg(target_os = "linux")]
    {
        let isolation = divisi::cells::Isolation {
            cores: vec![0],
            ..Default::default()
        };
        refused.extend(isolation.place());
    }
    let priority = divisi::workers::set_priority(PRIORITY).err();
    refused.extend(priority.map(|it| format!("{it}: {}", it.fix())));
    refused
}

fn write(found: &Responses, record: &mut Record) {
    record.set("refused", found.refused.join("; "));
    if found.times_ns.is_empty() {
        return;
    }
    write_times(found, 1, record);
    let gaps = &found.gaps;
    record.set("late", found.late);
    record.set("gaps", gaps.count);
    record.set_number("gap_max_us", gaps.max_ns as f64 / 1e3, 1);
    record.set_number("watched_ms", gaps.watched_ns as f64 / 1e6, 0);
    record.set("histogram", Histogram::of(&found.times_ns));
}

/// Writes the figures of the times, in microseconds with so many decimals.
fn write_times(found: &Responses, decimals: usize, record: &mut Record) {
    let times = &found.times_ns;
    let (Some(min), Some(max)) = (times.iter().min(), times.iter().max()) else {
        return;
    };
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    record.set("count", times.len());
    record.set_number("min_us", *min as f64 / 1e3, decimals);
    record.set_number("mean_us", mean / 1e3, 2);
    record.set_number("max_us", *max as f64 / 1e3, decimals);
    let histogram = Histogram::of(times);
    for (column, share) in [("p50_us", 0.5), ("p999_us", 0.999)] {
        if let Some(us) = histogram.quantile_us(share) {
            record.set_number(column, us, 1);
        }
    }
}
