//! The JSON Schema of the section `[network]`, for editors that complete and check while one types.

use super::catalogue::{DEFAULT_PIECE, KINDS, MAX_CHANNELS, MAX_PIECE, MAX_TAPS};
use super::reader::{MAX_EDGES, MAX_FRAMES};
use super::{MAX_NODES, SECTION};
use graph::Kind;
use serde_json::{Value, json};
use text::toml::kind_rule;

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
    let names: Vec<&str> = KINDS.kinds().map(|kind| kind.name).collect();
    let kinds: Vec<Value> = KINDS.kinds().map(node).collect();
    json!({
        "description": "A process network: `divisi render` runs it over a file, the node `network` runs it in a graph.",
        "type": "object",
        "required": ["nodes", "edges"],
        "additionalProperties": false,
        "properties": {
            "edges": {
                "description": "Chains of queues: \"from.port -> to.port -> ...\"; a port is a name, a number from 1, or nothing for the first.",
                "type": "array",
                "maxItems": MAX_EDGES,
                "items": { "type": "string", "pattern": "->" },
            },
            "channels": channels(),
            "piece": count(1, MAX_PIECE, Some(DEFAULT_PIECE), "Frames that a firing moves, of nodes that do not set it."),
            "nodes": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": MAX_NODES,
                "additionalProperties": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": { "kind": { "enum": names } },
                    "allOf": kinds,
                },
            },
            "queues": {
                "description": "Options of single queues, each under its edge.",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "size": count(1, MAX_FRAMES, None, "Size in frames; without it, a sufficient one is found."),
                        "initial": count(0, MAX_FRAMES, Some(0), "Frames of silence at the beginning."),
                    },
                },
            },
        },
    })
}

fn count(min: usize, max: usize, default: Option<usize>, about: &str) -> Value {
    let mut count =
        json!({ "type": "integer", "minimum": min, "maximum": max, "description": about });
    if let Some(default) = default {
        count["default"] = default.into();
    }
    count
}

fn channels() -> Value {
    count(1, MAX_CHANNELS, Some(1), "Channels of every port.")
}

/// The keys of a kind, where they differ from those of a graph's kind.
fn node(kind: &Kind) -> Value {
    let mut schema = kind_rule(kind);
    let keys = &mut schema["then"]["properties"];
    keys["channels"] = channels();
    for param in kind.params.iter().filter(|param| param.unit.is_empty()) {
        keys[param.name]["type"] = "integer".into();
    }
    if let Some(coefs) = keys.get_mut("coefs") {
        let list = json!({ "type": "array", "minItems": 1, "maxItems": MAX_TAPS, "items": { "type": "number" } });
        coefs
            .as_object_mut()
            .expect("a key is an object")
            .extend(list.as_object().cloned().unwrap_or_default());
    }
    keys["kind"] = json!({});
    keys["own"] =
        json!({ "type": "object", "description": "Keys of your own, which nothing reads." });
    // The kinds of a network have no layouts: their ports are as wide as `channels` says.
    if let Some(keys) = keys.as_object_mut() {
        keys.remove("layout");
    }
    schema["then"]["additionalProperties"] = false.into();
    schema
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_session_may_have_nodes_or_a_network() {
        let mut schema = json!({ "required": ["nodes"], "properties": {} });
        extend_schema(&mut schema);
        let either = json!([{ "required": ["nodes"] }, { "required": ["network"] }]);
        assert_eq!((&schema["anyOf"], schema.get("required")), (&either, None));
        assert!(schema["properties"]["network"]["properties"]["queues"].is_object());
    }

    #[test]
    fn a_node_of_a_network_has_the_keys_of_its_kind_and_no_others() {
        for kind in KINDS.kinds() {
            let then = &node(kind)["then"];
            assert_eq!(then["additionalProperties"], json!(false), "{}", kind.name);
            let keys: Vec<&String> = then["properties"].as_object().unwrap().keys().collect();
            for key in ["kind", "channels", "piece"] {
                assert!(
                    keys.iter().any(|known| *known == key),
                    "{} {key}",
                    kind.name
                );
            }
        }
    }

    /// The program guards the files that a session names against its outputs. A network that named some would need that too.
    #[test]
    fn no_kind_of_a_network_names_a_file() {
        let params = KINDS.kinds().flat_map(|kind| &kind.params);
        let mut files = params.filter(|param| matches!(param.range, graph::ParamRange::File(_)));
        assert!(files.next().is_none());
    }
}
