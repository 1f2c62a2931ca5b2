//! Property: a session that is written in either format and read again is unchanged.

use crate::sample::catalogue;
use crate::session::{Section, Session, Settings};
use crate::{ag, toml};
use graph::{
    Catalogue, Edge, Graph, Kind, Node, NodeId, ParamRange, ParamValue, PortRef, Signal,
    SourceSpan, inferred_channels,
};
use proptest::prelude::*;
use units::{Frames, Nanos, SampleRate};

/// The random values that a node is made of.
#[derive(Clone, Debug)]
struct Sample {
    kind: prop::sample::Index,
    name: String,
    numbers: [f64; 4],
    words: String,
    counts: [u8; 3],
    cost: Option<u64>,
    every: u32,
    enabled: bool,
    bypassed: bool,
}

fn sample(name: &'static str) -> impl Strategy<Value = Sample> {
    let about = (
        any::<prop::sample::Index>(),
        name,
        prop::array::uniform4(0.0..=1.0),
        ".*",
        prop::array::uniform3(0u8..5),
    );
    let own = (
        prop::option::of(0..1_000_000_000_000u64),
        1u32..4,
        any::<bool>(),
        any::<bool>(),
    );
    (about, own).prop_map(
        |((kind, name, numbers, words, counts), (cost, every, enabled, bypassed))| Sample {
            kind,
            name,
            numbers,
            words,
            counts,
            cost,
            every,
            enabled,
            bypassed,
        },
    )
}

/// The node in canonical form; a plain one has only what `.ag` has a syntax for.
fn node(sample: &Sample, plain: bool, catalogue: &Catalogue) -> Node {
    let kinds: Vec<&Kind> = catalogue.kinds().collect();
    let kind = kinds[sample.kind.index(kinds.len())];
    let mut node = Node::new(sample.name.clone(), kind.name);
    for (param, unit) in kind.params.iter().zip(sample.numbers) {
        let value = match &param.range {
            ParamRange::Number { min, max, .. } => ParamValue::Number(min + (max - min) * unit),
            ParamRange::Choice(words) => ParamValue::Text(words[(unit * 1.9) as usize].into()),
            ParamRange::Flag => ParamValue::Flag(unit > 0.5),
            _ if kind.matrix == Some(param.name) => ParamValue::Text("1 0; 0.5 -2; 0 1".into()),
            ParamRange::File(_) | ParamRange::Text => ParamValue::Text(sample.words.clone()),
        };
        node.set(param.name, value);
    }
    let [inputs, outputs, channels] = sample.counts.map(f64::from);
    let has_layout = kind.has_layout() && channels > 3.0;
    if has_layout {
        node.set("layout", ParamValue::Text("5.1".into()));
    }
    node.set("my-own", ParamValue::Text(sample.words.clone()));
    let has_many = matches!(kind.name, "mix" | "work");
    if has_many {
        node.set("in", ParamValue::Number(inputs));
        node.set("out", ParamValue::Number(outputs));
    }
    let has_channels = has_many || matches!(kind.name, "gain" | "split" | "join");
    if !plain && has_channels && !has_layout && channels > 0.0 {
        node.set("channels", ParamValue::Number(channels));
    }
    assert!(Catalogue::assign_ports(kind, &mut node).is_empty());
    node.cost = sample.cost.map(Nanos);
    if !plain {
        node.every = sample.every;
        node.enabled = sample.enabled;
        node.bypassed = sample.bypassed;
    }
    node
}

fn graph(samples: &[Sample], ends: &[[prop::sample::Index; 4]], plain: bool) -> Graph {
    let catalogue = catalogue();
    let mut graph = Graph::default();
    for sample in samples {
        // A name that exists already is left out.
        let _ = graph.add(node(sample, plain, &catalogue));
    }
    for [from, output, to, input] in ends {
        let id = |index: &prop::sample::Index| NodeId(index.index(graph.len()) as u32);
        let (from, to) = (id(from), id(to));
        let (a, b) = (graph.node(from).unwrap(), graph.node(to).unwrap());
        if a.outputs.is_empty() || b.inputs.is_empty() {
            continue;
        }
        let (output, input) = (output.index(a.outputs.len()), input.index(b.inputs.len()));
        let (sent, accepted) = (a.outputs[output].signal, b.inputs[input].signal);
        let are_audio = matches!((sent, accepted), (Signal::Audio(_), Signal::Audio(_)));
        if are_audio || (sent == accepted && !plain) {
            let end = |node, port: usize| PortRef {
                node,
                port: port as u16,
            };
            graph.connect(Edge {
                from: end(from, output),
                to: end(to, input),
                span: SourceSpan::NONE,
            });
        }
    }
    while settle_channels(&mut graph, &catalogue) {}
    graph
}

/// Gives nodes without `channels` their width. Removes the edges that do not fit then, and returns true if there is one.
fn settle_channels(graph: &mut Graph, catalogue: &Catalogue) -> bool {
    let found = inferred_channels(graph, graph.edges(), catalogue, &|_| None, |_| true);
    for (id, widths) in found {
        catalogue.set_widths(graph.node_mut(id).unwrap(), widths);
    }
    let edges = graph.edges().to_vec();
    let misfits = edges.iter().filter(|edge| {
        let (from, to) = (
            graph.node(edge.from.node).unwrap(),
            graph.node(edge.to.node).unwrap(),
        );
        let sent = from.outputs[usize::from(edge.from.port)].signal;
        !sent.fits(to.inputs[usize::from(edge.to.port)].signal)
    });
    let misfits: Vec<Edge> = misfits.copied().collect();
    for edge in &misfits {
        graph.disconnect(edge.from, edge.to);
    }
    !misfits.is_empty()
}

fn ends() -> impl Strategy<Value = Vec<[prop::sample::Index; 4]>> {
    prop::collection::vec(prop::array::uniform4(any::<prop::sample::Index>()), 0..40)
}

proptest! {
    #[test]
    fn an_ag_session_is_read_as_it_was_written(
        samples in prop::collection::vec(sample("[a-zA-Z][a-zA-Z0-9_-]{0,8}"), 1..20),
        ends in ends(),
        deadline in prop::option::of(0..1_000_000_000_000u64),
    ) {
        let settings = Settings { deadline: deadline.map(Nanos), ..Settings::default() };
        let session = Session { graph: graph(&samples, &ends, true), settings, ..Session::default() };
        let text = ag::write(&session, &catalogue()).unwrap();
        let reading = ag::read(&text, &catalogue());
        prop_assert_eq!(&reading.diagnostics, &[], "{}", text);
        prop_assert_eq!(reading.session, session, "{}", text);
    }

    #[test]
    fn a_toml_session_is_read_as_it_was_written(
        samples in prop::collection::vec(sample(".{0,8}"), 1..20),
        ends in ends(),
        rate in prop::option::of(1_000u32..768_000),
        block in prop::option::of(1u32..65_536),
    ) {
        let rate = rate.and_then(SampleRate::new);
        let settings = Settings { rate, block: block.map(Frames), deadline: None };
        let mine = |name: &str, text: &str| Section {
            name: name.into(),
            span: SourceSpan::NONE,
            text: text.into(),
            elsewhere: Vec::new(),
        };
        let sections = vec![
            mine("title", "title = 'x' # y\n"),
            mine("mine", "# w\n[mine]\na = 1\n\n[mine.b]\nc = \"\"\"\n[nodes.x]\n\"\"\"\n"),
        ];
        let session = Session { graph: graph(&samples, &ends, false), settings, sections, parts: None };
        let text = toml::write(&session, &catalogue());
        let reading = toml::read(&text, &catalogue());
        prop_assert!(!reading.has_errors(), "{}\n{:#?}", text, reading.diagnostics);
        prop_assert_eq!(reading.session, session, "{}", text);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let ag = ag::read(&bytes, &catalogue());
        let toml = toml::read(&bytes, &catalogue());
        prop_assert!(!ag.diagnostics.is_empty() && !toml.diagnostics.is_empty());
    }
}
