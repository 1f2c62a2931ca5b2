//! Messages of blocks whose signals wait: a patch that plays in long blocks runs those of several of Pd's blocks first.
//!
//! ```text
//!   block after block   messages signals   messages signals   messages signals
//!   early               messages messages messages            signals signals signals
//! ```
//!
//! An object of signals that takes words early keeps them until the signals of their block are computed ([`Object::takes_early`]). In front of
//! one that does not, the messages stop: the signals of the blocks before are computed, then the rest of the tick runs.
//!
//! [`Object::takes_early`]: super::object::Object::takes_early

use super::delivery::MAX_DEPTH;
use super::early_message::{EarlyMessage, EarlyWords};
use super::machine::{MAX_MESSAGES, Machine};
use super::slot::ObjectSlot;
use super::wire::{ObjectId, Wire};
use super::work::Work;

/// Result of running the messages of a tick early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlyTick {
    /// There were none.
    Quiet,
    /// All have run.
    Done,
    /// They wait for the signals of the blocks before, from the first on or from one of them on: [`Machine::tick`] runs the rest.
    Waits,
}

/// Objects of signals that take words early in one tick, at most.
const MAX_TAKERS: usize = 1024;

/// A piece of work on its way.
enum Next {
    /// To nothing of signals.
    Control,
    /// Words along a connection to an object of signals.
    Words(Wire, EarlyWords),
    /// Anything else for such an object.
    Other,
}

impl Machine {
    /// Makes room for messages that run early.
    ///
    /// Real-time: setup.
    pub(crate) fn allow_early(&mut self) {
        self.early.takers.reserve(MAX_TAKERS);
    }

    /// Returns true while a message of the tick waits for the signals before it.
    #[inline]
    pub(crate) fn waits_in_tick(&self) -> bool {
        self.early.end.is_some()
    }

    /// Returns true if there is room for such.
    fn allows_early(&self) -> bool {
        self.early.takers.capacity() > 0
    }

    /// Returns true if clocks alone send messages.
    fn is_alone(&self) -> bool {
        let globals = &self.globals;
        globals.net.is_empty()
            && globals.children.is_empty()
            && !(globals.jobs.is_deferred && self.is_short_of_symbols())
    }

    /// Returns true if the next tick may be run early: `may_run` tells if messages may run then.
    ///
    /// Real-time: hot.
    pub(crate) fn may_tick_early(&self, may_run: bool) -> bool {
        let end = self.globals.clocks.now() + self.tick;
        let may_run = may_run && self.allows_early() && !self.patches.are_several();
        self.is_alone() && (may_run || self.globals.clocks.rest_until(end))
    }

    /// Runs the messages of a tick, whose number is `block`, before the signals of the blocks before it are computed; where they may not run, a
    /// tick without messages passes. No clock of an object of signals is due in it that these have yet to set.
    ///
    /// Real-time: as [`Machine::tick`].
    pub(crate) fn tick_early(&mut self, block: u64, may_run: bool) -> EarlyTick {
        if !self.may_tick_early(may_run) {
            return EarlyTick::Waits;
        }
        self.early.takers.clear();
        let end = self.globals.clocks.now() + self.tick;
        if self.globals.clocks.rest_until(end) {
            self.globals.clocks.advance_to(end);
            return EarlyTick::Quiet;
        }
        while let Some(due) = self.globals.clocks.first_before(end) {
            let is_control = !self.is_signal(due.object);
            if is_control && let Some(due) = self.globals.clocks.take_before(end) {
                self.call(due.object, 0, |object, context| {
                    object.clock(due.slot, context);
                });
            }
            if !is_control || !self.run_early(block) {
                self.early.end = Some(end);
                return EarlyTick::Waits;
            }
            if self.left == 0 {
                break;
            }
        }
        self.globals.clocks.advance_to(end);
        self.left = MAX_MESSAGES;
        EarlyTick::Done
    }

    /// Works until no message waits, or until one waits for signals; false then.
    fn run_early(&mut self, block: u64) -> bool {
        while !self.stack.is_empty() {
            if self.left == 0 {
                self.leave_rest();
                return true;
            }
            match self.next() {
                Next::Control => self.left -= u32::from(self.step()),
                Next::Words(wire, words) if self.give_early(block, wire, words) => {
                    self.pass_connection();
                    self.left -= 1;
                }
                Next::Words(..) | Next::Other => return false,
            }
        }
        self.values.clear();
        true
    }

    /// The piece of work on top of the stack, as far as signals are concerned.
    fn next(&self) -> Next {
        let Some(top) = self.stack.last() else {
            return Next::Control;
        };
        let wire = |object: ObjectId, outlet: u32, next: u32| {
            let wires = self.wires[object.0 as usize].get(outlet as usize)?;
            let wire = *wires.get(next as usize)?;
            self.is_signal(wire.object).then_some(wire)
        };
        let found = match top.work {
            Work::Number {
                object,
                outlet,
                next,
                number,
            } => wire(object, outlet, next).map(|wire| (wire, Some(EarlyWords::One(number)))),
            Work::Outlet {
                object,
                outlet,
                next,
                message,
            } => wire(object, outlet, next).map(|wire| {
                let values = &self.values[message.from as usize..message.to as usize];
                (wire, EarlyWords::of(message, values))
            }),
            Work::Receivers { name, passed, .. } => {
                let next = self.globals.receivers.next(name, passed);
                return Self::other(next.is_some_and(|(object, _)| self.is_signal(object)));
            }
            Work::Object { object, .. }
            | Work::Move { object, .. }
            | Work::Load { object }
            | Work::Resume { object, .. } => return Self::other(self.is_signal(object)),
        };
        match found {
            None => Next::Control,
            Some((wire, Some(words))) if top.depth <= MAX_DEPTH => Next::Words(wire, words),
            Some(_) => Next::Other,
        }
    }

    fn other(is_signal: bool) -> Next {
        match is_signal {
            true => Next::Other,
            false => Next::Control,
        }
    }

    fn is_signal(&self, id: ObjectId) -> bool {
        matches!(self.objects[id.0 as usize], ObjectSlot::Signal(_))
    }

    /// Lets an object of signals keep words until its block; false if it does not.
    fn give_early(&mut self, block: u64, wire: Wire, words: EarlyWords) -> bool {
        let ObjectSlot::Signal(place) = &self.objects[wire.object.0 as usize] else {
            return false;
        };
        let message = EarlyMessage {
            block,
            ms: self.globals.clocks.ms_since(0.0),
            inlet: wire.inlet as usize,
            words,
        };
        let takers = &mut self.early.takers;
        let is_taken = takers.len() < takers.capacity() && place.write().keep_early(message);
        if is_taken {
            takers.push(wire.object);
        }
        is_taken
    }

    /// Goes on to the next connection of the work on top of the stack.
    fn pass_connection(&mut self) {
        let Some(top) = self.stack.last_mut() else {
            return;
        };
        self.values.truncate(top.keep as usize);
        let Some((object, outlet, next)) = top.work.next_connection() else {
            return;
        };
        *next += 1;
        let wires = self.wires[object.0 as usize].get(outlet);
        let is_last = wires.is_none_or(|wires| wires.len() <= *next as usize);
        if is_last && !self.connects {
            self.stack.truncate(self.stack.len() - 1);
        }
    }

    /// Goes on with a tick of which a message has waited, and gives its end. The signals of all blocks before were computed.
    #[cold]
    pub(super) fn end_wait(&mut self) -> Option<f64> {
        let end = self.early.end.take()?;
        for id in self.early.takers.drain(..) {
            if let ObjectSlot::Signal(place) = &self.objects[id.0 as usize] {
                place.write().take_kept(u64::MAX);
            }
        }
        self.run();
        Some(end)
    }
}
