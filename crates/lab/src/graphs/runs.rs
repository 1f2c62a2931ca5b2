//! The runs of the experiment *graphs*.

use crate::calibration::Calibration;
use crate::machine::period_us;
use crate::playback::{Pace, Playback, measure_playback};
use crate::record::Record;
use crate::results::Variant;
use crate::run::Run;
use crate::{Effort, LabError};
use divisi::graph::shape;
use divisi::prelude::{Frames, Graph, Scheduler};
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// Nodes between the first and the last of a graph, by their name in tables.
pub(super) type Inner = &'static str;

/// Modulators, as in the report's graphs: far below a microsecond.
pub(super) const MODULATOR: Inner = "sound";
/// Expensive nodes, which burn [`EXPENSIVE_NS`] a frame: about a transcendental function for each.
pub(super) const EXPENSIVE: Inner = "dear";
pub(super) const INNER: [Inner; 2] = [MODULATOR, EXPENSIVE];

/// Cost of an expensive node per frame.
pub(super) const EXPENSIVE_NS: f64 = 20.0;

/// A test graph: shape and number of nodes.
pub(super) type Shape = (&'static str, usize);

/// The report's three, in the sizes of its histograms.
pub(super) const REPORTED: [Shape; 3] = [("line", 100), ("diamond", 156), ("rake", 101)];
/// Smaller and larger ones.
const OTHER_SIZES: [Shape; 6] = [
    ("line", 20),
    ("line", 300),
    ("diamond", 16),
    ("diamond", 636),
    ("rake", 11),
    ("rake", 302),
];
/// The smallest graph that plays: what takes long here is not due to the graph.
pub(super) const CONTROL: Shape = ("control", 2);

/// Block size of the histograms.
pub(super) const HISTOGRAM_BLOCK: u32 = 2048;
/// Block sizes and thread counts of the report.
pub(super) const BLOCKS: [u32; 6] = [16, 32, 64, 128, 256, 512];
pub(super) const THREADS: [usize; 3] = [2, 3, 4];

/// Settings of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunSettings {
    pub(super) shape: Shape,
    pub(super) inner: Inner,
    pub(super) threads: usize,
    pub(super) block: u32,
    /// `rest`, or `video` on a machine in use.
    pub(super) load: &'static str,
    pub(super) pace: Pace,
    pub(super) variant: Variant,
}

impl RunSettings {
    /// A run as in the report: at rest, at the beat, sequential, not fused.
    pub(super) fn reported(shape: Shape, inner: Inner, threads: usize, block: u32) -> Self {
        Self {
            shape,
            inner,
            threads,
            block,
            load: "rest",
            pace: Pace::Beat,
            variant: Variant::unfused(Scheduler::Sequential),
        }
    }

    /// The same run block after block.
    pub(super) fn behind(self) -> Self {
        let pace = Pace::Behind;
        Self { pace, ..self }
    }

    /// The same run with a scheduler.
    pub(super) fn with(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    fn graph(self) -> Graph {
        let work_ns = (self.inner == EXPENSIVE).then(|| EXPENSIVE_NS * f64::from(self.block));
        let made = match self.shape {
            ("rake", nodes) => shape::rake(nodes, work_ns),
            ("diamond", nodes) => shape::diamond(nodes, work_ns),
            (_, nodes) => shape::line(nodes, work_ns),
        };
        made.expect("the sizes above are sizes of these shapes")
    }

    fn measure(
        self,
        ms: u64,
        calibration: &mut Calibration,
        record: &mut Record,
    ) -> Result<(), LabError> {
        let (graph, block) = (self.graph(), Frames(self.block));
        let (name, nodes) = self.shape;
        let name = format!("{name} {nodes} {} {}", self.inner, self.block);
        let costs = calibration.node_costs(&name, &graph, block)?;
        let stats = measure_playback(&Playback {
            graph: &graph,
            variant: self.variant,
            workers: self.variant.threads(self.threads),
            block,
            pace: self.pace,
            core_timings: calibration.core_timings(),
            costs,
            duration: Duration::from_millis(ms),
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

/// The cells of the key. The control has one thread, as a sequential run has.
impl fmt::Display for RunSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((shape, nodes), Variant { scheduler, fuse }) = (self.shape, self.variant);
        let threads = self.variant.threads(self.threads);
        let (inner, block, load, pace) = (self.inner, self.block, self.load, self.pace.name());
        let graph = format_args!("{shape},{nodes},{inner}");
        write!(
            f,
            "{graph},{threads},{block},{load},{scheduler},{fuse},{pace}"
        )
    }
}

/// Every run, those at rest first.
pub(super) fn runs(effort: Effort) -> Vec<Run> {
    let as_run = |(settings, ms): (RunSettings, u64)| {
        // Threads, plans and the first cycles take some time too.
        let duration = Duration::from_millis(ms + 10);
        let run = Run::new(settings, ms, duration, move |calibration, _, record| {
            settings.measure(ms, calibration, record)
        });
        run.loaded(settings.load == "video")
    };
    all_settings(effort).into_iter().map(as_run).collect()
}

/// Settings and duration in ms of every run.
fn all_settings(effort: Effort) -> Vec<(RunSettings, u64)> {
    let mut all = Vec::new();
    for load in ["rest", "video"] {
        add_reported(effort, load, &mut all);
        add_product(effort, load, &mut all);
    }
    let mut known = HashSet::new();
    all.retain(|(settings, ms)| known.insert(format!("{settings},{ms}")));
    all
}

/// The report's own runs, at the beat of a device, and its histograms.
fn add_reported(effort: Effort, load: &'static str, all: &mut Vec<(RunSettings, u64)>) {
    let (is_full, is_loaded) = (effort == Effort::Full, load == "video");
    let mut add = |run: RunSettings, fuse| {
        let min_ms = f64::from(effort.choose(40_u32, 10, 2)) * period_us(Frames(run.block)) / 1e3;
        let ms = match run.pace {
            Pace::Beat => effort.choose(200, 20, 2).max(min_ms.ceil() as u64),
            Pace::Behind => effort.choose(200, 10, 2),
        };
        add_every_scheduler(RunSettings { load, ..run }, ms, fuse, all);
    };
    for inner in INNER {
        let is_short = !is_full && inner == MODULATOR;
        for shape in &REPORTED[..if is_short { 1 } else { 3 }] {
            let run = |threads, block| RunSettings::reported(*shape, inner, threads, block);
            add(run(3, 128), true);
            if is_loaded || effort == Effort::Minimal {
                continue;
            }
            for threads in THREADS {
                add(run(threads, 128), is_full);
            }
            for block in effort.choose(&BLOCKS[..], &[16, 512], &[]) {
                add(run(3, *block), is_full);
            }
            add(run(3, HISTOGRAM_BLOCK).behind(), is_full);
        }
    }
    if is_full && !is_loaded {
        for shape in OTHER_SIZES {
            for threads in THREADS {
                add(RunSettings::reported(shape, MODULATOR, threads, 128), false);
            }
        }
    }
}

/// The product of all settings, block after block.
fn add_product(effort: Effort, load: &'static str, all: &mut Vec<(RunSettings, u64)>) {
    for &inner in effort.choose(&INNER[..], &INNER[1..], &INNER[1..]) {
        for &shape in effort.choose(&REPORTED[..], &REPORTED[..], &REPORTED[2..]) {
            for &block in effort.choose(&BLOCKS[..], &[64], &[16]) {
                for &threads in effort.choose(&THREADS[..], &[2], &[2]) {
                    let run = RunSettings::reported(shape, inner, threads, block).behind();
                    let run = RunSettings { load, ..run };
                    let ms = effort.choose(60, 10, 1);
                    add_every_scheduler(run, ms, effort == Effort::Full, all);
                }
            }
        }
    }
}

/// Adds the control of a run, and the run with every scheduler, fused too if `fuse`.
fn add_every_scheduler(run: RunSettings, ms: u64, fuse: bool, all: &mut Vec<(RunSettings, u64)>) {
    let (shape, inner) = (CONTROL, MODULATOR);
    let variants = Variant::all().into_iter();
    let variants = variants.filter(|variant| fuse || variant.fuse == "off");
    let runs = variants.map(|variant| run.with(variant));
    let control = RunSettings {
        shape,
        inner,
        ..run
    };
    all.extend([control].into_iter().chain(runs).map(|run| (run, ms)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_own_runs_are_all_there() {
        let all = all_settings(Effort::Full);
        let has = |run: RunSettings| {
            let stealing = run.with(Variant::unfused(Scheduler::Stealing));
            assert!(all.iter().any(|(run, _)| *run == stealing), "{stealing}");
        };
        for shape in REPORTED {
            let run = |threads, block| RunSettings::reported(shape, MODULATOR, threads, block);
            THREADS.into_iter().for_each(|t| has(run(t, 128)));
            BLOCKS.into_iter().for_each(|b| has(run(3, b)));
            has(RunSettings {
                load: "video",
                ..run(3, 128)
            });
            has(run(3, HISTOGRAM_BLOCK).behind());
            for load in ["rest", "video"] {
                let product = THREADS
                    .iter()
                    .flat_map(|t| BLOCKS.map(|b| run(*t, b).behind()));
                product.for_each(|run| has(RunSettings { load, ..run }));
            }
        }
    }

    #[test]
    fn every_run_has_its_control() {
        for effort in [Effort::Full, Effort::Quick, Effort::Minimal] {
            let all = all_settings(effort);
            let settings = |run: &RunSettings| (run.block, run.load, run.pace == Pace::Beat);
            let controls = all.iter().filter(|(run, _)| run.shape == CONTROL);
            let controls: HashSet<_> = controls.map(|(run, _)| settings(run)).collect();
            assert!(all.iter().all(|(run, _)| controls.contains(&settings(run))));
        }
    }
}
