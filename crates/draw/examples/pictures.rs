//! Draws the known shapes and a histogram into the folder that is named.

use divisi_draw::svg;
use graph::{Catalogue, shape};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let write =
        |name: &str, picture: String| std::fs::write(Path::new(&folder).join(name), picture);
    let none = Catalogue::default();
    let patches = [
        ("line.svg", shape::line(5, None)?),
        ("rake.svg", shape::rake(101, None)?),
        ("diamond.svg", shape::diamond(76, None)?),
        ("random.svg", shape::random(60, 1, None)?),
        ("large.svg", shape::random(300, 2, None)?),
    ];
    for (name, patch) in patches {
        write(name, svg::graph(&patch, &none))?;
    }
    let bar = |i: u64| svg::Bar {
        from_ns: 180_000 + i * 10_000,
        to_ns: 190_000 + i * 10_000,
        count: 4000 / (i * i + 1) + u64::from(i == 130),
    };
    let bars: Vec<_> = (0..140).map(bar).collect();
    let deadline = svg::Line {
        at_ns: 1_333_333,
        label: "deadline",
    };
    write(
        "cycles.svg",
        svg::histogram("cycles", &bars, &[deadline], Some(1_333_333)),
    )?;
    Ok(())
}
