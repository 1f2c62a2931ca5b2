//! Second pass: members become turns, and who must wait for whom.
//!
//! A delay is two turns, read and write. Where its shortest time is no shorter than the block they are independent;
//! elsewhere the read waits for the write, and a cycle that this closes is for the next pass to cut.

use crate::arrows::Arrows;
use crate::wiring::{Part, Wiring};
use crate::{Line, Options};

/// What a turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Runs the member's processor.
    Run,
    /// The same for a delay, from its line.
    Read(Line),
    /// A delay's other half.
    Write(Line),
    /// A sink's.
    Keep,
    /// A muted member's.
    Mute,
}

/// One thing to do: what becomes a step of the plan or of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) member: u32,
    pub(crate) act: Act,
}

/// All turns, by member; a delay's read comes before its write.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) all: Vec<Turn>,
    /// The first turn of each member: the one that has its outputs.
    pub(crate) first: Vec<u32>,
    /// Who waits for whom: (before, after).
    pub(crate) waits: Vec<(u32, u32)>,
    /// The pairs of `waits` that are only there because a delay is shorter than the block, with the delay's least.
    pub(crate) short: Vec<Short>,
}

/// A delay shorter than the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    pub(crate) write: u32,
    pub(crate) read: u32,
    pub(crate) least: units::Frames,
}

impl Turns {
    /// The turn that has the inputs of `member`.
    pub(crate) fn taking(&self, member: u32) -> u32 {
        let first = self.first[member as usize];
        first + u32::from(matches!(self.all[first as usize].act, Act::Read(_)))
    }

    /// The turn that has the outputs of `member`.
    pub(crate) fn giving(&self, member: u32) -> u32 {
        self.first[member as usize]
    }

    /// The graph of all turns.
    pub(crate) fn arrows(&self) -> Arrows {
        Arrows::new(self.all.len(), self.waits.clone())
    }
}

/// Splits members into turns.
pub(crate) fn split(wiring: &Wiring<'_>, options: &Options) -> Turns {
    let mut turns = Turns {
        all: Vec::with_capacity(wiring.members.len()),
        first: Vec::with_capacity(wiring.members.len()),
        waits: Vec::with_capacity(wiring.wires.len()),
        short: Vec::new(),
    };
    for (index, member) in wiring.members.iter().enumerate() {
        let first = turns.all.len() as u32;
        turns.first.push(first);
        let mut add = |act| {
            turns.all.push(Turn {
                member: index as u32,
                act,
            });
        };
        match member.part {
            Part::Plain => add(Act::Run),
            Part::Sink { .. } => add(Act::Keep),
            Part::Mute => add(Act::Mute),
            Part::Delay(line) => {
                add(Act::Read(line));
                add(Act::Write(line));
                if line.least < options.block {
                    turns.waits.push((first + 1, first));
                    turns.short.push(Short {
                        write: first + 1,
                        read: first,
                        least: line.least,
                    });
                }
            }
        }
    }
    for wire in &wiring.wires {
        let pair = (turns.giving(wire.from), turns.taking(wire.to));
        turns.waits.push(pair);
    }
    turns
}
