//! The page of the experiment *convolution*: the paper's figures, from the table.

use super::kernels::PAPER_US;
use super::methods::{Method, ThreadCores};
use super::runs::{CHANNELS, JITTERS, LENGTHS, RunSettings};
use super::sync::SCHEMES;
use super::{BLOCK, RATE_HZ};
use crate::Row;
use crate::chart::{Chart, Curve};
use crate::page::Page;
use crate::results::{Filter, Results, decimals};
use divisi::draw::{GanttBar, GanttChart, GanttRow, NodeClass};

/// Instances of 524288 frames that were reported to play without dropouts (Colmenares and others 2010).
const REPORTED: [(&str, u32); 2] = [("preemptive", 82), ("time-distributed", 22)];
/// Channels on the paper's two cores and more, over those on one.
const PAPER_GAIN: (f64, f64) = (1.3, 1.7);

/// Heading and column of the table of synchronisation; the mean is in the column `facts`.
const SYNC_COLUMNS: [(&str, &str); 8] = [
    ("Scheme", "way"),
    ("Periods", "setting"),
    ("Levels", "levels"),
    ("Cores", "cores"),
    ("Mean, µs", "facts"),
    ("Median", "p50_us"),
    ("99 %", "p99_us"),
    ("Worst", "worst_us"),
];
/// The same of late callbacks.
const JITTER_COLUMNS: [(&str, &str); 9] = [
    ("Method", "way"),
    ("Frames", "length"),
    ("Channels", "held"),
    ("Jitter", "setting"),
    ("Processor, %", "percent"),
    ("99 %, µs", "p99_us"),
    ("Worst, µs", "worst_us"),
    ("Missed", "missed"),
    ("Unexplained", "unexplained"),
];
/// Methods with fewer operations and without in earlier tables, when the product's convolver had them.
const EARLIER_FEWER_OPERATIONS: [[&str; 2]; 4] = [
    ["preemptive-gardner", "preemptive"],
    ["preemptive-nested", "preemptive"],
    ["distributed-gardner", "distributed"],
    ["distributed-nested", "distributed"],
];
const CHANNEL_AXES: [&str; 2] = ["impulse response, frames", "channels"];
/// Captions.
const WALK: &str = "Eight callbacks of a trace. The first level is computed in the callback; the second has twice its \
    period, the third four times; each computes for 30 % of its period. The callback first waits for the levels that are due, \
    then starts those that begin.";
const SYNC: &str =
    "Time of a callback; the paper measured 3 to 40 µs for each operation on a condition variable";
const CORES: &str = "Pinned by level: each level's thread on one core. By channel: a thread for each level on each core. At \
    each point the number of levels.";
/// Headings.
const CORES_HEAD: &str =
    "Frames, method | Levels | One core | Two, by level | gain | Two, by channel | gain";
const FEWER_HEAD: &str = "Method, frames | Processor, % | without | gain, % | Worst callback, µs | without | Most channels | without";
/// Shown where `peers.csv` is not there.
const NO_PEERS: &str = "zita-convolver is not linked by this program. The bench in benches/convolution measures it beside \
    Divisi; its table, put here as peers.csv, is shown by the next call.";

/// Fills the template.
pub(super) fn fill(results: &Results<'_>, page: &mut Page) {
    page.text("block", BLOCK);
    page.text("period_us", format!("{:.0}", BLOCK as f64 * 1e6 / RATE_HZ));
    page.text("channels", CHANNELS);
    page.text("cores", results.machine.cores);
    let view = View(results);
    view.kernels(page);
    view.sync(page);
    view.walk(page);
    view.load(page);
    view.max_channels(page);
    view.cores_compared(page);
    view.jitter(page);
    view.fewer_operations(page);
    view.reported(page);
    view.findings(page);
}

struct View<'a>(&'a Results<'a>);

impl<'a> View<'a> {
    fn rows(&self, what: &'static str) -> impl Iterator<Item = Row<'a>> {
        let rows = self.0.table.rows();
        rows.filter(move |row| row.text("what") == what)
    }

    /// The different lengths of a subject.
    fn lengths(&self, what: &str) -> Vec<usize> {
        self.0.distinct_numbers(&[("what", what)], "length")
    }

    fn max_channels_on(
        &self,
        cores: ThreadCores,
        method: Method,
        length: usize,
    ) -> Option<Row<'a>> {
        self.0.find(RunSettings::most(method.name(), length, cores))
    }

    /// Figure 5.
    fn kernels(&self, page: &mut Page) {
        let mut curves: Vec<Curve> = Vec::new();
        for row in self.rows("kernel").filter(is_kernel_drawn) {
            let name = format!("{} {}", row.text("way"), row.text("setting"));
            let point = row.number("length").zip(row.number("percent"));
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.extend(point),
                None => curves.push((name, point.into_iter().collect())),
            }
        }
        let title = "Multiply-add of one partition, of its period";
        let axes = ["size, frames", "of the period, %"];
        let chart = Chart::curves("figure-5-kernels", title, axes, [true; 2], curves);
        let caption = "Lower is better. Both axes are logarithmic.";
        page.chart("kernels", chart, caption);
        let rows = self.rows("kernel").filter(|row| row.text("length") == "32");
        let rows = rows.map(|row| {
            let kernel = format!("{}, {}", row.text("way"), row.text("setting"));
            vec![
                kernel,
                row.text("p50_us").into(),
                row.text("percent").into(),
            ]
        });
        let (naive, unrolled) = PAPER_US;
        let caption = format!(
            "One partition of 32 frames. The paper, on a Core 2 of 2.66 GHz: naive {naive} µs, SIMD unrolled {unrolled} µs"
        );
        page.table("kernels", &caption, "Kernel | µs | % of the period", rows);
    }

    /// Section 3.3.
    fn sync(&self, page: &mut Page) {
        let cell = |row: &Row<'_>, column| match column {
            "facts" => decimals(mean_us(row), 2),
            _ => row.text(column).to_owned(),
        };
        let rows = self.rows("sync");
        let rows = rows.map(|row| SYNC_COLUMNS.map(|(_, column)| cell(&row, column)).into());
        let head = SYNC_COLUMNS.map(|(head, _)| head);
        page.table("sync", SYNC, &head.join(" | "), rows);
    }

    /// Figure 6.
    fn walk(&self, page: &mut Page) {
        let Some(row) = self.rows("walk").last() else {
            return page.paragraph("walk", "It has not been run yet.");
        };
        let threads = row.text("facts").split(';').enumerate();
        let lanes = threads.map(|(at, spans)| GanttRow {
            name: match at {
                0 => "callback, level 1".into(),
                _ => format!("level {}", at + 1),
            },
            bars: spans
                .split_whitespace()
                .filter_map(|span| gantt_bar(at, span))
                .collect(),
        });
        let chart = GanttChart {
            title: "Callbacks and levels, as they ran".into(),
            rows: lanes.collect(),
            ..GanttChart::default()
        };
        page.chart("walk", Chart::gantt("figure-6-walk", &chart), WALK);
    }

    /// Figure 8.
    fn load(&self, page: &mut Page) {
        let lengths = self.lengths("load");
        let find = |method: Method, length| self.0.find(RunSettings::load(method.name(), length));
        let curves = Method::ALL.map(|method| {
            let percent = |length: &usize| find(method, *length)?.number("percent");
            let points = lengths
                .iter()
                .filter_map(|n| Some((*n as f64, percent(n)?)));
            (method.name().to_owned(), points.collect())
        });
        let title = format!("{CHANNELS} channels on one core");
        let axes = [CHANNEL_AXES[0], "processor, %"];
        let chart = Chart::curves("figure-8-load", title, axes, [true; 2], curves);
        let caption = "All threads together. Both axes are logarithmic.";
        page.chart("load", chart, caption);
        let percent = |row: Row<'_>| row.text("percent").to_owned();
        let columns: Vec<_> = lengths.iter().map(|n| (n.to_string(), *n)).collect();
        page.grid(
            "load",
            "Processor, %",
            "Frames",
            Method::ALL,
            &columns,
            |method, length| find(*method, *length).map_or(String::new(), percent),
        );
    }

    /// Figure 9.
    fn max_channels(&self, page: &mut Page) {
        let one = ThreadCores::One;
        let label = |row: &Row<'_>| format!("{:.0} %", row.number("percent").unwrap_or(0.0));
        let (curves, labels) = self.channel_curves(one, &Method::ALL, "", label);
        let title = "Most channels without a miss, one core";
        let chart = channels_chart("figure-9-most", title, curves, labels);
        let caption = "At the points: load of the core. Both axes are logarithmic.";
        page.chart("max_channels", chart, caption);
        let lengths = self.lengths("most").into_iter();
        let columns: Vec<_> = lengths.map(|n| (n.to_string(), n)).collect();
        let caption = "Channels (% of the core)";
        page.grid(
            "max_channels",
            caption,
            "Frames",
            Method::ALL,
            &columns,
            |method, length| {
                let row = self.max_channels_on(one, *method, *length);
                row.map_or(String::new(), |row| {
                    format!("{} ({})", row.text("held"), label(&row))
                })
            },
        );
    }

    /// Figure 10.
    fn cores_compared(&self, page: &mut Page) {
        let threaded = Method::ALL.into_iter().filter(|m| m.has_threads());
        let threaded: Vec<Method> = threaded.collect();
        let (mut curves, mut labels) = (Vec::new(), Vec::new());
        for cores in ThreadCores::ALL {
            let levels = |row: &Row<'_>| row.text("levels").to_owned();
            let suffix = format!(", {}", cores.name());
            let found = self.channel_curves(cores, &threaded, &suffix, levels);
            curves.extend(found.0);
            labels.extend(found.1);
        }
        let title = "Most channels without a miss, one core and two";
        let chart = channels_chart("figure-10-cores", title, curves, labels);
        page.chart("cores_compared", chart, CORES);

        let lengths = self.lengths("most").into_iter();
        let rows = lengths.flat_map(|length| threaded.iter().map(move |m| (length, *m)));
        let rows = rows.map(|(length, method)| {
            let found = ThreadCores::ALL.map(|cores| self.max_channels_on(cores, method, length));
            let held = found.map(|row| row?.number("held"));
            let gain = |at: usize| Some(held[at]? / held[0].filter(|n| *n > 0.0)?);
            vec![
                format!("{length}, {method}"),
                found[0].map_or(String::new(), |row| row.text("levels").into()),
                decimals(held[0], 0),
                decimals(held[1], 0),
                decimals(gain(1), 2),
                decimals(held[2], 0),
                decimals(gain(2), 2),
            ]
        });
        let (min, max) = PAPER_GAIN;
        let caption = format!(
            "Channels. The paper's two cores and more held {min} to {max} times as many as one"
        );
        page.table("cores_compared", &caption, CORES_HEAD, rows);
    }

    /// Curves of the maximum of channels over the lengths, and a label at each point.
    fn channel_curves(
        &self,
        cores: ThreadCores,
        methods: &[Method],
        suffix: &str,
        label: impl Fn(&Row<'_>) -> String,
    ) -> (Vec<Curve>, Vec<(f64, f64, String)>) {
        let (mut curves, mut labels) = (Vec::new(), Vec::new());
        for method in methods {
            let lengths = self.lengths("most").into_iter();
            let point = |length| {
                let row = self.max_channels_on(cores, *method, length)?;
                Some((length as f64, row.number("held")?, label(&row)))
            };
            let points: Vec<_> = lengths.filter_map(point).collect();
            let places = points.iter().map(|(x, y, _)| (*x, *y));
            curves.push((format!("{method}{suffix}"), places.collect()));
            labels.extend(points);
        }
        (curves, labels)
    }

    /// Late callbacks.
    fn jitter(&self, page: &mut Page) {
        let curves = Method::ALL.map(|method| {
            let point = |percent: &u32| {
                let setting = format!("{percent}%");
                let filter: Filter<'_> = &[
                    ("what", "jitter"),
                    ("way", method.name()),
                    ("setting", &setting),
                ];
                let row = self.0.rows(filter).last()?;
                Some((f64::from(*percent), row.number("unexplained")?))
            };
            let points = JITTERS.iter().filter_map(point).collect();
            (method.name().to_owned(), points)
        });
        let axes = ["jitter, % of a period", "unexplained misses"];
        let chart = Chart::curves("jitter", "Misses under jitter", axes, [false; 2], curves);
        page.chart("jitter", chart, "Fewer is better.");
        let caption = "Times of callbacks, and their misses";
        page.columns("jitter", caption, &JITTER_COLUMNS, self.rows("jitter"));
    }

    /// Load, worst callback and maximum of channels, with fewer operations and without.
    fn fewer_operations(&self, page: &mut Page) {
        let lengths = self.lengths("load");
        let pairs =
            Method::FEWER_OPERATIONS.map(|method| [method, Method::Study].map(Method::name));
        let pairs = EARLIER_FEWER_OPERATIONS.into_iter().chain(pairs);
        let rows = pairs.flat_map(|names| {
            let lengths = lengths.iter();
            lengths.filter_map(move |length| self.fewer_row(names, *length))
        });
        let caption = format!(
            "{CHANNELS} channels on one core, and the most that are held; each method beside itself without"
        );
        page.table("fewer", &caption, FEWER_HEAD, rows);
    }

    fn fewer_row(&self, names: [&str; 2], length: usize) -> Option<Vec<String>> {
        let [with, without] = names.map(|name| self.0.find(RunSettings::load(name, length)));
        let (with, without) = (with?, without?);
        let loads = with.number("percent").zip(without.number("percent"));
        let gain = loads.map(|(with, without)| 100.0 * (1.0 - with / without));
        let most = |name| {
            self.0
                .find(RunSettings::most(name, length, ThreadCores::One))
        };
        let held = match names.map(most) {
            [Some(with), Some(without)] => [with.text("held"), without.text("held")],
            // One alone says nothing.
            _ => ["", ""],
        };
        let both = |column| [with, without].map(|row: Row<'_>| row.text(column).to_owned());
        let mut cells = vec![format!("{}, {length}", names[0])];
        cells.extend(both("percent"));
        cells.push(decimals(gain, 1));
        cells.extend(both("worst_us"));
        cells.extend(held.map(str::to_owned));
        Some(cells)
    }

    /// The results of another paper, Divisi's, and those of peers.
    fn reported(&self, page: &mut Page) {
        let cells = |name: String, row: &Row<'_>| {
            let [held, percent, partition] =
                ["held", "percent", "partition"].map(|column| row.text(column).to_owned());
            vec![name, held, percent, partition]
        };
        let reported = REPORTED.iter().map(|(method, channels)| {
            let name = format!("reported in 2010, {method}");
            vec![name, channels.to_string(), String::new(), String::new()]
        });
        let divisi = Method::ALL.into_iter().filter_map(|method| {
            let row = self.max_channels_on(ThreadCores::One, method, 524_288)?;
            Some(cells(format!("Divisi, {method}"), &row))
        });
        let peers = self.0.distinct(&[("what", "peer")], "way").into_iter();
        let peers = peers.filter_map(|peer| {
            let filter = [("what", "peer"), ("way", peer), ("length", "524288")];
            let held = |row: &Row<'_>| row.number("held").unwrap_or(0.0);
            let rows = self.0.rows(&filter);
            let row = rows.max_by(|a, b| held(a).total_cmp(&held(b)))?;
            let s = row.number("asked_ms").unwrap_or(0.0) / 1000.0;
            let name = format!("{peer}, measured by benches/convolution, {s} s");
            Some(cells(name, &row))
        });
        let head = " | Channels | % of the core | Partition";
        let rows = reported.chain(divisi).chain(peers);
        page.table("reported", "Channels without a miss", head, rows);
        if self.rows("peer").next().is_none() {
            page.paragraph("reported", NO_PEERS);
        }
    }

    fn findings(&self, page: &mut Page) {
        let longest = LENGTHS[LENGTHS.len() - 1];
        let length = self.lengths("most").last().copied().unwrap_or(longest);
        let held = Method::ALL.into_iter().filter_map(|method| {
            let row = self.max_channels_on(ThreadCores::One, method, length)?;
            let [held, percent, partition] =
                ["held", "percent", "partition"].map(|column| row.text(column));
            Some(format!(
                "{length} frames on one core, {method}: {held} channels without a miss, at {percent} % of the core, cut into \
                 {partition}."
            ))
        });
        let parts = [self.best_kernel(), self.best_scheme()];
        let parts = parts.into_iter().flatten();
        page.findings("findings", &parts.chain(held).collect::<Vec<_>>());
    }

    fn best_kernel(&self) -> Option<String> {
        let of_32 = self.rows("kernel").filter(|row| row.text("length") == "32");
        let timed = of_32.filter_map(|row| Some((row.number("p50_us")?, row)));
        let timed: Vec<_> = timed.collect();
        let (best, row) = timed.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let is_complex = |(_, row): &&(f64, Row<'_>)| row.text("way") == "complex type";
        let (complex, _) = timed.iter().find(is_complex)?;
        Some(format!(
            "A partition of 32 frames: {best:.4} µs with {} ({}), {:.1} times as fast as the complex type. The paper has {} µs \
             against {} µs naive.",
            row.text("way"),
            row.text("setting"),
            complex / best,
            PAPER_US.1,
            PAPER_US.0
        ))
    }

    fn best_scheme(&self) -> Option<String> {
        let means = SCHEMES.map(|scheme| {
            let rows = self.rows("sync").filter(|row| row.text("way") == scheme);
            let means: Vec<f64> = rows.filter_map(|row| mean_us(&row)).collect();
            means.iter().sum::<f64>() / means.len() as f64
        });
        let [naive, .., own] = means;
        (naive.is_finite() && own.is_finite()).then(|| {
            format!(
                "Starting and waiting for levels takes {naive:.1} µs of a callback with a condition variable for each, {own:.1} µs \
                 with futexes; on average over all cases."
            )
        })
    }
}

/// Channels over the length of the response, with words at the points.
fn channels_chart(
    file: &str,
    title: &str,
    curves: Vec<Curve>,
    labels: Vec<(f64, f64, String)>,
) -> Chart {
    Chart::labelled_curves(file, title, CHANNEL_AXES, [true; 2], curves, labels)
}

/// Mean time of a call of a synchronisation scheme, in µs.
fn mean_us(row: &Row<'_>) -> Option<f64> {
    row.text("facts").strip_prefix("mean ")?.parse().ok()
}

fn gantt_bar(thread: usize, span: &str) -> Option<GanttBar> {
    let (from, to) = span.split_once('-')?;
    let ns = |text: &str| Some((text.parse::<f64>().ok()? * 1e3) as u64);
    Some(GanttBar {
        label: String::new(),
        start_ns: ns(from)?,
        end_ns: ns(to)?,
        class: if thread == 0 {
            NodeClass::Sink
        } else {
            NodeClass::Other
        },
        ..GanttBar::default()
    })
}

/// Returns true for kernels that figure 5 shows: the paper's, those with vectors by four, and the one in use.
fn is_kernel_drawn(row: &Row<'_>) -> bool {
    let (name, layout) = (row.text("way"), row.text("setting"));
    match layout {
        "interleaved" => !name.starts_with("scalar") && !name.starts_with("avx"),
        "split" => name == "naive",
        _ => name.starts_with("used") || (name.ends_with("by 4") && name.starts_with("avx")),
    }
}
