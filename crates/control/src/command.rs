//! [`Command`], [`Request`] and [`Reply`]: what can be asked of a playing engine, as plain data.
//!
//! A request in JSON is one line:
//!
//! ```json
//! {"id": 7, "commands": [{"do": "set", "target": "tone.freq", "value": 800}]}
//! ```
//!
//! Its reply is one line too, with the same `id`:
//!
//! ```json
//! {"id": 7, "ok": true, "frame": 96000}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One thing to do. Names of nodes, ports and parameters are those of the session; `node.param` and `node.port` name a
/// parameter or a port, and a node alone its first port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Command {
    /// Adds a node.
    Add {
        /// Its name.
        node: String,
        /// Its kind.
        kind: String,
        /// Its parameters, and `in`, `out` and `channels`.
        #[serde(default)]
        params: BTreeMap<String, Value>,
    },
    /// Removes a node with all its edges.
    Remove {
        /// The node.
        node: String,
    },
    /// Puts another node in the place of one, with its edges to ports of equal names.
    Replace {
        /// The node; the new one has its name.
        node: String,
        /// The new kind.
        kind: String,
        /// Parameters of the new node.
        #[serde(default)]
        params: BTreeMap<String, Value>,
    },
    /// Connects an output to an input.
    Connect {
        /// The output.
        from: String,
        /// The input.
        to: String,
    },
    /// Removes the edges between an output and an input.
    Disconnect {
        /// The output.
        from: String,
        /// The input.
        to: String,
    },
    /// Sets a parameter: a number that may change while it plays, or any other, which makes the node anew.
    Set {
        /// `node.param`.
        target: String,
        /// The value.
        value: Value,
        /// Time in which a number is reached in a straight line, in milliseconds; 0 is at once.
        #[serde(default, skip_serializing_if = "is_zero")]
        over_ms: f64,
        /// Absolute frame at which it begins; one that has passed is the next block.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Enables a node.
    Enable {
        /// The node.
        node: String,
    },
    /// Disables a node: it is silent and costs nothing.
    Disable {
        /// The node.
        node: String,
    },
    /// Lets a node's inputs pass by it, or not any more.
    Bypass {
        /// The node.
        node: String,
        /// False ends it.
        #[serde(default = "yes")]
        on: bool,
    },
    /// Soloes a channel strip beside those that are: all strips but the soloed ones are cut.
    Solo {
        /// The strip; without it nothing is soloed any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<String>,
        /// False ends its solo.
        #[serde(default = "yes")]
        on: bool,
    },
    /// Gives a node another name; it keeps its state.
    Rename {
        /// The node.
        node: String,
        /// Its new name.
        to: String,
    },
    /// Puts a node with its state in the place of another one, which goes: it gets that name, and those edges for whose ports
    /// it has equal names, in place of its own.
    Move {
        /// The node that is moved.
        from: String,
        /// The node whose place it takes.
        to: String,
    },
    /// Sends a number to an event input.
    Value {
        /// `node.input`.
        to: String,
        /// The number.
        value: f32,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Sends a MIDI channel message to an event input.
    Midi {
        /// `node.input`.
        to: String,
        /// The bytes.
        bytes: [u8; 3],
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Sends a message in words to a patch.
    Message {
        /// The node of the patch.
        to: String,
        /// A receiver and what it receives, as in a message box of Pd: `freq 440`.
        text: String,
    },
    /// Keeps the values of all parameters that may change while it plays, under a name.
    Snapshot {
        /// Its name; a snapshot of that name is replaced.
        name: String,
        /// A part or a node: its values alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
    },
    /// Goes to the values of a snapshot.
    Recall {
        /// Its name.
        name: String,
        /// Time in which numbers move there, in milliseconds; switches change at the beginning.
        #[serde(default, skip_serializing_if = "is_zero")]
        over_ms: f64,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Removes a snapshot.
    RemoveSnapshot {
        /// Its name.
        name: String,
    },
    /// Gives a snapshot another name.
    RenameSnapshot {
        /// Its name.
        name: String,
        /// The new one, which is free.
        to: String,
    },
    /// Writes the values of a part or a node to a file of their own, `NAME.preset.toml` in the session's folder.
    SavePreset {
        /// The part.
        part: String,
        /// The preset's name.
        name: String,
    },
    /// Goes to the values of a preset.
    LoadPreset {
        /// The part.
        part: String,
        /// The preset's name.
        name: String,
        /// As for `recall`.
        #[serde(default, skip_serializing_if = "is_zero")]
        over_ms: f64,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Lets the transport roll.
    Start {
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Halts the transport: what follows it is silent, effects ring out.
    Stop {
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Moves the transport to a position.
    Locate {
        /// The position: a number in `unit`, or a text as `--from` takes it: `17.1` is bar 17, beat 1; `12.5s` seconds.
        to: PositionArg,
        /// Its unit, if it is a number.
        #[serde(default)]
        unit: PositionUnit,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Repeats a range of positions: where the transport comes to its end, it jumps to its begin.
    Loop {
        /// Begin and end, as for `locate`, at least 64 frames apart. Without it nothing is repeated any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<[PositionArg; 2]>,
        /// Unit of those that are numbers.
        #[serde(default)]
        unit: PositionUnit,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Plays on at a tempo, as a change of speed against the session's tempo.
    Tempo {
        /// Beats a minute.
        bpm: f64,
        /// As for `set`.
        #[serde(default, skip_serializing_if = "is_first")]
        at: u64,
    },
    /// Binds the next controller that moves at a live MIDI port to a parameter, and writes that to the session's file.
    Learn {
        /// `node.param`.
        target: String,
        /// Values at the lowest and the highest position; without it the parameter's range, for a frequency 20 Hz to 20 kHz.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<[f64; 2]>,
    },
    /// Takes the last change back.
    Undo,
    /// Makes the last change that was taken back again.
    Redo,
    /// Plays another session, or this one as its file is now: nodes of equal names go on.
    Load {
        /// The file; without it the session's own.
        #[serde(default)]
        file: Option<PathBuf>,
    },
    /// Writes the session as it is now.
    Save {
        /// The file; without it the session's own. Another one that is there is not overwritten.
        #[serde(default)]
        file: Option<PathBuf>,
    },
    /// Puts nodes of a session of cells into a cell of their own.
    AddCell {
        /// Its name.
        cell: String,
        /// Its nodes.
        nodes: Vec<String>,
        /// Its other keys, as in a session.
        #[serde(default)]
        settings: BTreeMap<String, Value>,
    },
    /// Ends a cell: its nodes play with the rest of the session.
    RemoveCell {
        /// The cell.
        cell: String,
    },
    /// Gives a cell other cores.
    ResizeCell {
        /// The cell.
        cell: String,
        /// Numbers of the cores; none for all.
        cores: Vec<usize>,
    },
    /// Stops a cell: its nodes are silent and cost nothing.
    StopCell {
        /// The cell.
        cell: String,
    },
    /// Starts a cell that was stopped.
    StartCell {
        /// The cell.
        cell: String,
    },
    /// Asks for something; the reply has it as `data`.
    Query {
        /// The question.
        what: Query,
    },
    /// Asks for messages from now on.
    Subscribe {
        /// The topics. None ends the subscription.
        topics: Vec<Topic>,
        /// Output ports of audio that are measured for `meters`, `loudness` and `spectrum`: at most 64.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ports: Vec<String>,
        /// Interval of those that are sent regularly, in milliseconds: 10 to 60000.
        #[serde(default = "default_interval")]
        every_ms: u32,
    },
}

impl Command {
    /// The frame at which it takes effect, for those that take one; 0 is the next block.
    pub(crate) fn frame_mut(&mut self) -> Option<&mut u64> {
        match self {
            Self::Set { at, .. }
            | Self::Value { at, .. }
            | Self::Midi { at, .. }
            | Self::Recall { at, .. }
            | Self::LoadPreset { at, .. }
            | Self::Start { at }
            | Self::Stop { at }
            | Self::Locate { at, .. }
            | Self::Loop { at, .. }
            | Self::Tempo { at, .. } => Some(at),
            _ => None,
        }
    }
}

/// A position of the piece.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PositionArg {
    /// A number, in the unit that stands with it.
    Number(f64),
    /// Bar and beat, both counted from 1 (`17.1`), seconds (`12.5s`) or frames (`48000`).
    Text(String),
}

/// The unit of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionUnit {
    /// Seconds from the beginning of the piece.
    #[default]
    Seconds,
    /// Beats from the beginning of the piece.
    Beats,
    /// Frames from the beginning of the piece.
    Frames,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Query {
    /// Nodes with ports and parameters, and edges.
    Graph,
    /// All kinds with ports and parameters.
    Kinds,
    /// Times of the last cycles, workers, position.
    Load,
    /// Missed and abandoned cycles, late results, xruns, quarantined nodes.
    Dropouts,
    /// Meters: all gauges by name.
    Meters,
    /// Position, tempo and state of the transport.
    Transport,
    /// Names of the snapshots.
    Snapshots,
    /// Names of the presets in the session's folder.
    Presets,
    /// The schedule that plays, its changes while it played and why, and figures of the plan.
    Schedule,
    /// The cells with their states, loads, lost blocks and restarts.
    Cells,
}

/// Subject of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Topic {
    /// The gauges, and peak and root mean square of the ports, at each interval.
    Meters,
    /// Loudness of the ports after EBU R 128, at each interval.
    Loudness,
    /// Levels of the ports in bands of a third of an octave, at each interval.
    Spectrum,
    /// The last waveform of the ports, which begins where the first channel rises through zero, at each interval.
    Scope,
    /// Load and position, at each interval.
    Load,
    /// Position, tempo and state of the transport, at each interval.
    Transport,
    /// Dropouts, whenever a figure has changed.
    Misses,
    /// The commands that changed the graph, when they were carried out.
    Changes,
}

/// Commands that take effect together, from one block on, or not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Any value; the reply has the same.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// The commands in their order.
    pub commands: Vec<Command>,
}

/// The answer to one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// That of the request.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub id: Value,
    /// True if every command was carried out.
    pub ok: bool,
    /// Absolute frame from which on the changes are heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// Answers of the commands that have one, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Value>,
    /// Reason why nothing was changed. The graph that was plays on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of the command that caused the error, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<usize>,
}

fn yes() -> bool {
    true
}

fn is_zero(ms: &f64) -> bool {
    *ms == 0.0
}

fn is_first(frame: &u64) -> bool {
    *frame == 0
}

fn default_interval() -> u32 {
    100
}
