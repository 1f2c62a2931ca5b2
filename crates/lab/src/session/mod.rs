//! The experiment *session*: 500 objects, 64 of them plug-ins.
//!
//! | | |
//! |---|---|
//! | source | Brad Robinson, article on the audio engine of Cantabile 3 (2016): takes from the shared queue and processor time of a session of 500 objects with six threads, before and after weighted batches |
//! | varied | executor, fusion, two threads or six, idle or playing plug-ins |
//! | measured | takes and wakes per cycle, processor time, cycle time, missed cycles |
//! | how | `playback` at the period of a clock driver, 128 frames; the engine counts takes and wakes |
//! | control | an oscillator into an output on one thread, for as long |
//! | void | see [`crate::state`] |

mod graph;
mod page;

use crate::calibration::Calibration;
use crate::definition::Definition;
use crate::machine::period_us;
use crate::playback::{Pace, Playback, compared_schedulers, measure_playback, playback_columns};
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::plan::MeasuredCosts;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::time::Duration;

pub(crate) const DEFINITION: Definition = Definition {
    name: "session",
    title: "A session of 500 objects",
    template: include_str!("page.html"),
    columns: concat!(
        "state,threads,scheduler,fuse,ms,",
        playback_columns!(),
        ",loadavg,nice,others_ms"
    ),
    keys: 5,
    runs,
    import: |_, _| Ok(()),
    fill: page::fill,
};

const BLOCK: Frames = Frames(128);
/// Time that one plug-in burns per block, by state.
const IDLE_NS: f64 = 2_000.0;
const PLAYING_NS: f64 = 16_000.0;

/// States of the session; the control is a graph of two nodes.
const CONTROL: &str = "control";
const STATES: [&str; 2] = ["idle", "playing"];
/// Numbers of threads.
const THREADS: [usize; 2] = [2, 6];

/// One run.
struct SessionRun {
    state: &'static str,
    threads: usize,
    scheduler: Scheduler,
    fuse: bool,
    ms: u64,
}

impl SessionRun {
    fn graph(&self) -> Graph {
        match self.state {
            "idle" => graph::session(IDLE_NS),
            "playing" => playing(),
            _ => shape::line(2, None).expect("a line may have two nodes"),
        }
    }
}

impl Run for SessionRun {
    fn key(&self) -> Vec<String> {
        vec![
            self.state.to_owned(),
            self.threads.to_string(),
            self.scheduler.to_string(),
            if self.fuse { "on" } else { "off" }.to_owned(),
            self.ms.to_string(),
        ]
    }

    fn duration(&self) -> Duration {
        let warm_up = Duration::from_micros(10 * period_us(BLOCK) as u64);
        Duration::from_millis(self.ms + 20) + warm_up
    }

    fn measure(
        &self,
        calibration: &mut Calibration,
        _: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let stats = measure_playback(&Playback {
            graph: &self.graph(),
            scheduler: self.scheduler,
            workers: self.threads,
            block: BLOCK,
            fuse: self.fuse,
            pace: Pace::Beat,
            core_timings: calibration.core_timings(),
            // As in the article, weights are given, not measured.
            costs: MeasuredCosts::default(),
            duration: Duration::from_millis(self.ms),
        })?;
        stats.record(BLOCK, record);
        Ok(())
    }
}

/// The session while its plug-ins play.
pub(crate) fn playing() -> Graph {
    graph::session(PLAYING_NS)
}

/// Every run, the control first.
fn runs(effort: Effort) -> Vec<Box<dyn Run>> {
    let mut all: Vec<Box<dyn Run>> = Vec::new();
    let mut add = |state, threads, scheduler, fuse| {
        all.push(Box::new(SessionRun {
            state,
            threads,
            scheduler,
            fuse,
            ms: effort.choose(2500, 250, 5),
        }));
    };
    add(CONTROL, 1, Scheduler::Sequential, false);
    for state in STATES {
        for fuse in [false, true] {
            add(state, 1, Scheduler::Sequential, fuse);
            for threads in THREADS {
                let schedulers = compared_schedulers().into_iter();
                let parallel = schedulers.filter(|s| *s != Scheduler::Sequential);
                parallel.for_each(|scheduler| add(state, threads, scheduler, fuse));
            }
        }
    }
    all
}
