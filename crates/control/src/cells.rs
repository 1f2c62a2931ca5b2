//! [`CellHost`]: the cells of a session, for a program that plays parts of it in processes of their own.
//!
//! A session of cells takes the commands of cells, each alone in its request, and those that change no graph. Others would
//! change the graph of the supervisor, in which a cell is one node and which is not the session's.

use crate::{Command, ControlError, Query};
use engine::Engine;
use serde_json::Value;

/// The cells of a session that plays.
pub trait CellHost {
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

    /// The answer to the query for cells.
    ///
    /// Real-time: setup.
    fn query(&self) -> Value;
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
        true if is_cell_command(command) => Err(ControlError::Alone("a command of cells")),
        true if !keeps_graph(command) => Err(ControlError::WithCells),
        false if asks || is_cell_command(command) => Err(ControlError::NoCells),
        _ => Ok(()),
    }
}

/// Returns true for a command that leaves the graph, the transport and the session's file as they are.
fn keeps_graph(command: &Command) -> bool {
    matches!(
        command,
        Command::Set { .. }
            | Command::Value { .. }
            | Command::Midi { .. }
            | Command::Message { .. }
            | Command::Query { .. }
            | Command::Subscribe { .. }
    )
}
