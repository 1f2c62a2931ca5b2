//! The schema of `[tempo]`, `[[event]]` and `[[curve]]`.

use graph::TempoMap;
use serde_json::{Value, json};

/// The table `[tempo]`.
pub(super) fn tempo() -> Value {
    let (min, max) = (TempoMap::BPM.start(), TempoMap::BPM.end());
    let point = json!({
        "type": "array",
        "prefixItems": [{ "type": "number", "minimum": 0 }, { "type": "number", "minimum": min, "maximum": max }, { "const": "linear" }],
        "minItems": 2, "maxItems": 3,
    });
    let metre = json!({ "type": "string", "pattern": "^[0-9]+ */ *[0-9]+$" });
    let metre_point = json!({ "type": "array", "prefixItems": [{ "type": "number", "minimum": 0 }, metre], "minItems": 2, "maxItems": 2 });
    json!({
        "type": "object",
        "description": "Tempo and metre. A beat is a quarter note.",
        "properties": {
            "bpm": { "type": "number", "minimum": min, "maximum": max, "default": 120, "description": "Beats a minute, throughout." },
            "map": { "type": "array", "items": point, "description": "Points: beat, beats a minute, and \"linear\" where the tempo moves there in a straight line." },
            "metre": { "anyOf": [metre, { "type": "array", "items": metre_point }], "default": "4/4", "description": "A metre, or points: beat and metre." },
        },
        "additionalProperties": false,
    })
}

/// A time: beats, or seconds in a text.
fn time(description: &str) -> Value {
    json!({
        "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": "^[0-9.]+s$" }],
        "description": description,
    })
}

/// The end of an edge.
fn target() -> Value {
    json!({ "type": "string", "description": "A port or a parameter: \"lead.notes\", \"tone.freq\"." })
}

/// The list `[[event]]`.
pub(super) fn events() -> Value {
    let pitch = json!({ "anyOf": [
        { "type": "number", "minimum": 0, "maximum": 127 },
        { "type": "string", "pattern": "^[A-Ga-g][#b\u{266f}\u{266d}]*-?[0-9]+$" },
    ] });
    json!({
        "type": "array",
        "description": "What happens when: each is a note, a value or a text.",
        "items": {
            "type": "object",
            "required": ["at", "to"],
            "properties": {
                "at": time("Beats from the start, or seconds: \"2.5s\"."),
                "to": target(),
                "note": { "anyOf": [pitch, { "type": "array", "items": pitch, "minItems": 1 }], "description": "A pitch as a key number or a name (60, \"C4\"), or a chord." },
                "velocity": { "type": "number", "minimum": 0, "maximum": 1, "default": 0.8 },
                "length": time("Length of the note, in beats or seconds; by default 1 beat."),
                "value": { "type": "number" },
                "text": { "type": "string" },
            },
            "oneOf": [{ "required": ["note"] }, { "required": ["value"] }, { "required": ["text"] }],
            "additionalProperties": false,
        },
    })
}

/// The list `[[curve]]`.
pub(super) fn curves() -> Value {
    let point = json!({
        "type": "array",
        "prefixItems": [time("When."), { "type": "number" }, { "enum": ["linear", "exponential", "s-curve", "step"] }],
        "minItems": 2, "maxItems": 3,
    });
    json!({
        "type": "array",
        "description": "Values over time, which drive a parameter.",
        "items": {
            "type": "object",
            "required": ["to", "points"],
            "properties": {
                "to": target(),
                "points": { "type": "array", "items": point, "description": "Points: time, value, and how it is reached." },
                "loop": { "type": "number", "minimum": 0, "maximum": 1e6, "description": "Beats after which it begins again; 0: it runs once." },
            },
            "additionalProperties": false,
        },
    })
}
