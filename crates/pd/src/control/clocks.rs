//! [`Clocks`]: logical time, and what is due when.
//!
//! Time is counted as in Pd's `m_sched.c`: units of 1/14112 ms in a double. Of two that are due at the same time, the one that was
//! set first comes first.

use super::wire::ObjectId;

/// Units of logical time in a millisecond.
pub(crate) const UNITS_PER_MS: f64 = 32.0 * 441.0;

/// Largest number of a clock that is believed: far enough from overflow.
const MAX_NUMBER: u64 = 1 << 62;

/// Logical time up to which a unit counts: twenty years. Later, clocks of short times would be due for ever.
const MAX_NOW: f64 = 9.0e15;

/// Returns true if it can be that time now: logical time begins at 0.
pub(crate) fn is_now(time: f64) -> bool {
    (0.0..=MAX_NOW).contains(&time)
}

/// Returns true if something can be due at that time.
fn is_time(time: f64) -> bool {
    time >= 0.0
}

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

impl Entry {
    fn is_before(&self, other: &Self) -> bool {
        let by_time = self.time.total_cmp(&other.time);
        by_time.then(self.number.cmp(&other.number)).is_lt()
    }
}

/// Logical time and all clocks: a binary heap, and for each clock its place in it.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    now: f64,
    next_number: u64,
    heap: Vec<Entry>,
    /// Place in the heap of each object's clock 0, plus one; 0 where it is not set.
    first: Vec<u32>,
    /// The same for the other clocks of objects that have more than one.
    more: Vec<Vec<u32>>,
}

impl Clocks {
    /// Makes room for the clocks of this many objects.
    ///
    /// Real-time: setup.
    pub(crate) fn reserve(&mut self, objects: usize) {
        self.first.resize(objects.max(self.first.len()), 0);
        self.more.resize(objects.max(self.more.len()), Vec::new());
        self.heap.reserve(objects + 1024);
    }

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
        self.set_after(due, delay_ms * UNITS_PER_MS);
    }

    /// As [`set`](Self::set), with the delay in units.
    pub(crate) fn set_after(&mut self, due: Due, delay: f64) {
        let delay = if delay > 0.0 { delay } else { 0.0 };
        let entry = Entry {
            time: self.now + delay,
            number: self.next_number,
            due,
        };
        self.next_number += 1;
        let at = match self.place(due) {
            Some(at) => {
                self.heap[at] = entry;
                at
            }
            None => {
                self.heap.push(entry);
                self.heap.len() - 1
            }
        };
        self.settle(at);
    }

    /// Units until a clock is due, if it is set.
    pub(crate) fn left(&self, due: Due) -> Option<f64> {
        let at = self.place(due)?;
        Some(self.heap[at].time - self.now)
    }

    /// Number of a clock that is set: one that was set later has a larger one.
    pub(crate) fn number(&self, due: Due) -> Option<u64> {
        let at = self.place(due)?;
        Some(self.heap[at].number)
    }

    /// Unsets a clock.
    pub(crate) fn unset(&mut self, due: Due) {
        if let Some(at) = self.place(due) {
            self.remove(at);
        }
    }

    /// The clock that is due first, if that is before `time`.
    pub(super) fn first_before(&self, time: f64) -> Option<Due> {
        let first = self.heap.first().filter(|entry| entry.time < time)?;
        Some(first.due)
    }

    /// Takes the clock that is due first, if that is before `time`, and moves on to its time.
    pub(crate) fn take_before(&mut self, time: f64) -> Option<Due> {
        let first = *self.heap.first().filter(|entry| entry.time < time)?;
        self.now = first.time;
        self.remove(0);
        Some(first.due)
    }

    /// Returns true if none is due before `time`.
    #[inline]
    pub(crate) fn rest_until(&self, time: f64) -> bool {
        self.heap.first().is_none_or(|entry| entry.time >= time)
    }

    /// Milliseconds from `then` to now.
    pub(crate) fn ms_since(&self, then: f64) -> f64 {
        (self.now - then) / UNITS_PER_MS
    }

    /// Every clock that is set, in no order: its time, its number, and what is due.
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = (f64, u64, Due)> + '_ {
        let all = self.heap.iter();
        all.map(|entry| (entry.time, entry.number, entry.due))
    }

    /// Number of the clock that is set next.
    pub(super) fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Unsets all clocks and moves to `now`, if that can be a time.
    ///
    /// Real-time: setup.
    pub(super) fn restart(&mut self, now: f64) -> Option<()> {
        if !is_now(now) {
            return None;
        }
        while let Some(entry) = self.heap.last() {
            let due = entry.due;
            self.heap.pop();
            self.note(due, 0);
        }
        self.now = now;
        Some(())
    }

    /// Sets a clock that is not set, as it was; `None` for one that cannot have been.
    ///
    /// Real-time: setup.
    pub(super) fn restore(&mut self, time: f64, number: u64, due: Due) -> Option<()> {
        let is_right = is_time(time) && time >= self.now;
        if !is_right || self.place(due).is_some() {
            return None;
        }
        self.heap.push(Entry { time, number, due });
        self.settle(self.heap.len() - 1);
        Some(())
    }

    /// Places that are missing for this clock.
    pub(super) fn missing_places(&self, due: Due) -> usize {
        let there = self.more.get(due.object.0 as usize).map_or(0, Vec::len);
        let needed = (due.slot as usize).next_power_of_two();
        needed.saturating_sub(there)
    }

    /// Places that each object has, beside that of its clock 0.
    ///
    /// Real-time: setup.
    pub(super) fn places(&self) -> Vec<usize> {
        self.more.iter().map(Vec::len).collect()
    }

    /// Takes away the places beyond these, of which no clock is set.
    ///
    /// Real-time: setup.
    pub(super) fn keep_places(&mut self, places: &[usize]) {
        for (slots, len) in self.more.iter_mut().zip(places) {
            slots.truncate(*len);
            slots.shrink_to_fit();
        }
    }

    /// Counts the clocks that are set from `next` on, which no clock has yet.
    pub(super) fn count_from(&mut self, next: u64) -> Option<()> {
        let is_behind = self.heap.iter().all(|entry| entry.number < next);
        self.next_number = next;
        (is_behind && next <= MAX_NUMBER).then_some(())
    }

    /// Place in the heap of a clock that is set.
    fn place(&self, due: Due) -> Option<usize> {
        let object = due.object.0 as usize;
        let place = match due.slot.checked_sub(1) {
            None => self.first.get(object),
            Some(slot) => self.more.get(object)?.get(slot as usize),
        };
        Some(place?.checked_sub(1)? as usize)
    }

    /// Notes where in the heap a clock is; `place` is one more, or 0.
    fn note(&mut self, due: Due, place: usize) {
        let object = due.object.0 as usize;
        if self.first.len() <= object {
            self.first.resize(object + 1, 0);
            self.more.resize(object + 1, Vec::new());
        }
        let place = u32::try_from(place).expect("fewer clocks than memory");
        match due.slot.checked_sub(1) {
            None => self.first[object] = place,
            Some(slot) => {
                let slots = &mut self.more[object];
                let slot = slot as usize;
                if slots.len() <= slot {
                    slots.resize((slot + 1).next_power_of_two(), 0);
                }
                slots[slot] = place;
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.note(self.heap[at].due, 0);
        self.heap.swap_remove(at);
        if at < self.heap.len() {
            self.settle(at);
        }
    }

    /// Moves an entry up or down to its place.
    fn settle(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while let Some(parent) = at.checked_sub(1).map(|at| at / 2)
            && entry.is_before(&self.heap[parent])
        {
            self.move_to(at, self.heap[parent]);
            at = parent;
        }
        while let Some(child) = self.first_child(at)
            && self.heap[child].is_before(&entry)
        {
            self.move_to(at, self.heap[child]);
            at = child;
        }
        self.move_to(at, entry);
    }

    /// The earlier of the two below.
    fn first_child(&self, at: usize) -> Option<usize> {
        let left = 2 * at + 1;
        let right = left + 1;
        match (self.heap.get(left), self.heap.get(right)) {
            (Some(l), Some(r)) if r.is_before(l) => Some(right),
            (Some(_), _) => Some(left),
            _ => None,
        }
    }

    fn move_to(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.note(entry.due, at + 1);
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

    #[test]
    fn places_of_clocks_that_are_not_set_are_given_back() {
        let mut clocks = Clocks::default();
        let third = Due { slot: 3, ..due(1) };
        clocks.set(third, 5.0);
        let places = clocks.places();
        assert_eq!(places, [0, 4]);
        let far = Due {
            slot: 1 << 19,
            ..due(1)
        };
        clocks.restore(1e9, 9, far).expect("it is not set");
        assert!(clocks.places()[1] >= 1 << 19);
        clocks.unset(far);
        clocks.keep_places(&places);
        assert_eq!(clocks.places(), places);
        assert_eq!(clocks.take_before(1e9), Some(third));
    }

    #[test]
    fn a_hundred_thousand_clocks_come_in_the_order_of_time_and_then_of_setting() {
        let mut clocks = Clocks::default();
        let mut expected = Vec::new();
        let mut seed = 1_u32;
        for round in 0..2_u32 {
            for number in 0..100_000_u32 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let due = Due {
                    object: ObjectId(number % 1000),
                    slot: number / 1000,
                };
                let time = f64::from(seed >> 22);
                clocks.set(due, time);
                if round == 1 {
                    match number % 7 {
                        0 => clocks.unset(due),
                        _ => expected.push((time, number, due)),
                    }
                }
            }
        }
        expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found: Vec<Due> = std::iter::from_fn(|| clocks.take_before(1e12)).collect();
        let expected: Vec<Due> = expected.into_iter().map(|(_, _, due)| due).collect();
        assert!(found == expected);
    }
}
