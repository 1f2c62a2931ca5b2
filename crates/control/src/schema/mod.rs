//! The JSON Schema of requests, replies and messages, for programs that speak with an engine.
//!
//! | file | holds |
//! |---|---|
//! | `commands` | the keys of each command |
//! | `answers` | what queries answer, and what subscriptions send |

mod answers;
mod commands;

use serde_json::{Value, json};

/// The schema of a line: a request one way, a reply or a message the other.
///
/// Real-time: setup.
pub fn schema() -> Value {
    let mut definitions = answers::definitions();
    definitions["command"] = commands::command();
    definitions["request"] = json!({
        "description": "Commands that take effect together, from one block on, or not at all.",
        "type": "object",
        "required": ["commands"],
        "additionalProperties": false,
        "properties": {
            "id": { "description": "Any value; the reply has the same." },
            "commands": { "type": "array", "items": { "$ref": "#/$defs/command" }, "maxItems": crate::controller::MAX_COMMANDS },
        },
    });
    definitions["reply"] = reply();
    definitions["message"] = message();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line between a Divisi session that plays and its client",
        "description": "A client sends requests, one a line; each has a reply, and a subscription brings messages.",
        "oneOf": [
            { "$ref": "#/$defs/request" },
            { "$ref": "#/$defs/reply" },
            { "$ref": "#/$defs/message" },
        ],
        "$defs": definitions,
    })
}

fn reply() -> Value {
    json!({
        "description": "The answer to one request.",
        "type": "object",
        "required": ["ok"],
        "additionalProperties": false,
        "properties": {
            "id": { "description": "That of the request." },
            "ok": { "type": "boolean", "description": "True if every command was carried out." },
            "frame": { "$ref": "#/$defs/frame", "description": "Absolute frame from which on the changes are heard." },
            "data": {
                "type": "array",
                "description": "Answers of the commands that have one, in their order.",
                "items": { "$ref": "#/$defs/answer" },
            },
            "error": { "type": "string", "description": "Reason why nothing was changed." },
            "command": { "type": "integer", "minimum": 1, "description": "Number of the command that caused the error." },
        },
    })
}

/// A message of a subscription, by its topic.
fn message() -> Value {
    let topics: Vec<Value> = answers::TOPICS
        .iter()
        .map(|(topic, data)| {
            json!({
                "type": "object",
                "required": ["topic", "data"],
                "additionalProperties": false,
                "properties": { "topic": { "const": topic }, "data": { "$ref": format!("#/$defs/{data}") } },
            })
        })
        .collect();
    json!({ "description": "What a subscription brings.", "oneOf": topics })
}
