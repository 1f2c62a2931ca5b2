//! The JSON Schema of a `.toml` session: for editors that complete and check while one types.

use crate::Settings;
use graph::{Catalogue, Kind, Param, ParamRange, PortCount, PortSignal, PortSpec};
use serde_json::{Map, Value, json};

/// The schema of a session whose nodes are of the kinds in `catalogue`.
pub fn schema(catalogue: &Catalogue) -> Value {
    let (rates, blocks) = (Settings::RATES, Settings::BLOCKS);
    let kinds: Vec<&str> = catalogue.kinds().map(|kind| kind.name).collect();
    let by_kind: Vec<Value> = catalogue.kinds().map(node_of_kind).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Divisi session",
        "description": "Nodes, the edges between them, and how to play them. Other top-level tables belong to others.",
        "type": "object",
        "required": ["nodes"],
        "properties": {
            "edges": {
                "description": "Chains: \"from.port -> to.port -> ...\"; a port is a name, a number from 1, or nothing for the first.",
                "type": "array",
                "items": { "type": "string", "pattern": "->" },
            },
            "settings": {
                "type": "object",
                "properties": {
                    "rate": { "type": "integer", "minimum": rates.start(), "maximum": rates.end(), "description": "Frames a second." },
                    "block": { "type": "integer", "minimum": blocks.start(), "maximum": blocks.end(), "description": "Frames in a block." },
                    "deadline_us": { "type": "number", "minimum": 0, "maximum": crate::number::MOST_MICROS, "description": "By when a block has to be done, in µs." },
                },
            },
            "nodes": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": own_keys(&kinds),
                    "allOf": by_kind,
                },
            },
        },
    })
}

/// What a node says about itself, whatever its kind.
fn own_keys(kinds: &[&str]) -> Value {
    json!({
        "kind": { "type": "string", "examples": kinds },
        "stand_in": { "enum": kinds, "description": "The kind that plays, where `kind` is not known." },
        "cost_us": { "type": "number", "minimum": 0, "maximum": crate::number::MOST_MICROS, "description": "What a block of it costs, in µs." },
        "every": { "type": "integer", "minimum": 1, "maximum": u32::MAX, "description": "It runs once in so many cycles." },
        "enabled": { "type": "boolean", "default": true, "description": "A node that is not enabled gives silence and costs nothing." },
    })
}

/// If a node is of this kind, then these are its keys.
fn node_of_kind(kind: &Kind) -> Value {
    let mut keys = Map::new();
    let mut required = Vec::new();
    for param in &kind.params {
        let (value, must) = of_param(param);
        keys.insert(param.name.into(), value);
        if must {
            required.push(param.name);
        }
    }
    for (key, specs) in [("in", &kind.inputs), ("out", &kind.outputs)] {
        if let Some(count) = of_count(specs) {
            keys.insert(key.into(), count);
        }
    }
    let mut specs = kind.inputs.iter().chain(&kind.outputs);
    if specs.any(|spec| spec.signal == PortSignal::AsNode) {
        let channels = json!({ "type": "integer", "minimum": 1, "maximum": 256, "default": 1, "description": "How many channels its ports carry." });
        keys.insert("channels".into(), channels);
    }
    json!({
        "if": { "properties": { "kind": { "const": kind.name } } },
        "then": { "description": about(kind), "properties": keys, "required": required },
    })
}

/// What a kind does, and the names of its ports, which edges need.
fn about(kind: &Kind) -> String {
    let mut about = kind.summary.to_string();
    for (word, specs) in [("In", &kind.inputs), ("Out", &kind.outputs)] {
        if !specs.is_empty() {
            let names: Vec<String> = specs.iter().map(port).collect();
            about += &format!(" {word}: {}.", names.join(", "));
        }
    }
    about
}

/// The name of a port, or of the first of many, and what it carries if that is not sound.
fn port(spec: &PortSpec) -> String {
    let name = match spec.count {
        PortCount::One => spec.name.to_string(),
        PortCount::Many { .. } => format!("{0}1, {0}2, …", spec.name),
    };
    match spec.signal {
        PortSignal::Event => format!("{name} (events)"),
        PortSignal::Control => format!("{name} (control)"),
        _ => name,
    }
}

/// The values of a parameter, and whether it must be there.
fn of_param(param: &Param) -> (Value, bool) {
    let (mut value, must) = match &param.range {
        ParamRange::Number {
            min: least,
            max: most,
            default,
        } => {
            let mut number = json!({ "type": "number", "minimum": least, "maximum": most });
            if !default.is_nan() {
                number["default"] = json!(default);
            }
            (number, default.is_nan())
        }
        ParamRange::Choice(words) => (json!({ "enum": words, "default": words.first() }), false),
        ParamRange::File(must) => (json!({ "type": "string" }), *must),
        ParamRange::Flag => (json!({ "type": "boolean", "default": false }), false),
        ParamRange::Text => (json!({ "type": "string" }), false),
    };
    let unit = match param.unit {
        "" => String::new(),
        unit => format!(" Unit: {unit}."),
    };
    value["description"] = format!("{}{unit}", param.doc).into();
    (value, must)
}

fn of_count(specs: &[PortSpec]) -> Option<Value> {
    let single = specs.iter().filter(|s| s.count == PortCount::One).count() as u32;
    specs.iter().find_map(|spec| match spec.count {
        PortCount::One => None,
        PortCount::Many {
            default,
            min: least,
            max: most,
        } => Some(json!({
            "type": "integer",
            "minimum": single + u32::from(least),
            "maximum": single + u32::from(most),
            "default": single + u32::from(default),
            "description": "How many of these ports it has.",
        })),
    })
}
