//! The runs of the experiment *isolation*.

use super::device::{MusicCell, Responses};
use super::histogram::Histogram;
use super::load::{Load, RunningLoad};
use super::music::MusicApp;
use super::packet::PRIORITY;
use crate::queues::program;
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Every run: in each round all loads, so that what changes with time changes all of them.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let (rounds, ms) = effort.choose((10, 30_000), (2, 1000), (1, 20));
    let mut all = Vec::new();
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

/// Response times of `app` beside `load`; none where the machine does not grant the load.
fn measure(program: &Path, app: MusicApp, load: Load, duration: Duration) -> io::Result<Responses> {
    let mut cell = MusicCell::start(program, app, 0)?;
    let running = match RunningLoad::start(program, load) {
        Err(_) if load == Load::Container => return Ok(Responses::default()),
        running => running?,
    };
    // On a thread of its own: the cores of this one are inherited by what it starts.
    let found = std::thread::scope(|scope| {
        let device = scope.spawn(|| {
            place_device();
            cell.measure(duration)
        });
        device
            .join()
            .map_err(|_| io::Error::other("the device panicked"))?
    });
    drop(running);
    found
}

/// Gives this thread the first core and its priority, where the system allows it.
fn place_device() {
    #[cfg(target_os = "linux")]
    {
        let isolation = divisi::cells::Isolation {
            cores: vec![0],
            ..Default::default()
        };
        isolation.place();
    }
    let _ = divisi::workers::set_priority(PRIORITY);
}

fn write(found: &Responses, record: &mut Record) {
    let times = &found.times_ns;
    let (Some(min), Some(max)) = (times.iter().min(), times.iter().max()) else {
        return;
    };
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    let histogram = Histogram::of(times);
    record.set("count", times.len());
    record.set("late", found.late);
    record.set_number("min_us", *min as f64 / 1e3, 1);
    record.set_number("mean_us", mean / 1e3, 2);
    record.set_number("max_us", *max as f64 / 1e3, 1);
    for (column, share) in [("p50_us", 0.5), ("p999_us", 0.999)] {
        if let Some(us) = histogram.quantile_us(share) {
            record.set_number(column, us, 1);
        }
    }
    record.set("histogram", histogram);
}
