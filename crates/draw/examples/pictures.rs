//! Draws test graphs, a cycle and plots into the folder that is named: `cargo run --example pictures -- FOLDER`.

use divisi_draw::plot::{self, Axis, BarPlot, BarSeries, DataPoint, LinePlot, Scale, Series};
use divisi_draw::{
    GanttArrow, GanttBar, GanttChart, GanttMarker, GanttRow, MarkerKind, NodeClass, PartitionChart,
    PartitionLevel, PartitionRow, Picture,
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
    write("cycle", divisi_draw::gantt(&cycle()))?;
    write("partitions", divisi_draw::partitions(&partitions()))?;
    write("speed", plot::lines(&speed()))?;
    write("locks", plot::bars(&locks()))?;
    Ok(())
}

fn speed() -> LinePlot {
    let names = ["sequential", "hlfet", "etf", "cpfd", "stealing", "weighted"];
    let series = |(i, name): (usize, &&str)| {
        let point = |frames: &f64| {
            let value = 1.0 + (frames / 16.0).log2() * 0.07 * i as f64 + 0.05 * i as f64;
            let max = Some(value + 0.3);
            (*frames, DataPoint { value, max })
        };
        Series {
            name: (*name).into(),
            points: [16.0, 32.0, 64.0, 128.0, 256.0, 512.0]
                .iter()
                .map(point)
                .collect(),
        }
    };
    LinePlot {
        title: "Speed-up over sequential on two workers".into(),
        x: Axis {
            label: "block".into(),
            unit: "frames".into(),
            scale: Scale::Log,
            min_span: 0.0,
        },
        y: Axis {
            label: "speed-up".into(),
            ..Axis::default()
        },
        series: names.iter().enumerate().map(series).collect(),
        ..LinePlot::default()
    }
}

fn locks() -> BarPlot {
    let series = |(i, name): (usize, &&str)| BarSeries {
        name: (*name).into(),
        values: (0..4)
            .map(|group| Some((75.0 / (1.0 + 2.0 * i as f64) + f64::from(group) * 3.3).into()))
            .collect(),
    };
    let names = ["mutex", "global", "weighted", "stealing"];
    BarPlot {
        title: "Locks taken in a cycle".into(),
        groups: ["2, idle", "2, playing", "6, idle", "6, playing"]
            .map(String::from)
            .into(),
        y: Axis {
            label: "acquisitions".into(),
            unit: "per thread and cycle".into(),
            ..Axis::default()
        },
        series: names.iter().enumerate().map(series).collect(),
    }
}

/// Two partitions of 16128 frames.
fn partitions() -> PartitionChart {
    let row = |name: &str, levels: &[(u64, u64, u64)]| PartitionRow {
        name: name.into(),
        note: "2.345 % of a core at worst".into(),
        levels: levels
            .iter()
            .map(|(start, size, count)| PartitionLevel {
                start: *start,
                size: *size,
                count: *count,
                in_callback: *start == 0,
            })
            .collect(),
    };
    PartitionChart {
        title: "An impulse response of 16128 frames".into(),
        note: "blocks of 128 frames".into(),
        length: 16128,
        block: 128,
        rate_hz: 44_100,
        rows: vec![
            row("doubling", &[(0, 128, 2), (256, 256, 2), (768, 512, 2)]),
            row("optimum", &[(0, 128, 14), (1792, 1024, 14)]),
        ],
        deadlines_of: Some(1),
    }
}

/// A cycle on three workers.
fn cycle() -> GanttChart {
    let classes = [
        NodeClass::Source,
        NodeClass::Effect,
        NodeClass::Join,
        NodeClass::Delay,
        NodeClass::Sink,
        NodeClass::Other,
    ];
    let mut rows = Vec::new();
    let mut arrows = Vec::new();
    for worker in 0..3u64 {
        let mut at = worker * 3700;
        let mut bars = Vec::new();
        for i in 0..14u64 {
            let long = 900 + (i * 7919 + worker * 104_729) % 6200;
            bars.push(GanttBar {
                label: format!("voice-{worker}-{i}"),
                start_ns: at,
                end_ns: at + long,
                critical: worker == i % 3,
                copy: i == 5 && worker > 0,
                class: classes[(i % 6) as usize],
            });
            if i % 5 == 2 {
                arrows.push(GanttArrow {
                    from: (worker as usize, at + long),
                    to: ((worker as usize + 1) % 3, at + long + 1200),
                });
            }
            at += long + (i * 31 % 4) * 400;
        }
        rows.push(GanttRow {
            name: format!("worker {worker}"),
            bars,
        });
    }
    let marker = |row, time_ns, kind, label: &str| GanttMarker {
        row,
        time_ns,
        kind,
        label: label.into(),
    };
    GanttChart {
        title: "the slowest cycle".into(),
        note: "3 workers · 42 steps".into(),
        rows,
        arrows,
        markers: vec![
            marker(Some(1), 3600, MarkerKind::Wake, "wakes"),
            marker(Some(1), 58_000, MarkerKind::Sleep, "sleeps"),
            marker(Some(2), 7400, MarkerKind::Wake, "wakes"),
            marker(None, 62_000, MarkerKind::Miss, "missed"),
        ],
        deadline_ns: Some(62_000),
    }
}
