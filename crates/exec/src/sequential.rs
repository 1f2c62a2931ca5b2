//! One worker, the plan's order: the reference that every other executor is held against.

use crate::bind::{Binding, bind};
use crate::executor::{CycleInfo, CycleResult, CycleStatus, ErrorCounts, Executor};
use crate::floor::{SharedRuntime, Turn};
use crate::hand::{Facts, Hand, Lent, Seats, seats};
use crate::stage::Stage;
use crate::watch::Watchdog;
use graph::NodeId;
use plan::TraceEvent;
use processor::Event;
use rt::ftz::FlushToZero;
use rt::progress::CycleProgress;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The plan's order, on the calling thread alone.
///
/// Real-time: setup.
pub fn sequential(binding: Binding<'_>) -> Box<dyn Executor> {
    Box::new(Sequential::new(binding))
}

struct Sequential {
    stage: Stage,
    floor: Arc<SharedRuntime>,
    name: u64,
    seats: Seats,
    progress: CycleProgress,
    /// The sinks hold the block that is to be heard.
    heard: bool,
}

impl Sequential {
    fn new(mut binding: Binding<'_>) -> Self {
        Self {
            stage: bind(&mut binding),
            name: binding.runtime.name(),
            floor: binding.runtime,
            seats: seats(1),
            progress: CycleProgress::default(),
            heard: false,
        }
    }

    fn play(&self, facts: Facts) {
        let _flush = FlushToZero::enable();
        let lent = Lent {
            stage: &self.stage,
            seat: &self.seats[0],
            floor: &self.floor,
            workers: 1,
            help_until: facts.help_until,
        };
        // SAFETY: `&mut self` in `run` and the turn make us the only worker.
        let mut hand = unsafe {
            let seat = (0, &*self.seats);
            Hand::new(
                &self.stage,
                &self.floor,
                seat,
                (&self.progress, 1),
                facts,
                &lent,
            )
        };
        hand.mark(TraceEvent::CycleBegin, 0);
        hand.mark(TraceEvent::Enter, 0);
        let mut next = 0;
        while next < self.stage.len() {
            // The loop is caught as a whole, not each step: where nothing panics it costs nothing.
            let steps = AssertUnwindSafe(|| {
                while next < self.stage.len() {
                    next += 1;
                    // SAFETY: steps stand in an order in which they may run, each once. Nobody gives the cycle up.
                    unsafe { hand.run_step_alone(next - 1) };
                }
            });
            if let Err(payload) = catch_unwind(steps) {
                std::mem::forget(payload);
                hand.recover();
            }
        }
        hand.put_down();
        hand.mark(TraceEvent::CycleEnd, 0);
        hand.use_time();
    }
}

impl Executor for Sequential {
    fn run_cycle(&mut self, now: &CycleInfo<'_>) -> CycleResult {
        let mut ran = CycleResult {
            status: CycleStatus::Refused,
            wakes: 0,
            acquisitions: 0,
        };
        self.heard = false;
        match self.floor.take_turn(self.name) {
            Turn::Refused => return ran,
            // SAFETY: nothing runs yet.
            Turn::New => unsafe { self.stage.look_who_died() },
            Turn::Ours => {}
        }
        // SAFETY: we have the turn, and nobody else has tasks.
        unsafe {
            self.stage.take_up();
            self.stage.take_device(now.inputs);
            self.stage.date_posts(now.position);
        }
        let facts = now.facts(self.floor.is_traced());
        self.play(facts);
        // SAFETY: as above.
        unsafe { self.stage.bury_accused(&self.seats) };
        self.heard = self.stage.is_heard(&facts);
        ran.status = CycleStatus::Complete;
        ran
    }

    fn latency_blocks(&self) -> u32 {
        self.stage.ahead
    }

    fn add_output(&self, channel: u16, into: &mut [f32]) {
        if self.heard {
            // SAFETY: between cycles, with the turn.
            unsafe { self.stage.add_output(channel, into) };
        }
    }

    fn push_event(&mut self, node: NodeId, event: Event) -> Result<(), Event> {
        // SAFETY: between cycles; only this executor touches its steps' own parts.
        unsafe { self.stage.post(node, event) }
    }

    fn has_node(&self, node: NodeId) -> bool {
        self.stage.knows(node)
    }

    fn try_release(&mut self) -> bool {
        self.heard = false;
        self.stage.disown_accused(&self.seats);
        self.floor.give_turn(self.name);
        true
    }

    fn error_counts(&self) -> ErrorCounts {
        self.stage.counts()
    }

    fn watchdog(&self) -> Watchdog {
        self.stage.watch(&self.seats)
    }
}

impl Drop for Sequential {
    fn drop(&mut self) {
        self.floor.give_turn(self.name);
    }
}
