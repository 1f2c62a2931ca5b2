//! The report's own cells: threads, sizes, buffers, a machine in use, and how stable each schedule is.

use super::view::{View, Which};
use crate::chart::{Body, Chart};
use crate::graphs::cells::{BLOCKS, HISTOGRAM_BLOCK, OWN, Shape, THREADS, ways};
use crate::page::Page;

const INNERS: [&str; 2] = ["sound", "dear"];
const BARS: &str = "Bars: the mean of a cycle; whiskers: the worst.";
const LOG: &str = "Both axes are logarithmic.";

/// Runs beside each other, each with what it is called.
type Columns<'a> = Vec<(String, Which<'a>)>;

impl View<'_> {
    /// All of them.
    pub(super) fn own(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        self.threads(page, charts);
        self.sizes_of_graphs(page, charts);
        self.buffers(page, charts);
        self.load(page, charts);
        self.histograms(page, charts);
    }

    fn threads(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Threads");
        page.text(
            "2, 3 and 4 threads, 128 frames (a period of 2667 µs), a machine at rest, at the beat.",
        );
        let columns = |shape, inner| {
            let column = |threads| {
                let name = format!("{threads} threads");
                (name, Which::own(shape, inner, threads, 128))
            };
            THREADS.map(column).to_vec()
        };
        self.beside(page, charts, "threads", columns);
    }

    fn load(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("A machine in use");
        page.text(
            "3 threads, 128 frames, at the beat: at rest, and beside what a player of video does.",
        );
        let columns = |shape, inner| {
            let column = |load: &'static str| {
                let which = Which::own(shape, inner, 3, 128);
                (load.to_owned(), Which { load, ..which })
            };
            ["rest", "video"].map(column).to_vec()
        };
        self.beside(page, charts, "load", columns);
    }

    /// For each graph bars and a table of some runs beside each other.
    fn beside(
        &self,
        page: &mut Page,
        charts: &mut Vec<Chart>,
        file: &str,
        columns: impl Fn(Shape, &'static str) -> Columns<'static>,
    ) {
        for (shape, inner, name) in graphs() {
            let columns = columns(shape, inner);
            let chart = Chart {
                file: format!("{file}-{}-{inner}", shape.name),
                title: format!("{name}: mean and worst, not fused"),
                x: "",
                y: "cycle, µs",
                body: self.bars(&columns),
            };
            put(page, charts, chart, BARS);
            self.table(page, &name, &columns);
        }
    }

    /// A table with a row a way and a column a run.
    fn table(&self, page: &mut Page, name: &str, columns: &[(String, Which<'_>)]) {
        let head = columns.iter().map(|(name, _)| name.as_str());
        let head: Vec<&str> = std::iter::once("Schedule").chain(head).collect();
        let rows = self.rows(|way, fuse| {
            let cell = |(_, which): &(String, Which<'_>)| self.told(Which { fuse, ..*which }, way);
            columns.iter().map(cell).collect()
        });
        page.table(&format!("{name}: mean / worst, µs"), &head, &rows);
    }

    fn bars(&self, columns: &[(String, Which<'_>)]) -> Body {
        let series = ways().into_iter().map(|way| {
            let spans = columns
                .iter()
                .map(|(_, which)| self.span(*which, way.name()));
            (way.to_string(), spans.collect())
        });
        Body::Bars {
            groups: columns.iter().map(|(name, _)| name.clone()).collect(),
            series: series.collect(),
        }
    }

    fn sizes_of_graphs(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Sizes");
        page.text("From small to large graphs of `sound` nodes at 128 frames, not fused, at the beat: where sharing out begins to pay, if it does.");
        for shape in OWN {
            let sizes = self.sizes(shape.name);
            if sizes.len() < 2 {
                continue;
            }
            for threads in THREADS {
                let point = |way: &str, nodes: usize| {
                    let which = Which::own(Shape { nodes, ..shape }, "sound", threads, 128);
                    Some((nodes as f64, self.number(which, way, "mean_us")?))
                };
                let curve = |way: &str| sizes.iter().filter_map(|n| point(way, *n)).collect();
                let chart = Chart {
                    file: format!("sizes-{}-{threads}", shape.name),
                    title: format!("{}: mean of a cycle, {threads} threads", shape.name),
                    x: "nodes",
                    y: "cycle, µs",
                    body: curves((true, true), curve),
                };
                put(page, charts, chart, LOG);
            }
        }
    }

    fn buffers(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Buffers");
        page.text("16 to 512 frames, 3 threads, a machine at rest, at the beat. The shorter the buffer, the shorter the latency and the deadline.");
        for (shape, inner, name) in graphs() {
            let columns = BLOCKS.map(|block| {
                let which = Which::own(shape, inner, 3, block);
                (format!("{block} frames"), which)
            });
            let point = |which: Which<'_>, way: &str| {
                let run = self.run(which, way)?;
                let share = run.number("mean_us")? / run.number("period_us")?;
                Some((f64::from(which.block), share * 100.0))
            };
            let curve = |way: &str| columns.iter().filter_map(|c| point(c.1, way)).collect();
            let chart = Chart {
                file: format!("buffers-{}-{inner}", shape.name),
                title: format!("{name}: share of the period, not fused"),
                x: "frames",
                y: "share of the period, %",
                body: curves((true, true), curve),
            };
            let caption = format!("The mean of a cycle as a share of the time there is. {LOG}");
            put(page, charts, chart, &caption);
            self.table(page, &name, &columns);
        }
    }

    fn histograms(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Stability");
        page.text("How often a cycle took how long: 3 threads, 2048 frames, block after block. A narrow hill is a stable schedule; a second hill is a second way for a cycle to go.");
        for (shape, inner, name) in graphs() {
            let which = Which {
                pace: "behind",
                ..Which::own(shape, inner, 3, HISTOGRAM_BLOCK)
            };
            let curve = |way: &str| {
                let run = self.run(which, way);
                run.map_or(Vec::new(), |run| hill(run.text("bars")))
            };
            let chart = Chart {
                file: format!("histogram-{}-{inner}", shape.name),
                title: format!("{name}: share of cycles"),
                x: "cycle, µs",
                y: "cycles, %",
                body: curves((true, false), curve),
            };
            let caption = "Eight classes for each doubling of the time.";
            put(page, charts, chart, caption);
            let columns = [("3 threads, 2048 frames".to_owned(), which)];
            self.table(page, &name, &columns);
        }
    }
}

/// The report's graphs of both sorts of nodes, each with its name.
fn graphs() -> impl Iterator<Item = (Shape, &'static str, String)> {
    OWN.into_iter().flat_map(|shape| {
        INNERS.map(|inner| {
            let name = format!("{} of {} nodes, {inner}", shape.name, shape.nodes);
            (shape, inner, name)
        })
    })
}

/// A curve for each way of playing.
fn curves(log: (bool, bool), curve: impl Fn(&str) -> Vec<(f64, f64)>) -> Body {
    let curves = ways().into_iter();
    Body::Curves {
        log,
        curves: curves.map(|w| (w.to_string(), curve(w.name()))).collect(),
    }
}

fn put(page: &mut Page, charts: &mut Vec<Chart>, chart: Chart, caption: &str) {
    if !chart.is_empty() {
        page.figure(&chart.svg(), caption);
        charts.push(chart);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hill_is_made_of_whole_bars_and_adds_up_to_all_cycles() {
        let hill = hill("1000-3000:1 3000-5000:3 x-1:2 7:");
        assert_eq!(hill, [(2.0, 25.0), (4.0, 75.0)]);
    }
}
