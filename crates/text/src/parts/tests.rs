//! Parts, counts, expressions and paths in sessions.

use crate::ParsedSession;
use crate::sample::catalogue;
use crate::toml;

fn read(text: &str) -> ParsedSession {
    toml::read(text, &catalogue())
}

/// All diagnostics as "line:column: message".
fn messages(text: &str) -> Vec<String> {
    let all = read(text).diagnostics;
    let all = all.iter();
    all.map(|d| format!("{}:{}: {}", d.span.line, d.span.column, d.message))
        .collect()
}

/// All edges as "from.port -> to.port", of a session without mistakes.
fn edges(text: &str) -> Vec<String> {
    let parsed = read(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let graph = parsed.session.graph;
    let name = |id| graph.node(id).unwrap().name.as_str();
    let edges = graph.edges().iter();
    edges
        .map(|edge| {
            let (from, to) = (edge.from, edge.to);
            format!(
                "{}.{} -> {}.{}",
                name(from.node),
                from.port,
                name(to.node),
                to.port
            )
        })
        .collect()
}

const VOICES: &str = r#"
edges = ["voice -> mix.*", "mix -> out", "voice.1.osc -> out", "lone -> out", "lone -> voice.trem"]

[part.voice]
inputs = ["trem"]
outputs = ["out"]
params = { cutoff = 800, detune = 0, wave = "saw" }
edges = ["osc -> tone -> out", "trem -> tone"]
[part.voice.nodes.osc]
kind = "osc"
freq = "440 * 2^((i + detune) / 12)"
wave = "{wave}"
[part.voice.nodes.tone]
kind = "mod"
freq = "cutoff / 2"

[nodes.voice]
kind = "voice"
count = 3
detune = "i / n"
wave = ["saw", "sine", "saw"]

[nodes.lone]
kind = "voice"
cutoff = "2 * 10"
[nodes.mix]
kind = "mix"
[nodes.out]
kind = "sink"
"#;

#[test]
fn a_part_is_copied_with_values_by_index() {
    let parsed = read(VOICES);
    assert_eq!(messages(VOICES), [] as [&str; 0]);
    let graph = parsed.session.graph;
    let names: Vec<&str> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
    let expected = "voice.0.osc voice.0.tone voice.1.osc voice.1.tone voice.2.osc voice.2.tone lone.osc lone.tone mix out";
    assert_eq!(names.join(" "), expected);
    let node = |name: &str| graph.node(graph.find(name).unwrap()).unwrap();
    let freq = |name: &str| node(name).number("freq").unwrap();
    assert_eq!(freq("voice.0.osc"), 440.0);
    assert_eq!(
        freq("voice.2.osc"),
        440.0 * 2f64.powf((2.0 + 2.0 / 3.0) / 12.0)
    );
    assert_eq!((freq("voice.1.tone"), freq("lone.tone")), (400.0, 10.0));
    assert_eq!(node("voice.1.osc").text("wave"), Some("sine"));
    assert_eq!(node("mix").inputs.len(), 3, "as many as `mix.*` needs");
    assert_eq!(node("voice.1.osc").span.line, 9, "in the part");
}

#[test]
fn edges_go_through_the_ports_of_parts() {
    let expected = [
        "mix.0 -> out.0",
        "voice.1.osc.0 -> out.0",
        "voice.0.osc.0 -> voice.0.tone.0",
        "voice.0.tone.0 -> mix.0",
        "voice.1.osc.0 -> voice.1.tone.0",
        "voice.1.tone.0 -> mix.1",
        "voice.2.osc.0 -> voice.2.tone.0",
        "voice.2.tone.0 -> mix.2",
        "lone.osc.0 -> lone.tone.0",
        "lone.tone.0 -> out.0",
        "lone.tone.0 -> voice.0.tone.0",
        "lone.tone.0 -> voice.1.tone.0",
        "lone.tone.0 -> voice.2.tone.0",
    ];
    let all = edges(VOICES);
    assert!(read(VOICES).diagnostics.is_empty());
    assert_eq!(all, expected);
}
