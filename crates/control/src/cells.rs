//! [`CellHost`]: the cells of a session, for a program that plays parts of it in processes of their own.
//!
//! A session of cells takes the commands of cells, each alone in its request. What changes nodes and edges changes the whole graph of
//! the session: the host cuts it anew, and starts other processes for the cells whose parts are others then.
//!
//! Commands are looked up in the whole graph of the session. What is for a node inside a cell goes through the host, within
//! the transaction of the engine: all of a request is heard with one block.

use crate::history::KeptHistory;
use crate::{Command, ControlError, Query};
use engine::{Engine, EngineError, RampLaw, WordsFate};
use graph::{Edit, Graph, NodeId, ParamValue};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use text::{Section, Session};
use units::Frames;

/// Name of the sections of cells.
pub(crate) const CELL_SECTION: &str = "cell";

/// Outputs inside cells, for meters. They are named as `node.port`.
pub trait CellTaps {
    /// Returns true if the output stays inside a cell: the engine has no port of that name, or one that is silent.
    ///
    /// Real-time: setup.
    fn stays_inside(&self, port: &str) -> bool;

    /// Keeps places for outputs that are measured as long as the session plays, as far as they stay inside cells.
    ///
    /// # Errors
    ///
    /// As for [`check_taps`](Self::check_taps).
    ///
    /// Real-time: setup.
    fn hold_taps(&mut self, ports: &[&str]) -> Result<(), String>;

    /// Checks whether all of these can be measured beside those that are held. Some of them stay inside cells.
    ///
    /// # Errors
    ///
    /// They are too many, or have too many channels.
    ///
    /// Real-time: setup.
    fn check_taps(&self, ports: &[&str]) -> Result<(), String>;

    /// Measures an output that stays inside a cell, as long as the value lives.
    ///
    /// # Errors
    ///
    /// There is no such output, or there are too many.
    ///
    /// Real-time: setup.
    fn add_tap(&mut self, port: &str) -> Result<Box<dyn CellTap>, String>;
}

/// The outputs inside cells, if the session has cells.
pub type TapHost<'a> = Option<&'a mut (dyn CellTaps + 'static)>;

/// An output inside a cell that is measured.
pub trait CellTap {
    /// Passes the number of channels and the frames that have come to `read`, channels side by side. Nothing comes while its cell
    /// does not play.
    ///
    /// Real-time: setup.
    fn read(&mut self, read: &mut dyn FnMut(usize, &[f32]));
}

/// The cells of a session that plays.
pub trait CellHost: CellTaps {
    /// Begins to carry out a command of cells.
    ///
    /// # Errors
    ///
    /// The reason for which nothing changes.
    ///
    /// Real-time: setup.
    fn begin(&mut self, command: &Command) -> Result<(), String>;

    /// The answer to the command that was begun, with the frame from which on it is heard, once it is carried out.
    ///
    /// Real-time: setup.
    fn poll(&mut self, engine: &mut Engine) -> Option<Result<(Value, Option<u64>), String>>;

    /// Begins to change nodes and edges of the whole graph. [`Self::poll`] gives what has become of it.
    ///
    /// # Errors
    ///
    /// The reason for which nothing changes.
    ///
    /// Real-time: setup.
    fn begin_edit(&mut self, goal: EditGoal) -> Result<(), String>;

    /// The sections of all cells, if they are others than those of the session's file.
    ///
    /// Real-time: setup.
    fn sections(&self) -> Option<Vec<Section>>;

    /// The answer to the query for cells.
    ///
    /// Real-time: setup.
    fn query(&self) -> Value;

    /// The whole graph of the session, with the values that were set.
    ///
    /// Real-time: setup.
    fn graph(&self) -> Graph;

    /// Returns true if a node of the whole graph is in a cell.
    ///
    /// Real-time: setup.
    fn is_inside(&self, node: NodeId) -> bool;

    /// Name of a node of the whole graph. The engine's graph has nodes that were added while it played under other numbers.
    ///
    /// Real-time: setup.
    fn name(&self, node: NodeId) -> Option<String>;

    /// Sends an event to a node in a cell, at absolute frame `at` or with the next block.
    ///
    /// # Errors
    ///
    /// As the engine's own methods for other nodes.
    ///
    /// Real-time: setup.
    fn send(
        &mut self,
        engine: &mut Engine,
        node: NodeId,
        event: InsideEvent<'_>,
        at: u64,
    ) -> Result<(), EngineError>;

    /// Checks whether all of these messages in words can be sent to nodes in cells.
    ///
    /// # Errors
    ///
    /// As [`Engine::check_words`].
    ///
    /// Real-time: setup.
    fn check_words(&self, messages: &[(NodeId, &str)]) -> Result<(), EngineError>;

    /// Sends a message in words to a node in a cell. Gives its number.
    ///
    /// # Errors
    ///
    /// As [`Engine::send_words`].
    ///
    /// Real-time: setup.
    fn send_words(&mut self, node: NodeId, text: &str) -> Result<u32, EngineError>;

    /// The fate of the message of this number to a node in a cell, in frames of the engine. One that its cell has lost waits for ever.
    ///
    /// Real-time: setup.
    fn words_fate(&self, node: NodeId, number: u32) -> WordsFate;

    /// Keeps the text of all snapshots for a next supervisor.
    ///
    /// Real-time: setup.
    fn note_snapshots(&mut self, text: &str);

    /// The text that [`note_snapshots`](Self::note_snapshots) was given last, also by a supervisor before.
    ///
    /// Real-time: setup.
    fn kept_snapshots(&self) -> Option<String>;

    /// Keeps the steps of the history for a next supervisor: these, and no others.
    ///
    /// Real-time: setup.
    fn note_history(&mut self, history: &KeptHistory);

    /// Steps that [`note_history`](Self::note_history) was told last by a supervisor before.
    ///
    /// Real-time: setup.
    fn kept_history(&self) -> KeptHistory;

    /// A whole graph in words that outlive this process.
    ///
    /// Real-time: setup.
    fn write_graph(&self, graph: &Graph) -> String;

    /// The graph in such words, with the numbers of its nodes.
    ///
    /// # Errors
    ///
    /// They are none of a graph.
    ///
    /// Real-time: setup.
    fn read_graph(&self, words: &str) -> Result<Graph, String>;

    /// The newest values of the meters in cells, by node and name.
    ///
    /// Real-time: setup.
    fn gauges(&self) -> BTreeMap<String, f32>;

    /// Notes the new value of a parameter of a node in no cell.
    ///
    /// Real-time: setup.
    fn note_param(&mut self, node: NodeId, name: &str, value: &ParamValue);

    /// Notes what the session's file holds by now: it was written, or read again.
    ///
    /// Real-time: setup.
    fn note_filed(&mut self, file: &Path, session: &Session);
}

/// The whole graph as it is to become.
#[derive(Clone, Debug)]
pub enum EditGoal {
    /// These changes are made to it.
    Edits(Vec<Edit>),
    /// It becomes this one: what has the same name stays.
    Graph(Box<Graph>),
    /// These changes are made to it, and the cells have the nodes that these sections give them.
    Session(Vec<Edit>, Vec<Section>),
}

/// Event for a node in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InsideEvent<'a> {
    /// A parameter moves to a value, in so many frames.
    Param(&'a str, f32, (Frames, RampLaw)),
    /// A number for an event or control input.
    Value(&'a str, f32),
    /// A MIDI channel message for an event input.
    Midi(&'a str, [u8; 3]),
}

/// The host, if the session has cells.
pub(crate) type Host<'a> = Option<&'a mut (dyn CellHost + 'static)>;

/// The engine's number of a node in no cell.
pub(crate) fn place(node: NodeId, engine: &Engine, cells: &Host<'_>) -> NodeId {
    let name = cells.as_ref().and_then(|cells| cells.name(node));
    let there = name.and_then(|name| engine.graph().find(&name));
    there.unwrap_or(node)
}

/// Sets parameters with the next block, those of nodes in cells too. To be called within a transaction of the engine.
pub(crate) fn set_params(
    edits: Vec<Edit>,
    engine: &mut Engine,
    cells: &mut Host<'_>,
) -> Result<(), EngineError> {
    let Some(cells) = cells else {
        return match edits.is_empty() {
            true => Ok(()),
            false => engine.edit_held(edits).map(|_| ()),
        };
    };
    let is_inside = |edit: &Edit| matches!(edit, Edit::Set(id, ..) if cells.is_inside(*id));
    let (inside, outside): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(is_inside);
    if !outside.is_empty() {
        let host: Host<'_> = Some(&mut **cells);
        let placed = outside.iter().cloned().map(|edit| match edit {
            Edit::Set(id, name, value) => Edit::Set(place(id, engine, &host), name, value),
            edit => edit,
        });
        let placed: Vec<Edit> = placed.collect();
        engine.edit_held(placed)?;
    }
    for edit in &outside {
        if let Edit::Set(id, name, value) = edit {
            cells.note_param(*id, name, value);
        }
    }
    for edit in &inside {
        if let Edit::Set(id, name, value) = edit {
            let ParamValue::Number(value) = value else {
                return Err(EngineError::NoParam(name.clone()));
            };
            let at_once = (Frames(0), RampLaw::Linear);
            let event = InsideEvent::Param(name, *value as f32, at_once);
            cells.send(engine, *id, event, 0)?;
        }
    }
    Ok(())
}

/// Returns true for a command of cells.
pub(crate) fn is_cell_command(command: &Command) -> bool {
    matches!(
        command,
        Command::AddCell { .. }
            | Command::RemoveCell { .. }
            | Command::ResizeCell { .. }
            | Command::StopCell { .. }
            | Command::StartCell { .. }
    )
}

/// Refuses what a session cannot do with cells, or without.
pub(crate) fn check(command: &Command, has_cells: bool) -> Result<(), ControlError> {
    let asks = matches!(command, Command::Query { what: Query::Cells });
    match has_cells {
        true if is_cell_command(command) => Err(ControlError::AloneCells),
        true if matches!(command, Command::Load { .. }) => Err(ControlError::WithCells),
        false if asks || is_cell_command(command) => Err(ControlError::NoCells),
        _ => Ok(()),
    }
}
