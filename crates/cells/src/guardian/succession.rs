//! [`Succession`]: what a supervisor gets from its guardian: the link, the pulse, and what the supervisor before it has left.

use super::kept::ChangeTable;
use super::link::{GuardianLink, Message, MessageKind};
use super::pulse::{Pulse, PulseWord};
use crate::checkpoint::{Checkpoint, CheckpointMemory};
use crate::isolation::end_with_parent;
use crate::raw;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use units::{Frames, Nanos};

/// Longest wait for the guardian at the begin.
const LIMIT: Duration = Duration::from_secs(10);
/// Failures in a row after which a supervisor gets no checkpoint: what it holds may be the cause.
const MAX_CONTINUED: u64 = 3;
/// Numbers of blocks of each supervisor: more than one can play.
const BLOCKS_EACH: u64 = 1 << 40;

/// A cell that plays on.
pub(crate) struct LivingCell {
    pub(crate) process: u32,
    pub(crate) file: OwnedFd,
    pub(crate) requests: OwnedFd,
    pub(crate) replies: OwnedFd,
}

/// A cell of the supervisor before.
pub(crate) struct InheritedCell {
    pub(crate) index: usize,
    /// Number of its last process.
    pub(crate) start: u32,
    /// Latency of its graph, if it is known.
    pub(crate) latency: Option<u64>,
    /// Its memory for checkpoints.
    pub(crate) state: OwnedFd,
    /// Its process, if it still runs.
    pub(crate) living: Option<LivingCell>,
}

/// Begin of a supervisor: its link to the guardian, and its predecessor.
pub struct Succession {
    pub(crate) link: GuardianLink,
    pub(crate) cells: Vec<InheritedCell>,
    pub(crate) predecessor: Predecessor,
    pub(crate) kept: ChangeTable,
}

/// The supervisor before, as far as it is known.
pub(crate) struct Predecessor {
    pub(crate) pulse: Arc<Pulse>,
    /// Supervisors that were lost, in all and in a row.
    lost: u64,
    lost_in_row: u64,
    own_state: Option<OwnedFd>,
}

/// Begins a supervisor whose guardian is the process `parent`: takes the link, which is its standard input, and ends with the
/// guardian from now on.
///
/// # Errors
///
/// The guardian has ended, or what it sends is nonsense.
///
/// Real-time: waits, on the guardian.
pub fn join_guardian(parent: i32) -> Result<Succession, String> {
    let refused = |error: io::Error| format!("no guardian: {error}");
    end_with_parent(parent).map_err(refused)?;
    let input = std::io::stdin().as_fd().try_clone_to_owned();
    let link = GuardianLink::new(input.map_err(refused)?);
    let mut cells = Vec::new();
    loop {
        let message = link.receive(LIMIT).map_err(refused)?;
        let message = message.ok_or("no guardian: it does not answer")?;
        match message.kind {
            MessageKind::Cell => cells.extend(inherited(message)),
            MessageKind::Begin => {
                let [lost, lost_in_row, has_state, has_kept, ..] = message.numbers;
                let mut files = message.files.into_iter().peekable();
                let pulse = files.next().ok_or("no guardian: it sends no pulse")?;
                let pulse = Pulse::open(&pulse).map_err(|error| error.to_string())?;
                let predecessor = Predecessor {
                    pulse: Arc::new(pulse),
                    lost,
                    lost_in_row,
                    own_state: files.next_if(|_| has_state != 0),
                };
                let kept = files.next().filter(|_| has_kept != 0);
                return Ok(Succession {
                    link,
                    cells,
                    predecessor,
                    kept: kept.map(ChangeTable::read).unwrap_or_default(),
                });
            }
            _ => return Err("no guardian: it sends nonsense".to_owned()),
        }
    }
}

/// The cell in a message.
fn inherited(message: Message) -> Option<InheritedCell> {
    let [index, start, process, latency, ..] = message.numbers;
    let mut files = message.files.into_iter();
    let mut next = || files.next();
    let state = next()?;
    let living = match process {
        0 => None,
        process => Some(LivingCell {
            process: u32::try_from(process).ok()?,
            file: next()?,
            requests: next()?,
            replies: next()?,
        }),
    };
    Some(InheritedCell {
        index: usize::try_from(index).ok()?,
        start: u32::try_from(start).ok()?,
        latency: latency.checked_sub(1),
        state,
        living,
    })
}

impl Succession {
    /// The changes that the supervisor before has kept for this one. The next call gives nothing.
    pub fn take_kept(&mut self) -> ChangeTable {
        std::mem::take(&mut self.kept)
    }

    /// Number of supervisors that were lost before this one.
    pub fn lost(&self) -> u64 {
        self.predecessor.lost
    }
}

impl Predecessor {
    /// Number of supervisors that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of the first block that this supervisor asks for.
    pub(crate) fn first_block(&self) -> u64 {
        self.lost.min(u64::from(u16::MAX)) * BLOCKS_EACH
    }

    /// The newest checkpoint of the supervisor before, if it is no likely cause.
    pub(crate) fn own_checkpoint(&mut self) -> Option<Checkpoint> {
        let file = self.own_state.take()?;
        let is_good = self.lost_in_row <= MAX_CONTINUED;
        CheckpointMemory::of(file).newest().filter(|_| is_good)
    }

    /// The frame at which playing goes on: where it would be if nothing had been lost. 0 for the first supervisor.
    pub(crate) fn position(&self, block: Frames, period: Nanos) -> u64 {
        let begin = self.pulse.get(PulseWord::Begin);
        if self.lost == 0 || begin == 0 {
            return 0;
        }
        let since = raw::now().0.saturating_sub(begin);
        // One block was played since that time.
        let missed = (since / period.0.max(1)).saturating_sub(1);
        let position = self.pulse.get(PulseWord::Position);
        position.saturating_add(missed.saturating_mul(u64::from(block.0)))
    }
}
