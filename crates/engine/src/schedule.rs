//! [`EventSchedule`]: events that wait on the audio thread for their frames, and ramps of parameters.
//!
//! ```text
//! ring ──▶ waiting (a heap, earliest frame first) ──▶ due in this block ──▶ executor
//!             └─ ramp begins ──▶ ramps: one value every 64 frames ───────────┘
//! ```
//!
//! The frames of a ramp's values count from its beginning, not from a block's: every block size gives the same values.

use crate::messages::{EVENTS, EventMessage, Ramp, RampLaw};
use graph::NodeId;
use processor::{Event, EventBody};
use rt::ring::mapped_vec;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Frames between two values of a ramp. Units move from one to the next in a ramp of their own.
const RAMP_STEP: u64 = 64;

/// Largest number of ramps at one time: each value looks at all of them.
pub(crate) const MAX_RAMPS: usize = 128;

/// Events and ramps that are not over; together at most [`EVENTS`].
pub(crate) struct EventSchedule {
    waiting: BinaryHeap<Reverse<Waiting>>,
    ramps: Vec<ActiveRamp>,
    /// Events that wait for a swap, in their order.
    held: Vec<EventMessage>,
    /// Number of events so far: those for one frame keep their order.
    count: u64,
}

/// An event that waits for its frame.
#[derive(Clone, Copy)]
struct Waiting {
    at: u64,
    number: u64,
    message: EventMessage,
}

/// A ramp that has begun.
#[derive(Clone, Copy)]
struct ActiveRamp {
    node: NodeId,
    event: Event,
    ramp: Ramp,
    begin: u64,
    /// Frame of its next value.
    next: u64,
}

/// Result of handing an event to the executor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was taken, or nobody will ever take it.
    Done,
    /// It must be tried again in the next block, and all that follow it.
    Later,
}

impl EventSchedule {
    /// Nothing waits. All memory is allocated.
    ///
    /// Real-time: setup.
    pub(crate) fn new() -> Self {
        Self {
            waiting: mapped_vec(EVENTS).into(),
            ramps: mapped_vec(MAX_RAMPS),
            held: mapped_vec(EVENTS),
            count: 0,
        }
    }

    /// Returns true if one more event may come.
    ///
    /// Real-time: hot.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() + self.ramps.len() + self.held.len() < EVENTS
    }

    /// Returns true if no event waits and no ramp is under way.
    ///
    /// Real-time: hot.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.ramps.is_empty() && self.held.is_empty()
    }

    /// Takes an event, for which there is room. One that takes effect with a swap waits for [`Self::release`].
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, message: EventMessage) {
        match message.after_swap {
            0 => self.insert(message),
            _ => self.held.push(message),
        }
    }

    /// Releases the events that take effect with one of the first `swaps` swaps. Only one swap is on its way at a time, so
    /// those of a later one are behind them.
    ///
    /// Real-time: hot.
    pub(crate) fn release(&mut self, swaps: u32) {
        let is_due = |message: &EventMessage| swaps.wrapping_sub(message.after_swap) < u32::MAX / 2;
        let count = self.held.iter().take_while(|it| is_due(it)).count();
        for index in 0..count {
            self.insert(self.held[index]);
        }
        self.held.drain(..count);
    }

    fn insert(&mut self, message: EventMessage) {
        let (at, number) = (message.at, self.count);
        self.count += 1;
        self.waiting.push(Reverse(Waiting {
            at,
            number,
            message,
        }));
    }

    /// Passes the events of the block of `frames` frames at `position` to `deliver`, in the order of their frames. An
    /// event whose frame has passed comes at the first frame.
    ///
    /// Real-time: hot, if `deliver` is.
    pub(crate) fn deliver(
        &mut self,
        (position, frames): (u64, u64),
        mut deliver: impl FnMut(NodeId, Event) -> Delivery,
    ) {
        let end = position + frames;
        loop {
            let waiting = self.waiting.peek().map(|Reverse(first)| first.at);
            let ramps = self.ramps.iter().enumerate();
            let ramp = ramps.min_by_key(|(_, ramp)| ramp.next);
            let ramp = ramp.map(|(index, ramp)| (index, ramp.next));
            let ramp = ramp.filter(|(_, at)| *at < end && waiting.is_none_or(|w| *at < w));
            let delivery = match (ramp, waiting.filter(|at| *at < end)) {
                (Some((index, _)), _) => self.deliver_ramp(index, position, &mut deliver),
                (None, Some(_)) => self.deliver_first(position, &mut deliver),
                (None, None) => return,
            };
            if delivery == Delivery::Later {
                return;
            }
        }
    }

    /// Delivers the first waiting event, or begins its ramp. It ends a ramp of the same parameter.
    fn deliver_first(
        &mut self,
        position: u64,
        deliver: &mut impl FnMut(NodeId, Event) -> Delivery,
    ) -> Delivery {
        let Some(Reverse(Waiting { at, message, .. })) = self.waiting.peek() else {
            return Delivery::Done;
        };
        let (
            at,
            EventMessage {
                node, event, ramp, ..
            },
        ) = ((*at).max(position), *message);
        // One more than fit: the parameter jumps to the end of its ramp.
        let ramp = ramp.filter(|_| self.ramps.len() < MAX_RAMPS);
        if ramp.is_none() {
            let frame = (at - position) as u32;
            if deliver(node, Event { frame, ..event }) == Delivery::Later {
                return Delivery::Later;
            }
        }
        self.waiting.pop();
        let is_other = |it: &ActiveRamp| (it.node, it.event.target) != (node, event.target);
        self.ramps.retain(is_other);
        if let Some(ramp) = ramp {
            let next = at + RAMP_STEP.min(ramp.frames.into());
            self.ramps.push(ActiveRamp {
                node,
                event,
                ramp,
                begin: at,
                next,
            });
        }
        Delivery::Done
    }

    /// Delivers the next value of a ramp.
    fn deliver_ramp(
        &mut self,
        index: usize,
        position: u64,
        deliver: &mut impl FnMut(NodeId, Event) -> Delivery,
    ) -> Delivery {
        let it = &mut self.ramps[index];
        let (at, end) = (it.next.max(position), it.begin + u64::from(it.ramp.frames));
        let event = Event {
            frame: (at - position) as u32,
            body: EventBody::Value(it.ramp.value(at - it.begin)),
            ..it.event
        };
        if deliver(it.node, event) == Delivery::Later {
            return Delivery::Later;
        }
        if at >= end {
            self.ramps.swap_remove(index);
        } else {
            it.next = (at + RAMP_STEP).min(end);
        }
        Delivery::Done
    }
}

impl Ramp {
    /// Value `frames` frames after its beginning.
    fn value(&self, frames: u64) -> f32 {
        if frames >= u64::from(self.frames) {
            return self.to;
        }
        let share = frames as f64 / f64::from(self.frames);
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        match self.law {
            RampLaw::Geometric if from > 0.0 && to > 0.0 => (from * (to / from).powf(share)) as f32,
            _ => (from + (to - from) * share) as f32,
        }
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::EventTarget;

    fn message(at: u64, value: f32, ramp: Option<Ramp>) -> EventMessage {
        let event = Event {
            frame: 0,
            target: EventTarget::Param(0),
            body: EventBody::Value(value),
        };
        EventMessage {
            node: NodeId(0),
            event,
            at,
            ramp,
            after_swap: 0,
        }
    }

    /// The frames and values of everything until `end`, in blocks of `block` frames.
    fn played(schedule: &mut EventSchedule, block: u64, end: u64) -> Vec<(u64, f32)> {
        let mut all = Vec::new();
        for position in (0..end).step_by(block as usize) {
            schedule.deliver((position, block), |_, event| {
                let EventBody::Value(value) = event.body else {
                    panic!("only values were sent");
                };
                assert!(u64::from(event.frame) < block);
                all.push((position + u64::from(event.frame), value));
                Delivery::Done
            });
        }
        all
    }

    #[test]
    fn an_event_comes_at_its_frame_and_a_late_one_at_once_in_any_block() {
        for block in [1, 7, 64, 1000] {
            let mut schedule = EventSchedule::new();
            for (at, value) in [(300, 3.0), (100, 1.0), (300, 4.0), (0, 0.0), (101, 2.0)] {
                schedule.push(message(at, value, None));
            }
            let expected = [(0, 0.0), (100, 1.0), (101, 2.0), (300, 3.0), (300, 4.0)];
            assert_eq!(played(&mut schedule, block, 1000), expected, "{block}");
            assert!(schedule.has_room());
        }
    }

    #[test]
    fn a_ramp_has_the_same_values_in_any_block_and_ends_with_a_later_event() {
        let ramp = Some(Ramp {
            from: 0.0,
            to: 1.0,
            frames: 256,
            law: RampLaw::Linear,
        });
        for block in [1, 48, 64, 4096] {
            let mut schedule = EventSchedule::new();
            schedule.push(message(10, 1.0, ramp));
            let expected = [(74, 0.25), (138, 0.5), (202, 0.75), (266, 1.0)];
            assert_eq!(played(&mut schedule, block, 4096), expected, "{block}");
            schedule.push(message(10, 1.0, ramp));
            schedule.push(message(150, 9.0, None));
            let expected = [(74, 0.25), (138, 0.5), (150, 9.0)];
            assert_eq!(played(&mut schedule, block, 4096), expected, "{block}");
        }
    }

    #[test]
    fn a_geometric_ramp_passes_an_octave_in_equal_times() {
        let ramp = Some(Ramp {
            from: 110.0,
            to: 1760.0,
            frames: 256,
            law: RampLaw::Geometric,
        });
        let mut schedule = EventSchedule::new();
        schedule.push(message(0, 1760.0, ramp));
        let expected = [(64, 220.0), (128, 440.0), (192, 880.0), (256, 1760.0)];
        assert_eq!(played(&mut schedule, 64, 1024), expected);
    }

    #[test]
    fn an_event_of_a_swap_waits_for_it_and_others_pass() {
        let mut schedule = EventSchedule::new();
        let with_swap = EventMessage {
            after_swap: 2,
            ..message(0, 1.0, None)
        };
        schedule.push(with_swap);
        schedule.push(message(0, 2.0, None));
        schedule.release(1);
        assert_eq!(played(&mut schedule, 64, 64), [(0, 2.0)]);
        schedule.release(2);
        assert_eq!(played(&mut schedule, 64, 64), [(0, 1.0)]);
    }

    #[test]
    fn what_the_executor_cannot_take_waits_for_the_next_block_in_order() {
        let mut schedule = EventSchedule::new();
        schedule.push(message(3, 1.0, None));
        schedule.push(message(4, 2.0, None));
        schedule.deliver((0, 64), |_, _| Delivery::Later);
        let mut frames = Vec::new();
        schedule.deliver((64, 64), |_, event| {
            frames.push((event.frame, event.body));
            Delivery::Done
        });
        let expected = [1.0, 2.0].map(|value| (0, EventBody::Value(value)));
        assert_eq!(frames, expected);
    }
}
