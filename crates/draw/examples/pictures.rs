//! Draws known graphs, a schedule and plots into the folder that is named.

use divisi_draw::{Bar, Crossing, Hue, Lane, LaneBox, Lanes, Line, Mark, MarkKind, Picture};
use graph::{Catalogue, shape};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let write = |name: &str, picture: Picture| {
        std::fs::write(
            Path::new(&folder).join(name).with_extension("svg"),
            picture.svg(),
        )
    };
    let none = Catalogue::default();
    let patches = [
        ("line", shape::line(5, None)?),
        ("line-500", shape::line(500, None)?),
        ("rake", shape::rake(101, None)?),
        ("diamond", shape::diamond(76, None)?),
        ("random", shape::random(60, 1, None)?),
        ("random-500", shape::random(500, 2, None)?),
    ];
    for (name, patch) in patches {
        write(name, divisi_draw::graph(&patch, &none))?;
    }
    write("schedule", divisi_draw::schedule(&lanes()))?;
    let bar = |i: u64| Bar {
        from_ns: 180_000 + i * 10_000,
        to_ns: 190_000 + i * 10_000,
        count: 4000 / (i * i + 1) + u64::from(i == 130),
    };
    let bars: Vec<_> = (0..140).map(bar).collect();
    let deadline = Line {
        at_ns: 1_333_333,
        label: "deadline",
    };
    let cycles = divisi_draw::histogram("cycles", &bars, &[deadline], Some(1_333_333));
    write("cycles", cycles)?;
    Ok(())
}

/// A cycle on three workers.
fn lanes() -> Lanes {
    let hues = [
        Hue::Source,
        Hue::Effect,
        Hue::Join,
        Hue::Delay,
        Hue::Sink,
        Hue::Aside,
    ];
    let mut lanes = Vec::new();
    let mut crossings = Vec::new();
    for worker in 0..3u64 {
        let mut at = worker * 3700;
        let mut boxes = Vec::new();
        for i in 0..14u64 {
            let long = 900 + (i * 7919 + worker * 104_729) % 6200;
            boxes.push(LaneBox {
                label: format!("voice-{worker}-{i}"),
                start_ns: at,
                end_ns: at + long,
                critical: worker == i % 3,
                copy: i == 5 && worker > 0,
                hue: hues[(i % 6) as usize],
            });
            if i % 5 == 2 {
                crossings.push(Crossing {
                    from: (worker as usize, at + long),
                    to: ((worker as usize + 1) % 3, at + long + 1200),
                });
            }
            at += long + (i * 31 % 4) * 400;
        }
        lanes.push(Lane {
            name: format!("worker {worker}"),
            boxes,
        });
    }
    let mark = |lane, at_ns, what, label: &str| Mark {
        lane,
        at_ns,
        what,
        label: label.into(),
    };
    Lanes {
        title: "the slowest cycle".into(),
        note: "3 workers · 42 steps".into(),
        lanes,
        crossings,
        marks: vec![
            mark(Some(1), 3600, MarkKind::Wake, "wakes"),
            mark(Some(1), 58_000, MarkKind::Sleep, "sleeps"),
            mark(Some(2), 7400, MarkKind::Wake, "wakes"),
            mark(None, 62_000, MarkKind::Miss, "missed"),
        ],
        deadline_ns: Some(62_000),
    }
}
