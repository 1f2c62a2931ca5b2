//! The experiment *session*: 500 objects, 64 of them plug-ins, as in the article of Brad Robinson (2016) on the engine of
//! Cantabile: how often a shared queue is taken from, how often workers are woken, how much of the processor it uses.

mod graph;
mod page;

use crate::bench::Bench;
use crate::figures::columns;
use crate::machine::{now, period_us};
use crate::play::{Pace, Run, play};
use crate::run::Cell;
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::plan::MeasuredCosts;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::time::Duration;

pub(crate) use page::page;

/// Frames in a block.
const BLOCK: u32 = 128;
/// What one plug-in burns a block, in ns, while nothing plays and while something does.
const IDLE_NS: f64 = 2_000.0;
const PLAYING_NS: f64 = 16_000.0;

/// How many columns say which run it is.
pub(crate) const KEYS: usize = 5;
pub(crate) const COLUMNS: &[&str] = columns!("state", "threads", "scheduler", "fuse", "ms";);

/// What plays.
const CONTROL: &str = "control";
const STATES: [&str; 2] = ["idle", "playing"];
/// How many threads.
const THREADS: [usize; 2] = [2, 6];

/// One run.
pub(crate) struct SessionCell {
    state: &'static str,
    threads: usize,
    scheduler: Scheduler,
    fuse: bool,
    ms: u64,
}

impl SessionCell {
    fn graph(&self) -> Graph {
        match self.state {
            "idle" => graph::graph(IDLE_NS),
            "playing" => graph::graph(PLAYING_NS),
            _ => shape::line(2, None).expect("a line may have two nodes"),
        }
    }
}

impl Cell for SessionCell {
    fn key(&self) -> Vec<String> {
        let key = [
            self.state.to_owned(),
            self.threads.to_string(),
            self.scheduler.to_string(),
            if self.fuse { "on" } else { "off" }.to_owned(),
            self.ms.to_string(),
        ];
        debug_assert_eq!(key.len(), KEYS);
        key.into()
    }

    fn is_loaded(&self) -> bool {
        false
    }

    fn lasts(&self) -> Duration {
        let warm = 10.0 * period_us(Frames(BLOCK));
        Duration::from_millis(self.ms + 20) + Duration::from_micros(warm as u64)
    }

    fn run(&self, bench: &mut Bench, _: &Table) -> Result<Vec<String>, LabError> {
        let date = now();
        let seen = play(Run {
            graph: &self.graph(),
            scheduler: self.scheduler,
            workers: self.threads,
            block: Frames(BLOCK),
            fuse: self.fuse,
            pace: Pace::Beat,
            facts: bench.facts(),
            // As the article: what a thing weighs is said, not measured.
            costs: MeasuredCosts::default(),
            time: Duration::from_millis(self.ms),
        })?;
        Ok(seen.cells(date, Frames(BLOCK)))
    }
}

/// The session while something plays.
pub(crate) fn playing() -> Graph {
    graph::graph(PLAYING_NS)
}

/// Every way of playing, and the one that is only for comparison.
fn ways() -> Vec<Scheduler> {
    let all = Scheduler::all();
    all.filter(|way| way.name() != "auto").collect()
}

/// Every run, the control first.
pub(crate) fn cells(effort: Effort) -> Vec<SessionCell> {
    let ms = effort.choose(2500, 250, 5);
    let cell = |state, threads, scheduler, fuse| SessionCell {
        state,
        threads,
        scheduler,
        fuse,
        ms,
    };
    let mut all = vec![cell(CONTROL, 1, Scheduler::Sequential, false)];
    for state in STATES {
        for fuse in [false, true] {
            all.push(cell(state, 1, Scheduler::Sequential, fuse));
            for threads in THREADS {
                let ways = ways().into_iter().filter(|w| *w != Scheduler::Sequential);
                all.extend(ways.map(|way| cell(state, threads, way, fuse)));
            }
        }
    }
    all
}
