//! The tables of cells in the schema of a session.

use super::read::{DEFAULT_MEMORY_MIB, MAX_MEMORY_MIB, MAX_TIME_US};
use super::{CellLatency, SECTION};
use crate::target;
use serde_json::json;

/// Adds cells to the schema of a session.
///
/// Real-time: setup.
pub fn extend_schema(schema: &mut serde_json::Value) {
    let count = |max: i64, default: i64, doc: &str| json!({ "type": "integer", "minimum": 0, "maximum": max, "default": default, "description": doc });
    let time = |min: i64, doc: &str| json!({ "type": "integer", "minimum": min, "maximum": MAX_TIME_US, "description": doc });
    target::extend_schema(schema);
    schema["properties"][SECTION] = json!({
        "description": "Parts that `divisi cells` plays in processes of their own, by name.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "anyOf": [{ "required": ["nodes"] }, { "required": ["work"] }],
            "additionalProperties": false,
            "properties": {
                "nodes": { "type": "array", "minItems": 1, "items": { "type": "string" }, "description": "Names of its nodes." },
                "work": { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string" }, "description": "Names of nodes in no cell whose deferred work it does." },
                "cores": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "description": "Cores that its threads may run on; without it, all." },
                "memory_mib": { "type": "integer", "minimum": 1, "maximum": MAX_MEMORY_MIB, "default": DEFAULT_MEMORY_MIB, "description": "Memory in MiB that it may take after its start." },
                "policy": { "enum": ["best-effort", "none", "time-triggered", "event-triggered"], "description": "none: its cores are its alone; time-triggered: in `windows`; event-triggered: `budget_us` in each `period_us` at most." },
                "windows": {
                    "type": "array",
                    "minItems": 1,
                    "description": "When a time-triggered cell may run.",
                    "items": {
                        "type": "object",
                        "required": ["period_us", "length_us"],
                        "additionalProperties": false,
                        "properties": {
                            "period_us": time(1, "Time between the beginnings of two windows, in microseconds."),
                            "offset_us": time(0, "Beginning of the first window, in microseconds."),
                            "length_us": time(1, "Length of each window, in microseconds."),
                        },
                    },
                },
                "budget_us": time(20, "Processor time of an event-triggered cell in each period, in microseconds."),
                "period_us": time(20, "Period of an event-triggered cell, in microseconds; 1 s at most."),
                "cores_min": { "type": "integer", "minimum": 1, "description": "Fewest of `cores` that it has." },
                "cores_max": { "type": "integer", "minimum": 1, "description": "Most of `cores` that it has." },
                "target_load": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "Share of the time of its cores that it is to use at most; 0.7 where their number changes." },
                "target_response": { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "p99 of its response, as a share of a block." },
                "share_siblings": { "type": "boolean", "default": false, "description": "Another cell may have the other thread of a physical core." },
                "cache_ways": { "type": "integer", "minimum": 1, "maximum": 32, "description": "Ways of the last cache that it fills, by resctrl." },
                "memory_bandwidth": { "type": "integer", "minimum": 1, "maximum": 100, "description": "Share of the memory bandwidth in percent, by resctrl." },
                "max_mhz": { "type": "integer", "minimum": 1, "maximum": 100000, "description": "Highest clock rate of its cores, by cpufreq: a cap on their power." },
                "precedence": count(9, 0, "A higher one runs before a lower one."),
                "latency": count(i64::from(CellLatency::MAX), 0, "In blocks; 0: the graph waits for it within the block. With more it has so many blocks for its work."),
            },
        },
    });
}
