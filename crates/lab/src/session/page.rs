//! The page of the experiment *session*.

use super::{BLOCK, CONTROL, IDLE_NS, PLAYING_NS, RunSettings, STATES, THREADS};
use crate::Row;
use crate::chart::Chart;
use crate::machine::period_us;
use crate::page::Page;
use crate::results::{Results, Variant, decimals};
use divisi::prelude::Scheduler;

/// Takes per thread and cycle, takes per cycle, processor idle and playing, as the article has them.
const ARTICLE: [[&str; 5]; 2] = [
    [
        "article, before: one locked queue",
        "70 to 80",
        "not told",
        "12 %",
        "40 %",
    ],
    [
        "article, after: weighted batches",
        "7 to 10 on the main thread, 10 to 15 on the others",
        "about 60",
        "3 %",
        "25 %",
    ],
];
const ARTICLE_HEAD: &str =
    " | Takes a thread and cycle | Takes a cycle | Processor, idle | Processor, playing";

/// The article's two methods here: the executor, and what it is.
const METHODS: [(Scheduler, &str); 2] = [
    (Scheduler::Mutex, "one locked queue"),
    (Scheduler::Weighted, "weighted batches"),
];

/// Heading and content of the table of executors: a column of the table of runs, or computed by [`View::cell`].
const COLUMNS: [(&str, &str); 12] = [
    ("Scheduler", "scheduler"),
    ("Takes", "takes"),
    ("Takes a thread", "takes a thread"),
    ("Wakes", "wakes"),
    ("Processor", "processor"),
    ("Mean µs", "mean_us"),
    ("Worst µs", "worst_us"),
    ("Missed", "missed"),
    ("Cycles", "cycles"),
    ("Priority", "priority"),
    ("Load average", "loadavg"),
    ("State", "state"),
];

/// The charts: file, title, unit, state, and what is drawn.
const CHARTS: [[&str; 5]; 4] = [
    [
        "takes",
        "Takes from shared queues a cycle, playing",
        "takes",
        "playing",
        "takes",
    ],
    [
        "wakes",
        "Threads woken a cycle, playing",
        "wakes",
        "playing",
        "wakes",
    ],
    [
        "processor-idle",
        "Share of the processor, idle",
        "%",
        "idle",
        "processor",
    ],
    [
        "processor-playing",
        "Share of the processor, playing",
        "%",
        "playing",
        "processor",
    ],
];

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    let period_us = period_us(BLOCK);
    for (us, percent, ns) in [
        ("idle_us", "idle_percent", IDLE_NS),
        ("playing_us", "playing_percent", PLAYING_NS),
    ] {
        page.text(us, ns / 1e3);
        page.text(percent, format!("{:.0}", 64.0 * ns / period_us / 10.0));
    }
    page.text("block", BLOCK.0);
    page.text("period_us", format!("{period_us:.0}"));
    page.text("cores", results.machine.cores);
    let view = View(results);
    page.paragraph("control", &view.control());
    view.article(page);
    view.tables(page);
    for chart in CHARTS {
        view.chart(page, chart);
    }
    let findings = view.batches_beside_lock().into_iter();
    let findings = findings.chain(THREADS.iter().filter_map(|threads| view.best(*threads)));
    page.findings("findings", &findings.collect::<Vec<_>>());
}

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    /// A run that is not void.
    fn valid(&self, state: &'static str, threads: usize, variant: Variant) -> Option<Row<'a>> {
        self.0.valid(RunSettings {
            state,
            threads,
            variant,
        })
    }

    /// A number of a run: a column, or the share of all cores that its threads used, in percent.
    fn number(&self, run: &Row<'_>, what: &str) -> Option<f64> {
        match what {
            "processor" => Some(100.0 * run.number("ran")? / self.0.machine.cores as f64),
            "takes a thread" => Some(run.number("takes")? / run.number("threads")?),
            column => run.number(column),
        }
    }

    fn control(&self) -> String {
        let Some(run) = self.0.find(CONTROL) else {
            return "The control has not been run yet.".into();
        };
        format!(
            "An oscillator into an output on one thread, played for as long at the same period: {} cycles, the worst {} µs, {} \
             missed, {} % of the cores. That much of the numbers below is due to the machine and not to an executor.",
            run.text("cycles"),
            run.text("worst_us"),
            run.text("missed"),
            decimals(self.number(&run, "processor"), 2)
        )
    }

    fn article(&self, page: &mut Page) {
        let here = METHODS.into_iter().filter_map(|(scheduler, method)| {
            let run = |state| self.valid(state, 6, Variant::unfused(scheduler));
            let (idle, playing) = (run("idle")?, run("playing")?);
            let takes = playing.number("takes").unwrap_or(0.0);
            Some(vec![
                format!("here, {scheduler}: {method}, six threads"),
                format!("{:.1} on average", takes / 6.0),
                format!("{takes:.1}"),
                self.cell(&idle, "processor"),
                self.cell(&playing, "processor"),
            ])
        });
        let article = ARTICLE.map(|cells| cells.map(str::to_owned).to_vec());
        let rows = article.into_iter().chain(here);
        page.table("article", "Six threads, not fused", ARTICLE_HEAD, rows);
    }

    fn tables(&self, page: &mut Page) {
        let head = COLUMNS.map(|(head, _)| head).join(" | ");
        for threads in THREADS {
            for state in STATES {
                let rows = Variant::all().into_iter().filter_map(|variant| {
                    let run = self.0.find(RunSettings {
                        state,
                        threads,
                        variant,
                    })?;
                    run.number("takes")?;
                    let cells = COLUMNS[1..].iter().map(|(_, what)| self.cell(&run, what));
                    Some([variant.to_string()].into_iter().chain(cells).collect())
                });
                let caption = format!("{state}, {threads} threads");
                page.table("executors", &caption, &head, rows);
            }
        }
    }

    /// A cell of the table of executors.
    fn cell(&self, run: &Row<'_>, what: &str) -> String {
        let number = || decimals(self.number(run, what), 1);
        match what {
            "takes" | "takes a thread" => number(),
            "processor" => format!("{} %", number()),
            "state" => self.0.state(run).into(),
            column => run.text(column).into(),
        }
    }

    /// Bars of a value of each executor, in a group for each number of threads.
    fn chart(&self, page: &mut Page, [file, title, y, state, what]: [&'static str; 5]) {
        let groups = THREADS.map(|threads| (format!("{threads} threads"), threads));
        let rows = Scheduler::all().map(Variant::unfused);
        let chart = Chart::bars(file, title, y, rows, &groups, |variant, threads| {
            let height = self.number(&self.valid(state, *threads, *variant)?, what)?;
            Some((height, height))
        });
        page.chart("executors", chart, "Not fused.");
    }

    /// The article's second method beside its first, here, in a sentence.
    fn batches_beside_lock(&self) -> Option<String> {
        let [lock, batches] = METHODS.map(|(scheduler, _)| Variant::unfused(scheduler));
        let number = |state, variant, what| self.number(&self.valid(state, 6, variant)?, what);
        let processor = |state, variant| number(state, variant, "processor");
        Some(format!(
            "With six threads weighted batches take {:.1} times a cycle where the locked queue takes {:.0} times; the share of \
             the processor goes from {:.1} to {:.1} % idle, and from {:.1} to {:.1} % playing.",
            number("playing", batches, "takes")?,
            number("playing", lock, "takes")?,
            processor("idle", lock)?,
            processor("idle", batches)?,
            processor("playing", lock)?,
            processor("playing", batches)?
        ))
    }

    /// The fastest executor and the one that uses least of the processor, in a sentence.
    fn best(&self, threads: usize) -> Option<String> {
        let parallel = Variant::all().into_iter().filter(|v| v.is_parallel());
        let run = |variant| Some((variant, self.valid("playing", threads, variant)?));
        let runs: Vec<(Variant, Row<'_>)> = parallel.filter_map(run).collect();
        let min_by = |column: &str| {
            let number = |run: &Row<'_>| run.number(column).unwrap_or(f64::INFINITY);
            runs.iter()
                .min_by(|a, b| number(&a.1).total_cmp(&number(&b.1)))
        };
        let ((fastest, fast), (cheapest, cheap)) = (min_by("mean_us")?, min_by("ran")?);
        let sequential = self.valid("playing", 1, Variant::unfused(Scheduler::Sequential))?;
        Some(format!(
            "Playing with {threads} threads, {fastest} is fastest, with {} µs on average (sequential {} µs), and {cheapest} uses \
             least of the processor, {:.1} % (sequential {:.1} %).",
            fast.text("mean_us"),
            sequential.text("mean_us"),
            self.number(cheap, "processor")?,
            self.number(&sequential, "processor")?
        ))
    }
}
