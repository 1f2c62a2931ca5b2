//! [`Clocks`]: logical time, and what is due when.
//!
//! Time is counted as in Pd's `m_sched.c`: units of 1/14112 ms in a double. Of two that are due at the same time, the one that was
//! set first comes first.

use super::wire::ObjectId;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Units of logical time in a millisecond.
pub(crate) const UNITS_PER_MS: f64 = 32.0 * 441.0;

/// A clock that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub object: ObjectId,
    /// Number of the clock within its object.
    pub slot: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: f64,
    /// Order in which they were set.
    number: u64,
    due: Due,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, because a heap gives the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = other.time.total_cmp(&self.time);
        by_time.then(other.number.cmp(&self.number))
    }
}

/// Logical time and all clocks.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    now: f64,
    next_number: u64,
    heap: BinaryHeap<Entry>,
}

impl Clocks {
    /// Logical time, in units.
    pub(crate) fn now(&self) -> f64 {
        self.now
    }

    /// Moves on to `time`.
    pub(crate) fn advance_to(&mut self, time: f64) {
        self.now = time;
    }

    /// Sets a clock to `delay_ms` from now; a negative delay is now. A clock that is set already is set anew.
    ///
    /// Real-time: hot, but where more clocks are set than ever before: that allocates.
    pub(crate) fn set(&mut self, due: Due, delay_ms: f64) {
        self.unset(due);
        let delay = if delay_ms > 0.0 { delay_ms } else { 0.0 };
        let entry = Entry {
            time: self.now + delay * UNITS_PER_MS,
            number: self.next_number,
            due,
        };
        self.next_number += 1;
        self.heap.push(entry);
    }

    /// Unsets a clock.
    pub(crate) fn unset(&mut self, due: Due) {
        // Few clocks are set at once, and most of what is unset was never set.
        if self.heap.iter().any(|entry| entry.due == due) {
            self.heap.retain(|entry| entry.due != due);
        }
    }

    /// Takes the clock that is due first, if that is before `time`, and moves on to its time.
    pub(crate) fn take_before(&mut self, time: f64) -> Option<Due> {
        let first = self.heap.peek().filter(|entry| entry.time < time)?;
        self.now = first.time;
        self.heap.pop().map(|entry| entry.due)
    }

    /// Milliseconds from `then` to now.
    pub(crate) fn ms_since(&self, then: f64) -> f64 {
        (self.now - then) / UNITS_PER_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(object: u32) -> Due {
        Due {
            object: ObjectId(object),
            slot: 0,
        }
    }

    #[test]
    fn clocks_of_the_same_time_come_in_the_order_in_which_they_were_set() {
        let mut clocks = Clocks::default();
        for (object, delay) in [(1, 5.0), (2, 3.0), (3, 5.0), (4, 3.0), (2, 5.0)] {
            clocks.set(due(object), delay);
        }
        let order: Vec<Due> = std::iter::from_fn(|| clocks.take_before(1e9)).collect();
        assert_eq!(order, [4, 1, 3, 2].map(due));
        assert_eq!(clocks.now(), 5.0 * UNITS_PER_MS);
    }
}
