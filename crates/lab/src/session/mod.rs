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
//!
//! | column | holds |
//! |---|---|
//! | `state` | `idle` or `playing`: what a plug-in burns a block; or `control` |
//! | `threads`, `scheduler`, `fuse`, `ms` | as in [`crate::graphs`] |
//! | `takes`, `wakes` | per cycle: takes from shared queues, sleeping threads that were woken |
//! | `ran` | time of the engine's threads on a core, over the time of the run: the article's processor time |
//!
//! Result: whether batches by weight save as many takes and as much processor time as the article says, beside one
//! locked queue on the same machine; and how the other executors compare with both.

mod graph;
mod page;

use crate::Effort;
use crate::definition::Definition;
use crate::machine::period_us;
use crate::playback::{Pace, Playback, measure_playback, playback_columns};
use crate::results::Variant;
use crate::run::Run;
use divisi::graph::shape;
use divisi::plan::MeasuredCosts;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::fmt;
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

/// States of the session.
const STATES: [&str; 2] = ["idle", "playing"];
/// Numbers of threads.
const THREADS: [usize; 2] = [2, 6];

/// Settings of a run.
#[derive(Clone, Copy)]
struct RunSettings {
    /// One of [`STATES`], or `control`: a graph of two nodes.
    state: &'static str,
    threads: usize,
    variant: Variant,
}

/// An oscillator into an output.
const CONTROL: RunSettings = RunSettings {
    state: "control",
    threads: 1,
    variant: Variant::unfused(Scheduler::Sequential),
};

impl RunSettings {
    fn graph(self) -> Graph {
        match self.state {
            "idle" => graph::session(IDLE_NS),
            "playing" => playing(),
            _ => shape::line(2, None).expect("a line may have two nodes"),
        }
    }

    fn run(self, ms: u64) -> Run {
        let warm_up = Duration::from_micros(10 * period_us(BLOCK) as u64);
        let duration = Duration::from_millis(ms + 20) + warm_up;
        Run::new(self, ms, duration, move |calibration, _, record| {
            let stats = measure_playback(&Playback {
                graph: &self.graph(),
                variant: self.variant,
                workers: self.variant.threads(self.threads),
                block: BLOCK,
                pace: Pace::Beat,
                core_timings: calibration.core_timings(),
                // As in the article, weights are given, not measured.
                costs: MeasuredCosts::default(),
                duration: Duration::from_millis(ms),
            })?;
            stats.record(BLOCK, record);
            Ok(())
        })
    }
}

/// The cells of the key.
impl fmt::Display for RunSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Variant { scheduler, fuse } = self.variant;
        let (state, threads) = (self.state, self.variant.threads(self.threads));
        write!(f, "{state},{threads},{scheduler},{fuse}")
    }
}

/// The session while its plug-ins play.
pub(crate) fn playing() -> Graph {
    graph::session(PLAYING_NS)
}

/// Every run, the control first.
fn runs(effort: Effort) -> Vec<Run> {
    let mut all = vec![CONTROL];
    for state in STATES {
        for fuse in ["off", "on"] {
            let mut add = |threads, scheduler| {
                let variant = Variant { scheduler, fuse };
                all.push(RunSettings {
                    state,
                    threads,
                    variant,
                });
            };
            add(1, Scheduler::Sequential);
            for threads in THREADS {
                let parallel = Scheduler::all().filter(|s| *s != Scheduler::Sequential);
                parallel.for_each(|scheduler| add(threads, scheduler));
            }
        }
    }
    let ms = effort.choose(2500, 250, 5);
    all.into_iter().map(|run| run.run(ms)).collect()
}
