//! Valid and invalid `.toml` sessions.

use super::*;
use crate::sample::catalogue;
use crate::{Section, Settings, ag};
use graph::{ParamValue, SourceSpan};
use units::{Frames, Nanos, SampleRate};

fn read(text: impl AsRef<[u8]>) -> ParsedSession {
    super::read(text, &catalogue())
}

/// All diagnostics as "line:column: message".
fn messages(parsed: &ParsedSession) -> Vec<String> {
    let all = parsed.diagnostics.iter();
    all.map(|d| format!("{}:{}: {}", d.span.line, d.span.column, d.message))
        .collect()
}

const SONG: &str = r#"# A song.
title = "Beep" # for others

edges = ["tone -> quiet.in -> both.2", 'tone -> "an odd.name"', "both.out1 -> out"]

[settings]
rate = 48000
block = 64
deadline_us = 1000.5

# Who plays where.
[cells.left]
nodes = ["tone"]
text = """
[nodes.not-this]
"""

[nodes.tone]
kind = "osc"
freq = 440
wave = "saw"
every = 4

[nodes]
quiet = { kind = "gain", gain_db = -6, cost_us = 0.25 }
"an odd.name" = { kind = "sink", enabled = false }
both = { kind = "mix", in = 2, grouped = true }
out.kind = "sink"

[[cells.right]]
x = 1
"#;

#[test]
fn a_clean_session_is_read_whole() {
    let parsed = read(SONG);
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    let Session {
        graph,
        settings,
        sections,
        parts: None,
    } = &parsed.session
    else {
        panic!("it has no parts");
    };
    let names: Vec<&str> = graph.nodes().map(|(_, n)| n.name.as_str()).collect();
    assert_eq!(names, ["tone", "quiet", "an odd.name", "both", "out"]);
    assert_eq!(graph.edges().len(), 4);
    assert_eq!(graph.edges()[1].to.port, 1);
    assert_eq!(graph.edges()[1].span, SourceSpan::new(4, 19, 18));
    let expected = Settings {
        rate: SampleRate::new(48_000),
        block: Some(Frames(64)),
        deadline: Some(Nanos(1_000_500)),
    };
    assert_eq!(*settings, expected);
    let names: Vec<_> = sections
        .iter()
        .map(|s| (s.name.as_str(), s.span.line))
        .collect();
    assert_eq!(names, [("title", 1), ("cells", 11)]);
    assert!(
        sections[1]
            .text
            .starts_with("# Who plays where.\n[cells.left]\n")
    );
    assert!(
        sections[1]
            .text
            .ends_with("\"\"\"\n\n[[cells.right]]\nx = 1\n")
    );
}

#[test]
fn a_stand_in_survives_conversion_from_ag_to_toml_and_back() {
    let text = "g = { kind: \"guitar\", note: \"\\u00e9\\n\\\"\\\\\", in: 0, out: 1, };";
    let session = ag::read(text, &catalogue()).session;
    let parsed = read(write(&session, &catalogue()));
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    assert_eq!(parsed.session, session);
    let back = ag::write(&parsed.session, &catalogue()).unwrap();
    assert_eq!(ag::read(&back, &catalogue()).session, session);
}

#[test]
fn every_mistake_is_found_at_once() {
    let text = r#"edges = ["a -> b.in3", "a.uot -> b", "a b", "n -> b", "who -> b", 7, "t -> b", "a -> e.2"]
[nodes.a]
kind = "osc"
freq = "44o"
volum = 1
[nodes.b]
kind = "mix"
in = 1e9
[nodes.c]
freq = 1
[nodes.d]
kind = "mixx"
[nodes.n]
kind = "osc"
freq = -1
wave = "sinus"
every = 0
[nodes.t]
kind = "player"
[nodes.e]
kind = "envelope"
edges = []
[node.x]
kind = "osc"
[settings]
rate = 0
blok = 64
"#;
    let parsed = read(text);
    assert_eq!(
        messages(&parsed),
        [
            "1:25: `a` has one output; none of them is called `uot`",
            "1:41: expected `->`, but found `b`",
            "1:56: there is no node `who`",
            "1:67: an edge is a text: \"a -> b\"",
            "1:81: the signal does not fit: `a` sends one channel of sound, `e` takes events",
            "4:11: expected an operator, but found `o`",
            "5:1: `osc` has no parameter `volum`",
            "8:6: `in` is 1000000000; `mix` takes a whole number from 0 to 4096",
            "9:8: `c` has no kind",
            "12:8: there is no kind `mixx`",
            "15:8: `freq` is -1 Hz; `osc` takes 0 to 384000 Hz",
            "16:8: `wave` takes `sine` or `saw`, not \"sinus\"",
            "17:9: `every` takes a whole number of cycles, 1 or more",
            "19:8: `t` has no `file`",
            "22:9: `edges` is inside a table here",
            "23:2: `node` is not read here",
            "26:8: `rate` takes 1000 to 768000 Hz",
            "27:1: there is no setting `blok`",
        ]
    );
    assert_eq!(parsed.diagnostics[0].help, "did you mean `out`?");
}

#[test]
fn broken_toml_costs_only_its_line() {
    let text = "edges = [\"a -> s\"]
[nodes.a]
kind = \"osc\"
freq = = 3
volume = 0.5
???
[nodes.s]
kind = \"sink
[nodes.t]
kind = \"sink\"
[nodes.a]
kind = \"sink\"
";
    let parsed = read(text);
    let lines: Vec<u32> = parsed.diagnostics.iter().map(|d| d.span.line).collect();
    for line in [4, 6, 8, 11] {
        assert!(lines.contains(&line), "{:#?}", messages(&parsed));
    }
    let graph = &parsed.session.graph;
    assert!(graph.find("t").is_some());
    let a = graph.node(graph.find("a").unwrap()).unwrap();
    assert_eq!(a.kind, "osc");
    assert_eq!(a.param("volume"), Some(&ParamValue::Number(0.5)));
    let twice = parsed.diagnostics.iter().find(|d| d.span.line == 11);
    assert_eq!(twice.unwrap().related.len(), 1, "{twice:?}");
}

/// The session of `nodes` and an edge from `a` to `s`, with a `sink` called `s`.
fn with_sink(nodes: &str) -> ParsedSession {
    read(format!(
        "edges = [\"a -> s\"]\n{nodes}[nodes.s]\nkind = \"sink\"\n"
    ))
}

#[test]
fn an_unknown_parameter_is_an_error_and_an_own_key_is_not() {
    let parsed = with_sink("[nodes.a]\nkind = \"osc\"\nfreq = 440\nvolumne = 0.1\n");
    assert_eq!(messages(&parsed), ["5:1: `osc` has no parameter `volumne`"]);
    assert!(parsed.has_errors());
    assert_eq!(parsed.diagnostics[0].help, "did you mean `volume`?");
    let own = "[nodes.a]\nkind = \"osc\"\nfreq = 440\nown = { volumne = 0.1, colour = \"red\" }\n";
    let parsed = with_sink(own);
    assert_eq!(messages(&parsed), [] as [&str; 0]);
    let again = read(write(&parsed.session, &catalogue()));
    assert_eq!(
        (messages(&again), &again.session),
        (vec![], &parsed.session)
    );
    let parsed =
        with_sink("[nodes.a]\nkind = \"osc\"\nfreq = 440\nown = { wave = \"saw\", in = 1 }\n");
    assert_eq!(
        messages(&parsed),
        [
            "5:9: `wave` has a meaning for `osc`",
            "5:23: `in` has a meaning for `osc`"
        ]
    );
}

#[test]
fn a_renamed_parameter_keeps_its_old_key_for_one_release() {
    let mut kinds = catalogue();
    let mut gain = kinds.get("gain").unwrap().clone();
    gain.renamed = vec![("level_db", "gain_db")];
    kinds.insert(gain);
    let node = |keys: &str| format!("[nodes.a]\nkind = \"gain\"\n{keys}\n");
    let parsed = super::read(node("level_db = -6"), &kinds);
    assert_eq!(
        messages(&parsed),
        ["3:1: `level_db` is now called `gain_db`"]
    );
    assert_eq!(parsed.diagnostics[0].severity, graph::Severity::Note);
    assert_eq!(
        parsed.session,
        super::read(node("gain_db = -6"), &kinds).session
    );
    let both = super::read(node("gain_db = 1\nlevel_db = -6"), &kinds);
    assert_eq!(
        messages(&both),
        ["4:1: `gain_db` is written twice: `level_db` is its old name"]
    );
    let wrong = super::read(node("level_db = 600"), &kinds);
    assert_eq!(
        messages(&wrong)[1],
        "3:12: `gain_db` is 600 dB; `gain` takes -120 to 40 dB"
    );
}

#[test]
fn a_duplicate_key_is_one_error_and_costs_only_itself() {
    let parsed = with_sink("nodes.a = { kind = \"osc\", freq = 440, freq = 441 }\n");
    assert_eq!(messages(&parsed), ["2:39: `freq` is written twice"]);
    let parsed = with_sink("[nodes.a]\nkind = \"osc\"\nfreq = 440\nfreq = 441\n");
    assert_eq!(messages(&parsed), ["5:1: `freq` is written twice"]);
    let table = "[nodes.a]\nkind = \"osc\"\nfreq = 440\n";
    let parsed = with_sink(&[table, table].concat());
    assert_eq!(messages(&parsed), ["5:8: `a` is written twice"]);
}

#[test]
fn a_number_out_of_range_is_shown_as_it_is_written() {
    let text = "edges = [\"b.100000000000000000000 -> s\"]
[nodes.b]
kind = \"mix\"
in = 1e20
[nodes.s]
kind = \"sink\"
channel = 1e20
";
    assert_eq!(
        messages(&read(text)),
        [
            "1:11: `b` has one output; there is no output 100000000000000000000",
            "4:6: `in` is 1e20; `mix` takes a whole number from 0 to 4096",
            "7:11: `channel` is 1e20; `sink` takes 0 to 63",
        ]
    );
}

#[test]
fn a_text_without_a_node_is_an_error_whatever_else_it_says() {
    let parsed = read("# 1\", 'tone - out\"]\n\n[settings]\nr= 1\n");
    assert_eq!(
        messages(&parsed),
        ["1:1: there is no node", "4:1: there is no setting `r`"]
    );
}

#[test]
fn empty_and_invalid_text_is_reported() {
    assert_eq!(messages(&read("")), ["1:1: the file is empty"]);
    assert_eq!(messages(&read("# nothing\n")), ["1:1: there is no node"]);
    let parsed = read(b"[nodes.a]\nkind = \"sink\"\n# \xff\n");
    assert_eq!(messages(&parsed), ["3:3: this is not UTF-8"]);
    assert_eq!(parsed.session.graph.len(), 1);
}

#[test]
fn a_text_with_sections_needs_no_node() {
    let parsed = read("[network]\nedges = []\n");
    assert_eq!((messages(&parsed), parsed.session.graph.len()), (vec![], 0));
    assert_eq!(parsed.session.sections[0].name, "network");
    let parsed = read("[settings]\nblock = 32\n");
    assert_eq!(messages(&parsed), ["1:1: there is no node"]);
}

#[test]
fn a_section_keeps_its_comments() {
    let text = "# file\n\n# mine\n[mine]\na = 1 # one\n# tail\n\n# yours\n[yours]\n# end";
    let sections = read(text).session.sections;
    let section = |name: &str, text: &str| Section {
        name: name.into(),
        span: SourceSpan::NONE,
        text: text.into(),
        elsewhere: Vec::new(),
    };
    assert_eq!(
        sections,
        [
            section("mine", "# mine\n[mine]\na = 1 # one\n# tail\n"),
            section("yours", "# yours\n[yours]\n# end\n"),
        ]
    );
}

#[test]
fn the_schema_knows_every_kind() {
    let schema = schema(&catalogue());
    let node = &schema["properties"]["nodes"]["additionalProperties"]["else"]["then"];
    let kinds = node["allOf"].as_array().unwrap();
    assert_eq!(kinds.len(), catalogue().kinds().count());
    let osc = kinds
        .iter()
        .find(|k| k["if"]["properties"]["kind"]["const"] == "osc");
    let osc = &osc.unwrap()["then"];
    assert_eq!(osc["required"], serde_json::json!(["freq"]));
    assert_eq!(osc["properties"]["freq"]["maximum"], 384_000.0);
    assert!(osc["description"].as_str().unwrap().ends_with(" Out: out."));
}

#[test]
fn a_tempo_is_read_as_it_was_written_and_a_wrong_one_has_its_place() {
    let session = |tempo: &str| {
        let text = format!("[tempo]\n{tempo}\n[nodes.o]\nkind = \"osc\"\nfreq = 1\n");
        read(text)
    };
    for tempo in [
        "bpm = 90.5",
        "map = [[0, 120], [16, 90, \"linear\"], [32.5, 60]]",
        "metre = \"7/8\"\nbpm = 60",
        "metre = [[0, \"4/4\"], [16, \"3/4\"]]",
    ] {
        let parsed = session(tempo);
        assert_eq!(parsed.diagnostics, [], "{tempo}");
        let written = write(&parsed.session, &catalogue());
        assert!(written.contains("[tempo]"));
        assert_eq!(read(&written).session, parsed.session);
    }
    for (tempo, place, says) in [
        ("bpm = 0", (2, 7), "`bpm` takes 1 to 6000"),
        (
            "map = [[0, 1], [0, 2]]",
            (2, 16),
            "the beats of the points must grow",
        ),
        ("map = [[0, 1], [1]]", (2, 16), "a point of the map is"),
        ("map = 3", (2, 7), "this takes a list"),
        ("metre = \"3/5\"", (2, 9), "a metre is such as 4/4"),
        ("bmp = 3", (2, 1), "`tempo` has no key `bmp`"),
        ("bpm = 3\nmap = [[0, 1]]", (3, 1), "both set the tempo"),
    ] {
        let found = &session(tempo).diagnostics;
        assert_eq!(found.len(), 1, "{tempo}: {found:?}");
        assert!(found[0].message.contains(says), "{:?}", found[0]);
        assert_eq!((found[0].span.line, found[0].span.column), place, "{tempo}");
    }
}

#[test]
fn ports_of_a_written_session_have_their_names() {
    let text = "edges = [\"tone -> both.2\", \"both.out1 -> out\"]\n[nodes]\ntone = { kind = \"osc\" }\nboth = { kind = \"mix\", in = 2 }\nout.kind = \"sink\"\n";
    let session = read(text).session;
    let written = write(&session, &catalogue());
    assert!(written.contains("\"tone -> both.in2\""), "{written}");
    assert_eq!(read(&written).session.graph, session.graph);
}
