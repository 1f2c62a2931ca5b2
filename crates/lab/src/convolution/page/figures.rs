//! The paper's figures, from the table.

use super::*;
use divisi::draw::{GanttBar, GanttChart, GanttRow, NodeClass};

/// What is told of callbacks that come late: columns, and what they are called.
const LATE: [(&str, &str); 9] = [
    ("way", "Way"),
    ("length", "Frames"),
    ("held", "Channels"),
    ("setting", "Jitter"),
    ("percent", "Processor, %"),
    ("p99_us", "99 %, µs"),
    ("worst_us", "Worst, µs"),
    ("missed", "Missed"),
    ("unexplained", "Unexplained"),
];

impl View<'_> {
    /// Figure 5.
    pub(super) fn kernels(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Figure 5: the complex multiply-add");
        page.text(
            "What one partition takes of its level's period, by size and kernel. Interleaved, split and blocked say how a \
             spectrum lies in memory, by 4 that a loop does four at a time; what this program uses in convolvers is called so. All data fits into the caches nearest to the core while it does, as in the paper.",
        );
        let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for row in self.rows("kernel").filter(is_drawn) {
            let name = format!("{} {}", row.text("way"), row.text("setting"));
            let point = row.number("length").zip(row.number("percent"));
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.extend(point),
                None => curves.push((name, point.into_iter().collect())),
            }
        }
        let chart = Chart {
            file: "figure-5-kernels".into(),
            title: "Multiply-add of one partition, of its period".into(),
            x: "size, frames",
            y: "of the period, %",
            body: Body::Curves {
                log: (true, true),
                curves,
            },
        };
        put(
            page,
            charts,
            chart,
            "Lower is better. Both axes are logarithmic.",
        );
        let rows = self.rows("kernel").filter(|row| row.text("length") == "32");
        let rows: Vec<_> = rows
            .map(|row| {
                vec![
                    format!("{}, {}", row.text("way"), row.text("setting")),
                    row.text("p50_us").into(),
                    row.text("percent").into(),
                ]
            })
            .collect();
        page.table(
            &format!(
                "One partition of 32 frames. The paper, on a Core 2 of 2.66 GHz: naive {} µs, SIMD unrolled {} µs",
                SEED_US.0, SEED_US.1
            ),
            &["Kernel", "µs", "% of the period"],
            &rows,
        );
    }

    /// Section 3.3.
    pub(super) fn sync(&self, page: &mut Page) {
        page.section("Section 3.3: starting levels and waiting for them");
        page.text(
            "What the callback spends on starting the threads of levels and on waiting for them, where these have nothing to \
             compute: with a condition variable for each level and each answer; with one broadcast and a count behind a lock; \
             with one broadcast and an atomic count; and as Divisi does it, with one wake call and an atomic count. Doubling: \
             periods of 2, 4, 8 callbacks, so all that is due was done long ago. At once: all levels are started in a callback \
             and waited for in the same one, so waking and running them is in the figure.",
        );
        let rows: Vec<_> = self
            .rows("sync")
            .map(|row| {
                let mean = mean(&row).map_or(String::new(), |us| format!("{us:.2}"));
                let text = |column: &str| row.text(column).to_owned();
                vec![
                    text("way"),
                    text("setting"),
                    text("levels"),
                    text("cores"),
                    mean,
                    text("p50_us"),
                    text("p99_us"),
                    text("worst_us"),
                ]
            })
            .collect();
        let head = [
            "Scheme",
            "Periods",
            "Levels",
            "Cores",
            "Mean, µs",
            "Median",
            "99 %",
            "Worst",
        ];
        page.table("What a callback spends; the paper measured 3 to 40 µs for each operation on a condition variable", &head, &rows);
    }

    /// Figure 6.
    pub(super) fn walk(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Figure 6: a walk through");
        let Some(row) = self.rows("walk").last() else {
            return page.text("It has not been run yet.");
        };
        let lanes = row.text("facts").split(';').enumerate();
        let lanes = lanes.map(|(at, spans)| GanttRow {
            name: if at == 0 {
                "callback, level 1".into()
            } else {
                format!("level {}", at + 1)
            },
            bars: spans
                .split_whitespace()
                .filter_map(|span| lane_box(at, span))
                .collect(),
        });
        let title = "Callbacks and levels, as they ran";
        let chart = Chart {
            file: "figure-6-walk".into(),
            title: title.into(),
            x: "",
            y: "",
            body: Body::Lanes(GanttChart {
                title: title.into(),
                rows: lanes.collect(),
                ..GanttChart::default()
            }),
        };
        put(
            page,
            charts,
            chart,
            "Eight callbacks of a trace. The first level is computed in the callback, the second has twice its period, the third \
             four times; each computes for 30 % of its period. The callback first waits for those due in it, then starts those \
             that begin in it.",
        );
    }

    /// Figure 8.
    pub(super) fn load(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Figure 8: the load of 16 channels on one core");
        let chart = Chart {
            file: "figure-8-load".into(),
            title: format!("{CHANNELS} channels on one core"),
            x: "impulse response, frames",
            y: "processor, %",
            body: Body::Curves {
                log: (true, true),
                curves: self.curves("load", "one-core", "percent"),
            },
        };
        put(
            page,
            charts,
            chart,
            "All threads together. Both axes are logarithmic.",
        );
        self.by_length(page, "load", "one-core", "Processor, %", &|row| {
            row.text("percent").into()
        });
    }

    /// Figure 9.
    pub(super) fn most(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Figure 9: the most channels on one core");
        let chart = Chart {
            file: "figure-9-most".into(),
            title: "Most channels without a miss, one core".into(),
            x: "impulse response, frames",
            y: "channels",
            body: Body::Labelled(self.labelled("one-core", &Way::ALL, &|row| {
                format!("{:.0} %", row.number("percent").unwrap_or(0.0))
            })),
        };
        put(
            page,
            charts,
            chart,
            "At the points: how much of the core it used. Both axes are logarithmic.",
        );
        self.by_length(
            page,
            "most",
            "one-core",
            "Channels (% of the core)",
            &|row| {
                format!(
                    "{} ({:.0} %)",
                    row.text("held"),
                    row.number("percent").unwrap_or(0.0)
                )
            },
        );
    }

    /// Figure 10.
    pub(super) fn cores(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Figure 10: one core and two");
        let settings = [Pin::OneCore, Pin::ByLevel, Pin::ByChannel].map(Pin::name);
        let threaded: Vec<Way> = Way::ALL
            .into_iter()
            .filter(|way| way.has_threads())
            .collect();
        let curves = settings.iter().flat_map(|setting| {
            let levels = |row: &Row<'_>| row.text("levels").to_owned();
            let all = self.labelled(setting, &threaded, &levels).into_iter();
            all.map(move |(way, points)| (format!("{way}, {setting}"), points))
        });
        let chart = Chart {
            file: "figure-10-cores".into(),
            title: "Most channels without a miss, one core and two".into(),
            x: "impulse response, frames",
            y: "channels",
            body: Body::Labelled(curves.collect()),
        };
        put(
            page,
            charts,
            chart,
            "Pinned by level: each level's thread on one core. By channel: a thread a level on each core.",
        );
        let mut rows = Vec::new();
        for length in self.all("most", "length") {
            for way in Way::ALL.into_iter().filter(|way| way.has_threads()) {
                let found = settings.map(|setting| self.find("most", way.name(), length, setting));
                let held = |at: usize| found[at].and_then(|row| row.number("held"));
                let gain = |at: usize| Some(held(at)? / held(0).filter(|n| *n > 0.0)?);
                let text = |n: Option<f64>, digits: usize| {
                    n.map_or(String::new(), |n| format!("{n:.digits$}"))
                };
                rows.push(vec![
                    format!("{length}, {}", way.name()),
                    found[0].map_or(String::new(), |row| row.text("levels").into()),
                    text(held(0), 0),
                    text(held(1), 0),
                    text(gain(1), 2),
                    text(held(2), 0),
                    text(gain(2), 2),
                ]);
            }
        }
        let head = [
            "Frames, way",
            "Levels",
            "One core",
            "Two, by level",
            "gain",
            "Two, by channel",
            "gain",
        ];
        let caption = format!(
            "Channels. The paper's two cores and more held {} to {} times what one did",
            GAIN.0, GAIN.1
        );
        page.table(&caption, &head, &rows);
    }

    /// Callbacks that come late.
    pub(super) fn jitter(&self, page: &mut Page, charts: &mut Vec<Chart>) {
        page.section("Callbacks that come late");
        page.text(
            "Each callback is delayed by a random time of up to so much of a period, and still due when it was. Three quarters of \
             the channels play that each way holds without.",
        );
        let points = |way: Way| {
            let points = JITTERS.iter().filter_map(|percent| {
                let setting = format!("{percent}%");
                let row = self.table.find(&[
                    ("what", "jitter"),
                    ("way", way.name()),
                    ("setting", &setting),
                ])?;
                Some((f64::from(*percent), row.number("unexplained")?))
            });
            (way.name().to_owned(), points.collect())
        };
        let chart = Chart {
            file: "jitter".into(),
            title: "Misses under jitter".into(),
            x: "jitter, % of a period",
            y: "unexplained misses",
            body: Body::Curves {
                log: (false, false),
                curves: Way::ALL.map(points).into(),
            },
        };
        put(page, charts, chart, "Fewer is better.");
        let text = |row: Row<'_>| LATE.map(|(column, _)| row.text(column).to_owned()).to_vec();
        let rows: Vec<_> = self.rows("jitter").map(text).collect();
        let caption = "How long callbacks took, and what they missed";
        page.table(caption, &LATE.map(|(_, head)| head), &rows);
    }

    /// The figures of the other paper, ours, and peers'.
    pub(super) fn reported(&self, page: &mut Page) {
        page.section("524288 frames, one core: beside what was reported");
        let mut rows: Vec<_> = REPORTED
            .iter()
            .map(|(way, count)| {
                vec![
                    format!("reported in 2010, {way}"),
                    count.to_string(),
                    String::new(),
                    String::new(),
                ]
            })
            .collect();
        for way in Way::ALL {
            if let Some(row) = self.find("most", way.name(), "524288", "one-core") {
                rows.push(vec![
                    format!("Divisi, {}", way.name()),
                    row.text("held").into(),
                    row.text("percent").into(),
                    row.text("partition").into(),
                ]);
            }
        }
        for way in self.all("peer", "way") {
            let held = self
                .rows("peer")
                .filter(|row| row.text("way") == way && row.text("length") == "524288");
            let best = held.max_by(|a, b| {
                a.number("held")
                    .unwrap_or(0.0)
                    .total_cmp(&b.number("held").unwrap_or(0.0))
            });
            if let Some(row) = best {
                let said = format!(
                    "{way}, by the bench beside it, {} s",
                    row.number("asked_ms").unwrap_or(0.0) / 1000.0
                );
                rows.push(vec![
                    said,
                    row.text("held").into(),
                    row.text("percent").into(),
                    String::new(),
                ]);
            }
        }
        page.table(
            "Channels without a miss",
            &["", "Channels", "% of the core", "Partition"],
            &rows,
        );
        if self.rows("peer").next().is_none() {
            page.text(
                "zita-convolver is not linked by this program. The bench in benches/convolution measures it beside Divisi; its table, \
                 put here as peers.csv, is shown by the next call.",
            );
        }
    }

    fn by_length(
        &self,
        page: &mut Page,
        what: &'static str,
        setting: &str,
        caption: &str,
        cell: &dyn Fn(&Row<'_>) -> String,
    ) {
        let lengths = self.all(what, "length");
        let rows = Way::ALL.map(|way| {
            let cells = lengths.iter().map(|length| {
                let row = self.find(what, way.name(), length, setting);
                row.map_or(String::new(), |row| cell(&row))
            });
            std::iter::once(way.name().to_owned())
                .chain(cells)
                .collect::<Vec<_>>()
        });
        let rows: Vec<_> = rows
            .into_iter()
            .filter(|row| row[1..].iter().any(|c| !c.is_empty()))
            .collect();
        let head: Vec<&str> = std::iter::once("Frames")
            .chain(lengths.iter().copied())
            .collect();
        page.table(caption, &head, &rows);
    }
}

fn put(page: &mut Page, charts: &mut Vec<Chart>, chart: Chart, caption: &str) {
    if !chart.is_empty() {
        page.figure(&chart.svg(), caption);
        charts.push(chart);
    }
}

fn lane_box(lane: usize, span: &str) -> Option<GanttBar> {
    let (from, to) = span.split_once('-')?;
    let ns = |text: &str| Some((text.parse::<f64>().ok()? * 1e3) as u64);
    Some(GanttBar {
        label: String::new(),
        start_ns: ns(from)?,
        end_ns: ns(to)?,
        class: if lane == 0 {
            NodeClass::Sink
        } else {
            NodeClass::Other
        },
        ..GanttBar::default()
    })
}

/// Whether figure 5 shows a kernel: the paper's, those of vectors by four, and the one in use.
fn is_drawn(row: &Row<'_>) -> bool {
    let (name, layout) = (row.text("way"), row.text("setting"));
    match layout {
        "interleaved" => !name.starts_with("scalar") && !name.starts_with("avx"),
        "split" => name == "naive",
        _ => name.starts_with("used") || (name.ends_with("by 4") && name.starts_with("avx")),
    }
}
