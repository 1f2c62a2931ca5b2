//! [`RunningNode`]: a node that runs, with its ends of the queues.
//!
//! ```text
//!                 all inputs and outputs ready
//! wait_state ─▶ Ready ──────────────────────────▶ fire ──▶ advance the queues ──▶ Fired
//!            ─▶ ForFrames / ForRoom (of a queue)              │ the actor has finished, or an input has ended,
//!            ─▶ Ended ◀───────────────────────────────────────┘ or nobody reads its outputs any more
//! ```

use crate::actor::{Actor, FireStatus, InputWindows, OutputWindows, Windows};
use crate::run::queue_ends::{InputEnd, InputState, OutputEnd, OutputState};
use crate::topology::QueueId;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A node that runs.
pub(crate) struct RunningNode {
    pub(crate) actor: Box<dyn Actor>,
    /// Empty once the node has ended, as are `outputs`: the node at the other end sees that an end was dropped.
    pub(crate) inputs: Vec<InputEnd>,
    pub(crate) outputs: Vec<OutputEnd>,
    /// Nodes at the other ends, each once.
    pub(crate) neighbours: Box<[usize]>,
    pub(crate) firings: u64,
    pub(crate) has_ended: bool,
    /// True if it has no outputs: the network runs until its sinks have ended.
    pub(crate) is_sink: bool,
}

/// Condition that a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitState {
    /// Nothing: it can fire, or end.
    Ready,
    /// Frames of an input.
    ForFrames(QueueId),
    /// Room in an output's queue.
    ForRoom(QueueId),
    /// Nothing: it has ended.
    Ended,
}

/// Result of an attempt to fire.
#[derive(Debug)]
pub(crate) enum FireOutcome {
    /// It has fired.
    Fired,
    /// It has just ended.
    Ended,
    /// It cannot fire now.
    Blocked,
    /// Its actor failed or panicked.
    Failed(Failure),
}

/// Failure of an actor.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It panicked with this message.
    Panic(String),
    /// It returned [`FireStatus::Failed`] with this reason.
    Reported(String),
}

/// Action that the queues allow.
enum Readiness {
    Fire,
    End,
    Blocked(WaitState),
}

impl RunningNode {
    /// Condition that it waits for now.
    pub(crate) fn wait_state(&mut self) -> WaitState {
        if self.has_ended {
            return WaitState::Ended;
        }
        match self.readiness() {
            Readiness::Blocked(state) => state,
            Readiness::Fire | Readiness::End => WaitState::Ready,
        }
    }

    /// Fires once, if it can.
    #[inline]
    pub(crate) fn try_fire(&mut self) -> FireOutcome {
        if self.has_ended {
            return FireOutcome::Blocked;
        }
        match self.readiness() {
            Readiness::Blocked(_) => FireOutcome::Blocked,
            Readiness::End => self.end(),
            Readiness::Fire => self.fire(),
        }
    }

    fn readiness(&mut self) -> Readiness {
        // A source is alive by itself; other nodes are if an input from outside their cycle is.
        let (mut waits, mut is_alive) = (None, self.inputs.is_empty());
        for end in &mut self.inputs {
            match end.state() {
                InputState::Ready => is_alive |= !end.is_feedback,
                InputState::Silent => {}
                InputState::TooFew => {
                    is_alive |= !end.is_feedback;
                    waits = waits.or(Some(WaitState::ForFrames(end.queue)));
                }
                InputState::Ended => return Readiness::End,
            }
        }
        let mut has_reader = self.outputs.is_empty();
        for end in &mut self.outputs {
            match end.state() {
                OutputState::Ready => has_reader = true,
                OutputState::Full => {
                    has_reader = true;
                    waits = waits.or(Some(WaitState::ForRoom(end.queue)));
                }
                OutputState::Closed => {}
            }
        }
        match waits {
            _ if !(is_alive && has_reader) => Readiness::End,
            Some(state) => Readiness::Blocked(state),
            None => Readiness::Fire,
        }
    }

    fn fire(&mut self) -> FireOutcome {
        let Self {
            actor,
            inputs,
            outputs,
            ..
        } = self;
        let mut windows = Windows {
            inputs: InputWindows(inputs),
            outputs: OutputWindows(outputs),
        };
        let fire = || actor.fire(&mut windows);
        match catch_unwind(AssertUnwindSafe(fire)) {
            Ok(FireStatus::Continue) => {
                self.advance(usize::MAX);
                FireOutcome::Fired
            }
            Ok(FireStatus::Finished(frames)) => {
                self.advance(frames);
                self.end()
            }
            Ok(FireStatus::Failed(reason)) => FireOutcome::Failed(Failure::Reported(reason)),
            Err(panic) => FireOutcome::Failed(Failure::Panic(panic_message(panic))),
        }
    }

    /// Consumes from each input, and produces at most `frames` frames of each output.
    fn advance(&mut self, frames: usize) {
        self.firings += 1;
        self.inputs.iter_mut().for_each(InputEnd::advance);
        self.outputs.iter_mut().for_each(|end| end.advance(frames));
    }

    /// Closes its ends: its neighbours see it.
    fn end(&mut self) -> FireOutcome {
        self.has_ended = true;
        self.inputs.clear();
        self.outputs.clear();
        FireOutcome::Ended
    }
}

/// Message of a panic.
fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string);
    let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
    // Leaked: the payload's destructor might panic too.
    std::mem::forget(panic);
    message.unwrap_or_else(|| "it gave no message".into())
}
