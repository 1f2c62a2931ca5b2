//! [`Live`]: a node that runs, with its ends of the queues.

use crate::ends::{InEnd, OutEnd, Space, Supply};
use crate::fire::{Actor, FireStatus, InputWindows, OutputWindows};
use crate::shape::QueueId;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Nanos;

/// A node that runs.
pub(crate) struct Live {
    pub(crate) fire: Box<dyn Actor>,
    pub(crate) ins: Vec<InEnd>,
    pub(crate) outs: Vec<OutEnd>,
    /// The nodes at the other ends.
    pub(crate) neighbours: Box<[usize]>,
    pub(crate) firings: u64,
    pub(crate) has_ended: bool,
    /// Whether it has no outputs: what comes of a network comes of these.
    pub(crate) is_sink: bool,
}

/// What a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Nothing: it can fire, or end.
    No,
    /// Frames of an input.
    Needs(QueueId),
    /// Room of an output.
    Full(QueueId),
    /// Nothing ever again.
    Ended,
}

/// What came of a node's turn.
#[derive(Debug)]
pub(crate) enum Step {
    /// It fired.
    Fired,
    /// It ended just now.
    Ended,
    /// It cannot fire now.
    Held(Hold),
    /// It gave up, or panicked.
    Failed(Failure),
}

/// How a node failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Panic(String),
    Told(String),
}

/// Whether the next firing can be.
enum Chance {
    Fire,
    End,
    Held(Hold),
}

impl Live {
    /// What it waits for now.
    pub(crate) fn hold(&mut self) -> Hold {
        if self.has_ended {
            return Hold::Ended;
        }
        match self.chance() {
            Chance::Held(hold) => hold,
            Chance::Fire | Chance::End => Hold::No,
        }
    }

    /// Fires once, if it can.
    #[inline]
    pub(crate) fn step(&mut self) -> Step {
        if self.has_ended {
            return Step::Held(Hold::Ended);
        }
        match self.chance() {
            Chance::Held(hold) => Step::Held(hold),
            Chance::End => self.end(),
            Chance::Fire => self.fire(),
        }
    }

    fn chance(&mut self) -> Chance {
        let (mut waits, mut is_alive) = (None, self.ins.is_empty());
        for end in &mut self.ins {
            match end.supply() {
                Supply::Ready => is_alive |= !end.goes_round,
                Supply::Silent => {}
                Supply::Short => {
                    is_alive |= !end.goes_round;
                    waits = waits.or(Some(Hold::Needs(end.queue)));
                }
                Supply::Over => return Chance::End,
            }
        }
        let mut is_heard = self.outs.is_empty();
        for end in &mut self.outs {
            match end.space() {
                Space::Ready => is_heard = true,
                Space::Full => {
                    is_heard = true;
                    waits = waits.or(Some(Hold::Full(end.queue)));
                }
                Space::Unheard => {}
            }
        }
        match waits {
            _ if !(is_alive && is_heard) => Chance::End,
            Some(hold) => Chance::Held(hold),
            None => Chance::Fire,
        }
    }

    fn fire(&mut self) -> Step {
        let Self {
            fire, ins, outs, ..
        } = self;
        let turn = || fire.fire(&mut InputWindows(ins), &mut OutputWindows(outs));
        match catch_unwind(AssertUnwindSafe(turn)) {
            Ok(FireStatus::Continue) => {
                self.advance(usize::MAX);
                Step::Fired
            }
            Ok(FireStatus::Finished(frames)) => {
                self.advance(frames);
                self.end()
            }
            Ok(FireStatus::Failed(why)) => Step::Failed(Failure::Told(why)),
            Err(panic) => Step::Failed(Failure::Panic(words(panic))),
        }
    }

    fn advance(&mut self, frames: usize) {
        self.firings += 1;
        self.ins.iter_mut().for_each(InEnd::advance);
        self.outs.iter_mut().for_each(|end| end.advance(frames));
    }

    /// Closes its ends: the others see it.
    fn end(&mut self) -> Step {
        self.has_ended = true;
        self.ins.clear();
        self.outs.clear();
        Step::Ended
    }

    /// Waits for what it lacks.
    ///
    /// Real-time: waits, on the node at the other end, for `limit`.
    pub(crate) fn wait(&mut self, hold: Hold, limit: Nanos) {
        match hold {
            Hold::Needs(queue) => {
                if let Some(end) = self.ins.iter_mut().find(|end| end.queue == queue) {
                    end.wait(limit);
                }
            }
            Hold::Full(queue) => {
                if let Some(end) = self.outs.iter_mut().find(|end| end.queue == queue) {
                    end.wait(limit);
                }
            }
            Hold::No | Hold::Ended => {}
        }
    }
}

/// What a panic said.
fn words(panic: Box<dyn Any + Send>) -> String {
    let said = panic.downcast_ref::<&str>().map(ToString::to_string);
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    // To free it here might do anything.
    std::mem::forget(panic);
    said.unwrap_or_else(|| "it did not say why".into())
}
