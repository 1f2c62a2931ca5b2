//! Draws known graphs, a schedule and plots into the folder that is named.

use divisi_draw::plot::{
    self, Axis, BarSeries, Bin, DataPoint, Guide, GuideAt, HistogramSeries, Series,
};
use divisi_draw::{
    GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass, Picture,
};
use graph::{Catalogue, shape};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let write = |name: &str, picture: Picture| -> Result<(), Box<dyn std::error::Error>> {
        let path = Path::new(&folder).join(name);
        std::fs::write(path.with_extension("svg"), picture.svg())?;
        std::fs::write(path.with_extension("pdf"), picture.pdf())?;
        std::fs::write(path.with_extension("png"), picture.png_within_limit(1.0)?.0)?;
        Ok(())
    };
    let none = Catalogue::default();
    let patches = [
        ("line", shape::line(5, None)?),
        ("line-500", shape::line(500, None)?),
        ("rake", shape::rake(101, None)?),
        ("rake-302", shape::rake(302, None)?),
        ("diamond-636", shape::diamond(636, None)?),
        ("diamond", shape::diamond(76, None)?),
        ("random", shape::random(60, 1, None)?),
        ("random-500", shape::random(500, 2, None)?),
    ];
    for (name, patch) in patches {
        write(name, divisi_draw::graph(&patch, &none)?)?;
    }
    write("schedule", divisi_draw::gantt(&lanes()))?;
    write("cycles", plot::histogram(&cycles()))?;
    write("speed", plot::lines(&speed()))?;
    write("locks", plot::bars(&locks()))?;
    write("heat", plot::heat(&heat()))?;
    Ok(())
}

fn cycles() -> plot::Histogram {
    let bin = |i: u64| Bin {
        from: 180.0 + i as f64 * 10.0,
        to: 190.0 + i as f64 * 10.0,
        count: 4000 / (i * i + 1) + u64::from(i == 130),
    };
    plot::Histogram {
        title: "Cycle times of the diamond, 156 nodes".into(),
        note: "3 workers, 2048 frames, 10 000 cycles".into(),
        x: Axis::log("cycle", "µs"),
        y: Axis::log("cycles", ""),
        series: vec![HistogramSeries {
            name: "etf".into(),
            bins: (0..140).map(bin).collect(),
        }],
        guides: vec![
            Guide {
                at: GuideAt::X(1333.0),
                label: "deadline 1.33 ms".into(),
            },
            Guide {
                at: GuideAt::X(240.0),
                label: "p99".into(),
            },
            Guide {
                at: GuideAt::X(260.0),
                label: "p99.9".into(),
            },
        ],
        late_from: Some(1333.0),
    }
}

fn speed() -> plot::LinePlot {
    let names = [
        "sequential",
        "hlfet",
        "etf",
        "cpfd",
        "stealing",
        "global",
        "weighted",
        "deadline",
    ];
    let series = |(i, name): (usize, &&str)| Series {
        name: (*name).into(),
        points: [16.0, 32.0, 64.0, 128.0, 256.0, 512.0]
            .iter()
            .map(|frames: &f64| {
                let at = 1.0 + (frames / 16.0).log2() * 0.07 * i as f64 + 0.05 * i as f64;
                (
                    *frames,
                    DataPoint::between(at - 0.08, at, at + 0.06).worst(at + 0.3),
                )
            })
            .collect(),
    };
    plot::LinePlot {
        title: "Speed-up over sequential on two workers".into(),
        note: "rake of 101 nodes of 1 µs; median and quartiles, × the worst".into(),
        x: Axis::log("block", "frames").naming([16.0, 32.0, 64.0, 128.0, 256.0, 512.0]),
        y: Axis::linear("speed-up", ""),
        series: names.iter().enumerate().map(series).collect(),
        guides: vec![Guide {
            at: GuideAt::Y(2.0),
            label: "two workers' bound".into(),
        }],
        ..plot::LinePlot::default()
    }
}

fn locks() -> plot::BarPlot {
    let series = |(i, name): (usize, &&str)| BarSeries {
        name: (*name).into(),
        values: (0..4)
            .map(|g| {
                let at = 75.0 / (1.0 + 2.0 * i as f64) + f64::from(g) * 3.3;
                Some(DataPoint::between(at * 0.8, at, at * 1.1).worst(at * 1.3))
            })
            .collect(),
    };
    plot::BarPlot {
        title: "Locks taken in a cycle".into(),
        note: "500 objects, 64 of them dear".into(),
        label: "threads".into(),
        groups: ["2, idle", "2, playing", "6, idle", "6, playing"]
            .map(String::from)
            .into(),
        y: Axis::linear("acquisitions", "per thread and cycle"),
        series: ["mutex", "global", "weighted", "stealing"]
            .iter()
            .enumerate()
            .map(series)
            .collect(),
        guides: Vec::new(),
    }
}

fn heat() -> plot::Heat {
    let names = ["line 100", "rake 101", "diamond 156", "random 500"];
    let cell = |(row, column): (usize, usize)| (1 + row * 3 + column) as f64 * 17.3;
    plot::Heat {
        title: "Mean cycle time".into(),
        note: "128 frames, at rest".into(),
        x: "scheduler".into(),
        y: "graph".into(),
        columns: ["sequential", "hlfet", "etf", "cpfd", "stealing"]
            .map(String::from)
            .into(),
        rows: names.map(String::from).into(),
        value: Axis::linear("mean", "µs"),
        values: (0..4)
            .map(|row| (0..5).map(|column| cell((row, column))).collect())
            .collect(),
    }
}

/// A cycle on three workers.
fn lanes() -> GanttChart {
    let hues = [
        NodeClass::Source,
        NodeClass::Effect,
        NodeClass::Join,
        NodeClass::Delay,
        NodeClass::Sink,
        NodeClass::Other,
    ];
    let mut lanes = Vec::new();
    let mut crossings = Vec::new();
    for worker in 0..3u64 {
        let mut at = worker * 3700;
        let mut boxes = Vec::new();
        for i in 0..14u64 {
            let long = 900 + (i * 7919 + worker * 104_729) % 6200;
            boxes.push(GanttBar {
                label: format!("voice-{worker}-{i}"),
                start_ns: at,
                end_ns: at + long,
                critical: worker == i % 3,
                copy: i == 5 && worker > 0,
                class: hues[(i % 6) as usize],
            });
            if i % 5 == 2 {
                crossings.push(GanttArrow {
                    from: (worker as usize, at + long),
                    to: ((worker as usize + 1) % 3, at + long + 1200),
                });
            }
            at += long + (i * 31 % 4) * 400;
        }
        lanes.push(GanttRow {
            name: format!("worker {worker}"),
            bars: boxes,
        });
    }
    let mark = |lane, at_ns, what, label: &str| GanttMarker {
        row: lane,
        time_ns: at_ns,
        kind: what,
        label: label.into(),
    };
    GanttChart {
        title: "the slowest cycle".into(),
        note: "3 workers · 42 steps".into(),
        rows: lanes,
        arrows: crossings,
        markers: vec![
            mark(Some(1), 3600, MarkerKind::Wake, "wakes"),
            mark(Some(1), 58_000, MarkerKind::Sleep, "sleeps"),
            mark(Some(2), 7400, MarkerKind::Wake, "wakes"),
            mark(None, 62_000, MarkerKind::Miss, "missed"),
        ],
        deadline_ns: Some(62_000),
    }
}
