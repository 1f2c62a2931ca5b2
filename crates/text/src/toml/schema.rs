//! The JSON Schema of a `.toml` session, for editors that complete and check while one types.

use super::schema_score;
use crate::parts::MAX_NODES;
use crate::session::Settings;
use graph::{Catalogue, Kind, Layout, Param, ParamRange, PortCount, PortSignal, PortSpec};
use serde_json::{Map, Value, json};

/// The schema of a session whose nodes are of the kinds in `catalogue`.
pub fn schema(catalogue: &Catalogue) -> Value {
    let (rates, blocks) = (Settings::RATES, Settings::BLOCKS);
    let kinds: Vec<&str> = catalogue.kinds().map(|kind| kind.name).collect();
    let by_kind: Vec<Value> = catalogue.kinds().map(kind_rule).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Divisi session",
        "description": "Nodes, the edges between them, and how to play them. Other top-level tables belong to other readers.",
        "type": "object",
        "required": ["nodes"],
        "properties": {
            "edges": edges(),
            "include": {
                "description": "Sessions whose parts this one uses, from its own folder.",
                "type": "array",
                "items": { "type": "string" },
            },
            "settings": {
                "type": "object",
                "properties": {
                    "rate": { "type": "integer", "minimum": rates.start(), "maximum": rates.end(), "description": "Frames a second." },
                    "block": { "type": "integer", "minimum": blocks.start(), "maximum": blocks.end(), "description": "Frames in a block." },
                    "deadline_us": { "type": "number", "minimum": 0, "maximum": crate::time::MAX_MICROS, "description": "Time in which a block has to be done, in µs." },
                },
            },
            "connections": connections(),
            "controller": controllers(),
            "snapshot": snapshots(),
            "tempo": schema_score::tempo(),
            "event": schema_score::events(),
            "curve": schema_score::curves(),
            "nodes": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["kind"],
                    // A node with a stand-in is of a kind, and has keys, that only others know.
                    "if": { "required": ["stand_in"] },
                    "then": { "properties": common_keys(&kinds) },
                    "else": {
                        "if": { "properties": { "kind": { "enum": kinds } } },
                        "then": {
                            "properties": known_keys(&kinds),
                            "allOf": by_kind,
                            "unevaluatedProperties": false,
                        },
                        "else": instance(&kinds),
                    },
                },
            },
            "part": { "type": "object", "additionalProperties": part() },
        },
        // Without parts, only kinds are kinds.
        "if": { "not": { "anyOf": [{ "required": ["part"] }, { "required": ["include"] }] } },
        "then": { "properties": { "nodes": { "additionalProperties": {
            "anyOf": [{ "required": ["stand_in"] }, { "properties": { "kind": { "enum": kinds } } }],
        } } } },
    })
}

/// The list `edges`.
fn edges() -> Value {
    json!({
        "description": "Chains: \"from.port -> to.port -> ...\"; a port is a name, a number from 1, or nothing for the first; `*` is the numbered ports in order. The last end may be a parameter that may change, with an amount: \"lfo -> tone.freq: 2 octaves\" (octaves, semitones, dB, times, add; without: add 1). `voice.3.osc` is inside the fourth copy of `voice`.",
        "type": "array",
        "items": { "type": "string", "pattern": "->" },
    })
}

/// The table `connections`.
fn connections() -> Value {
    json!({
        "description": "Each port of the session (`keys`, `in_1`, `out_1`) with the ports of other programs to which it is connected.",
        "type": "object",
        "additionalProperties": { "type": "array", "items": { "type": "string" } },
    })
}

/// The list `controller`.
fn controllers() -> Value {
    json!({
        "description": "MIDI controllers that set parameters.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["target", "range"],
            "oneOf": [{ "required": ["cc"] }, { "required": ["bend"] }],
            "additionalProperties": false,
            "properties": {
                "port": { "type": "string", "description": "Live MIDI port; without it, any." },
                "channel": { "type": "integer", "minimum": 0, "maximum": 16, "description": "MIDI channel from 1; 0 is any." },
                "cc": { "type": "integer", "minimum": 0, "maximum": 127, "description": "Number of the controller." },
                "bits": { "enum": [7, 14], "description": "14: the low bits are those of the controller 32 above." },
                "bend": { "type": "boolean", "description": "The pitch bend wheel." },
                "target": { "type": "string", "pattern": "\\.", "description": "node.param" },
                "range": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2, "description": "Values at the lowest and the highest position." },
                "curve": { "enum": ["linear", "exponential"], "description": "Equal steps or equal ratios." },
            },
        },
    })
}

/// The tables `snapshot.NAME`.
fn snapshots() -> Value {
    json!({
        "description": "Values that are recalled by name while it plays: for each node parameters that may change, and its switches.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": { "enabled": { "type": "boolean" }, "bypass": { "type": "boolean" } },
                "additionalProperties": { "type": "number" },
            },
        },
    })
}

/// An instance of a part. Which keys it has, only the part says.
fn instance(kinds: &[&str]) -> Value {
    let mut keys = common_keys(kinds);
    keys["kind"] = json!({ "type": "string", "description": "A part." });
    json!({
        "description": "An instance of a part.",
        "properties": keys,
        "additionalProperties": { "type": ["number", "string", "boolean", "array"] },
    })
}

/// The definition of a part.
fn part() -> Value {
    let names = |what: &str| json!({ "description": what, "type": "array", "items": { "type": "string" }, "uniqueItems": true });
    json!({
        "description": "A graph with ports and parameters, used like a kind.",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "inputs": names("Names of its inputs: edges inside the part come from them."),
            "outputs": names("Names of its outputs: edges inside the part lead to them."),
            "params": {
                "description": "Names of its parameters, with their defaults. Expressions inside the part use them.",
                "type": "object",
                "propertyNames": { "pattern": "^[\\p{L}_][\\p{L}\\p{N}_]*$" },
                "additionalProperties": { "type": ["number", "string", "boolean"] },
            },
            "edges": edges(),
            "nodes": { "$ref": "#/properties/nodes" },
        },
    })
}

/// The keys of every node without a stand-in: its kind is one of `kinds`.
fn known_keys(kinds: &[&str]) -> Value {
    let mut keys = common_keys(kinds);
    keys["kind"] = json!({ "enum": kinds });
    keys["own"] = json!({
        "type": "object",
        "additionalProperties": { "type": ["number", "string", "boolean"] },
        "description": "Keys of your own, which nothing reads.",
    });
    keys
}

/// The keys of every node, whatever its kind.
fn common_keys(kinds: &[&str]) -> Value {
    json!({
        "kind": { "type": "string", "examples": kinds },
        "count": {
            "type": ["integer", "string"],
            "minimum": 0,
            "maximum": MAX_NODES,
            "description": "Number of copies: NAME.0, NAME.1, ... In an expression `i` is the copy and `n` the count; a list has a value for each copy.",
        },
        "stand_in": { "enum": kinds, "description": "The kind that runs if `kind` is not known." },
        "cost_us": { "type": "number", "minimum": 0, "maximum": crate::time::MAX_MICROS, "description": "Its cost for one block, in µs." },
        "every": { "type": "integer", "minimum": 1, "maximum": u32::MAX, "description": "It runs once in this many cycles." },
        "bypass": { "type": "boolean", "default": false, "description": "The inputs of a node that is bypassed pass by it to its outputs: what reads its k-th output reads its k-th input of the same signal. The node runs on." },
        "enabled": { "type": "boolean", "default": true, "description": "A node that is not enabled outputs silence and costs nothing." },
    })
}

/// The keys of a node of this kind, as an `if` with a `then`.
pub fn kind_rule(kind: &Kind) -> Value {
    let mut keys = Map::new();
    let mut required = Vec::new();
    for param in &kind.params {
        let (value, is_required) = param_schema(param);
        keys.insert(param.name.into(), value);
        if is_required {
            required.push(param.name);
        }
    }
    for (old, new) in &kind.renamed {
        let mut value = keys[*new].clone();
        value["deprecated"] = true.into();
        value["description"] = format!("Old name of `{new}`.").into();
        keys.insert((*old).into(), value);
    }
    for (key, specs) in [("in", &kind.inputs), ("out", &kind.outputs)] {
        if let Some(count) = count_schema(specs) {
            keys.insert(key.into(), count);
        }
    }
    if kind.has_layout() {
        let names: Vec<&str> = Layout::names().collect();
        let layout = json!({ "enum": names, "description": "Layout of its channels, in place of `channels`." });
        keys.insert("layout".into(), layout);
    }
    if kind.has_width() {
        let channels = json!({ "type": ["integer", "string"], "minimum": 1, "maximum": 256, "description": "Number of channels of its ports; without it that of the widest signal that enters." });
        keys.insert("channels".into(), channels);
    }
    let mut then =
        json!({ "description": description(kind), "properties": keys, "required": required });
    if kind.has_own_params {
        then["additionalProperties"] = true.into();
    }
    json!({ "if": { "properties": { "kind": { "const": kind.name } } }, "then": then })
}

/// The summary of a kind, and the names of its ports, which edges need.
fn description(kind: &Kind) -> String {
    let mut description = kind.summary.to_string();
    for (word, specs) in [("In", &kind.inputs), ("Out", &kind.outputs)] {
        if !specs.is_empty() {
            let names: Vec<String> = specs.iter().map(port).collect();
            description += &format!(" {word}: {}.", names.join(", "));
        }
    }
    description
}

/// The name of a port, or the first names of many, and its signal if that is not audio.
fn port(spec: &PortSpec) -> String {
    let name = match spec.count {
        PortCount::One => spec.name.to_string(),
        PortCount::Many { .. } | PortCount::Channels => format!("{0}1, {0}2, …", spec.name),
    };
    match spec.signal {
        PortSignal::Event => format!("{name} (events)"),
        PortSignal::Control => format!("{name} (control)"),
        _ => name,
    }
}

/// The schema of a parameter, and true if it is required.
fn param_schema(param: &Param) -> (Value, bool) {
    let (mut value, is_required) = match &param.range {
        ParamRange::Number { min, max, default } => {
            let mut number = json!({ "type": "number", "minimum": min, "maximum": max });
            if !default.is_nan() {
                number["default"] = json!(default);
            }
            (number, default.is_nan())
        }
        ParamRange::Choice(words) => {
            // A choice of numbers may be one, as in `oversample = 2`.
            let numbers = words.iter().filter_map(|word| word.parse::<u32>().ok());
            let all = words.iter().map(|word| json!(word));
            let all: Vec<Value> = all.chain(numbers.map(|number| json!(number))).collect();
            (json!({ "enum": all, "default": words.first() }), false)
        }
        ParamRange::File(is_required) => (json!({ "type": "string" }), *is_required),
        ParamRange::Flag => (json!({ "type": "boolean", "default": false }), false),
        ParamRange::Text => (json!({ "type": "string" }), false),
    };
    let unit = match param.unit {
        "" => String::new(),
        unit => format!(" Unit: {unit}."),
    };
    let choices = value.as_object_mut().and_then(|value| value.remove("enum"));
    value = match choices {
        // A text in place of a choice has `{expression}` in it, a list has a value for each copy.
        Some(words) => {
            json!({ "anyOf": [{ "enum": words }, { "pattern": "[{]" }, { "type": "array" }], "default": value["default"] })
        }
        None => {
            let one = value["type"].clone();
            let all = if one == "string" {
                json!([one, "array"])
            } else {
                json!([one, "string", "array"])
            };
            value["type"] = all;
            value
        }
    };
    value["description"] = format!("{}{unit}", param.doc).into();
    (value, is_required)
}

/// The schema of `in` or `out`; `None` if the kind has a fixed number of these ports.
fn count_schema(specs: &[PortSpec]) -> Option<Value> {
    specs.iter().find_map(|spec| match spec.count {
        PortCount::One | PortCount::Channels => None,
        PortCount::Many { default, min, max } => Some(json!({
            "type": ["integer", "string"],
            "minimum": min,
            "maximum": max,
            "default": default,
            "description": "Number of these ports.",
        })),
    })
}
