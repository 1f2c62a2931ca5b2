//! What JSON Schema says of a session's network: for editors that complete and check while one types.

use super::edges::{MOST_EDGES, MOST_FRAMES};
use super::recipe::{
    CUTOFFS, GAINS_DB, KINDS, MOST_CHANNELS, MOST_FACTOR, MOST_PIECE, MOST_PORTS, MOST_TAPS, SIZES,
    USUAL_PIECE,
};
use super::{MAX_NODES, SECTION};
use serde_json::{Map, Value, json};

/// Adds the network to the schema of a session, which may then have it in place of nodes.
pub fn extend_schema(schema: &mut Value) {
    schema["properties"][SECTION] = network();
    if let Some(schema) = schema.as_object_mut() {
        let nodes = schema.remove("required").unwrap_or(json!([]));
        let either = json!([{ "required": nodes }, { "required": [SECTION] }]);
        schema.insert("anyOf".into(), either);
    }
}

fn network() -> Value {
    json!({
        "description": "A process network: `divisi render` runs it over a file, the node `network` plays it in a graph.",
        "type": "object",
        "required": ["nodes", "edges"],
        "additionalProperties": false,
        "properties": {
            "edges": {
                "description": "Chains of queues: \"from.port -> to.port -> ...\"; a port is a name, a number from 1, or nothing for the first.",
                "type": "array",
                "maxItems": MOST_EDGES,
                "items": { "type": "string", "pattern": "->" },
            },
            "channels": channels(),
            "piece": piece(),
            "nodes": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": MAX_NODES,
                "additionalProperties": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {
                        "kind": { "enum": KINDS },
                        "channels": channels(),
                        "piece": piece(),
                    },
                    "allOf": KINDS.map(of_kind),
                },
            },
            "queues": {
                "description": "What is asked of single queues, each by its edge.",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "size": count(1, MOST_FRAMES, None, "Frames that it has; without it, as many as are found sufficient."),
                        "initial": count(0, MOST_FRAMES, Some(0), "Frames of silence that it begins with."),
                    },
                },
            },
        },
    })
}

fn count(least: usize, most: usize, default: Option<usize>, what: &str) -> Value {
    let mut count =
        json!({ "type": "integer", "minimum": least, "maximum": most, "description": what });
    if let Some(default) = default {
        count["default"] = default.into();
    }
    count
}

fn channels() -> Value {
    count(1, MOST_CHANNELS, Some(1), "Samples a frame.")
}

fn piece() -> Value {
    count(1, MOST_PIECE, Some(USUAL_PIECE), "Frames a firing.")
}

/// A key, and what may stand there.
type Key = (&'static str, Value);

/// If a node is of this kind, then these are its keys besides those of all.
fn of_kind(kind: &str) -> Value {
    let (about, keys) = keys(kind);
    let keys: Map<String, Value> = keys
        .into_iter()
        .map(|(key, value)| (key.into(), value))
        .collect();
    json!({
        "if": { "properties": { "kind": { "const": kind } } },
        "then": { "description": about, "properties": keys },
    })
}

/// How many frames become one, or one becomes.
fn factor() -> Key {
    let about = "How many frames become one, or one becomes.";
    ("factor", count(1, MOST_FACTOR, Some(2), about))
}

fn size(usual: usize) -> Key {
    let about = "Frames of a transform: a power of two.";
    (
        "size",
        count(*SIZES.start(), *SIZES.end(), Some(usual), about),
    )
}

fn hop() -> Key {
    let about = "Frames from window to window: half of `size`, or a divisor of that.";
    ("hop", count(1, *SIZES.end(), None, about))
}

/// What a kind does, and its keys.
fn keys(kind: &str) -> (&'static str, Vec<Key>) {
    let with_taps = |mut keys: Vec<_>| {
        keys.extend(taps());
        keys
    };
    match kind {
        "input" => ("Where the sound comes in.", vec![]),
        "output" => ("Where it goes out.", vec![]),
        "gain" => (
            "Makes it louder.",
            vec![(
                "gain_db",
                json!({ "type": "number", "minimum": GAINS_DB.start(), "maximum": GAINS_DB.end(), "default": 0.0 }),
            )],
        ),
        "add" => (
            "The sum of its inputs.",
            vec![("in", count(1, MOST_PORTS, Some(2), "How many."))],
        ),
        "split" => (
            "The same at each of its outputs.",
            vec![("out", count(1, MOST_PORTS, Some(2), "How many."))],
        ),
        "fir" => ("A filter by its taps.", taps()),
        "decimate" => (
            "A low-pass, and one frame for `factor`.",
            with_taps(vec![factor()]),
        ),
        "interpolate" => (
            "`factor` frames for one, and a low-pass.",
            with_taps(vec![factor()]),
        ),
        "overlap_save" => ("A long filter by transforms.", with_taps(vec![size(4096)])),
        "stft" => ("Spectra of windows that overlap.", vec![size(1024), hop()]),
        _ => ("Sound from such spectra.", vec![size(1024), hop()]),
    }
}

/// A filter's taps, written or designed.
fn taps() -> Vec<Key> {
    vec![
        (
            "coefs",
            json!({ "type": "array", "minItems": 1, "maxItems": MOST_TAPS, "items": { "type": "number" }, "description": "The taps themselves." }),
        ),
        (
            "taps",
            count(
                1,
                MOST_TAPS,
                None,
                "How many taps a low-pass has, where none are written.",
            ),
        ),
        (
            "cutoff",
            json!({ "type": "number", "minimum": CUTOFFS.start(), "maximum": CUTOFFS.end(), "description": "Its cut-off, as a share of the rate." }),
        ),
    ]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::session::read;

    /// A session whose node `it` is of this kind and says this.
    fn session(kind: &str, key: &str, value: &Value) -> String {
        format!(
            "[network]\nedges = []\n[network.nodes]\nit = {{ kind = \"{kind}\", {key} = {value} }}\n"
        )
    }

    /// What the reader says of the key.
    fn said(kind: &str, key: &str, value: &Value) -> Vec<String> {
        let reading = read(&session(kind, key, value)).unwrap();
        let told = reading.diagnostics.into_iter().map(|told| told.message);
        told.filter(|told| told.contains(&format!("`{key}`")))
            .collect()
    }

    #[test]
    fn the_reader_knows_every_key_and_its_limits() {
        for kind in KINDS {
            let own = keys(kind).1.into_iter();
            for (key, value) in own.chain([("channels", channels()), ("piece", piece())]) {
                let (least, most) = match value["type"].as_str() {
                    Some("array") => (json!([0.5]), json!([])),
                    _ => (value["minimum"].clone(), value["maximum"].clone()),
                };
                assert_eq!(said(kind, key, &least), [""; 0], "{kind} {key}");
                let beyond = match most.as_f64() {
                    Some(most) => json!((most + 1.0) as i64),
                    None => most,
                };
                assert_eq!(said(kind, key, &beyond).len(), 1, "{kind} {key} = {beyond}");
            }
            assert_eq!(said(kind, "colour", &json!(1)).len(), 1, "{kind}");
        }
    }

    #[test]
    fn a_session_may_have_nodes_or_a_network() {
        let mut schema = json!({ "required": ["nodes"], "properties": {} });
        extend_schema(&mut schema);
        let either = json!([{ "required": ["nodes"] }, { "required": ["network"] }]);
        assert_eq!((&schema["anyOf"], schema.get("required")), (&either, None));
        assert!(schema["properties"]["network"]["properties"]["queues"].is_object());
    }
}
