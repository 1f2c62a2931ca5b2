//! The keys of each command.

use serde_json::{Map, Value, json};

/// A key of a command.
pub(super) struct Key {
    name: &'static str,
    value: &'static str,
    is_required: bool,
}

const fn key(name: &'static str, value: &'static str) -> Key {
    Key {
        name,
        value,
        is_required: true,
    }
}

const fn option(name: &'static str, value: &'static str) -> Key {
    Key {
        is_required: false,
        ..key(name, value)
    }
}

/// The frame at which a command takes effect.
const AT: Key = option("at", "frame");
/// The time in which numbers move.
const OVER: Key = option("over_ms", "milliseconds");

/// Each command with its purpose and its keys; the second word of a key is a definition.
const COMMANDS: &[(&str, &str, &[Key])] = &[
    (
        "add",
        "Adds a node.",
        &[
            key("node", "name"),
            key("kind", "name"),
            option("params", "params"),
        ],
    ),
    (
        "remove",
        "Removes a node with all its edges.",
        &[key("node", "name")],
    ),
    (
        "replace",
        "Puts another node in the place of one, with its edges to ports of equal names.",
        &[
            key("node", "name"),
            key("kind", "name"),
            option("params", "params"),
        ],
    ),
    (
        "connect",
        "Connects an output to an input.",
        &[key("from", "target"), key("to", "target")],
    ),
    (
        "disconnect",
        "Removes the edges between an output and an input.",
        &[key("from", "target"), key("to", "target")],
    ),
    (
        "set",
        "Sets a parameter. One that cannot change while it plays makes the node anew.",
        &[key("target", "target"), key("value", "value"), OVER, AT],
    ),
    ("enable", "Enables a node.", &[key("node", "name")]),
    (
        "disable",
        "Disables a node: it is silent and costs nothing.",
        &[key("node", "name")],
    ),
    (
        "bypass",
        "Lets a node's inputs pass by it, or not any more.",
        &[key("node", "name"), option("on", "flag")],
    ),
    (
        "solo",
        "Soloes a channel strip beside those that are, or not any more; without a node nothing is soloed.",
        &[option("node", "optional_name"), option("on", "flag")],
    ),
    (
        "rename",
        "Gives a node another name; it keeps its state.",
        &[key("node", "name"), key("to", "name")],
    ),
    (
        "move",
        "Puts a node with its state in the place of another one, which goes.",
        &[key("from", "name"), key("to", "name")],
    ),
    (
        "value",
        "Sends a number to an event input.",
        &[key("to", "target"), key("value", "number"), AT],
    ),
    (
        "midi",
        "Sends a MIDI channel message to an event input.",
        &[key("to", "target"), key("bytes", "midi"), AT],
    ),
    (
        "message",
        "Sends a message in words to a patch.",
        &[key("to", "name"), key("text", "name")],
    ),
    (
        "snapshot",
        "Keeps the values of all parameters that may change while it plays, and the switches.",
        &[key("name", "name"), option("part", "optional_name")],
    ),
    (
        "recall",
        "Goes to the values of a snapshot.",
        &[key("name", "name"), OVER, AT],
    ),
    (
        "remove_snapshot",
        "Removes a snapshot.",
        &[key("name", "name")],
    ),
    (
        "rename_snapshot",
        "Gives a snapshot another name.",
        &[key("name", "name"), key("to", "name")],
    ),
    (
        "save_preset",
        "Writes the values of a part or a node to a file of their own.",
        &[key("part", "name"), key("name", "name")],
    ),
    (
        "load_preset",
        "Goes to the values of a preset.",
        &[key("part", "name"), key("name", "name"), OVER, AT],
    ),
    ("start", "Lets the transport roll.", &[AT]),
    ("stop", "Halts the transport.", &[AT]),
    (
        "locate",
        "Moves the transport to a position.",
        &[key("to", "position"), option("unit", "unit"), AT],
    ),
    (
        "loop",
        "Repeats a range of positions, at least 64 frames long; without a range it ends.",
        &[option("range", "range"), option("unit", "unit"), AT],
    ),
    (
        "tempo",
        "Plays on at a tempo, in beats a minute.",
        &[key("bpm", "bpm"), AT],
    ),
    (
        "learn",
        "Binds the next controller that moves at a live MIDI port to a parameter.",
        &[key("target", "name"), option("range", "values")],
    ),
    ("undo", "Takes the last change back.", &[]),
    (
        "redo",
        "Makes the last change that was taken back again.",
        &[],
    ),
    (
        "load",
        "Plays another session, or this one as its file is now.",
        &[option("file", "optional_name")],
    ),
    (
        "save",
        "Writes the session as it is now.",
        &[option("file", "optional_name")],
    ),
    (
        "add_cell",
        "Puts nodes of a session of cells into a cell of their own.",
        &[
            key("cell", "name"),
            key("nodes", "names"),
            option("settings", "settings"),
        ],
    ),
    (
        "remove_cell",
        "Ends a cell: its nodes play with the rest of the session.",
        &[key("cell", "name")],
    ),
    (
        "resize_cell",
        "Gives a cell other cores; none for all.",
        &[key("cell", "name"), key("cores", "cores")],
    ),
    (
        "stop_cell",
        "Stops a cell: its nodes are silent and cost nothing.",
        &[key("cell", "name")],
    ),
    (
        "start_cell",
        "Starts a cell that was stopped.",
        &[key("cell", "name")],
    ),
    (
        "query",
        "Asks for something; the reply has it as `data`.",
        &[key("what", "question")],
    ),
    (
        "subscribe",
        "Asks for messages from now on; no topic ends the subscription.",
        &[
            key("topics", "topics"),
            option("ports", "ports"),
            option("every_ms", "interval"),
        ],
    ),
];

/// The schema of a command.
pub(super) fn command() -> Value {
    let all: Vec<Value> = COMMANDS.iter().map(one).collect();
    json!({ "description": "One thing to do.", "oneOf": all })
}

fn one((verb, doc, keys): &(&str, &str, &[Key])) -> Value {
    let mut properties = Map::from_iter([("do".to_owned(), json!({ "const": verb }))]);
    for key in *keys {
        let value = json!({ "$ref": format!("#/$defs/{}", key.value) });
        properties.insert(key.name.to_owned(), value);
    }
    let required = keys.iter().filter(|key| key.is_required);
    let required: Vec<&str> = std::iter::once("do")
        .chain(required.map(|key| key.name))
        .collect();
    json!({
        "description": doc,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use crate::words::FORMS;

    fn sample(key: &Key) -> Value {
        match key.value {
            "frame" | "milliseconds" | "number" | "interval" | "bpm" => json!(60),
            "params" => json!({ "gain": 1 }),
            "value" => json!("saw"),
            "flag" => json!(true),
            "midi" => json!([144, 60, 100]),
            "position" => json!("17.1"),
            "range" => json!(["1.1", 8]),
            "values" => json!([100, 800]),
            "unit" => json!("beats"),
            "question" => json!("graph"),
            "topics" => json!(["meters"]),
            "ports" | "names" => json!(["tone.out"]),
            "cores" => json!([0, 1]),
            "settings" => json!({ "cores": [1] }),
            _ => json!("tone"),
        }
    }

    fn with_keys<'k>(verb: &str, keys: impl Iterator<Item = &'k Key>) -> Value {
        let mut command = Map::from_iter([("do".to_owned(), json!(verb))]);
        command.extend(keys.map(|key| (key.name.to_owned(), sample(key))));
        Value::Object(command)
    }

    fn read(command: Value) -> Result<Command, String> {
        serde_json::from_value(command).map_err(|error| error.to_string())
    }

    #[test]
    fn the_schema_has_every_command_with_its_keys_and_no_other() {
        let verbs: Vec<&str> = COMMANDS.iter().map(|(verb, ..)| *verb).collect();
        let forms: Vec<&str> = FORMS.iter().map(|form| form.verb).collect();
        assert_eq!(verbs, forms);
        for (verb, _, keys) in COMMANDS {
            read(with_keys(verb, keys.iter())).unwrap_or_else(|error| panic!("{verb}: {error}"));
            for key in *keys {
                let others = keys.iter().filter(|other| other.name != key.name);
                let without = read(with_keys(verb, others));
                assert_eq!(
                    without.is_err(),
                    key.is_required,
                    "{verb} without {}",
                    key.name
                );
            }
            // Serde lists the keys that it knows.
            let mut unknown = with_keys(verb, keys.iter());
            unknown["knob"] = json!(1);
            let error = read(unknown).err();
            let known = error
                .iter()
                .flat_map(|error| error.split('`').skip(3).step_by(2));
            let mut known: Vec<&str> = known.collect();
            let mut names: Vec<&str> = keys.iter().map(|key| key.name).collect();
            known.sort_unstable();
            names.sort_unstable();
            if !keys.is_empty() {
                assert_eq!(known, names, "{verb}: {error:?}");
            }
        }
    }
}
