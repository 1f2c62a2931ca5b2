//! What queries answer, and what subscriptions send.

use serde_json::{Value, json};

/// Topics of subscriptions, each with the definition of its data.
pub(super) const TOPICS: [(&str, &str); 8] = [
    ("meters", "meters"),
    ("loudness", "loudness"),
    ("spectrum", "spectrum"),
    ("scope", "scope"),
    ("load", "load"),
    ("transport", "transport"),
    ("misses", "dropouts"),
    ("changes", "changes"),
];

/// Definitions of values, answers and messages.
pub(super) fn definitions() -> Value {
    let mut all = values();
    for part in [answers(), figures(), cells(), graph(), measured()] {
        if let (Value::Object(all), Value::Object(part)) = (&mut all, part) {
            all.extend(part);
        }
    }
    all
}

/// An object with exactly these keys.
fn object(doc: &str, properties: Value) -> Value {
    let keys = properties.as_object().into_iter().flatten();
    let required: Vec<&String> = keys.map(|(key, _)| key).collect();
    json!({
        "description": doc,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Values of commands.
fn values() -> Value {
    let topics: Vec<&str> = TOPICS.iter().map(|(topic, _)| *topic).collect();
    json!({
        "name": { "type": "string" },
        "optional_name": { "type": ["string", "null"] },
        "target": { "type": "string", "description": "`node.port` or `node.param`; a node alone is its first port." },
        "value": { "type": ["number", "string", "boolean"] },
        "params": { "type": "object", "additionalProperties": { "$ref": "#/$defs/value" } },
        "number": { "type": "number" },
        "flag": { "type": "boolean" },
        "frame": { "type": "integer", "minimum": 0 },
        "milliseconds": { "type": "number", "minimum": 0, "maximum": 3_600_000 },
        "midi": {
            "type": "array",
            "items": { "type": "integer", "minimum": 0, "maximum": 255 },
            "minItems": 3,
            "maxItems": 3,
        },
        "position": {
            "type": ["number", "string"],
            "description": "A number in `unit`, or a text: 17.1 is bar 17, beat 1; 12.5s seconds; 48000 frames.",
        },
        "range": {
            "type": ["array", "null"],
            "items": { "$ref": "#/$defs/position" },
            "minItems": 2,
            "maxItems": 2,
        },
        "values": {
            "type": ["array", "null"],
            "items": { "type": "number" },
            "minItems": 2,
            "maxItems": 2,
        },
        "settings": { "type": "object", "description": "Keys of a cell but `nodes`, as in a session." },
        "cores": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
        "unit": { "enum": ["seconds", "beats", "frames"] },
        "bpm": { "type": "number", "minimum": 1, "maximum": 6000 },
        "question": {
            "enum": ["graph", "kinds", "load", "dropouts", "meters", "transport", "snapshots", "presets", "schedule", "cells"],
        },
        "topics": { "type": "array", "items": { "enum": topics } },
        "ports": { "type": "array", "items": { "$ref": "#/$defs/target" }, "maxItems": 64 },
        "interval": { "type": "integer", "minimum": 0, "description": "Milliseconds, held within 10 to 60000." },
    })
}

/// Answers of commands, in a reply's `data`.
fn answers() -> Value {
    let all = [
        "graph",
        "kinds",
        "load",
        "dropouts",
        "gauges",
        "transport",
        "snapshots",
        "names",
        "schedule",
        "saved",
        "recalled",
        "learns",
        "cells",
        "cell_change",
    ];
    let all = all.map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    json!({
        "answer": { "description": "One of the answers.", "anyOf": all },
        "saved": {
            "type": "object",
            "required": ["saved"],
            "additionalProperties": false,
            "properties": { "saved": { "type": "string" }, "warning": { "type": "string" } },
        },
        "recalled": object("A snapshot or a preset.", json!({
            "recalled": { "type": "string" },
            "left_out": { "$ref": "#/$defs/names" },
        })),
        "learns": object("The parameter that follows the next controller that moves.", json!({
            "learns": { "$ref": "#/$defs/target" },
        })),
        "names": { "type": "array", "items": { "type": "string" } },
        "snapshots": {
            "type": "array",
            "items": object("A snapshot.", json!({
                "name": { "type": "string" },
                "nodes": { "$ref": "#/$defs/frame", "description": "Number of its nodes." },
            })),
        },
        "changes": { "type": "array", "items": { "$ref": "#/$defs/command" } },
    })
}

/// Figures of a run.
fn figures() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "load": object("Durations in nanoseconds, position in frames.", json!({
            "frame": count, "workers": count, "cycles": count, "period_ns": count, "mean_ns": { "minimum": 0, "type": "number" }, "p99_ns": count, "max_ns": count,
        })),
        "dropouts": object("What was lost.", json!({
            "missed": count, "late": count, "abandoned": count, "faults": count, "muted": count, "xruns": count,
            "quarantined": { "$ref": "#/$defs/names" },
        })),
        "transport": object("Position in frames, in beats, and as bar and beat, both counted from 1; tempo in beats a minute.", json!({
            "is_rolling": { "type": "boolean" },
            "frame": count,
            "beat": { "type": "number" },
            "bar": { "type": "integer", "minimum": 1 },
            "bar_beat": { "type": "number" },
            "bpm": { "type": "number" },
            "loop": { "type": ["array", "null"], "items": count, "minItems": 2, "maxItems": 2 },
        })),
        "schedule": object("The schedule that plays.", json!({
            "scheduler": { "type": "string" },
            "threads": count,
            "fused": { "type": "boolean" },
            "adaptive": { "type": "boolean" },
            "changes": { "type": "array", "items": object("A change while it played.", json!({
                "frame": count,
                "scheduler": { "type": "string" },
                "workers": count,
                "fused": { "type": "boolean" },
                "trial": { "type": "boolean" },
                "reason": { "type": "string" },
            })) },
            "steps": count,
            "tasks": count,
            "latency_frames": count,
            "cost_ns": count,
            "workers": { "type": "array", "items": count, "description": "Tasks of each worker." },
        })),
    })
}

/// Cells.
fn cells() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    let number = json!({ "type": "number", "minimum": 0 });
    let share = json!({ "type": ["number", "null"], "description": "As a session states it." });
    let states = ["playing", "starting", "stopped", "yielded", "given up"];
    let policies = ["none", "time-triggered", "event-triggered", "best-effort"];
    json!({
        "cells": object("Cells, and what they may take of each block; times in nanoseconds.", json!({
            "period_ns": count,
            "goal": { "type": ["string", "null"], "description": "What the cells are to reach together." },
            "reserve_percent": { "type": ["integer", "null"], "description": "null: cells are admitted without a check." },
            "cells": { "type": "array", "items": object("A cell.", json!({
                "cell": { "type": "string" },
                "state": { "enum": states },
                "nodes": { "$ref": "#/$defs/names" },
                "work": { "anyOf": [{ "type": "null" }, cell_work()] },
                "policy": { "enum": policies },
                "precedence": count,
                "cores": { "$ref": "#/$defs/cores" },
                "workers": count,
                "process": { "type": ["integer", "null"] },
                "restarts": count,
                "blocks": count,
                "lost": { "type": "integer", "minimum": 0, "description": "Blocks whose results did not come in time." },
                "not_finite": count,
                "load": { "type": "number", "minimum": 0, "description": "Cores that it used in the last tenth of a second." },
                "cores_min": { "type": ["integer", "null"], "description": "Fewest cores; null: their number does not change." },
                "cores_max": { "type": ["integer", "null"], "description": "Most cores." },
                "target_load": share,
                "target_response": share,
                "response": { "type": ["number", "null"], "description": "p99 of its response, as a share of a block; null: not known, or with latency." },
                "moves": { "type": "integer", "minimum": 0, "description": "Moves between cores by measured need." },
                "cost_ns": { "type": "integer", "minimum": 0, "description": "Known worst cost of its nodes in one block." },
                "used_ns": count,
                "outside_ns": { "type": "integer", "minimum": 0, "description": "Part of `used_ns` outside of its windows, or above its budget." },
            })) },
            "uptime_ns": number,
        })),
        "cell_change": object("A change to the cells.", json!({
            "yielded": { "$ref": "#/$defs/names", "description": "Cells that were stopped for it." },
            "resumed": { "$ref": "#/$defs/names", "description": "Cells that had yielded and play again." },
            "note": { "type": ["string", "null"], "description": "What is still to come." },
        })),
    })
}

/// Work of a cell for nodes elsewhere.
fn cell_work() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    object(
        "The deferred work that it does for nodes in no cell.",
        json!({
            "nodes": { "$ref": "#/$defs/names" },
            "done": { "type": "integer", "minimum": 0, "description": "Results that came in time." },
            "late": count,
            "lost": count,
            "nonsense": { "type": "integer", "minimum": 0, "description": "Results that were none." },
        }),
    )
}

/// Graphs and kinds.
fn graph() -> Value {
    let port = json!({ "type": "array", "items": { "type": "object", "required": ["name"] } });
    json!({
        "graph": object("Nodes and edges.", json!({
            "nodes": { "type": "array", "items": object("A node.", json!({
                "name": { "type": "string" },
                "kind": { "type": "string" },
                "enabled": { "type": "boolean" },
                "bypassed": { "type": "boolean" },
                "params": { "$ref": "#/$defs/params" },
                "own_params": { "type": "array", "items": { "type": "string" }, "description": "Names of parameters beside those of the kind." },
                "boxes": { "type": "array", "description": "Boxes of a patch that show a value.", "items": shown_box() },
                "inputs": port,
                "outputs": port,
            })) },
            "edges": { "type": "array", "items": object("An edge.", json!({
                "from": { "$ref": "#/$defs/target" },
                "to": { "$ref": "#/$defs/target" },
            })) },
        })),
        "kinds": { "type": "array", "items": { "type": "object", "required": ["name", "params"] } },
    })
}

/// A box of a patch.
fn shown_box() -> Value {
    let number = json!({ "type": ["number", "null"] });
    object(
        "A box that shows a value, as it is now.",
        json!({
            "name": { "type": "string", "description": "The parameter that moves it." },
            "class": { "type": "string", "description": "Pd's name of its class." },
            "label": { "type": "string" },
            "min": number,
            "max": number,
            "law": { "enum": ["linear", "logarithmic"] },
            "initial": number,
            "value": number,
            "read_only": { "type": "boolean" },
        }),
    )
}

/// What is measured, by the names of gauges and ports.
fn measured() -> Value {
    json!({
        "gauges": { "type": "object", "additionalProperties": { "type": ["number", "null"] } },
        "meters": { "type": "object", "description": "Gauges, and levels of the ports that are measured." },
        "loudness": { "type": "object", "additionalProperties": { "type": "object" } },
        "spectrum": { "type": "object", "additionalProperties": { "type": "object" } },
        "scope": { "type": "object", "additionalProperties": { "type": "object" } },
    })
}
