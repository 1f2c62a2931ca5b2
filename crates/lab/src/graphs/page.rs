//! The page of the experiment *graphs*.

use super::runs::{
    BLOCKS, CONTROL, EXPENSIVE_NS, HISTOGRAM_BLOCK, Inner, REPORTED, Shape, THREADS,
};
use crate::Row;
use crate::chart::{Chart, Curve};
use crate::page::Page;
use crate::playback::compared_schedulers;
use crate::results::{Results, median, scheduler_label};

const BARS: &str = "Bars: the mean of a cycle; whiskers: the worst.";
const LOG: &str = "Both axes are logarithmic.";

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
    let controls = results
        .table
        .rows()
        .filter(|row| row.text("shape") == CONTROL.name);
    page.columns("control", "Control runs", &CONTROL_COLUMNS, controls);
    let view = View(results);
    view.threads(page);
    view.sizes(page);
    view.buffers(page);
    view.load(page);
    view.histograms(page);
    view.product(page);
    view.findings(page);
}

/// The settings of a run, but its scheduler.
#[derive(Clone, Copy)]
struct Settings {
    shape: Shape,
    inner: Inner,
    threads: usize,
    block: u32,
    load: &'static str,
    fuse: &'static str,
    pace: &'static str,
}

impl Settings {
    /// A run as in the report: at rest, at the beat, not fused.
    fn reported(shape: Shape, inner: Inner, threads: usize, block: u32) -> Self {
        Self {
            shape,
            inner,
            threads,
            block,
            load: "rest",
            fuse: "off",
            pace: "beat",
        }
    }

    /// The same run block after block.
    fn behind(self) -> Self {
        Self {
            pace: "behind",
            ..self
        }
    }
}

/// Runs side by side: a heading for each.
type Columns = Vec<(String, Settings)>;

/// Every graph of the report with both kinds of inner nodes: the graph, and its name.
fn graphs() -> impl Iterator<Item = (Shape, Inner, String)> {
    REPORTED.into_iter().flat_map(|shape| {
        Inner::ALL.map(|inner| {
            let name = format!("{} of {} nodes, {}", shape.name, shape.nodes, inner.name());
            (shape, inner, name)
        })
    })
}

/// A curve for each scheduler.
fn curves(points: impl Fn(&str) -> Vec<(f64, f64)>) -> Vec<Curve> {
    let schedulers = compared_schedulers().into_iter();
    schedulers
        .map(|s| (s.to_string(), points(s.name())))
        .collect()
}

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    /// A run, void or not.
    fn find(&self, settings: Settings, scheduler: &str) -> Option<Row<'a>> {
        let is_alone = scheduler == "sequential" || settings.shape == CONTROL;
        let threads = if is_alone { 1 } else { settings.threads };
        self.0.find(&[
            ("shape", settings.shape.name),
            ("nodes", &settings.shape.nodes.to_string()),
            ("inner", settings.inner.name()),
            ("threads", &threads.to_string()),
            ("block", &settings.block.to_string()),
            ("load", settings.load),
            ("scheduler", scheduler),
            ("fuse", settings.fuse),
            ("pace", settings.pace),
        ])
    }

    /// A number of a run that is not void.
    fn number(&self, settings: Settings, scheduler: &str, column: &str) -> Option<f64> {
        let run = self.find(settings, scheduler)?;
        run.number(column).filter(|_| !self.0.is_void(&run))
    }

    /// Speed-up over the sequential run with the same settings.
    fn speed_up(&self, settings: Settings, scheduler: &str) -> Option<f64> {
        let not_fused = Settings {
            fuse: "off",
            ..settings
        };
        let sequential = self.number(not_fused, "sequential", "mean_us")?;
        Some(sequential / self.number(settings, scheduler, "mean_us")?)
    }

    /// A row for each scheduler, fused and not, that has a run in one of its cells.
    fn scheduler_rows(
        &self,
        cells: impl Fn(&str, &'static str) -> Vec<String>,
    ) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for scheduler in compared_schedulers() {
            for fuse in ["off", "on"] {
                let cells = cells(scheduler.name(), fuse);
                if cells.iter().any(|cell| !cell.is_empty()) {
                    let label = scheduler_label(scheduler.name(), fuse);
                    rows.push(std::iter::once(label).chain(cells).collect());
                }
            }
        }
        rows
    }

    /// A run in few words, nothing where there is none: mean / worst in µs, missed cycles where there were any.
    fn summary(&self, settings: Settings, scheduler: &str) -> String {
        let Some(run) = self.find(settings, scheduler) else {
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
    fn table(&self, page: &mut Page, section: &'static str, name: &str, columns: &Columns) {
        let head = columns.iter().map(|(name, _)| name.as_str());
        let head: Vec<&str> = std::iter::once("Scheduler").chain(head).collect();
        let rows = self.scheduler_rows(|scheduler, fuse| {
            let cell =
                |(_, run): &(_, Settings)| self.summary(Settings { fuse, ..*run }, scheduler);
            columns.iter().map(cell).collect()
        });
        let caption = format!("{name}: mean / worst, µs");
        page.table(section, &caption, &head.join(" | "), rows);
    }

    /// For each graph bars and a table of some runs side by side.
    fn side_by_side(
        &self,
        page: &mut Page,
        section: &'static str,
        columns: impl Fn(Shape, Inner) -> Columns,
    ) {
        for (shape, inner, name) in graphs() {
            let columns = columns(shape, inner);
            let rows = compared_schedulers().into_iter().map(|scheduler| {
                let mean_and_worst = |(_, run): &(_, Settings)| {
                    let number = |column| self.number(*run, scheduler.name(), column);
                    number("mean_us").zip(number("worst_us"))
                };
                (
                    scheduler.to_string(),
                    columns.iter().map(mean_and_worst).collect(),
                )
            });
            let groups = columns.iter().map(|(name, _)| name.clone()).collect();
            let file = format!("{section}-{}-{}", shape.name, inner.name());
            let title = format!("{name}: mean and worst, not fused");
            let chart = Chart::bars(file, title, "cycle, µs", groups, rows);
            page.chart(section, chart, BARS);
            self.table(page, section, &name, &columns);
        }
    }

    fn threads(&self, page: &mut Page) {
        self.side_by_side(page, "threads", |shape, inner| {
            let column = |threads| {
                let run = Settings::reported(shape, inner, threads, 128);
                (format!("{threads} threads"), run)
            };
            THREADS.map(column).to_vec()
        });
    }

    fn load(&self, page: &mut Page) {
        self.side_by_side(page, "load", |shape, inner| {
            let run = Settings::reported(shape, inner, 3, 128);
            ["rest", "video"]
                .map(|load| (load.to_owned(), Settings { load, ..run }))
                .to_vec()
        });
    }

    fn sizes(&self, page: &mut Page) {
        for shape in REPORTED {
            let sizes = self.0.distinct_numbers(&[("shape", shape.name)], "nodes");
            if sizes.len() < 2 {
                continue;
            }
            for threads in THREADS {
                let point = |scheduler: &str, nodes: usize| {
                    let shape = Shape { nodes, ..shape };
                    let run = Settings::reported(shape, Inner::Modulator, threads, 128);
                    Some((nodes as f64, self.number(run, scheduler, "mean_us")?))
                };
                let points =
                    |scheduler: &str| sizes.iter().filter_map(|n| point(scheduler, *n)).collect();
                let file = format!("sizes-{}-{threads}", shape.name);
                let title = format!("{}: mean of a cycle, {threads} threads", shape.name);
                let axes = ["nodes", "cycle, µs"];
                let chart = Chart::curves(file, title, axes, [true; 2], curves(points));
                page.chart("sizes", chart, LOG);
            }
        }
    }

    fn buffers(&self, page: &mut Page) {
        for (shape, inner, name) in graphs() {
            let columns = BLOCKS.map(|block| {
                let run = Settings::reported(shape, inner, 3, block);
                (format!("{block} frames"), run)
            });
            let point = |run: Settings, scheduler: &str| {
                let number = |column| self.number(run, scheduler, column);
                let share = number("mean_us")? / number("period_us")?;
                Some((f64::from(run.block), share * 100.0))
            };
            let points = |scheduler: &str| {
                columns
                    .iter()
                    .filter_map(|c| point(c.1, scheduler))
                    .collect()
            };
            let file = format!("buffers-{}-{}", shape.name, inner.name());
            let title = format!("{name}: share of the period, not fused");
            let axes = ["frames", "share of the period, %"];
            let chart = Chart::curves(file, title, axes, [true; 2], curves(points));
            let caption = format!("The mean of a cycle as a share of the period. {LOG}");
            page.chart("buffers", chart, &caption);
            self.table(page, "buffers", &name, &columns.to_vec());
        }
    }

    fn histograms(&self, page: &mut Page) {
        for (shape, inner, name) in graphs() {
            let run = Settings::reported(shape, inner, 3, HISTOGRAM_BLOCK).behind();
            let points = |scheduler: &str| {
                let found = self.find(run, scheduler).filter(|run| !self.0.is_void(run));
                found.map_or(Vec::new(), |run| distribution(run.text("bars")))
            };
            let file = format!("histogram-{}-{}", shape.name, inner.name());
            let title = format!("{name}: share of cycles");
            let axes = ["cycle, µs", "cycles, %"];
            let chart = Chart::curves(file, title, axes, [true, false], curves(points));
            page.chart(
                "histograms",
                chart,
                "Eight classes for each doubling of the time.",
            );
            let columns = vec![("3 threads, 2048 frames".to_owned(), run)];
            self.table(page, "histograms", &name, &columns);
        }
    }

    /// Every setting with every other: a table for each kind of inner nodes.
    fn product(&self, page: &mut Page) {
        let columns = REPORTED.into_iter().flat_map(|shape| {
            let loads = ["rest", "video"].into_iter();
            loads.flat_map(move |load| THREADS.map(|threads| (shape, load, threads)))
        });
        let columns: Vec<_> = columns.collect();
        let headings = columns
            .iter()
            .map(|(shape, load, threads)| format!("{} {load} {threads}", shape.name));
        let head: Vec<String> = std::iter::once("Scheduler".to_owned())
            .chain(headings)
            .collect();
        for inner in Inner::ALL {
            let rows = self.scheduler_rows(|scheduler, fuse| {
                let cells = columns.iter().map(|(shape, load, threads)| {
                    let runs = BLOCKS.map(|block| Settings {
                        load,
                        fuse,
                        ..Settings::reported(*shape, inner, *threads, block).behind()
                    });
                    self.median_cell(&runs, scheduler)
                });
                cells.collect()
            });
            let caption = format!("{} nodes: shape, machine, threads", inner.name());
            page.table("product", &caption, &head.join(" | "), rows);
        }
    }

    /// The median speed-up of several runs, and their share of missed cycles where there are any.
    fn median_cell(&self, runs: &[Settings], scheduler: &str) -> String {
        let speed_ups = runs.iter().filter_map(|run| self.speed_up(*run, scheduler));
        let Some(speed_up) = median(speed_ups) else {
            return String::new();
        };
        let sum = |column| -> f64 {
            let numbers = runs
                .iter()
                .filter_map(|run| self.number(*run, scheduler, column));
            numbers.sum()
        };
        match 100.0 * sum("missed") / sum("cycles").max(1.0) {
            0.0 => format!("{speed_up:.2}"),
            missed => format!("{speed_up:.2} ({missed:.2} %)"),
        }
    }

    fn findings(&self, page: &mut Page) {
        let threads = self.0.machine.cores.min(4).max(THREADS[0]);
        let graphs = Inner::ALL
            .into_iter()
            .flat_map(|inner| REPORTED.map(|shape| (shape, inner)));
        let best = graphs.filter_map(|(shape, inner)| {
            self.best_scheduler(Settings::reported(shape, inner, threads, 128).behind())
        });
        let mut findings: Vec<String> = best.collect();
        findings.extend(self.oversubscription(threads));
        findings.extend(self.missed_cycles());
        page.findings("findings", &findings);
    }

    /// The fastest scheduler and the slowest, in a sentence.
    fn best_scheduler(&self, settings: Settings) -> Option<String> {
        let mut found = Vec::new();
        for scheduler in compared_schedulers() {
            for fuse in ["off", "on"] {
                let run = Settings { fuse, ..settings };
                let speed_up = self.speed_up(run, scheduler.name());
                let label = scheduler_label(scheduler.name(), fuse);
                found.extend(
                    speed_up
                        .filter(|_| scheduler.name() != "sequential")
                        .map(|s| (s, label)),
                );
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (best, worst) = (found.first()?, found.last()?);
        let Settings {
            shape,
            inner,
            threads,
            ..
        } = settings;
        Some(format!(
            "{} of {} {} nodes, {threads} threads, 128 frames, block after block: the fastest is {} with {:.2} times the \
             speed of sequential, the slowest {} with {:.2} times.",
            shape.name,
            shape.nodes,
            inner.name(),
            best.1,
            best.0,
            worst.1,
            worst.0
        ))
    }

    /// The cost of more threads than cores, in a sentence.
    fn oversubscription(&self, cores: usize) -> Option<String> {
        let mut ratios = Vec::new();
        for scheduler in compared_schedulers()
            .iter()
            .filter(|s| s.name() != "sequential")
        {
            for shape in REPORTED {
                let [few, many] = [cores, 4].map(|threads| {
                    let run = Settings::reported(shape, Inner::Expensive, threads, 128);
                    self.number(run, scheduler.name(), "mean_us")
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
            let (mut missed, mut cycles) = (0.0, 0.0);
            for row in self.0.valid_rows(&filter) {
                let is_other = (row.text("scheduler") == "sequential") != is_sequential;
                if !is_other && row.text("shape") != CONTROL.name {
                    missed += row.number("missed").unwrap_or(0.0);
                    cycles += row.number("cycles").unwrap_or(0.0);
                }
            }
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
    buckets
        .iter()
        .map(|(at, n)| (*at, 100.0 * n / all))
        .collect()
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
