//! What the experiment *session* says: everything from its table.

use super::{BLOCK, CONTROL, IDLE_NS, PLAYING_NS, STATES, THREADS, ways};
use crate::chart::{Body, Chart};
use crate::machine::period_us;
use crate::page::Page;
use crate::{MachineInfo, Row, Table, state};
use divisi::units::Frames;

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &MachineInfo) -> (String, Vec<Chart>) {
    let view = View {
        table,
        cores: machine.cores,
    };
    let mut page = Page::new("A session of 500 objects");
    let mut charts = Vec::new();
    method(&mut page, machine);
    page.machine(machine, crate::dates(table));
    state::section(&mut page, table, machine.cores);
    view.control(&mut page);
    view.beside(&mut page);
    view.all(&mut page, &mut charts);
    view.shows(&mut page);
    (page.finish(), charts)
}

fn method(page: &mut Page, machine: &MachineInfo) {
    page.text(
        "In 2016 Brad Robinson told how he made the audio engine of Cantabile 3 take fewer locks. A session with 64 plug-ins \
         is a graph of about 500 objects. Before, every object was taken from one locked queue, and threads without work \
         polled it. After, a thread takes as many objects at once as make up its share of the whole weight (a plug-in \
         weighs 100, anything else 1), keeps what it releases while it fits, and sleeps when there is nothing. Here a \
         session of the same size is played by every executor of Divisi, his first one (`mutex`) among them.",
    );
    page.section("What was done");
    let period = period_us(Frames(BLOCK));
    page.list([
        "64 tracks of an oscillator, a trim, an input mixer, a plug-in, a meter, a fader and a pan; eight groups with a \
         mixer, a fader and a meter on either side; a master: 500 nodes. The plug-ins are nodes that burn a known time."
            .to_owned(),
        format!(
            "Idle, a plug-in burns {} µs a block, playing {} µs: 64 of them make {:.0} % and {:.0} % of one core at blocks of \
             {BLOCK} frames at 48 kHz (a period of {period:.0} µs). The planner is told that a plug-in costs 100 times as much \
             as anything else.",
            IDLE_NS / 1e3,
            PLAYING_NS / 1e3,
            64.0 * IDLE_NS / period / 10.0,
            64.0 * PLAYING_NS / period / 10.0
        ),
        format!(
            "Two threads and six (the article had six), at the beat of a clock. This machine has {} cores: six threads take \
             turns on them and have no real-time priority; two have, where it is granted.",
            machine.cores
        ),
        "Takes: how often in a cycle a worker took work from something that it shares with others; under `mutex` every \
         taking of the lock. Wakes: how many sleeping threads a cycle had to wake. Both are counted by the engine."
            .to_owned(),
        "Processor: what the system says that all threads of the engine ran, as a share of all cores, over the whole run."
            .to_owned(),
    ]);
}

struct View<'a> {
    table: &'a Table,
    cores: usize,
}

impl<'a> View<'a> {
    /// A run that is not void.
    fn run(&self, state: &str, threads: usize, way: &str, fuse: &str) -> Option<Row<'a>> {
        let run = self.any(state, threads, way, fuse);
        run.filter(|run| state::void(run, self.cores).is_none())
    }

    fn any(&self, state: &str, threads: usize, way: &str, fuse: &str) -> Option<Row<'a>> {
        let threads = if way == "sequential" { 1 } else { threads };
        self.table.find(&[
            ("state", state),
            ("threads", &threads.to_string()),
            ("scheduler", way),
            ("fuse", fuse),
        ])
    }

    /// The share of all cores that its threads ran.
    fn share(&self, run: &Row<'_>) -> Option<f64> {
        Some(100.0 * run.number("ran")? / self.cores as f64)
    }

    fn control(&self, page: &mut Page) {
        page.section("The control");
        let Some(run) = self.table.find(&[("state", CONTROL)]) else {
            return page.text("The control has not been run yet.");
        };
        page.text(&format!(
            "An oscillator into an output on one thread, played for as long at the same beat: {} cycles, the worst {} µs, {} \
             missed, {:.2} % of the cores. So much of the figures below is the machine's doing and not an executor's.",
            run.text("cycles"),
            run.text("worst_us"),
            run.text("missed"),
            self.share(&run).unwrap_or(0.0)
        ));
    }

    fn beside(&self, page: &mut Page) {
        page.section("Beside the article");
        let said = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        let mut rows = vec![
            said([
                "article, before: one locked queue",
                "70 to 80",
                "not told",
                "12 %",
                "40 %",
            ]),
            said([
                "article, after: weighted batches",
                "7 to 10 on the main thread, 10 to 15 on the others",
                "about 60",
                "3 %",
                "25 %",
            ]),
        ];
        for (way, is) in [
            ("mutex", "one locked queue"),
            ("weighted", "weighted batches"),
        ] {
            let (idle, playing) = (
                self.run("idle", 6, way, "off"),
                self.run("playing", 6, way, "off"),
            );
            let (Some(idle), Some(playing)) = (idle, playing) else {
                continue;
            };
            let takes = playing.number("takes").unwrap_or(0.0);
            let share = |run: &Row<'_>| format!("{:.1} %", self.share(run).unwrap_or(0.0));
            rows.push(vec![
                format!("here, `{way}`: {is}, six threads"),
                format!("{:.1} on average", takes / 6.0),
                format!("{takes:.1}"),
                share(&idle),
                share(&playing),
            ]);
        }
        let head = [
            "",
            "Takes a thread and cycle",
            "Takes a cycle",
            "Processor, idle",
            "Processor, playing",
        ];
        page.table("Six threads, not fused", &head, &rows);
        page.text(
            "The article does not say on how many cores, at which buffer and with which plug-ins its shares were measured, so \
             only the directions can be compared: how many takes a plug-in costs, and how much less of the processor is \
             spent around the plug-ins.",
        );
    }

    fn all(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Every executor");
        for threads in THREADS {
            for state in STATES {
                let rows = self.rows(state, threads);
                let head = [
                    "Schedule",
                    "Takes",
                    "Takes a thread",
                    "Wakes",
                    "Processor",
                    "Mean µs",
                    "Worst µs",
                    "Missed",
                    "Cycles",
                    "Priority",
                    "Load average",
                    "State",
                ];
                page.table(&format!("{state}, {threads} threads"), &head, &rows);
            }
        }
        for (file, title, y, value) in [
            (
                "takes",
                "Takes from shared queues a cycle, playing",
                "takes",
                Value::Takes,
            ),
            (
                "wakes",
                "Threads woken a cycle, playing",
                "wakes",
                Value::Wakes,
            ),
            (
                "processor-idle",
                "Share of the processor, idle",
                "%",
                Value::Idle,
            ),
            (
                "processor-playing",
                "Share of the processor, playing",
                "%",
                Value::Playing,
            ),
        ] {
            let chart = Chart {
                file: file.into(),
                title: title.into(),
                x: "",
                y,
                body: self.bars(value),
            };
            if !chart.is_empty() {
                page.figure(&chart.svg(), "Not fused.");
                charts.push(chart);
            }
        }
    }

    fn rows(&self, state: &str, threads: usize) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for way in ways() {
            for fuse in ["off", "on"] {
                let Some(run) = self.any(state, threads, way.name(), fuse) else {
                    continue;
                };
                let fused = if fuse == "on" { ", fused" } else { "" };
                let takes = run.number("takes").unwrap_or(0.0);
                let of: f64 = run.number("threads").unwrap_or(1.0);
                rows.push(vec![
                    format!("{way}{fused}"),
                    format!("{takes:.1}"),
                    format!("{:.1}", takes / of),
                    run.text("wakes").into(),
                    format!("{:.1} %", self.share(&run).unwrap_or(0.0)),
                    run.text("mean_us").into(),
                    run.text("worst_us").into(),
                    run.text("missed").into(),
                    run.text("cycles").into(),
                    run.text("priority").into(),
                    run.text("loadavg").into(),
                    match state::void(&run, self.cores) {
                        Some(_) => "void".into(),
                        None => String::new(),
                    },
                ]);
            }
        }
        rows
    }

    fn bars(&self, value: Value) -> Body {
        let series = ways().into_iter().map(|way| {
            let values = THREADS.map(|threads| {
                let state = if matches!(value, Value::Idle) {
                    "idle"
                } else {
                    "playing"
                };
                let run = self.run(state, threads, way.name(), "off")?;
                let height = match value {
                    Value::Takes => run.number("takes")?,
                    Value::Wakes => run.number("wakes")?,
                    Value::Idle | Value::Playing => self.share(&run)?,
                };
                Some((height, height))
            });
            (way.to_string(), values.to_vec())
        });
        Body::Bars {
            groups: THREADS.map(|threads| format!("{threads} threads")).to_vec(),
            series: series.collect(),
        }
    }

    fn shows(&self, page: &mut Page) {
        page.section("What it shows");
        let mut said = Vec::new();
        said.extend(self.fewer_takes());
        for threads in THREADS {
            said.extend(self.least(threads));
        }
        if said.is_empty() {
            said.push("Nothing yet: too few runs have been made.".into());
        }
        page.list(said);
        page.section("What it does not show");
        page.list([
            "Real plug-ins: theirs are not of one length, they use memory, and some have threads of their own.",
            "How Cantabile does: its program was not run, and its session is not public.",
            "How it would be on six cores: here six threads share fewer, so that waiting for one another costs more.",
        ]);
    }

    /// The second engine of the article beside its first, here.
    fn fewer_takes(&self) -> Option<String> {
        let before = self.run("playing", 6, "mutex", "off")?;
        let after = self.run("playing", 6, "weighted", "off")?;
        let (idle_before, idle_after) = (
            self.run("idle", 6, "mutex", "off")?,
            self.run("idle", 6, "weighted", "off")?,
        );
        Some(format!(
            "With six threads weighted batches take {:.1} times a cycle where the locked queue takes {:.0} times; the share of \
             the processor goes from {:.1} to {:.1} % idle, and from {:.1} to {:.1} % playing.",
            after.number("takes")?,
            before.number("takes")?,
            self.share(&idle_before)?,
            self.share(&idle_after)?,
            self.share(&before)?,
            self.share(&after)?
        ))
    }

    /// Who needs least of the processor, and who is fastest, in a sentence.
    fn least(&self, threads: usize) -> Option<String> {
        let runs = ways().into_iter().flat_map(|way| {
            ["off", "on"].map(|fuse| self.run("playing", threads, way.name(), fuse))
        });
        let runs: Vec<Row<'_>> = runs
            .flatten()
            .filter(|r| r.text("scheduler") != "sequential")
            .collect();
        let by = |key: &dyn Fn(&Row<'_>) -> f64| {
            runs.iter()
                .copied()
                .min_by(|a, b| key(a).total_cmp(&key(b)))
        };
        let of = |run: &Row<'_>, column: &str| run.number(column).unwrap_or(f64::INFINITY);
        let fused = |run: &Row<'_>| match run.text("fuse") {
            "on" => format!("{} (fused)", run.text("scheduler")),
            _ => run.text("scheduler").to_owned(),
        };
        let fast = by(&|run| of(run, "mean_us"))?;
        let thrifty = by(&|run| of(run, "ran"))?;
        let alone = self.run("playing", 1, "sequential", "off")?;
        Some(format!(
            "Playing with {threads} threads, {} is done first, after {} µs on average (sequential {} µs), and {} uses least of \
             the processor, {:.1} % (sequential {:.1} %).",
            fused(&fast),
            fast.text("mean_us"),
            alone.text("mean_us"),
            fused(&thrifty),
            self.share(&thrifty)?,
            self.share(&alone)?
        ))
    }
}

/// What bars show.
#[derive(Clone, Copy)]
enum Value {
    Takes,
    Wakes,
    Idle,
    Playing,
}
