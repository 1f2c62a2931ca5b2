//! The runs of the experiment *graphs*.

use crate::calibration::Calibration;
use crate::machine::period_us;
use crate::playback::{Pace, Playback, compared_schedulers, measure_playback};
use crate::record::Record;
use crate::run::Run;
use crate::{Effort, LabError, Table};
use divisi::graph::shape;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::collections::HashSet;
use std::time::Duration;

/// Kind of the inner nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inner {
    /// A modulator, as in the report's graphs: far below a microsecond.
    Modulator,
    /// An expensive node, which burns [`EXPENSIVE_NS`] a frame: about a transcendental function for each.
    Expensive,
}

/// Cost of an expensive node per frame.
pub(super) const EXPENSIVE_NS: f64 = 20.0;

impl Inner {
    pub(super) const ALL: [Self; 2] = [Self::Modulator, Self::Expensive];

    /// Name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Modulator => "sound",
            Self::Expensive => "dear",
        }
    }
}

/// A test graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) nodes: usize,
}

/// The report's three, in the sizes of its histograms.
pub(super) const REPORTED: [Shape; 3] = [of("line", 100), of("diamond", 156), of("rake", 101)];
/// Smaller and larger ones.
const OTHER_SIZES: [Shape; 6] = [
    of("line", 20),
    of("line", 300),
    of("diamond", 16),
    of("diamond", 636),
    of("rake", 11),
    of("rake", 302),
];
/// The smallest graph that plays: what takes long here is not due to the graph.
pub(super) const CONTROL: Shape = of("control", 2);

const fn of(name: &'static str, nodes: usize) -> Shape {
    Shape { name, nodes }
}

impl Shape {
    fn graph(self, inner: Inner, block: u32) -> Graph {
        let work_ns = (inner == Inner::Expensive).then(|| EXPENSIVE_NS * f64::from(block));
        let made = match self.name {
            "rake" => shape::rake(self.nodes, work_ns),
            "diamond" => shape::diamond(self.nodes, work_ns),
            _ => shape::line(self.nodes, work_ns),
        };
        made.expect("the sizes above are sizes of these shapes")
    }
}

/// Block size of the histograms.
pub(super) const HISTOGRAM_BLOCK: u32 = 2048;
/// Block sizes and thread counts of the report.
pub(super) const BLOCKS: [u32; 6] = [16, 32, 64, 128, 256, 512];
pub(super) const THREADS: [usize; 3] = [2, 3, 4];

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct GraphRun {
    shape: Shape,
    inner: Inner,
    threads: usize,
    block: u32,
    is_loaded: bool,
    scheduler: Scheduler,
    fuse: bool,
    pace: Pace,
    ms: u64,
}

impl Run for GraphRun {
    fn key(&self) -> Vec<String> {
        vec![
            self.shape.name.to_owned(),
            self.shape.nodes.to_string(),
            self.inner.name().to_owned(),
            self.threads.to_string(),
            self.block.to_string(),
            if self.is_loaded { "video" } else { "rest" }.to_owned(),
            self.scheduler.name().to_owned(),
            if self.fuse { "on" } else { "off" }.to_owned(),
            self.pace.name().to_owned(),
            self.ms.to_string(),
        ]
    }

    fn needs_load(&self) -> bool {
        self.is_loaded
    }

    fn duration(&self) -> Duration {
        // Threads, plans and the first cycles take some time too.
        Duration::from_millis(self.ms + 10)
    }

    fn measure(
        &self,
        calibration: &mut Calibration,
        _: &Table,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let graph = self.shape.graph(self.inner, self.block);
        let block = Frames(self.block);
        let Shape { name, nodes } = self.shape;
        let name = format!("{name} {nodes} {} {}", self.inner.name(), self.block);
        let costs = calibration.node_costs(&name, &graph, block)?;
        let stats = measure_playback(&Playback {
            graph: &graph,
            scheduler: self.scheduler,
            workers: self.threads,
            block,
            fuse: self.fuse,
            pace: self.pace,
            core_timings: calibration.core_timings(),
            costs,
            duration: Duration::from_millis(self.ms),
        })?;
        stats.record(block, record);
        // Only where the page draws it: otherwise it would be most of the table.
        if self.block == HISTOGRAM_BLOCK {
            let buckets = stats.histogram.iter().filter(|bucket| bucket.count > 0);
            let buckets = buckets.map(|b| format!("{}-{}:{}", b.from_ns, b.to_ns, b.count));
            record.set("bars", buckets.collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }
}

/// Every run, those at rest first.
pub(super) fn runs(effort: Effort) -> Vec<Box<dyn Run>> {
    let runs = all_runs(effort).into_iter();
    runs.map(|run| Box::new(run) as _).collect()
}

fn all_runs(effort: Effort) -> Vec<GraphRun> {
    let mut all = Vec::new();
    for is_loaded in [false, true] {
        add_reported(effort, is_loaded, &mut all);
        add_product(effort, is_loaded, &mut all);
    }
    let mut keys = HashSet::new();
    all.retain(|run: &GraphRun| keys.insert(run.key()));
    all
}

/// The report's own runs, at the beat of a device, and its histograms.
fn add_reported(effort: Effort, is_loaded: bool, all: &mut Vec<GraphRun>) {
    let is_full = effort == Effort::Full;
    let mut add = |shape, inner, threads, block, pace, fuse| {
        let ms = match pace {
            Pace::Beat => {
                let min_blocks = f64::from(effort.choose(40_u32, 10, 2));
                let min_ms = min_blocks * period_us(Frames(block)) / 1e3;
                effort.choose(200, 20, 2).max(min_ms.ceil() as u64)
            }
            Pace::Behind => effort.choose(200, 10, 2),
        };
        let run = GraphRun {
            shape,
            inner,
            threads,
            block,
            is_loaded,
            scheduler: Scheduler::Sequential,
            fuse: false,
            pace,
            ms,
        };
        add_every_scheduler(run, fuse, all);
    };
    for inner in Inner::ALL {
        let is_short = !is_full && inner == Inner::Modulator;
        for shape in &REPORTED[..if is_short { 1 } else { 3 }] {
            add(*shape, inner, 3, 128, Pace::Beat, true);
            if is_loaded || effort == Effort::Minimal {
                continue;
            }
            for threads in THREADS {
                add(*shape, inner, threads, 128, Pace::Beat, is_full);
            }
            for block in effort.choose(&BLOCKS[..], &[16, 512], &[]) {
                add(*shape, inner, 3, *block, Pace::Beat, is_full);
            }
            add(*shape, inner, 3, HISTOGRAM_BLOCK, Pace::Behind, is_full);
        }
    }
    if is_full && !is_loaded {
        for shape in OTHER_SIZES {
            for threads in THREADS {
                add(shape, Inner::Modulator, threads, 128, Pace::Beat, false);
            }
        }
    }
}

/// The product of all settings, block after block.
fn add_product(effort: Effort, is_loaded: bool, all: &mut Vec<GraphRun>) {
    for &inner in effort.choose(&Inner::ALL[..], &Inner::ALL[1..], &Inner::ALL[1..]) {
        for &shape in effort.choose(&REPORTED[..], &REPORTED[..], &REPORTED[2..]) {
            for &block in effort.choose(&BLOCKS[..], &[64], &[16]) {
                for &threads in effort.choose(&THREADS[..], &[2], &[2]) {
                    let run = GraphRun {
                        shape,
                        inner,
                        threads,
                        block,
                        is_loaded,
                        scheduler: Scheduler::Sequential,
                        fuse: false,
                        pace: Pace::Behind,
                        ms: effort.choose(60, 10, 1),
                    };
                    add_every_scheduler(run, effort == Effort::Full, all);
                }
            }
        }
    }
}

/// Adds the control of a run, and the run with every scheduler, fused too if `fuse`. Sequential ones have one thread.
fn add_every_scheduler(run: GraphRun, fuse: bool, all: &mut Vec<GraphRun>) {
    all.push(GraphRun {
        shape: CONTROL,
        inner: Inner::Modulator,
        threads: 1,
        ..run
    });
    let fusing: &[bool] = if fuse { &[false, true] } else { &[false] };
    for scheduler in compared_schedulers() {
        let threads = match scheduler {
            Scheduler::Sequential => 1,
            _ => run.threads,
        };
        all.extend(fusing.iter().map(|fuse| GraphRun {
            scheduler,
            threads,
            fuse: *fuse,
            ..run
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_own_runs_are_all_there() {
        let all = all_runs(Effort::Full);
        let has = |threads, block, is_loaded, pace, shape| {
            all.iter().any(|run| {
                let settings = (run.threads, run.block, run.is_loaded, run.pace, run.shape);
                settings == (threads, block, is_loaded, pace, shape)
                    && (run.scheduler, run.inner) == (Scheduler::Stealing, Inner::Modulator)
            })
        };
        for shape in REPORTED {
            assert!(
                THREADS
                    .iter()
                    .all(|t| has(*t, 128, false, Pace::Beat, shape))
            );
            assert!(BLOCKS.iter().all(|b| has(3, *b, false, Pace::Beat, shape)));
            assert!(has(3, 128, true, Pace::Beat, shape));
            assert!(has(3, HISTOGRAM_BLOCK, false, Pace::Behind, shape));
            for is_loaded in [false, true] {
                let mut product = THREADS.iter().flat_map(|t| BLOCKS.map(|b| (*t, b)));
                assert!(product.all(|(t, b)| has(t, b, is_loaded, Pace::Behind, shape)));
            }
        }
    }

    #[test]
    fn every_run_has_its_control() {
        for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
            let all = all_runs(effort);
            let settings = |run: &GraphRun| (run.block, run.is_loaded, run.pace == Pace::Beat);
            let controls = all.iter().filter(|run| run.shape == CONTROL);
            let controls: HashSet<_> = controls.map(settings).collect();
            assert!(all.iter().all(|run| controls.contains(&settings(run))));
        }
    }
}
