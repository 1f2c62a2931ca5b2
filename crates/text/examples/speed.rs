//! Measures both readers on large sessions: `cargo run --release -p divisi-text --example speed`.

use divisi_text::{Session, ag, toml};
use graph::{Catalogue, Graph, Kind, Param, ParamRange, PortCount, PortSignal, PortSpec, shape};
use std::time::Instant;

fn main() {
    let catalogue = catalogue();
    let random = shape::random(100_000, 1, Some(1000.0)).expect("a size there is");
    let line = shape::line(100_000, Some(1000.0)).expect("a size there is");
    for (name, graph) in [
        ("100,000 random nodes", random),
        ("100,000 nodes in a line", line),
        ("22,000 edges, 300 nodes", dense()),
    ] {
        let session = Session {
            graph,
            ..Session::default()
        };
        let as_ag = ag::write(&session, &catalogue).expect("the format has a syntax for all of it");
        let as_toml = toml::write(&session, &catalogue);
        for (format, text) in [("ag", as_ag), ("toml", as_toml)] {
            let start = Instant::now();
            let reading = match format {
                "ag" => ag::read(&text, &catalogue),
                _ => toml::read(&text, &catalogue),
            };
            let took = start.elapsed();
            assert_eq!(reading.diagnostics, []);
            assert_eq!(reading.session, session);
            println!("{name} as .{format}, {} bytes: {took:?}", text.len());
        }
    }
}

/// Every node feeds 73 or 74 others: 22,000 edges.
fn dense() -> Graph {
    let mut text = String::new();
    for i in 0..300 {
        text += &format!("n{i} = {{ kind: \"work\", in: 74, out: 1, }};\n");
    }
    let edges = (0..300u32).flat_map(|to| (0..74).map(move |k| (to, k)));
    for (to, k) in edges.take(22_000) {
        text += &format!("n{}.1 -> n{to}.{};\n", (to * 7 + k * 3) % 300, k + 1);
    }
    ag::read(&text, &catalogue()).session.graph
}

fn catalogue() -> Catalogue {
    let many = |name| PortSpec {
        count: PortCount::Many {
            default: 1,
            min: 0,
            max: 4096,
        },
        signal: PortSignal::AsNode,
        ..PortSpec::mono(name)
    };
    let number = |name, unit| Param {
        name,
        unit,
        range: ParamRange::Number {
            min: 0.0,
            max: 1e9,
            default: 1000.0,
        },
        live: false,
        audio_rate: false,
        doc: "A number.",
    };
    let mut all = Catalogue::default();
    for name in ["work", "mix"] {
        all.insert(Kind {
            inputs: vec![many("in")],
            outputs: vec![many("out")],
            params: vec![number("ns", "ns")],
            ..Kind::new(name, "Any number of ports.")
        });
    }
    let mono = PortSpec::mono;
    all.insert(Kind {
        outputs: vec![mono("out")],
        params: vec![number("freq", "Hz"), number("volume", "")],
        ..Kind::new("osc", "One output.")
    });
    all.insert(Kind {
        inputs: vec![mono("in")],
        ..Kind::new("sink", "One input.")
    });
    all
}
