//! The table of all commands: name, form, and the function that reads their arguments.

use super::arguments::{at, byte, named, numbers, option, pairs, position, timing, unit, value};
use crate::{Command, PositionUnit, Query, Topic};
use std::path::PathBuf;

/// A command as words.
pub(crate) struct Form {
    /// Its first word.
    pub(crate) verb: &'static str,
    /// How it is written, for help texts.
    pub(crate) written: &'static str,
    /// Reads the words behind the first one; `None` if they do not fit.
    pub(super) read: fn(&[&str]) -> Option<Command>,
}

const fn form(
    verb: &'static str,
    written: &'static str,
    read: fn(&[&str]) -> Option<Command>,
) -> Form {
    Form {
        verb,
        written,
        read,
    }
}

/// All commands.
pub(crate) const FORMS: &[Form] = &[
    form("add", "add NODE KIND [KEY=VALUE ...]", add),
    form("remove", "remove NODE", remove),
    form("replace", "replace NODE KIND [KEY=VALUE ...]", replace),
    form("connect", "connect NODE.PORT -> NODE.PORT", connect),
    form(
        "disconnect",
        "disconnect NODE.PORT -> NODE.PORT",
        disconnect,
    ),
    form(
        "set",
        "set NODE.PARAM VALUE [over MILLISECONDS] [at FRAME]",
        set,
    ),
    form("enable", "enable NODE", enable),
    form("disable", "disable NODE", disable),
    form("bypass", "bypass NODE [on|off]", bypass),
    form("solo", "solo NODE [on|off], or solo off", solo),
    form("rename", "rename NODE NAME", rename),
    form("move", "move NODE -> NODE", move_node),
    form("value", "value NODE.INPUT NUMBER [at FRAME]", send_value),
    form("midi", "midi NODE.INPUT BYTE BYTE BYTE [at FRAME]", midi),
    form("message", "message NODE RECEIVER [WORD ...]", message),
    form("snapshot", "snapshot NAME [of PART]", snapshot),
    form(
        "recall",
        "recall NAME [over MILLISECONDS] [at FRAME]",
        recall,
    ),
    form("remove_snapshot", "remove_snapshot NAME", remove_snapshot),
    form(
        "rename_snapshot",
        "rename_snapshot NAME NEW",
        rename_snapshot,
    ),
    form("save_preset", "save_preset PART NAME", save_preset),
    form(
        "load_preset",
        "load_preset PART NAME [over MILLISECONDS] [at FRAME]",
        load_preset,
    ),
    form("start", "start [at FRAME]", start),
    form("stop", "stop [at FRAME]", stop),
    form(
        "locate",
        "locate POSITION [seconds|beats|bars|frames] [at FRAME]",
        locate,
    ),
    form(
        "loop",
        "loop BEGIN END [seconds|beats|bars|frames] [at FRAME], or loop off [at FRAME]",
        repeat,
    ),
    form("tempo", "tempo BPM [at FRAME]", tempo),
    form("learn", "learn NODE.PARAM [LOW HIGH]", learn),
    form("undo", "undo", undo),
    form("redo", "redo", redo),
    form("load", "load [FILE]", load),
    form("save", "save [FILE]", save),
    form(
        "add_cell",
        "add_cell CELL of NODE [NODE ...] [with KEY=VALUE ...]",
        add_cell,
    ),
    form("remove_cell", "remove_cell CELL", remove_cell),
    form(
        "resize_cell",
        "resize_cell CELL CORE [CORE ...]",
        resize_cell,
    ),
    form("stop_cell", "stop_cell CELL", stop_cell),
    form("start_cell", "start_cell CELL", start_cell),
    form(
        "query",
        "query graph|kinds|load|dropouts|meters|schedule|transport|snapshots|presets|cells",
        query,
    ),
    form(
        "subscribe",
        "subscribe [meters] [loudness] [spectrum] [scope] [load] [transport] [misses] [changes] [of NODE.PORT ...] [every MILLISECONDS]",
        subscribe,
    ),
];

fn add(words: &[&str]) -> Option<Command> {
    let [node, kind, params @ ..] = words else {
        return None;
    };
    Some(Command::Add {
        node: (*node).into(),
        kind: (*kind).into(),
        params: pairs(params)?,
    })
}

fn remove(words: &[&str]) -> Option<Command> {
    match words {
        [node] => Some(Command::Remove {
            node: (*node).into(),
        }),
        _ => None,
    }
}

fn replace(words: &[&str]) -> Option<Command> {
    let [node, kind, params @ ..] = words else {
        return None;
    };
    Some(Command::Replace {
        node: (*node).into(),
        kind: (*kind).into(),
        params: pairs(params)?,
    })
}

fn connect(words: &[&str]) -> Option<Command> {
    match words {
        [from, "->", to] | [from, to] => Some(Command::Connect {
            from: (*from).into(),
            to: (*to).into(),
        }),
        _ => None,
    }
}

fn disconnect(words: &[&str]) -> Option<Command> {
    match words {
        [from, "->", to] | [from, to] => Some(Command::Disconnect {
            from: (*from).into(),
            to: (*to).into(),
        }),
        _ => None,
    }
}

fn set(words: &[&str]) -> Option<Command> {
    let [target, word, rest @ ..] = words else {
        return None;
    };
    let (over_ms, at) = timing(rest)?;
    Some(Command::Set {
        target: (*target).into(),
        value: value(word),
        over_ms,
        at,
    })
}

fn enable(words: &[&str]) -> Option<Command> {
    match words {
        [node] => Some(Command::Enable {
            node: (*node).into(),
        }),
        _ => None,
    }
}

fn disable(words: &[&str]) -> Option<Command> {
    match words {
        [node] => Some(Command::Disable {
            node: (*node).into(),
        }),
        _ => None,
    }
}

fn bypass(words: &[&str]) -> Option<Command> {
    let (node, on) = match words {
        [node] | [node, "on" | "true" | "1"] => (node, true),
        [node, "off" | "false" | "0"] => (node, false),
        _ => return None,
    };
    let node = (*node).into();
    Some(Command::Bypass { node, on })
}

fn solo(words: &[&str]) -> Option<Command> {
    let (node, on) = match words {
        ["off"] => (None, false),
        [node] | [node, "on" | "true" | "1"] => (Some(*node), true),
        [node, "off" | "false" | "0"] => (Some(*node), false),
        _ => return None,
    };
    let node = node.map(str::to_owned);
    Some(Command::Solo { node, on })
}

fn rename(words: &[&str]) -> Option<Command> {
    match words {
        [node, to] => Some(Command::Rename {
            node: (*node).into(),
            to: (*to).into(),
        }),
        _ => None,
    }
}

fn move_node(words: &[&str]) -> Option<Command> {
    match words {
        [from, "->", to] | [from, to] => Some(Command::Move {
            from: (*from).into(),
            to: (*to).into(),
        }),
        _ => None,
    }
}

fn send_value(words: &[&str]) -> Option<Command> {
    let [to, number, rest @ ..] = words else {
        return None;
    };
    Some(Command::Value {
        to: (*to).into(),
        value: number.parse().ok()?,
        at: at(rest)?,
    })
}

fn midi(words: &[&str]) -> Option<Command> {
    let [to, a, b, c, rest @ ..] = words else {
        return None;
    };
    Some(Command::Midi {
        to: (*to).into(),
        bytes: [byte(a)?, byte(b)?, byte(c)?],
        at: at(rest)?,
    })
}

fn message(words: &[&str]) -> Option<Command> {
    let [to, receiver, rest @ ..] = words else {
        return None;
    };
    let text = std::iter::once(receiver).chain(rest);
    let text: Vec<&str> = text.copied().collect();
    Some(Command::Message {
        to: (*to).into(),
        text: text.join(" "),
    })
}

fn snapshot(words: &[&str]) -> Option<Command> {
    let (name, part) = match words {
        [name] => (name, None),
        [name, "of", part] => (name, Some((*part).into())),
        _ => return None,
    };
    let name = (*name).into();
    Some(Command::Snapshot { name, part })
}

fn recall(words: &[&str]) -> Option<Command> {
    let (name, rest) = words.split_first()?;
    let (over_ms, at) = timing(rest)?;
    Some(Command::Recall {
        name: (*name).into(),
        over_ms,
        at,
    })
}

fn learn(words: &[&str]) -> Option<Command> {
    let number = |word: &str| word.parse().ok().filter(|it: &f64| it.is_finite());
    let (target, range) = match words {
        [target] => (target, None),
        [target, low, high] => (target, Some([number(low)?, number(high)?])),
        _ => return None,
    };
    Some(Command::Learn {
        target: (*target).into(),
        range,
    })
}

fn remove_snapshot(words: &[&str]) -> Option<Command> {
    match words {
        [name] => Some(Command::RemoveSnapshot {
            name: (*name).into(),
        }),
        _ => None,
    }
}

fn rename_snapshot(words: &[&str]) -> Option<Command> {
    match words {
        [name, to] => Some(Command::RenameSnapshot {
            name: (*name).into(),
            to: (*to).into(),
        }),
        _ => None,
    }
}

fn save_preset(words: &[&str]) -> Option<Command> {
    match words {
        [part, name] => Some(Command::SavePreset {
            part: (*part).into(),
            name: (*name).into(),
        }),
        _ => None,
    }
}

fn load_preset(words: &[&str]) -> Option<Command> {
    let [part, name, rest @ ..] = words else {
        return None;
    };
    let (over_ms, at) = timing(rest)?;
    Some(Command::LoadPreset {
        part: (*part).into(),
        name: (*name).into(),
        over_ms,
        at,
    })
}

fn start(words: &[&str]) -> Option<Command> {
    Some(Command::Start { at: at(words)? })
}

fn stop(words: &[&str]) -> Option<Command> {
    Some(Command::Stop { at: at(words)? })
}

fn locate(words: &[&str]) -> Option<Command> {
    let (to, rest) = words.split_first()?;
    let (word, unit, rest) = unit(rest);
    Some(Command::Locate {
        to: position(to, word)?,
        unit,
        at: at(rest)?,
    })
}

fn repeat(words: &[&str]) -> Option<Command> {
    if let ["off", rest @ ..] = words {
        return Some(Command::Loop {
            range: None,
            unit: PositionUnit::default(),
            at: at(rest)?,
        });
    }
    let [begin, end, rest @ ..] = words else {
        return None;
    };
    let (word, unit, rest) = unit(rest);
    Some(Command::Loop {
        range: Some([position(begin, word)?, position(end, word)?]),
        unit,
        at: at(rest)?,
    })
}

fn tempo(words: &[&str]) -> Option<Command> {
    let (bpm, rest) = words.split_first()?;
    Some(Command::Tempo {
        bpm: bpm.parse().ok()?,
        at: at(rest)?,
    })
}

fn undo(words: &[&str]) -> Option<Command> {
    words.is_empty().then_some(Command::Undo)
}

fn redo(words: &[&str]) -> Option<Command> {
    words.is_empty().then_some(Command::Redo)
}

fn load(words: &[&str]) -> Option<Command> {
    let file = file(words)?;
    Some(Command::Load { file })
}

fn save(words: &[&str]) -> Option<Command> {
    let file = file(words)?;
    Some(Command::Save { file })
}

/// A file, or none.
fn file(words: &[&str]) -> Option<Option<PathBuf>> {
    match words {
        [] => Some(None),
        [file] => Some(Some(file.into())),
        _ => None,
    }
}

fn add_cell(words: &[&str]) -> Option<Command> {
    let [cell, "of", rest @ ..] = words else {
        return None;
    };
    let with = rest.iter().position(|word| *word == "with");
    let (nodes, settings) = rest.split_at(with.unwrap_or(rest.len()));
    let mut settings = pairs(settings.get(1..).unwrap_or(&[]))?;
    // Numbers of cores stand side by side: `cores=0,1`.
    if let Some(cores) = settings.get_mut("cores") {
        *cores = numbers(cores)?;
    }
    (!nodes.is_empty()).then(|| Command::AddCell {
        cell: (*cell).into(),
        nodes: nodes.iter().map(|it| (*it).into()).collect(),
        settings,
    })
}

fn remove_cell(words: &[&str]) -> Option<Command> {
    cell(words).map(|cell| Command::RemoveCell { cell })
}

fn resize_cell(words: &[&str]) -> Option<Command> {
    let [cell, cores @ ..] = words else {
        return None;
    };
    let cores: Option<Vec<usize>> = cores.iter().map(|core| core.parse().ok()).collect();
    Some(Command::ResizeCell {
        cell: (*cell).into(),
        cores: cores.filter(|cores| !cores.is_empty())?,
    })
}

fn stop_cell(words: &[&str]) -> Option<Command> {
    cell(words).map(|cell| Command::StopCell { cell })
}

fn start_cell(words: &[&str]) -> Option<Command> {
    cell(words).map(|cell| Command::StartCell { cell })
}

/// The name of a cell.
fn cell(words: &[&str]) -> Option<String> {
    match words {
        [cell] => Some((*cell).into()),
        _ => None,
    }
}

fn query(words: &[&str]) -> Option<Command> {
    match words {
        [what] => Some(Command::Query {
            what: named::<Query>(what)?,
        }),
        _ => None,
    }
}

fn subscribe(words: &[&str]) -> Option<Command> {
    let end = words.iter().position(|word| *word == "every");
    let (words, rest) = words.split_at(end.unwrap_or(words.len()));
    let of = words.iter().position(|word| *word == "of");
    let (topics, ports) = words.split_at(of.unwrap_or(words.len()));
    let (every_ms, []) = option(rest, "every", 100)? else {
        return None;
    };
    let topics = topics.iter().map(|word| named::<Topic>(word));
    Some(Command::Subscribe {
        topics: topics.collect::<Option<_>>()?,
        ports: ports.iter().skip(1).map(|it| (*it).into()).collect(),
        every_ms,
    })
}
