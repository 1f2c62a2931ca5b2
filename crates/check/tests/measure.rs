//! Measuring a graph: every node gets its costs, and nothing outside is changed.

use divisi_check::impulse_files::ImpulseFiles;
use engine::{EngineOptions, MeasureOptions, measure_nodes};
use graph::{Catalogue, Graph};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use units::{Frames, SampleRate};

const SESSION: &str = r#"
    edges = ["tone -> low", "low -> echo", "echo -> low", "low -> tape", "tape -> out", "mic -> out"]
    [nodes]
    tone = { kind = "osc", freq = 55 }
    low = { kind = "mix", in = 2 }
    echo = { kind = "delay", time = 0.0005 }
    tape = { kind = "recorder", file = "tape.wav" }
    mic = { kind = "input" }
    out = { kind = "sink" }
"#;

fn graph(text: &str, catalogue: &Catalogue) -> Graph {
    let reading = text::toml::read(text, catalogue);
    assert!(!reading.has_errors(), "{:?}", reading.diagnostics);
    reading.session.graph
}

fn options(folder: PathBuf) -> MeasureOptions {
    let mut engine = EngineOptions::new(Frames(64), SampleRate::new(48_000).unwrap());
    engine.folder = folder;
    engine.input_channels = 1;
    MeasureOptions {
        engine,
        limit: Duration::from_millis(50),
        repeats: Some(2),
    }
}

#[test]
fn every_node_is_measured_in_a_loop_too_and_no_file_is_written() {
    let registry = Arc::new(divisi::registry());
    let graph = graph(SESSION, registry.catalogue());
    let folder = std::env::temp_dir().join(format!("divisi-measure-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut reported = Vec::new();
    let costs = measure_nodes(&graph, registry, &options(folder.clone()), &mut |share| {
        reported.push(share);
        ControlFlow::Continue(())
    });
    let costs = costs.unwrap();
    assert_eq!((reported.len(), costs.repeats), (2, 2));
    let known = costs.typical().by_node;
    assert!(graph.nodes().all(|(id, _)| known.contains_key(&id)));
    let kinds = costs.kinds();
    assert_eq!(kinds.iter().map(|k| k.nodes).sum::<usize>(), graph.len());
    assert!(costs.cycle.warm.typical.0 > 0);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir(folder).unwrap();
}

#[test]
fn deferred_work_is_measured_beside_its_node_however_late_it_begins() {
    let folder = ImpulseFiles::new("measure-work");
    let file = folder.write("hall.wav", 1, 20_000, 1);
    let text = format!(
        r#"
        edges = ["mic -> pitch", "mic -> beat", "mic -> out", "mic -> hall -> out"]
        [nodes]
        mic = {{ kind = "input" }}
        pitch = {{ kind = "pitch_tracker" }}
        beat = {{ kind = "tempo_tracker" }}
        hall = {{ kind = "convolver", file = "{file}", partition = "31x64 14x1024 1x8192" }}
        out = {{ kind = "sink" }}
        "#
    );
    let registry = Arc::new(divisi::registry());
    let graph = graph(&text, registry.catalogue());
    let mut options = options(std::env::temp_dir());
    options.limit = Duration::from_secs(20);
    let costs = measure_nodes(&graph, registry, &options, &mut |_| {
        ControlFlow::Continue(())
    });
    let costs = costs.unwrap();
    let node = |name: &str| costs.nodes.iter().find(|it| it.name == name).unwrap();
    let pitch = node("pitch");
    // 480 frames in blocks of 64.
    assert_eq!(pitch.work.len(), 1);
    assert!((6..=8).contains(&pitch.work[0].blocks));
    // A search for a pitch takes far more than to keep its samples: the node alone has none of it.
    let work = pitch.work[0].cost;
    assert!(work.warm.typical > pitch.cost.warm.worst, "{pitch:?}");
    // The longest level is asked for after more blocks than are measured otherwise.
    let blocks: Vec<u64> = node("hall").work.iter().map(|it| it.blocks).collect();
    assert!(blocks.iter().any(|it| *it > 68), "{:?}", node("hall"));
    // A tempo is looked for after seconds, and takes far more than each of the windows before.
    let beat = node("beat").work[0].cost.polluted;
    assert!(beat.worst.0 > 5 * beat.typical.0, "{beat:?}");
    assert!(node("out").work.is_empty());
}

#[test]
fn measuring_ends_when_it_is_stopped() {
    let registry = Arc::new(divisi::registry());
    let graph = graph(SESSION, registry.catalogue());
    let mut options = options(std::env::temp_dir());
    options.repeats = Some(1000);
    let costs = measure_nodes(&graph, registry, &options, &mut |_| ControlFlow::Break(()));
    assert_eq!(costs.unwrap().repeats, 1);
}
