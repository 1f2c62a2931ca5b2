//! Pages about kinds, in Markdown, from the catalogue alone: what a session can say to a node of this kind.

use graph::{
    Catalogue, Kind, Param, ParamRange, PortCount, PortSignal, PortSpec, Role, number_text,
};
use std::fmt::Write;

/// Latency and tail of a node, in frames at 48 kHz, in blocks of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindTiming {
    /// Latency.
    pub latency: u64,
    /// Tail; `None` if it is endless.
    pub tail: Option<u64>,
}

/// The page about `kind`: its ports, parameters, cost, and an example, whose `timing` it states.
pub fn kind_page(kind: &Kind, timing: Option<KindTiming>) -> String {
    let mut page = format!("# {}\n\n{}\n", kind.name, kind.summary);
    for fact in facts(kind) {
        let _ = writeln!(page, "{fact}");
    }
    let _ = write!(page, "\n```toml\n{}```\n", kind_example(kind));
    if let Some(timing) = timing {
        let _ = writeln!(page, "\n{}", timing_text(timing));
    }
    ports(&mut page, "Inputs", &kind.inputs, "in");
    ports(&mut page, "Outputs", &kind.outputs, "out");
    params(&mut page, kind);
    let _ = write!(
        page,
        "\nTypical cost: {} ns for 64 frames of one channel, until `divisi measure` has measured this machine.\n",
        kind.typical_ns
    );
    page
}

/// The list of all kinds, each with a link to its page.
pub fn kind_index(catalogue: &Catalogue) -> String {
    let mut page = String::from("# Kinds of nodes\n\n| kind | |\n|---|---|\n");
    for kind in catalogue.kinds() {
        let _ = writeln!(page, "| [`{0}`]({0}.md) | {1} |", kind.name, kind.summary);
    }
    page
}

/// Facts about the kind that are no parameter.
fn facts(kind: &Kind) -> impl Iterator<Item = &'static str> {
    let role = match kind.role {
        Role::Inner => None,
        Role::Sink => Some("Its input is played on output channels of the program."),
        Role::Source => Some("Its output comes from input channels of the program."),
    };
    let delay = "It is a delay: a cycle of edges may pass through it.";
    let writes = "It writes a file: no two nodes of a session may name the same.";
    let layout = "In place of `channels` it takes a `layout`: mono, stereo, lcr, quad, 5.0, 5.1, 7.1, 7.1.4, ambisonics-1 to ambisonics-7.";
    let panned = "With a `layout` (mono to 7.1.4, ambisonics-1 to ambisonics-7) it has one output, `out`, with the channels of the layout.";
    let layout = match (&kind.layout_outputs, kind.has_layout()) {
        (Some(_), _) => Some(panned),
        (None, has_layout) => has_layout.then_some(layout),
    };
    let facts = [
        role,
        layout,
        kind.delay.map(|_| delay),
        kind.writes.map(|_| writes),
    ];
    facts.into_iter().flatten()
}

/// Latency and tail in a sentence each.
fn timing_text(KindTiming { latency, tail }: KindTiming) -> String {
    let frames = |frames: u64| match frames {
        0 => "none".to_owned(),
        1 => "1 frame".to_owned(),
        _ => format!("{frames} frames ({:.1} ms)", frames as f64 / 48.0),
    };
    let tail = tail.map_or_else(|| "endless".to_owned(), frames);
    let latency = frames(latency);
    format!(
        "Latency of the example: {latency}. Tail: {tail}. Both at 48 kHz in blocks of 64 frames."
    )
}

/// A node of this kind with what it must have, as TOML. A file that it must have is missing.
pub fn kind_example(kind: &Kind) -> String {
    // TOML's plain keys have no `~`.
    let name = kind.name.trim_end_matches('~');
    let mut text = format!("[nodes.my-{name}]\nkind = \"{}\"\n", kind.name);
    for param in &kind.params {
        match &param.range {
            ParamRange::Number { min, max, default } if default.is_nan() => {
                let value: f64 = if param.unit == "Hz" { 440.0 } else { 0.5 };
                let value = number_text(value.clamp(*min, *max));
                let _ = writeln!(text, "{} = {value}", param.name);
            }
            ParamRange::File(true) => {
                let _ = writeln!(text, "{} = \"…\"", param.name);
            }
            _ => {}
        }
    }
    text
}

fn ports(page: &mut String, title: &str, specs: &[PortSpec], key: &str) {
    if specs.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {title}\n\n| port | carries |\n|---|---|\n");
    for spec in specs {
        let _ = writeln!(
            page,
            "| {} | {} |",
            port_name(spec, key),
            signal(spec.signal)
        );
    }
}

fn port_name(spec: &PortSpec, key: &str) -> String {
    match spec.count {
        PortCount::One => format!("`{}`", spec.name),
        PortCount::Many { default, min, max } => format!(
            "`{0}1`, `{0}2`, … : {min} to {max}, as many as `{key}` says; {default} without it",
            spec.name
        ),
        PortCount::Channels => format!(
            "`{0}1`, `{0}2`, … : one for each channel; with `layout` they have the names of its loudspeakers",
            spec.name
        ),
    }
}

fn signal(signal: PortSignal) -> String {
    match signal {
        PortSignal::Fixed(channels) if channels.0 == 1 => "audio, one channel".into(),
        PortSignal::Fixed(channels) => format!("audio, {} channels", channels.0),
        PortSignal::AsNode => "audio, as many channels as the node has".into(),
        PortSignal::AsOutput => "audio, as many channels as the output has".into(),
        PortSignal::Control => "numbers that hold until the next one".into(),
        PortSignal::Event => "events".into(),
    }
}

fn params(page: &mut String, kind: &Kind) {
    if kind.params.is_empty() {
        return;
    }
    let head = "| key | values | default | while it plays | |\n|---|---|---|---|---|\n";
    let _ = write!(page, "\n## Parameters\n\n{head}");
    let (numbered, single): (Vec<&Param>, Vec<&Param>) = kind
        .params
        .iter()
        .partition(|param| is_numbered(param.name));
    // `level1` to `level64` are one row; a few that differ have one each.
    let differ = numbered.iter().any(|param| param.doc != numbered[0].doc);
    let (single, series) = match differ && numbered.len() <= MAX_ROWS {
        true => ([single, numbered].concat(), Vec::new()),
        false => (single, numbered),
    };
    for param in single {
        let _ = writeln!(page, "| `{}` | {}", param.name, cells(param));
    }
    if let [first, .., last] = series.as_slice() {
        let _ = writeln!(
            page,
            "| `{}` to `{}` | {}",
            first.name,
            last.name,
            cells(first)
        );
    }
    if kind.has_own_params {
        page.push_str("\nOther keys are the node's own: numbers that may change while it plays.\n");
    }
}

/// Numbered keys that differ and have a row each, at most.
const MAX_ROWS: usize = 8;

/// Returns true for the keys of a series: they end in a number.
fn is_numbered(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_digit())
}

/// All cells of a parameter but the first.
fn cells(param: &Param) -> String {
    let unit = match param.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let (values, default) = match &param.range {
        ParamRange::Number { min, max, default } => (
            format!("{} to {}{unit}", number_text(*min), number_text(*max)),
            match default.is_nan() {
                true => "must be stated".into(),
                false => number_text(*default),
            },
        ),
        ParamRange::Choice(words) => {
            let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            (all.join(", "), all.first().cloned().unwrap_or_default())
        }
        ParamRange::File(true) => ("a file".into(), "must be stated".into()),
        ParamRange::File(false) => ("a file".into(), "none".into()),
        ParamRange::Flag => ("true or false".into(), "false".into()),
        ParamRange::Text => ("a text".into(), "none".into()),
    };
    let live = match (param.live, param.can_be_driven(), param.audio_rate) {
        (false, ..) => "",
        (true, false, _) => "may change",
        (true, true, false) => "may change; driven every 16 frames",
        (true, true, true) => "may change; driven at audio rate",
    };
    format!("{values} | {default} | {live} | {} |", param.doc)
}
