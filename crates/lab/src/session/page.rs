//! The page of the experiment *session*.

use super::{BLOCK, CONTROL, IDLE_NS, PLAYING_NS, STATES, THREADS};
use crate::Row;
use crate::chart::Chart;
use crate::machine::period_us;
use crate::page::Page;
use crate::playback::compared_schedulers;
use crate::results::{Results, decimals, scheduler_label};

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

/// The article's two methods here: the executor, and what it is.
const METHODS: [(&str, &str); 2] = [
    ("mutex", "one locked queue"),
    ("weighted", "weighted batches"),
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
    view.charts(page);
    let findings = view.batches_beside_lock().into_iter();
    let findings = findings.chain(THREADS.iter().filter_map(|threads| view.best(*threads)));
    page.findings("findings", &findings.collect::<Vec<_>>());
}

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    /// A run, void or not.
    fn find(&self, state: &str, threads: usize, scheduler: &str, fuse: &str) -> Option<Row<'a>> {
        let threads = if scheduler == "sequential" {
            1
        } else {
            threads
        };
        self.0.find(&[
            ("state", state),
            ("threads", &threads.to_string()),
            ("scheduler", scheduler),
            ("fuse", fuse),
        ])
    }

    /// A run that is not void.
    fn valid(&self, state: &str, threads: usize, scheduler: &str, fuse: &str) -> Option<Row<'a>> {
        let run = self.find(state, threads, scheduler, fuse);
        run.filter(|run| !self.0.is_void(run))
    }

    /// Share of all cores that its threads used, in percent.
    fn processor(&self, run: &Row<'_>) -> Option<f64> {
        Some(100.0 * run.number("ran")? / self.0.machine.cores as f64)
    }

    fn control(&self) -> String {
        let Some(run) = self.0.find(&[("state", CONTROL)]) else {
            return "The control has not been run yet.".into();
        };
        format!(
            "An oscillator into an output on one thread, played for as long at the same period: {} cycles, the worst {} µs, {} \
             missed, {} % of the cores. That much of the numbers below is due to the machine and not to an executor.",
            run.text("cycles"),
            run.text("worst_us"),
            run.text("missed"),
            decimals(self.processor(&run), 2)
        )
    }

    fn article(&self, page: &mut Page) {
        let here = METHODS.into_iter().filter_map(|(scheduler, method)| {
            let [idle, playing] = STATES.map(|state| self.valid(state, 6, scheduler, "off"));
            let (idle, playing) = (idle?, playing?);
            let takes = playing.number("takes").unwrap_or(0.0);
            let percent = |run| format!("{} %", decimals(self.processor(&run), 1));
            Some(vec![
                format!("here, {scheduler}: {method}, six threads"),
                format!("{:.1} on average", takes / 6.0),
                format!("{takes:.1}"),
                percent(idle),
                percent(playing),
            ])
        });
        let article = ARTICLE.map(|cells| cells.map(str::to_owned).to_vec());
        let head =
            " | Takes a thread and cycle | Takes a cycle | Processor, idle | Processor, playing";
        let rows = article.into_iter().chain(here);
        page.table("article", "Six threads, not fused", head, rows);
    }

    fn tables(&self, page: &mut Page) {
        let head = "Scheduler | Takes | Takes a thread | Wakes | Processor | Mean µs | Worst µs | Missed | Cycles | Priority | Load average | State";
        for threads in THREADS {
            for state in STATES {
                let rows = compared_schedulers().into_iter().flat_map(|scheduler| {
                    ["off", "on"]
                        .map(|fuse| self.row(&self.find(state, threads, scheduler.name(), fuse)?))
                });
                page.table(
                    "executors",
                    &format!("{state}, {threads} threads"),
                    head,
                    rows.flatten(),
                );
            }
        }
    }

    fn row(&self, run: &Row<'_>) -> Option<Vec<String>> {
        let (takes, threads) = (run.number("takes")?, run.number("threads")?);
        let mut cells = vec![
            scheduler_label(run.text("scheduler"), run.text("fuse")),
            format!("{takes:.1}"),
            format!("{:.1}", takes / threads),
            run.text("wakes").into(),
            format!("{} %", decimals(self.processor(run), 1)),
        ];
        let columns = [
            "mean_us", "worst_us", "missed", "cycles", "priority", "loadavg",
        ];
        cells.extend(columns.map(|column| run.text(column).to_owned()));
        cells.push(self.0.state(run).into());
        Some(cells)
    }

    fn charts(&self, page: &mut Page) {
        self.chart(
            page,
            "takes",
            "Takes from shared queues a cycle, playing",
            "takes",
            "playing",
            |run| run.number("takes"),
        );
        self.chart(
            page,
            "wakes",
            "Threads woken a cycle, playing",
            "wakes",
            "playing",
            |run| run.number("wakes"),
        );
        self.chart(
            page,
            "processor-idle",
            "Share of the processor, idle",
            "%",
            "idle",
            |run| self.processor(run),
        );
        self.chart(
            page,
            "processor-playing",
            "Share of the processor, playing",
            "%",
            "playing",
            |run| self.processor(run),
        );
    }

    /// Bars of a value of each executor, in a group for each number of threads.
    fn chart(
        &self,
        page: &mut Page,
        file: &str,
        title: &str,
        y: &str,
        state: &str,
        value: impl Fn(&Row<'_>) -> Option<f64>,
    ) {
        let groups = THREADS.map(|threads| format!("{threads} threads")).to_vec();
        let rows = compared_schedulers().into_iter().map(|scheduler| {
            let values = THREADS.map(|threads| {
                let run = self.valid(state, threads, scheduler.name(), "off")?;
                let height = value(&run)?;
                Some((height, height))
            });
            (scheduler.to_string(), values.to_vec())
        });
        page.chart(
            "executors",
            Chart::bars(file, title, y, groups, rows),
            "Not fused.",
        );
    }

    /// The article's second method beside its first, here, in a sentence.
    fn batches_beside_lock(&self) -> Option<String> {
        let [before, after] = ["mutex", "weighted"].map(|s| self.valid("playing", 6, s, "off"));
        let [idle_before, idle_after] =
            ["mutex", "weighted"].map(|s| self.valid("idle", 6, s, "off"));
        let (before, after) = (before?, after?);
        Some(format!(
            "With six threads weighted batches take {:.1} times a cycle where the locked queue takes {:.0} times; the share of \
             the processor goes from {:.1} to {:.1} % idle, and from {:.1} to {:.1} % playing.",
            after.number("takes")?,
            before.number("takes")?,
            self.processor(&idle_before?)?,
            self.processor(&idle_after?)?,
            self.processor(&before)?,
            self.processor(&after)?
        ))
    }

    /// The fastest executor and the one that uses least of the processor, in a sentence.
    fn best(&self, threads: usize) -> Option<String> {
        let parallel = compared_schedulers()
            .into_iter()
            .filter(|s| s.name() != "sequential");
        let runs = parallel
            .flat_map(|s| ["off", "on"].map(|fuse| self.valid("playing", threads, s.name(), fuse)));
        let runs: Vec<Row<'_>> = runs.flatten().collect();
        let min_by = |column: &str| {
            let number = |run: &Row<'_>| run.number(column).unwrap_or(f64::INFINITY);
            runs.iter().min_by(|a, b| number(a).total_cmp(&number(b)))
        };
        let label = |run: &Row<'_>| scheduler_label(run.text("scheduler"), run.text("fuse"));
        let (fastest, cheapest) = (min_by("mean_us")?, min_by("ran")?);
        let sequential = self.valid("playing", 1, "sequential", "off")?;
        Some(format!(
            "Playing with {threads} threads, {} is fastest, with {} µs on average (sequential {} µs), and {} uses least of the \
             processor, {:.1} % (sequential {:.1} %).",
            label(fastest),
            fastest.text("mean_us"),
            sequential.text("mean_us"),
            label(cheapest),
            self.processor(cheapest)?,
            self.processor(&sequential)?
        ))
    }
}
