//! The page of the experiment *graphs*.

use super::runs::{
    BLOCKS, CONTROL, EXPENSIVE, EXPENSIVE_NS, HISTOGRAM_BLOCK, INNER, Inner, MODULATOR, REPORTED,
    RunSettings, Shape, THREADS,
};
use crate::chart::{Chart, Curve};
use crate::page::Page;
use crate::results::{Results, Variant, median};
use divisi::prelude::Scheduler;

const BARS: &str = "Bars: the mean of a cycle; whiskers: the worst.";
const LOG: &str = "Both axes are logarithmic.";
const CLASSES: &str = "Eight classes for each doubling of the time.";

/// Heading and column of the table of control runs.
const CONTROL_COLUMNS: [(&str, &str); 8] = [
    ("Frames", "block"),
    ("Machine", "load"),
    ("Pace", "pace"),
    ("Cycles", "cycles"),
    ("Mean µs", "mean_us"),
    ("Worst µs", "worst_us"),
    ("Missed", "missed"),
    ("Taken by the host, ms", "stolen_ms"),
];

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    page.text("dear_ns", EXPENSIVE_NS);
    page.text("cores", results.machine.cores);
    let control = [("shape", CONTROL.0)];
    let controls = results.rows(&control);
    page.columns("control", "Control runs", &CONTROL_COLUMNS, controls);
    let view = View(results);
    for shape in REPORTED {
        view.sizes(page, shape);
        for inner in INNER {
            let graph = GraphName { shape, inner };
            let run = |threads, block| RunSettings::reported(shape, inner, threads, block);
            let threads = THREADS.map(|n| (format!("{n} threads"), run(n, 128)));
            view.bars(page, "threads", &graph, &threads);
            let loads = ["rest", "video"];
            let loads = loads.map(|load| {
                (
                    load.into(),
                    RunSettings {
                        load,
                        ..run(3, 128)
                    },
                )
            });
            view.bars(page, "load", &graph, &loads);
            view.buffers(page, &graph);
            view.histogram(page, &graph, run(3, HISTOGRAM_BLOCK).behind());
        }
    }
    INNER.iter().for_each(|inner| view.product(page, inner));
    page.findings("findings", &view.findings());
}

/// A graph of the report, with either kind of inner nodes.
struct GraphName {
    shape: Shape,
    inner: Inner,
}

impl GraphName {
    fn title(&self) -> String {
        let (shape, nodes) = self.shape;
        format!("{shape} of {nodes} nodes, {}", self.inner)
    }

    fn file(&self, section: &str) -> String {
        format!("{section}-{}-{}", self.shape.0, self.inner)
    }
}

/// Runs side by side, each with its heading.
type Columns = [(String, RunSettings)];

/// A curve for each scheduler, without fusion.
fn curves(points: impl Fn(Variant) -> Vec<(f64, f64)>) -> impl Iterator<Item = Curve> {
    Scheduler::all().map(move |s| (s.to_string(), points(Variant::unfused(s))))
}

struct View<'a>(&'a Results<'a>);

impl View<'_> {
    /// A number of a run that is not void.
    fn number(&self, run: RunSettings, column: &str) -> Option<f64> {
        self.0.valid(run)?.number(column)
    }

    /// Speed-up over the sequential run with the same settings.
    fn speed_up(&self, run: RunSettings) -> Option<f64> {
        let sequential = run.with(Variant::unfused(Scheduler::Sequential));
        Some(self.number(sequential, "mean_us")? / self.number(run, "mean_us")?)
    }

    /// A run in few words, nothing where there is none: mean / worst in µs, missed cycles where there were any.
    fn summary(&self, run: RunSettings) -> String {
        let Some(run) = self.0.find(run) else {
            return String::new();
        };
        let mut summary = format!("{} / {}", run.text("mean_us"), run.text("worst_us"));
        let missed = run.text("missed");
        if missed != "0" {
            summary += &format!(", {missed} of {} missed", run.text("cycles"));
        }
        if self.0.is_void(&run) {
            summary += " (void)";
        }
        summary
    }

    /// A table with a row for each scheduler and a column for each run.
    fn table(&self, page: &mut Page, section: &'static str, graph: &GraphName, columns: &Columns) {
        let caption = format!("{}: mean / worst, µs", graph.title());
        let cell = |variant: &Variant, run: &RunSettings| self.summary(run.with(*variant));
        let rows = Variant::all();
        page.grid(section, &caption, "Scheduler", rows, columns, cell);
    }

    /// Bars and a table of some runs side by side.
    fn bars(&self, page: &mut Page, section: &'static str, graph: &GraphName, columns: &Columns) {
        let title = format!("{}: mean and worst, not fused", graph.title());
        let rows = Scheduler::all().map(Variant::unfused);
        let chart = Chart::bars(
            graph.file(section),
            title,
            "cycle, µs",
            rows,
            columns,
            |v, run| {
                let run = run.with(*v);
                self.number(run, "mean_us")
                    .zip(self.number(run, "worst_us"))
            },
        );
        page.chart(section, chart, BARS);
        self.table(page, section, graph, columns);
    }

    /// The mean of a cycle over the number of nodes.
    fn sizes(&self, page: &mut Page, (shape, _): Shape) {
        let sizes = self.0.distinct_numbers(&[("shape", shape)], "nodes");
        for threads in THREADS.into_iter().filter(|_| sizes.len() > 1) {
            let point = |nodes: &usize, variant| {
                let run = RunSettings::reported((shape, *nodes), MODULATOR, threads, 128);
                let mean_us = self.number(run.with(variant), "mean_us")?;
                Some((*nodes as f64, mean_us))
            };
            let file = format!("sizes-{shape}-{threads}");
            let title = format!("{shape}: mean of a cycle, {threads} threads");
            let curves = curves(|v| sizes.iter().filter_map(|nodes| point(nodes, v)).collect());
            let axes = ["nodes", "cycle, µs"];
            let chart = Chart::curves(file, title, axes, [true; 2], curves);
            page.chart("sizes", chart, LOG);
        }
    }

    /// The mean of a cycle, as a share of its period, over the frames of a block.
    fn buffers(&self, page: &mut Page, graph: &GraphName) {
        let columns = BLOCKS.map(|block| {
            let run = RunSettings::reported(graph.shape, graph.inner, 3, block);
            (format!("{block} frames"), run)
        });
        let point = |run: RunSettings| {
            let share = self.number(run, "mean_us")? / self.number(run, "period_us")?;
            Some((f64::from(run.block), share * 100.0))
        };
        let curves = curves(|v| columns.iter().filter_map(|c| point(c.1.with(v))).collect());
        let title = format!("{}: share of the period, not fused", graph.title());
        let axes = ["frames", "share of the period, %"];
        let chart = Chart::curves(graph.file("buffers"), title, axes, [true; 2], curves);
        let caption = format!("The mean of a cycle as a share of the period. {LOG}");
        page.chart("buffers", chart, &caption);
        self.table(page, "buffers", graph, &columns);
    }

    /// The distribution of cycle times.
    fn histogram(&self, page: &mut Page, graph: &GraphName, run: RunSettings) {
        let points = |variant| {
            let row = self.0.valid(run.with(variant));
            row.map_or(Vec::new(), |row| distribution(row.text("bars")))
        };
        let title = format!("{}: share of cycles", graph.title());
        let (file, axes) = (graph.file("histogram"), ["cycle, µs", "cycles, %"]);
        let chart = Chart::curves(file, title, axes, [true, false], curves(points));
        page.chart("histograms", chart, CLASSES);
        let columns = [("3 threads, 2048 frames".to_owned(), run)];
        self.table(page, "histograms", graph, &columns);
    }

    /// Every setting with every other.
    fn product(&self, page: &mut Page, inner: Inner) {
        let mut columns = Vec::new();
        for shape in REPORTED {
            for load in ["rest", "video"] {
                let runs = |threads| {
                    let run = |block| RunSettings::reported(shape, inner, threads, block).behind();
                    BLOCKS.map(|block| RunSettings { load, ..run(block) })
                };
                columns.extend(THREADS.map(|n| (format!("{} {load} {n}", shape.0), runs(n))));
            }
        }
        let caption = format!("{inner} nodes: shape, machine, threads");
        let cell = |variant: &Variant, runs: &[RunSettings; 6]| {
            self.median_cell(&runs.map(|run| run.with(*variant)))
        };
        page.grid(
            "product",
            &caption,
            "Scheduler",
            Variant::all(),
            &columns,
            cell,
        );
    }

    /// The median speed-up of several runs, and their share of missed cycles where there are any.
    fn median_cell(&self, runs: &[RunSettings]) -> String {
        let Some(speed_up) = median(runs.iter().filter_map(|run| self.speed_up(*run))) else {
            return String::new();
        };
        let numbers = |column| runs.iter().filter_map(move |run| self.number(*run, column));
        let sum = |column| numbers(column).sum::<f64>();
        match 100.0 * sum("missed") / sum("cycles").max(1.0) {
            0.0 => format!("{speed_up:.2}"),
            missed => format!("{speed_up:.2} ({missed:.2} %)"),
        }
    }

    fn findings(&self) -> Vec<String> {
        let threads = self.0.machine.cores.min(4).max(THREADS[0]);
        let graphs = INNER
            .into_iter()
            .flat_map(|inner| REPORTED.map(|shape| (shape, inner)));
        let best = graphs.filter_map(|(shape, inner)| {
            self.best_scheduler(RunSettings::reported(shape, inner, threads, 128).behind())
        });
        let others = [self.oversubscription(threads), self.missed_cycles()];
        best.chain(others.into_iter().flatten()).collect()
    }

    /// The fastest scheduler and the slowest, in a sentence.
    fn best_scheduler(&self, run: RunSettings) -> Option<String> {
        let parallel = Variant::all().into_iter().filter(|v| v.is_parallel());
        let speed_up = |variant| Some((self.speed_up(run.with(variant))?, variant));
        let mut found: Vec<_> = parallel.filter_map(speed_up).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ((most, best), (least, worst)) = (found.first()?, found.last()?);
        let ((shape, nodes), inner, threads) = (run.shape, run.inner, run.threads);
        Some(format!(
            "{shape} of {nodes} {inner} nodes, {threads} threads, 128 frames, block after block: the fastest is {best} with \
             {most:.2} times the speed of sequential, the slowest {worst} with {least:.2} times."
        ))
    }

    /// The cost of more threads than cores, in a sentence.
    fn oversubscription(&self, cores: usize) -> Option<String> {
        let mut ratios = Vec::new();
        for scheduler in Scheduler::all().filter(|s| *s != Scheduler::Sequential) {
            for shape in REPORTED {
                let [few, many] = [cores, 4].map(|threads| {
                    let run = RunSettings::reported(shape, EXPENSIVE, threads, 128);
                    self.number(run.with(Variant::unfused(scheduler)), "mean_us")
                });
                ratios.extend(many.zip(few).map(|(many, few)| many / few));
            }
        }
        let ratio = median(ratios).filter(|_| cores < 4)?;
        Some(format!(
            "4 threads on {cores} cores take {ratio:.2} times as long as {cores} threads (the median over the three shapes \
             of dear nodes and all schedulers, at the beat)."
        ))
    }

    /// The share of missed cycles at rest and in use, in a sentence.
    fn missed_cycles(&self) -> Option<String> {
        let share = |load: &str, is_sequential: bool| {
            let filter = [("load", load), ("pace", "beat"), ("block", "128")];
            let rows = self.0.valid_rows(&filter).filter(|row| {
                (row.text("scheduler") == "sequential") == is_sequential
                    && row.text("shape") != CONTROL.0
            });
            let number = |row: &crate::Row<'_>, column| row.number(column).unwrap_or(0.0);
            let (missed, cycles) = rows.fold((0.0, 0.0), |(missed, cycles), row| {
                (
                    missed + number(&row, "missed"),
                    cycles + number(&row, "cycles"),
                )
            });
            (cycles > 0.0).then(|| 100.0 * missed / cycles)
        };
        Some(format!(
            "Missed cycles at the beat at 128 frames: at rest {:.2} % of the sequential and {:.2} % of the parallel ones; on a \
             machine in use {:.2} % and {:.2} %.",
            share("rest", true)?,
            share("rest", false)?,
            share("video", true)?,
            share("video", false)?
        ))
    }
}

/// The buckets of a histogram as a curve: the middle of each in µs, and its share of all cycles in percent.
fn distribution(buckets: &str) -> Vec<(f64, f64)> {
    let bucket = |text: &str| {
        let (span, count) = text.split_once(':')?;
        let (from, to) = span.split_once('-')?;
        let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
        let count: u64 = count.parse().ok()?;
        Some(((from + to) / 2e3, count as f64))
    };
    let buckets: Vec<(f64, f64)> = buckets.split(' ').filter_map(bucket).collect();
    let all: f64 = buckets.iter().map(|(_, count)| count).sum();
    let share = |(at, count): &(f64, f64)| (*at, 100.0 * count / all);
    buckets.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_made_of_whole_buckets_and_adds_up_to_all_cycles() {
        let points = distribution("1000-3000:1 3000-5000:3 x-1:2 7:");
        assert_eq!(points, [(2.0, 25.0), (4.0, 75.0)]);
    }
}
