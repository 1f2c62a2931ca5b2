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

/// Reads, writes and reads again; returns what was written.
fn write_back(text: &str) -> String {
    let parsed = read(text);
    assert!(!parsed.has_errors(), "{:#?}", parsed.diagnostics);
    let written = toml::write(&parsed.session, &catalogue());
    let again = read(&written);
    assert_eq!(again.diagnostics, [], "{written}");
    assert_eq!(again.session, parsed.session, "{written}");
    written
}

#[test]
fn parts_are_written_as_they_were_until_the_graph_changes() {
    let text = format!("title = 'x'\n{VOICES}# The end.\n[other]\na = 1 # mine\n");
    let written = write_back(&text);
    assert_eq!(written.matches("[part.voice]").count(), 1, "{written}");
    assert!(written.contains("freq = \"440 * 2^((i + detune) / 12)\""));
    assert!(written.len() < text.len() + 20, "{written}");

    let mut session = read(&text).session;
    let gone = session.graph.find("voice.2.tone").unwrap();
    session.graph.remove(gone);
    let flat = toml::write(&session, &catalogue());
    assert!(
        !flat.contains("[part") && flat.contains("[nodes.\"voice.1.osc\"]"),
        "{flat}"
    );
    let again = read(&flat);
    assert_eq!(again.diagnostics, [], "{flat}");
    assert_eq!(again.session.graph, session.graph);
}

#[test]
fn an_expression_of_a_plain_node_is_kept_when_it_is_written() {
    let text = "[nodes.a]\nkind = \"osc\"\nfreq = \"440 * 2\"\n";
    assert!(write_back(text).contains("\"440 * 2\""));
}

#[test]
fn a_mistake_inside_a_part_is_reported_once_at_the_text_of_the_part() {
    let text = VOICES
        .replace("count = 3", "count = 60")
        .replace("wave = [\"saw\", \"sine\", \"saw\"]", "");
    for (from, to, expected) in [
        (
            "\"cutoff / 2\"",
            "\"cutof / 2\"",
            "15:9: there is no `cutof` here; did you mean `cutoff`?",
        ),
        (
            "\"cutoff / 2\"",
            "\"cutoff / i\"",
            "15:8: the expression has no finite value where i is 0",
        ),
        (
            "\"cutoff / 2\"",
            "\"cutoff - 50 * i\"",
            "15:8: `freq` is -50 Hz; `mod` takes 0 to 384000 Hz",
        ),
        (
            "wave = \"{wave}\"",
            "wave = \"{wav\"",
            "12:9: this `{` has no other half",
        ),
        (
            "wave = \"{wave}\"",
            "wve = 1",
            "12:1: `osc` has no parameter `wve`",
        ),
        (
            "osc -> tone -> out",
            "osc -> tone.x -> out",
            "8:18: `voice.0.tone` has one input; none of them is called `x`",
        ),
        (
            "osc -> tone -> out",
            "osc -> tne -> tone -> out",
            "8:18: there is no node `tne` in the part `voice`",
        ),
        ("kind = \"mod\"\n", "", "13:19: `voice.0.tone` has no kind"),
    ] {
        let text = text.replace(from, to);
        let found = messages(&text);
        assert_eq!(
            found.first().map(String::as_str),
            Some(expected),
            "{found:#?}"
        );
        assert!(found.len() <= 2, "{found:#?}");
    }
}

#[test]
fn wrong_uses_of_parts_say_what_to_do() {
    let part = "[part.p]\noutputs = [\"out\"]\nparams = { f = 1 }\nedges = [\"a -> out\"]\n[part.p.nodes]\na = { kind = \"osc\", freq = \"f\" }\n";
    let session = |edges: &str, nodes: &str| {
        format!("edges = [{edges}]\n{part}[nodes]\nb = {{ kind = \"mix\", in = 2 }}\n{nodes}\n")
    };
    for (edges, nodes, expected) in [
        (
            "\"x.o -> b\"",
            "x = { kind = \"p\" }",
            "1:11: the part `p` has no node and no output `o`",
        ),
        (
            "\"b -> x\"",
            "x = { kind = \"p\" }",
            "1:16: the part `p` has no input",
        ),
        (
            "\"x.2 -> b\"",
            "x = { kind = \"p\", count = 2 }",
            "1:13: `x` has 2 copies, `x.0` to `x.1`",
        ),
        (
            "\"x.a -> b\"",
            "x = { kind = \"p\", count = 2 }",
            "1:11: `x` has 2 copies: name one of them",
        ),
        (
            "\"x -> y\"",
            "x = { kind = \"p\", count = 2 }\ny = { kind = \"mod\", freq = 1, count = 3 }",
            "1:11: `x` has 2 copies, `y` has 3",
        ),
        (
            "\"x.* -> b\"",
            "x = { kind = \"p\" }",
            "1:11: `*` needs copies at the other end of the edge",
        ),
        (
            "\"x -> b.*\"",
            "x = { kind = \"p\", count = 3 }",
            "1:16: `b` has 2 inputs; there is no input 3",
        ),
        ("\"b.out1.z -> b\"", "", "1:11: there is no node `b.out1`"),
        (
            "",
            "x = { kind = \"p\", g = 1 }",
            "10:19: the part `p` has no parameter `g`",
        ),
        (
            "",
            "x = { kind = \"p\", f = true }",
            "10:23: this takes a number",
        ),
        (
            "",
            "x = { kind = \"p\", every = 2 }",
            "10:1: an instance of a part has no `every`",
        ),
        (
            "",
            "x = { kind = \"p\", f = [1, 2] }",
            "10:19: `f` is a list, and the node has no `count`",
        ),
        (
            "",
            "x = { kind = \"p\", count = 3, f = [1, 2] }",
            "10:34: the list has 2 values for 3 copies",
        ),
        (
            "",
            "x = { kind = \"p\", count = 1.5 }",
            "10:27: `count` takes a whole number from 0 to 262144",
        ),
        (
            "",
            "x = { kind = \"p\", count = 262144 }\ny = { kind = \"p\", count = 10 }",
            "10:1: parts and counts make more than 262144 nodes",
        ),
    ] {
        let text = session(edges, nodes);
        let found = messages(&text);
        assert!(
            found.iter().any(|message| message == expected),
            "{expected}\n{found:#?}"
        );
        assert!(found.len() <= 2, "{found:#?}");
    }
}

#[test]
fn a_part_that_uses_itself_is_refused_with_its_chain() {
    let text = "[part.a.nodes]\nx = { kind = \"b\" }\n[part.b.nodes]\ny = { kind = \"a\" }\n[nodes]\nz = { kind = \"a\" }\nw = { kind = \"sink\" }\n";
    assert_eq!(
        messages(text),
        ["4:14: the part `a` uses itself: a -> b -> a"]
    );
}

#[test]
fn parts_in_parts_pass_edges_and_values_on() {
    let text = r#"
edges = ["outer -> out", "lone -> outer.in"]
[part.inner]
inputs = ["in"]
outputs = ["out", "dry"]
params = { f = 1 }
edges = ["in -> a -> out", "in -> dry"]
[part.inner.nodes]
a = { kind = "mod", freq = "f * 10" }
[part.outer]
inputs = ["in"]
outputs = ["out"]
edges = ["in -> x -> y -> out", "x.dry -> y", "x.1.a -> out"]
[part.outer.nodes]
x = { kind = "inner", count = 2, f = "i + 1" }
y = { kind = "mod", count = 2, freq = "100 + i" }
[nodes]
outer = { kind = "outer" }
lone = { kind = "osc", freq = 1 }
out = { kind = "sink" }
"#;
    let mut all = edges(text);
    all.sort();
    assert_eq!(
        all,
        [
            "lone.0 -> outer.x.0.a.0",
            "lone.0 -> outer.x.1.a.0",
            "lone.0 -> outer.y.0.0",
            "lone.0 -> outer.y.1.0",
            "outer.x.0.a.0 -> outer.y.0.0",
            "outer.x.1.a.0 -> out.0",
            "outer.x.1.a.0 -> outer.y.1.0",
            "outer.y.0.0 -> out.0",
            "outer.y.1.0 -> out.0",
        ]
    );
}

#[test]
fn a_small_text_cannot_make_a_large_session() {
    let mut text =
        String::from("[nodes]\nz = { kind = \"p0\", count = 100 }\nw = { kind = \"sink\" }\n");
    for level in 0..20 {
        text += &format!(
            "[part.p{level}]\ninputs = [\"in\"]\nedges = [\"in -> x\", \"in -> y\", \"in -> in\"]\n[part.p{level}.nodes]\n"
        );
        for node in ["x", "y"] {
            text += &format!("{node} = {{ kind = \"p{}\", count = 100 }}\n", level + 1);
        }
    }
    text += "[part.p20]\ninputs = [\"in\"]\n";
    let found = messages(&text);
    assert!(
        found
            .iter()
            .any(|m| m.ends_with("make more than 262144 nodes")),
        "{found:#?}"
    );
    let long = "x".repeat(10_000);
    let text =
        format!("[nodes]\nz = {{ kind = \"player\", count = 200000, file = \"{{i}}{long}\" }}\n");
    assert_eq!(
        messages(&text),
        ["2:1: parts and counts make more than 67108864 bytes of names and texts"]
    );
}

/// Reads a session whose included files are `files`; messages with the number of their file.
fn read_files(text: &str, files: &[(&str, &str)]) -> (ParsedSession, Vec<String>) {
    let catalogue = catalogue();
    let load = |_: &str, path: &str| {
        let file = files.iter().find(|(name, _)| *name == path);
        let bytes = |(_, text): &(&str, &str)| (path.to_owned(), text.as_bytes().to_vec());
        file.map(bytes)
            .ok_or_else(|| "there is no such file".to_owned())
    };
    let context = crate::ReadContext {
        include: &load,
        ..crate::ReadContext::new(&catalogue)
    };
    let parsed = toml::read_with(text, &context);
    let all = parsed.diagnostics.iter();
    let all = all.map(|d| {
        format!(
            "{}:{}:{}: {}",
            d.span.file, d.span.line, d.span.column, d.message
        )
    });
    let messages = all.collect();
    (parsed, messages)
}

const SYNTH: &str = "include = [\"tone.toml\"]\n[part.voice]\noutputs = [\"out\"]\nedges = [\"tone -> out\"]\n[part.voice.nodes]\ntone = { kind = \"tone\", f = 220 }\n[nodes.ignored]\nkind = \"sink\"\n";
const TONE: &str = "[part.tone]\noutputs = [\"out\"]\nparams = { f = 1 }\nedges = [\"osc -> out\"]\n[part.tone.nodes]\nosc = { kind = \"osc\", freq = \"f\" }\n";
const SONG: &str = "include = [\"synth.toml\", \"tone.toml\"]\nedges = [\"v -> o\"]\n[nodes]\nv = { kind = \"voice\" }\no = { kind = \"sink\" }\n";

#[test]
fn parts_come_from_included_files() {
    let (parsed, messages) = read_files(SONG, &[("synth.toml", SYNTH), ("tone.toml", TONE)]);
    assert_eq!(messages, [] as [&str; 0]);
    let graph = &parsed.session.graph;
    let osc = graph.node(graph.find("v.tone.osc").unwrap()).unwrap();
    assert_eq!((graph.len(), osc.number("freq")), (2, Some(220.0)));
    assert_eq!((osc.span.file, osc.span.line), (2, 6), "in the second file");
    let written = toml::write(&parsed.session, &catalogue());
    assert!(written.starts_with("include = "), "{written}");
}

#[test]
fn mistakes_in_included_files_have_their_file_and_place() {
    let synth = SYNTH.replace("f = 220", "g = 220") + "x = = 1\n";
    let tone = TONE.replace("\"f\"", "\"f / 0\"");
    let (parsed, messages) = read_files(SONG, &[("synth.toml", &synth), ("tone.toml", &tone)]);
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert_eq!(messages[0], "1:6:25: the part `tone` has no parameter `g`");
    assert!(messages[1].starts_with("1:9:"), "{messages:#?}");
    assert_eq!(
        messages[2],
        "2:6:30: the expression has no finite value where i is 0"
    );
    let files = parsed
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.text.as_str()));
    let files: Vec<_> = [("song.toml", SONG)].into_iter().chain(files).collect();
    let shown = crate::render_diagnostics_of_files(&files, &parsed.diagnostics);
    assert!(shown.contains("--> tone.toml:6:30"), "{shown}");

    let (_, messages) = read_files(
        SONG,
        &[
            ("synth.toml", SYNTH),
            ("tone.toml", "include = [\"synth.toml\"]\n"),
        ],
    );
    let circle = "2:1:12: cannot include `synth.toml`: it includes itself: synth.toml -> tone.toml -> synth.toml";
    assert!(
        messages.iter().any(|message| message == circle),
        "{messages:#?}"
    );
    let (_, messages) = read_files(SONG, &[("synth.toml", SYNTH)]);
    assert_eq!(
        messages[0],
        "0:1:26: cannot include `tone.toml`: there is no such file"
    );
}

#[test]
fn a_folded_graph_has_one_node_for_a_part_and_for_all_copies() {
    let session = read(VOICES).session;
    let folded = session.folded_graph().unwrap();
    let names: Vec<&str> = folded.nodes().map(|(_, node)| node.name.as_str()).collect();
    assert_eq!(names, ["voice × 3", "lone", "mix", "out"]);
    let name = |id| folded.node(id).unwrap().name.as_str();
    let edges = folded.edges().iter();
    let edges: Vec<_> = edges
        .map(|edge| (name(edge.from.node), name(edge.to.node), edge.to.port))
        .collect();
    let expected = [
        ("mix", "out", 0),
        ("voice × 3", "out", 0),
        ("voice × 3", "mix", 0),
        ("voice × 3", "mix", 1),
        ("voice × 3", "mix", 2),
        ("lone", "out", 0),
        ("lone", "voice × 3", 0),
    ];
    assert_eq!(edges, expected);
    assert_eq!(
        read("[nodes.a]\nkind = \"sink\"\n").session.folded_graph(),
        None
    );
}

#[test]
fn a_part_used_ten_thousand_times_is_read_whole() {
    let text = VOICES
        .replace("count = 3", "count = 10000")
        .replace("(i + detune) / 12", "(i % 60 + detune) / 12");
    let text = text
        .replace("wave = [\"saw\", \"sine\", \"saw\"]", "")
        .replace("voice -> mix.*", "voice -> mix");
    let parsed = read(&text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.session.graph.len(), 20_004);
    assert_eq!(parsed.session.graph.edges().len(), 10_000 * 3 + 4);
    assert_eq!(
        write_back(&text).matches("count").count(),
        1,
        "written small"
    );
}

proptest::proptest! {
    #[test]
    fn a_changed_session_with_parts_is_read_without_a_panic_and_written_back(
        changes in proptest::collection::vec((0..VOICES.len(), 0..VOICES.len(), 0usize..12), 1..5),
    ) {
        let mut bytes = VOICES.as_bytes().to_vec();
        for (to, from, len) in changes {
            let piece = VOICES.as_bytes()[from..(from + len).min(VOICES.len())].to_vec();
            let end = (to + len / 2).min(bytes.len());
            bytes.splice(to.min(end)..end, piece);
        }
        let parsed = toml::read(&bytes, &catalogue());
        if !parsed.has_errors() {
            let written = toml::write(&parsed.session, &catalogue());
            let again = read(&written);
            proptest::prop_assert!(!again.has_errors(), "{}\n{:#?}", written, again.diagnostics);
            proptest::prop_assert_eq!(&again.session, &parsed.session, "{}", written);
        }
    }
}

#[test]
fn a_part_hides_the_kind_of_its_name() {
    // A kind that is newer than the session does not break it.
    let text = r#"
edges = ["gain.out -> out"]
[part.gain]
outputs = ["out"]
params = { level = 1 }
edges = ["tone -> out"]
nodes = { tone = { kind = "osc", freq = 440 } }
[nodes]
gain = { kind = "gain", level = 2 }
out = { kind = "sink" }
"#;
    let parsed = read(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let names: Vec<&str> = parsed
        .session
        .graph
        .nodes()
        .map(|(_, node)| node.name.as_str())
        .collect();
    assert_eq!(names, ["gain.tone", "out"]);
    assert!(parsed.diagnostics[0].message.contains("hides the kind"));
}
