//! Every shipped example is read without diagnostics, and has the size that its name states.

use std::path::PathBuf;
use text::ParsedSession;

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn read(name: &str) -> ParsedSession {
    let bytes = std::fs::read(examples().join(name)).unwrap();
    let catalogue = dsp::catalogue();
    let reading = text::read_by_extension(name, &bytes, &catalogue);
    let source = String::from_utf8(bytes).unwrap();
    let reported = text::render_diagnostics(name, &source, &reading.diagnostics);
    assert!(reading.diagnostics.is_empty(), "{reported}");
    assert!(
        source.starts_with(['#', '/']),
        "{name} says first what it shows"
    );
    reading
}

#[test]
fn the_ladder_has_the_sizes_that_it_says() {
    for (name, nodes) in [
        ("01-beep.ag", 2),
        ("02-line-5.ag", 5),
        ("03-rake-11.ag", 11),
        ("04-diamond-16.ag", 16),
        ("06-split.ag", 4),
    ] {
        assert_eq!(read(name).session.graph.nodes().count(), nodes, "{name}");
    }
}

#[test]
fn the_session_has_64_tracks_and_everything_it_plays_is_there() {
    let session = read("05-session-64.toml").session;
    let nodes = || session.graph.nodes().map(|(_, node)| node);
    assert!(nodes().count() > 100);
    let pans = nodes().filter(|node| node.kind == "pan");
    assert_eq!(pans.count(), 64, "one a track");
    let mut registry = processor::Registry::default();
    dsp::register(&mut registry);
    for node in nodes() {
        let made = registry.make(node, &examples());
        assert!(made.is_ok(), "{}: {}", node.name, made.err().unwrap());
    }
}

#[test]
fn the_mastering_chain_and_the_desk_of_96_tracks_can_be_made() {
    let count = |name: &str, kind: &str| {
        let session = read(name).session;
        let mut registry = processor::Registry::default();
        dsp::register(&mut registry);
        for (_, node) in session.graph.nodes() {
            let made = registry.make(node, &examples());
            assert!(made.is_ok(), "{}: {}", node.name, made.err().unwrap());
        }
        let kinds = session.graph.nodes().filter(|(_, node)| node.kind == kind);
        kinds.count()
    };
    assert_eq!(count("11-mastering.toml", "compressor"), 3);
    assert_eq!(count("12-desk-96.toml", "strip"), 96);
    assert_eq!(count("12-desk-96.toml", "limiter"), 1);
}

#[test]
fn the_sounds_stay_below_a_megabyte() {
    let size = std::fs::metadata(examples().join("media/loop.wav"))
        .unwrap()
        .len();
    assert!(size < 1_000_000, "{size} bytes");
}
