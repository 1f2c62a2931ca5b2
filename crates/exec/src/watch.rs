//! A look at the workers from outside: which step has not returned for too long.
//!
//! Audio threads only say which step they run (one store). A thread that has time looks every few milliseconds; where it
//! sees the same step of the same cycle for longer than the watchdog allows, it accuses it. The host quarantines accused
//! steps at the end of the cycle that they held up.

use crate::hand::{NONE, Seat, Seats, step_of};
use crate::stage::{Act, Stage};
use graph::NodeId;
use rt::pad::CachePadded;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// See the module.
pub struct Watchdog {
    seats: Seats,
    nodes: Arc<[Option<NodeId>]>,
    seen: Vec<Option<Seen>>,
}

#[derive(Clone, Copy)]
struct Seen {
    step: u32,
    cycle: u32,
    since: Instant,
    accused: bool,
}

/// A step that has not returned for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckStep {
    /// On which worker; 0 is the callback thread.
    pub worker: usize,
    /// Whose step; `None` for a loop, and for what only hands on what a node gives or hears.
    pub node: Option<NodeId>,
}

impl Watchdog {
    /// Looks once, and accuses what has run for longer than `limit`. Gives what it accuses for the first time.
    ///
    /// Real-time: setup.
    pub fn find_stuck(&mut self, limit: Duration) -> Vec<StuckStep> {
        let now = Instant::now();
        let mut stuck = Vec::new();
        for (worker, (seat, seen)) in self.seats.iter().zip(&mut self.seen).enumerate() {
            *seen = look_at(seat, *seen, now);
            let Some(seen) = seen.as_mut().filter(|s| !s.accused) else {
                continue;
            };
            if now - seen.since > limit {
                seen.accused = true;
                // Relaxed: the number is all there is. A step that has just returned is accused too late: the host
                // finds another one current, or the cycle over, and looks at it all the same; it did take too long.
                seat.accused.store(seen.step + 1, Ordering::Relaxed);
                let node = self.nodes[seen.step as usize];
                stuck.push(StuckStep { worker, node });
            }
        }
        stuck
    }
}

fn look_at(seat: &Seat, seen: Option<Seen>, now: Instant) -> Option<Seen> {
    // Relaxed: two numbers to look at; torn between two cycles they only start the clock anew.
    let step = seat.current.load(Ordering::Relaxed);
    let cycle = seat.cycle.load(Ordering::Relaxed);
    if step == NONE {
        return None;
    }
    let same = seen.filter(|s| (s.step, s.cycle) == (step, cycle));
    Some(same.unwrap_or(Seen {
        step,
        cycle,
        since: now,
        accused: false,
    }))
}

impl Stage {
    pub(crate) fn watch(&self, seats: &Seats) -> Watchdog {
        Watchdog {
            seen: vec![None; seats.len()],
            seats: seats.clone(),
            // What only hands sound on has lost its core for a while: no node is to be blamed for that.
            nodes: (self.steps.iter())
                .map(|t| t.rare.node.filter(|_| t.act.is_own()))
                .collect(),
        }
    }

    /// Whether workers that are still in steps may be left behind there while another executor plays: they are in
    /// processors, which can be left out, and read no line that others write. The executor's own steps (a copy, a loop's
    /// rounds) have only lost their core for a while.
    pub(crate) fn can_be_left(&self, seats: &[CachePadded<Seat>]) -> bool {
        seats.iter().filter_map(|seat| step_of(seat)).all(|step| {
            let step = &self.steps[step as usize];
            matches!(step.act, Act::Process(_)) && !step.rare.reads_line
        })
    }

    /// Marks the processors of the accused steps as nobody's: the next executor plays without them. The steps themselves
    /// may belong to workers that are stuck in them.
    pub(crate) fn disown_accused(&self, seats: &[CachePadded<Seat>]) {
        for seat in seats {
            // Relaxed: as in `look`.
            let accused = seat.accused.swap(0, Ordering::Relaxed);
            if accused == 0 {
                continue;
            }
            self.disown(accused - 1);
        }
    }

    /// The same for one step.
    pub(crate) fn disown(&self, step: u32) {
        let members = self.members(&self.steps[step as usize]).iter();
        for resident in members.filter_map(|t| t.rare.resident.as_ref()) {
            if resident.kill() {
                // Relaxed: only a count.
                self.troubles.faults.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Takes note of processors that died in another executor's hands since this one was bound.
    ///
    /// # Safety
    ///
    /// Nobody has a step of this stage.
    pub(crate) unsafe fn look_who_died(&self) {
        for step in self.steps.iter().chain(&self.inner) {
            if step.rare.resident.as_ref().is_some_and(|r| r.is_dead()) {
                // SAFETY: the caller's promise.
                unsafe { (*step.own.get()).dead = true };
            }
        }
    }

    /// Quarantines the steps that were accused.
    ///
    /// # Safety
    ///
    /// Nobody has a step of this stage.
    pub(crate) unsafe fn bury_accused(&self, seats: &[CachePadded<Seat>]) {
        for seat in seats {
            // Relaxed, both: as in `look`. The exchange is for the rare case: a line is not written for nothing.
            if seat.accused.load(Ordering::Relaxed) != 0 {
                let accused = seat.accused.swap(0, Ordering::Relaxed);
                self.bury(&self.steps[accused as usize - 1]);
            }
        }
    }
}
