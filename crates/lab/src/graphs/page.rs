//! What the experiment *graphs* says: everything from its table.

use super::cells::{BLOCKS, CONTROL, DEAR_NS, HISTOGRAM_BLOCK, OWN, Shape, THREADS, ways};
use crate::chart::{Body, Chart};
use crate::page::Page;
use crate::{Machine, Row, Table};

/// The page and its pictures.
pub(crate) fn page(table: &Table, machine: &Machine) -> (String, Vec<Chart>) {
    let view = View { table };
    let mut page = Page::new("Audio graphs under every schedule");
    let mut charts = Vec::new();
    method(&mut page, machine);
    page.machine(machine, crate::dates(table));
    view.control(&mut page);
    view.threads(&mut page, &mut charts);
    view.sizes(&mut page, &mut charts);
    view.buffers(&mut page, &mut charts);
    view.load(&mut page, &mut charts);
    view.histograms(&mut page, &mut charts);
    view.product(&mut page);
    view.shows(&mut page, machine);
    (page.finish(), charts)
}

fn method(page: &mut Page, machine: &Machine) {
    page.text(
        "An audio engine plays a graph of nodes (oscillators, modulators, mixers, outputs) a block of frames at a time. \
         Each block must be done before the device asks for the next: its period is the deadline. The nodes of one block can \
         be shared out among threads in many ways. In 2019 Eisha Chen-yen-su and Ivan Delgado compared four of them \
         (sequential, HLFET, ETF, work stealing) in a student's report; here their comparison is made again with Divisi, \
         with every schedule that it has.",
    );
    page.section("What was done");
    page.list([
        "Three shapes: a line (nothing can run side by side: what is lost here is the price of sharing out), a diamond \
         (splits in two again and again, then joins), a rake (chains that meet in one mixer: the most that can be gained)."
            .to_owned(),
        format!(
            "Two kinds of inner nodes. `sound`: modulators, as in the report; at 128 frames each takes far less than a \
             microsecond. `dear`: nodes that burn {DEAR_NS} ns a frame, about one transcendental function a frame, so that \
             there is something to share out."
        ),
        "The report's own cells are played at the beat of a clock at 48 kHz, as a device would give it: 2, 3 and 4 threads \
         at 128 frames; 16 to 512 frames at 3 threads; 3 threads at 128 frames on a machine at rest and on one in use. Its \
         histograms (3 threads, 2048 frames) and the product of everything with everything are played block after block, \
         without waiting."
            .to_owned(),
        "The machine in use: for each core an ordinary thread that works 20 ms out of every 33, half of it streaming through \
         32 MiB of memory, half computing, as a player of video does (the report played a video)."
            .to_owned(),
        "A cycle is timed from the call to its return. It is counted as missed if it takes longer than the period, or, at the \
         beat, if it is not done when the next beat comes, be it that it was called late. The first 8 cycles of a run count \
         for nothing."
            .to_owned(),
        format!(
            "This machine has {} cores. With more threads than cores, threads take turns on a core and nobody gets real-time \
             priority; with no more threads than cores, runs at the beat ask for it. Runs block after block are ordinary \
             threads always.",
            machine.cores
        ),
        "Fusion joins cheap steps to one task before they are shared out; `off` shows the bare schedules. What each node \
         costs, and what handing over between cores costs, was measured before and told to every schedule."
            .to_owned(),
    ]);
}

/// The table, asked for what the page needs.
struct View<'a> {
    table: &'a Table,
}

/// Which runs.
#[derive(Clone, Copy)]
struct Which<'a> {
    shape: Shape,
    inner: &'a str,
    threads: usize,
    block: u32,
    load: &'a str,
    fuse: &'a str,
    pace: &'a str,
}

impl<'a> View<'a> {
    fn run(&self, which: Which<'_>, way: &str) -> Option<Row<'a>> {
        let alone = way == "sequential" || which.shape == CONTROL;
        let threads = if alone { 1 } else { which.threads };
        self.table.find(&[
            ("shape", which.shape.name),
            ("nodes", &which.shape.nodes.to_string()),
            ("inner", which.inner),
            ("threads", &threads.to_string()),
            ("block", &which.block.to_string()),
            ("load", which.load),
            ("scheduler", way),
            ("fuse", which.fuse),
            ("pace", which.pace),
        ])
    }

    fn number(&self, which: Which<'_>, way: &str, column: &str) -> Option<f64> {
        self.run(which, way)?.number(column)
    }

    /// Mean and worst, in µs.
    fn span(&self, which: Which<'_>, way: &str) -> Option<(f64, f64)> {
        let run = self.run(which, way)?;
        Some((run.number("mean_us")?, run.number("worst_us")?))
    }

    /// How many times as fast as the sequential run beside it.
    fn gain(&self, which: Which<'_>, way: &str) -> Option<f64> {
        let fused_or_not = Which {
            fuse: "off",
            ..which
        };
        let alone = self.number(fused_or_not, "sequential", "mean_us")?;
        Some(alone / self.number(which, way, "mean_us")?)
    }

    fn control(&self, page: &mut Page) {
        page.section("The control");
        page.text(
            "An oscillator into an output, on one thread, in the same places: what takes long here is the machine's doing \
             (other programs, the host of a virtual machine), not a schedule's. Worst cases below that are no longer than \
             these say nothing about a schedule.",
        );
        let controls = self
            .table
            .rows()
            .filter(|r| r.text("shape") == CONTROL.name);
        let rows: Vec<_> = controls
            .map(|r| {
                let columns = [
                    "block",
                    "load",
                    "pace",
                    "cycles",
                    "mean_us",
                    "worst_us",
                    "missed",
                    "stolen_ms",
                ];
                columns.map(|c| r.text(c).to_owned()).into()
            })
            .collect();
        let head = [
            "Frames",
            "Machine",
            "Pace",
            "Cycles",
            "Mean µs",
            "Worst µs",
            "Missed",
            "Taken by the host, ms",
        ];
        page.table("Control runs", &head, &rows);
    }

    /// A table with a row a way and a column a run: mean / worst in µs, and missed cycles where there were any.
    fn table(&self, page: &mut Page, caption: &str, columns: &[(String, Which<'_>)]) {
        let head = columns.iter().map(|(name, _)| name.as_str());
        let head: Vec<&str> = std::iter::once("Schedule").chain(head).collect();
        let mut rows = Vec::new();
        for way in ways() {
            for fuse in ["off", "on"] {
                let cells = columns.iter().map(|(_, which)| {
                    let run = self.run(Which { fuse, ..*which }, way.name());
                    run.map_or(String::new(), |run| told(&run))
                });
                let cells: Vec<String> = cells.collect();
                if cells.iter().any(|cell| !cell.is_empty()) {
                    let name = if fuse == "on" {
                        format!("{way}, fused")
                    } else {
                        way.to_string()
                    };
                    rows.push(std::iter::once(name).chain(cells).collect());
                }
            }
        }
        page.table(caption, &head, &rows);
    }

    fn bars(&self, columns: &[(String, Which<'_>)]) -> Body {
        let series = ways().into_iter().map(|way| {
            let values = columns
                .iter()
                .map(|(_, which)| self.span(*which, way.name()));
            (way.to_string(), values.collect())
        });
        Body::Bars {
            groups: columns.iter().map(|(name, _)| name.clone()).collect(),
            series: series.collect(),
        }
    }

    fn threads(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Threads");
        page.text(
            "2, 3 and 4 threads, 128 frames (a period of 2667 µs), a machine at rest, at the beat.",
        );
        for shape in OWN {
            for inner in ["sound", "dear"] {
                let columns = THREADS.map(|threads| {
                    let which = own(shape, inner, threads, 128);
                    (format!("{threads} threads"), which)
                });
                let name = format!("{} of {} nodes, {inner}", shape.name, shape.nodes);
                let chart = Chart {
                    file: format!("threads-{}-{inner}", shape.name),
                    title: format!("{name}: mean and worst, not fused"),
                    x: "",
                    y: "cycle, µs",
                    body: self.bars(&columns),
                };
                put(
                    page,
                    charts,
                    chart,
                    "Bars: the mean of a cycle; whiskers: the worst.",
                );
                self.table(page, &format!("{name}: mean / worst, µs"), &columns);
            }
        }
    }

    fn sizes(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Sizes");
        page.text("From small to large graphs of `sound` nodes at 128 frames, not fused, at the beat: where sharing out begins to pay, if it does.");
        for shape in OWN {
            for threads in THREADS {
                let sizes = sizes(self.table, shape.name);
                let curves = ways().into_iter().map(|way| {
                    let points = sizes.iter().filter_map(|&nodes| {
                        let shape = Shape { nodes, ..shape };
                        let mean =
                            self.number(own(shape, "sound", threads, 128), way.name(), "mean_us")?;
                        Some((nodes as f64, mean))
                    });
                    (way.to_string(), points.collect())
                });
                let chart = Chart {
                    file: format!("sizes-{}-{threads}", shape.name),
                    title: format!("{}: mean of a cycle, {threads} threads", shape.name),
                    x: "nodes",
                    y: "cycle, µs",
                    body: Body::Curves {
                        log: (true, true),
                        curves: curves.collect(),
                    },
                };
                if sizes.len() > 1 {
                    put(page, charts, chart, "Both axes are logarithmic.");
                }
            }
        }
    }

    fn buffers(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Buffers");
        page.text("16 to 512 frames, 3 threads, a machine at rest, at the beat. The shorter the buffer, the shorter the latency and the deadline.");
        for shape in OWN {
            for inner in ["sound", "dear"] {
                let columns =
                    BLOCKS.map(|block| (format!("{block} frames"), own(shape, inner, 3, block)));
                let name = format!("{} of {} nodes, {inner}", shape.name, shape.nodes);
                let curves = ways().into_iter().map(|way| {
                    let points = columns.iter().filter_map(|(_, which)| {
                        let run = self.run(*which, way.name())?;
                        let share = run.number("mean_us")? / run.number("period_us")?;
                        Some((f64::from(which.block), share * 100.0))
                    });
                    (way.to_string(), points.collect())
                });
                let chart = Chart {
                    file: format!("buffers-{}-{inner}", shape.name),
                    title: format!("{name}: share of the period, not fused"),
                    x: "frames",
                    y: "share of the period, %",
                    body: Body::Curves {
                        log: (true, true),
                        curves: curves.collect(),
                    },
                };
                put(
                    page,
                    charts,
                    chart,
                    "The mean of a cycle as a share of the time there is. Both axes are logarithmic.",
                );
                self.table(page, &format!("{name}: mean / worst, µs"), &columns);
            }
        }
    }

    fn load(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("A machine in use");
        page.text(
            "3 threads, 128 frames, at the beat: at rest, and beside what a player of video does.",
        );
        for shape in OWN {
            for inner in ["sound", "dear"] {
                let columns = ["rest", "video"].map(|load| {
                    let which = Which {
                        load,
                        ..own(shape, inner, 3, 128)
                    };
                    (load.to_owned(), which)
                });
                let name = format!("{} of {} nodes, {inner}", shape.name, shape.nodes);
                let chart = Chart {
                    file: format!("load-{}-{inner}", shape.name),
                    title: format!("{name}: mean and worst, not fused"),
                    x: "",
                    y: "cycle, µs",
                    body: self.bars(&columns),
                };
                put(
                    page,
                    charts,
                    chart,
                    "Bars: the mean of a cycle; whiskers: the worst.",
                );
                self.table(page, &format!("{name}: mean / worst, µs"), &columns);
            }
        }
    }

    fn histograms(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Stability");
        page.text("How often a cycle took how long: 3 threads, 2048 frames, block after block. A narrow hill is a stable schedule; a second hill is a second way for a cycle to go.");
        for shape in OWN {
            for inner in ["sound", "dear"] {
                let which = Which {
                    pace: "behind",
                    ..own(shape, inner, 3, HISTOGRAM_BLOCK)
                };
                let curves = ways().into_iter().filter_map(|way| {
                    let run = self.run(which, way.name())?;
                    Some((way.to_string(), hill(run.text("bars"))))
                });
                let name = format!("{} of {} nodes, {inner}", shape.name, shape.nodes);
                let chart = Chart {
                    file: format!("histogram-{}-{inner}", shape.name),
                    title: format!("{name}: share of cycles"),
                    x: "cycle, µs",
                    y: "cycles, %",
                    body: Body::Curves {
                        log: (true, false),
                        curves: curves.collect(),
                    },
                };
                put(
                    page,
                    charts,
                    chart,
                    "Eight classes for each doubling of the time.",
                );
                let columns = [("3 threads, 2048 frames".to_owned(), which)];
                self.table(page, &format!("{name}: mean / worst, µs"), &columns);
            }
        }
    }

    fn product(&self, page: &mut Page) {
        page.section("Everything with everything");
        page.text(
            "2, 3 and 4 threads times 16 to 512 frames times rest and use, block after block. Each cell: the median over \
             these runs of how many times as fast as sequential a schedule is, then in brackets the share of missed cycles. \
             The runs themselves are in results.csv.",
        );
        for inner in ["sound", "dear"] {
            let mut columns = Vec::new();
            for shape in OWN {
                for load in ["rest", "video"] {
                    for threads in THREADS {
                        columns.push((shape, load, threads));
                    }
                }
            }
            let head = columns
                .iter()
                .map(|(s, load, t)| format!("{} {load} {t}", s.name));
            let head: Vec<String> = std::iter::once("Schedule".to_owned()).chain(head).collect();
            let head: Vec<&str> = head.iter().map(String::as_str).collect();
            let mut rows = Vec::new();
            for way in ways() {
                for fuse in ["off", "on"] {
                    let cells = columns.iter().map(|(shape, load, threads)| {
                        let runs = BLOCKS.map(|block| Which {
                            load,
                            fuse,
                            pace: "behind",
                            ..own(*shape, inner, *threads, block)
                        });
                        self.sum_up(&runs, way.name())
                    });
                    let cells: Vec<String> = cells.collect();
                    if cells.iter().any(|cell| !cell.is_empty()) {
                        let name = if fuse == "on" {
                            format!("{way}, fused")
                        } else {
                            way.to_string()
                        };
                        rows.push(std::iter::once(name).chain(cells).collect());
                    }
                }
            }
            page.table(
                &format!("`{inner}` nodes: shape, machine, threads"),
                &head,
                &rows,
            );
        }
    }

    /// The median gain of several runs, and their share of missed cycles.
    fn sum_up(&self, runs: &[Which<'_>], way: &str) -> String {
        let gains = runs.iter().filter_map(|which| self.gain(*which, way));
        let Some(gain) = median(gains.collect()) else {
            return String::new();
        };
        let sum = |column| -> f64 {
            let numbers = runs
                .iter()
                .filter_map(|which| self.number(*which, way, column));
            numbers.sum()
        };
        let missed = 100.0 * sum("missed") / sum("cycles").max(1.0);
        match missed {
            0.0 => format!("{gain:.2}"),
            missed => format!("{gain:.2} ({missed:.2} %)"),
        }
    }

    fn shows(&self, page: &mut Page, machine: &Machine) {
        page.section("What it shows");
        let cores = machine.cores.min(4).max(THREADS[0]);
        let mut said = Vec::new();
        for inner in ["sound", "dear"] {
            for shape in OWN {
                let which = Which {
                    pace: "behind",
                    ..own(shape, inner, cores, 128)
                };
                said.extend(self.best(which, cores));
            }
        }
        said.extend(self.crowd(cores));
        said.extend(self.misses());
        if said.is_empty() {
            said.push("Nothing yet: too few runs have been made.".into());
        }
        page.list(said);
        page.section("What it does not show");
        page.list([
            "How it would be on more cores: every figure is of this machine, and the experiment `scale` only calculates more.",
            "How it sounds: no device was there. A missed cycle is one that a device of this block would have heard as a click.",
            "How the engine of 2019 would do here: its code was not run. The report's figures are in its pictures, not in its text, so they are not set beside these.",
            "Rare events: a run lasts some hundred milliseconds, so that a schedule without a missed cycle may still have one in an hour.",
        ]);
    }

    /// The best way to play something, in a sentence.
    fn best(&self, which: Which<'_>, threads: usize) -> Option<String> {
        let mut gains = Vec::new();
        for way in ways().iter().filter(|way| way.name() != "sequential") {
            for fuse in ["off", "on"] {
                let which = Which { fuse, ..which };
                if let Some(gain) = self.gain(which, way.name()) {
                    gains.push((gain, way.name(), fuse));
                }
            }
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (best, worst) = (gains.first()?, gains.last()?);
        let fused = |fuse: &str| if fuse == "on" { " (fused)" } else { "" };
        let Which { shape, inner, .. } = which;
        Some(format!(
            "{} of {} `{inner}` nodes, {threads} threads, 128 frames, block after block: the best is {}{} at {:.2} times the \
             speed of sequential, the last {}{} at {:.2}.",
            shape.name,
            shape.nodes,
            best.1,
            fused(best.2),
            best.0,
            worst.1,
            fused(worst.2),
            worst.0
        ))
    }

    /// What more threads than cores cost, in a sentence.
    fn crowd(&self, cores: usize) -> Option<String> {
        let ratios = ways().into_iter().flat_map(|way| {
            OWN.map(|shape| {
                let which = own(shape, "dear", cores, 128);
                let few = self.number(which, way.name(), "mean_us")?;
                let many = Which {
                    threads: 4,
                    ..which
                };
                (way.name() != "sequential").then_some(())?;
                Some(self.number(many, way.name(), "mean_us")? / few)
            })
        });
        let ratio = median(ratios.flatten().collect())?;
        (cores < 4).then(|| {
            format!(
                "4 threads on {cores} cores take {ratio:.2} times as long as {cores} threads (the median over the three \
                 shapes of dear nodes and all schedules, at the beat)."
            )
        })
    }

    /// How many cycles were missed at rest and in use, in a sentence.
    fn misses(&self) -> Option<String> {
        let share = |load: &str, is_alone: bool| {
            let (mut missed, mut cycles) = (0.0, 0.0);
            for row in self.table.rows() {
                let is_counted = row.text("load") == load
                    && row.text("pace") == "beat"
                    && row.text("shape") != CONTROL.name
                    && row.text("block") == "128"
                    && (row.text("scheduler") == "sequential") == is_alone;
                if is_counted {
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

/// A cell of the report: at rest, at the beat, not fused.
fn own(shape: Shape, inner: &str, threads: usize, block: u32) -> Which<'_> {
    Which {
        shape,
        inner,
        threads,
        block,
        load: "rest",
        fuse: "off",
        pace: "beat",
    }
}

fn put(page: &mut Page, charts: &mut Vec<Chart>, chart: Chart, caption: &str) {
    if !chart.is_empty() {
        page.figure(&chart.svg(), caption);
        charts.push(chart);
    }
}

/// A run in few words.
fn told(run: &Row<'_>) -> String {
    let (mean, worst) = (run.text("mean_us"), run.text("worst_us"));
    match run.text("missed") {
        "0" => format!("{mean} / {worst}"),
        missed => format!(
            "{mean} / {worst}, {missed} of {} missed",
            run.text("cycles")
        ),
    }
}

/// Every size of a shape that was played.
fn sizes(table: &Table, shape: &str) -> Vec<usize> {
    let rows = table.rows().filter(|row| row.text("shape") == shape);
    let mut sizes: Vec<usize> = rows
        .filter_map(|row| row.text("nodes").parse().ok())
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The bars of a histogram as a curve: the middle of each in µs, and its share of all in percent.
fn hill(bars: &str) -> Vec<(f64, f64)> {
    let bar = |text: &str| {
        let (span, count) = text.split_once(':')?;
        let (from, to) = span.split_once('-')?;
        let (from, to): (f64, f64) = (from.parse().ok()?, to.parse().ok()?);
        let count: u64 = count.parse().ok()?;
        Some(((from + to) / 2e3, count as f64))
    };
    let bars: Vec<(f64, f64)> = bars.split(' ').filter_map(bar).collect();
    let all: f64 = bars.iter().map(|(_, count)| count).sum();
    bars.iter().map(|(at, n)| (*at, 100.0 * n / all)).collect()
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.retain(|x| x.is_finite());
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hill_is_made_of_whole_bars_and_adds_up_to_all_cycles() {
        let hill = hill("1000-3000:1 3000-5000:3 x-1:2 7:");
        assert_eq!(hill, [(2.0, 25.0), (4.0, 75.0)]);
        assert_eq!(median(vec![3.0, f64::NAN, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
