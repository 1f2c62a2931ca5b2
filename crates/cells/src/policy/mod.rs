//! Policies: rules by which cells share cores, and what holds a cell to its rule.
//!
//! | file | holds |
//! |---|---|
//! | `windows` | [`Windows`]: the table of a time-triggered cell, and the time that it gives at least and at most |
//! | `server` | [`Server`]: budget and period of an event-triggered cell, and the account of what it has used |
//! | `threads` | all threads of a process, switched together |
//! | `enforcer` | the monitor's part: who runs now, by the clock or by the account |

pub(crate) mod enforcer;
mod server;
mod threads;
mod windows;

pub use server::Server;
pub(crate) use threads::{EDITS, place_threads};
pub use windows::{TimeWindow, Windows};

use workers::Priority;

/// Real-time priority of a cell with precedence 0, below that of the supervisor's driver.
const LOWEST_PRIORITY: u8 = 50;

/// Rule by which a cell shares its cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// With every other program, at ordinary priority.
    #[default]
    BestEffort,
    /// Not at all: no other cell may name them.
    Exclusive,
    /// In windows of time, which are its alone among cells.
    TimeTriggered(Windows),
    /// Whenever it is woken, for a share of the time at most.
    EventTriggered(Server),
}

impl Policy {
    /// Priority of the threads of a cell that plays with a deadline.
    ///
    /// Real-time: setup.
    pub fn priority(&self, precedence: u8) -> Priority {
        match self {
            Self::BestEffort => Priority::Ordinary,
            _ => Priority::RealTime(LOWEST_PRIORITY + precedence.min(9)),
        }
    }

    /// Returns true if the monitor switches the threads of such a cell while it plays.
    pub fn is_switched(&self) -> bool {
        matches!(self, Self::TimeTriggered(_) | Self::EventTriggered(_))
    }

    /// Its name in a session.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BestEffort => "best-effort",
            Self::Exclusive => "none",
            Self::TimeTriggered(_) => "time-triggered",
            Self::EventTriggered(_) => "event-triggered",
        }
    }
}
