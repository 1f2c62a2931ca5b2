//! [`CellEvent`]: an event in the life of a cell, and [`NewCell`]: what others get of one that is new.

use crate::inner_events::InnerText;
use crate::node::CellLink;
use crate::slots::KeptSlots;
use crate::status::CellStatus;
use std::sync::Arc;
use std::sync::mpsc;

/// Event in the life of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellEvent {
    /// It plays, as the process of this number.
    Playing {
        /// Its name.
        cell: String,
        /// Number of the process.
        process: u32,
        /// True if its nodes continue from what they held before a failure.
        is_continued: bool,
    },
    /// It plays on after the supervisor before was lost, as the process of this number.
    PlaysOn {
        /// Its name.
        cell: String,
        /// Number of the process.
        process: u32,
    },
    /// Its sound is back after a failure.
    Back {
        /// Its name.
        cell: String,
        /// Blocks that were lost in a row.
        blocks: u32,
    },
    /// Its process has ended or was ended, for this reason.
    Ended {
        /// Its name.
        cell: String,
        /// The reason.
        why: String,
    },
    /// It is started no more: it failed too often.
    GivenUp {
        /// Its name.
        cell: String,
    },
    /// The system refused what its policy needs; with the fix.
    Refused {
        /// Its name.
        cell: String,
        /// The refusal.
        what: String,
    },
}

/// A cell that was added and has not come up yet.
pub(crate) struct NewCell {
    pub(crate) link: CellLink,
    /// Messages in words for its nodes.
    pub(crate) texts: CellTexts,
    pub(crate) status: Arc<CellStatus>,
    /// Latency of its graph, or the reason why it did not come up.
    pub(crate) came: mpsc::Receiver<Result<u32, String>>,
}

/// The way of messages in words to the nodes of one cell.
pub(crate) struct CellTexts(
    pub(crate) rtrb::Producer<InnerText>,
    /// Targets of events, as its node knows them.
    pub(crate) KeptSlots,
);
