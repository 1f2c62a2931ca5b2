//! Second pass: members become turns, and who must wait for whom.
//!
//! A delay is two turns, read and write. Where its shortest time is no shorter than the block they are independent;
//! elsewhere the read waits for the write, and a cycle that this closes is for the next pass to cut.

use crate::wiring::{Part, Wire, Wiring};
use crate::{DelayLine, PlanOptions};
use graph::Adjacency;
use std::collections::HashMap;

/// What a turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Runs the member's processor.
    Run,
    /// The same for a delay, from its line.
    Read(DelayLine),
    /// A delay's other half.
    Write(DelayLine),
    /// A sink's.
    Keep,
    /// A muted member's.
    Mute,
    /// Hands one output of the member on to a later stage: an index into [`Turns::relays`].
    Send(u32),
    /// Takes it up there.
    Receive(u32),
    /// Makes up for latency: an index into [`Wiring::aligners`].
    Align(u32),
}

/// One thing to do: what becomes a step of the plan or of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) member: u32,
    pub(crate) act: Act,
    /// The stage of a pipeline that it is in: by so many cycles it lags.
    pub(crate) lag: u32,
    /// Which copy of its member it runs; 0 is the original.
    pub(crate) copy: u16,
}

/// One output that is heard in a later stage than it is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Relay {
    pub(crate) member: u32,
    pub(crate) output: u16,
    /// In which stage it is heard.
    pub(crate) stage: u32,
    pub(crate) send: u32,
    pub(crate) receive: u32,
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
    /// What crosses from stage to stage, sorted.
    pub(crate) relays: Vec<Relay>,
    /// The turns of copies, behind all others: (member, turn), sorted.
    pub(crate) copies: Vec<(u32, u32)>,
    /// By turn and member that it hears: the copy's turn that it hears, where that is not the original.
    pub(crate) heard: HashMap<(u32, u32), u32>,
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

    /// All turns that have the inputs of `member`: of the original and of every copy.
    pub(crate) fn all_taking(&self, member: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.copies.partition_point(|(m, _)| *m < member);
        let copies = self.copies[from..].iter();
        let copies = copies.take_while(move |(m, _)| *m == member);
        std::iter::once(self.taking(member)).chain(copies.map(|(_, turn)| *turn))
    }

    /// Where `turn` finds what a wire to it carries: a turn, and which of its outputs.
    pub(crate) fn source(&self, turn: u32, wire: &Wire) -> (u32, u16) {
        if let Some(copy) = self.heard.get(&(turn, wire.from)) {
            return (*copy, wire.output);
        }
        let giving = self.giving(wire.from);
        let stage = self.all[self.taking(wire.to) as usize].lag;
        if self.all[giving as usize].lag == stage {
            return (giving, wire.output);
        }
        let key = (wire.from, wire.output, stage);
        let key_of = |r: &Relay| (r.member, r.output, r.stage);
        let at = self.relays.binary_search_by_key(&key, key_of);
        let at = at.expect("every wire between stages has a relay");
        (self.relays[at].receive, 0)
    }

    /// The graph of all turns.
    pub(crate) fn arrows(&self) -> Adjacency {
        Adjacency::new(self.all.len(), self.waits.clone())
    }
}

/// Splits members into turns.
pub(crate) fn split(wiring: &Wiring<'_>, options: &PlanOptions) -> Turns {
    let mut turns = Turns {
        all: Vec::with_capacity(wiring.members.len()),
        first: Vec::with_capacity(wiring.members.len()),
        waits: Vec::with_capacity(wiring.wires.len()),
        short: Vec::new(),
        relays: Vec::new(),
        copies: Vec::new(),
        heard: HashMap::new(),
    };
    for (index, member) in wiring.members.iter().enumerate() {
        let first = turns.all.len() as u32;
        turns.first.push(first);
        let mut add = |act| {
            turns.all.push(Turn {
                member: index as u32,
                act,
                lag: 0,
                copy: 0,
            });
        };
        match member.part {
            Part::Plain => add(Act::Run),
            Part::Sink { .. } => add(Act::Keep),
            Part::Mute => add(Act::Mute),
            Part::Align(aligner) => add(Act::Align(aligner)),
            Part::Delay(line) => {
                add(Act::Read(line));
                add(Act::Write(line));
                if line.min < options.block {
                    turns.waits.push((first + 1, first));
                    turns.short.push(Short {
                        write: first + 1,
                        read: first,
                        least: line.min,
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
