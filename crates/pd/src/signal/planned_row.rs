//! [`ChangedRow`]: signals that were put in order anew while the old ones compute.
//!
//! Another thread makes the rows while the old ones go on; it touches no object that computes. Between two blocks the audio thread
//! exchanges the objects, one pointer after the other, and what is old goes back to be freed.

use super::moves::Moves;
use super::row::Row;
use super::touched::Touched;

/// A row of all signals, put in order anew, that does not compute yet.
pub(crate) struct ChangedRow {
    pub(super) row: Option<Row>,
    pub(super) moves: Moves,
    pub(super) touched: Touched,
}

impl ChangedRow {
    /// Exchanges the row for the one that computed before.
    ///
    /// Real-time: hot.
    pub(crate) fn swap_row(&mut self, row: &mut Option<Row>) {
        std::mem::swap(&mut self.row, row);
    }
}
