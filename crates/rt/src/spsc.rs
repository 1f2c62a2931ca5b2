//! A bounded ring from one thread to one other; neither ever waits.
//!
//! # Who owns a slot
//!
//! `head` and `tail` count values ever taken and ever put; a count's low bits are its slot.
//!
//! | slot of count `n` | belongs to | who gives it away, by |
//! |---|---|---|
//! | `head <= n < tail` | [`Receiver`] | receiver: stores `head` past `n` |
//! | all others | [`Sender`] | sender: stores `tail` past `n` |
//!
//! Each count has one writer. Its `Release` store is seen by the other end's `Acquire` load, and what was done to the
//! slots before it comes along. Each end keeps the other's count as it last saw it, and looks again only when that no
//! longer suffices: two ends that keep a distance do not pass a cache line to and fro for each value.

use std::mem::MaybeUninit;

use crate::pad::CachePadded;
use crate::sync::Arc;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

struct Shared<T> {
    head: CachePadded<AtomicUsize>,
    tail: CachePadded<AtomicUsize>,
    /// One of the ends is gone.
    closed: AtomicBool,
    capacity: usize,
    /// A power of two of them, at least `capacity`.
    slots: Box<[Slot<T>]>,
}

// SAFETY: the table above lets one thread at a time reach a slot; `T: Send` lets its value move between them.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above; with the ring travel the values in it.
unsafe impl<T: Send> Send for Shared<T> {}

/// The end that puts values in.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    tail: usize,
    seen_head: usize,
}

/// The end that takes values out.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    head: usize,
    seen_tail: usize,
}

/// An empty ring for `capacity` values (at least one), and its two ends. Whichever end is dropped last frees it, with
/// the values still in it.
///
/// Real-time: setup.
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let capacity = capacity.max(1);
    let slots = (0..capacity.next_power_of_two())
        .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
        .collect();
    let shared = Arc::new(Shared {
        head: CachePadded(AtomicUsize::new(0)),
        tail: CachePadded(AtomicUsize::new(0)),
        closed: AtomicBool::new(false),
        capacity,
        slots,
    });
    let sender = Sender {
        shared: shared.clone(),
        tail: 0,
        seen_head: 0,
    };
    let receiver = Receiver {
        shared,
        head: 0,
        seen_tail: 0,
    };
    (sender, receiver)
}

impl<T> Sender<T> {
    /// Puts `value` in, or hands it back while the ring is full.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.room_for(1) == 0 {
            return Err(value);
        }
        self.shared.slot(self.tail).with_mut(|slot| {
            // SAFETY: there was room, so this slot is ours; `&mut self` keeps other pushes out.
            unsafe { (*slot).write(value) };
        });
        self.give(1);
        Ok(())
    }

    /// Copies in as many of `values` as there is room for, from the first on; how many.
    ///
    /// Real-time: hot.
    pub fn write(&mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        let count = self.room_for(values.len()).min(values.len());
        let (first, second) = self.shared.runs(self.tail, count);
        for (slot, value) in first.iter().chain(second).zip(values) {
            // SAFETY: there was room for `count`, so these slots are ours; `&mut self` keeps other writes out.
            slot.with_mut(|slot| unsafe {
                (*slot).write(*value);
            });
        }
        self.give(count);
        count
    }

    /// How many values there is room for; at least that many, until this end puts more in.
    ///
    /// Real-time: hot.
    pub fn room(&mut self) -> usize {
        self.room_for(usize::MAX)
    }

    /// Whether the receiver is gone: nobody will take what is put in.
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many values fit.
    ///
    /// Real-time: hot.
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// The known room, looked up anew where it is less than `wanted`.
    #[inline]
    fn room_for(&mut self, wanted: usize) -> usize {
        let known = self.shared.capacity - self.tail.wrapping_sub(self.seen_head);
        if known >= wanted {
            return known;
        }
        // pairs with the store in `Receiver::give`: its reads of the slots are over before we write them.
        self.seen_head = self.shared.head.load(Ordering::Acquire);
        self.shared.capacity - self.tail.wrapping_sub(self.seen_head)
    }

    #[inline]
    fn give(&mut self, count: usize) {
        self.tail = self.tail.wrapping_add(count);
        // pairs with the load in `Receiver::has`: the values are whole before they can be seen.
        self.shared.tail.store(self.tail, Ordering::Release);
    }
}

impl<T> Receiver<T> {
    /// Takes the oldest value out, if there is one.
    ///
    /// Real-time: hot.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.has(1) == 0 {
            return None;
        }
        let value = self.shared.slot(self.head).with(|slot| {
            // SAFETY: a value is there, so this slot is ours and filled; it is given away below, so read once.
            unsafe { (*slot).assume_init_read() }
        });
        self.give(1);
        Some(value)
    }

    /// Moves the oldest values into `values`, as many as there are and fit; how many.
    ///
    /// Real-time: hot.
    pub fn read(&mut self, values: &mut [T]) -> usize
    where
        T: Copy,
    {
        let count = self.has(values.len()).min(values.len());
        let (first, second) = self.shared.runs(self.head, count);
        for (slot, value) in first.iter().chain(second).zip(values) {
            // SAFETY: `count` values are there, so these slots are ours and filled.
            *value = slot.with(|slot| unsafe { (*slot).assume_init_read() });
        }
        self.give(count);
        count
    }

    /// How many values wait; at least that many, until this end takes some.
    ///
    /// Real-time: hot.
    pub fn available(&mut self) -> usize {
        self.has(usize::MAX)
    }

    /// Whether the sender is gone. Then what is left in the ring is all that will come: look here first, then
    /// [`pop`](Self::pop).
    ///
    /// Real-time: hot.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many values fit.
    ///
    /// Real-time: hot.
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// The known number of values, looked up anew where it is less than `wanted`.
    #[inline]
    fn has(&mut self, wanted: usize) -> usize {
        let known = self.seen_tail.wrapping_sub(self.head);
        if known >= wanted {
            return known;
        }
        // pairs with the store in `Sender::give`: the values come with it.
        self.seen_tail = self.shared.tail.load(Ordering::Acquire);
        self.seen_tail.wrapping_sub(self.head)
    }

    #[inline]
    fn give(&mut self, count: usize) {
        self.head = self.head.wrapping_add(count);
        // pairs with the load in `Sender::room_for`: our reads are over before the slots are written again.
        self.shared.head.store(self.head, Ordering::Release);
    }
}

impl<T> Shared<T> {
    #[inline]
    fn slot(&self, count: usize) -> &Slot<T> {
        &self.slots[count & (self.slots.len() - 1)]
    }

    /// The slots of `count` counts from `from` on: up to the end of the memory, and from its start.
    #[inline]
    fn runs(&self, from: usize, count: usize) -> (&[Slot<T>], &[Slot<T>]) {
        let start = from & (self.slots.len() - 1);
        let first = count.min(self.slots.len() - start);
        (
            &self.slots[start..start + first],
            &self.slots[..count - first],
        )
    }

    fn is_closed(&self) -> bool {
        // pairs with the stores in both `drop`s: all that the other end ever did is seen after it.
        self.closed.load(Ordering::Acquire)
    }

    fn close(&self) {
        // pairs with the load in `is_closed`.
        self.closed.store(true, Ordering::Release);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Relaxed: both ends are gone, and the count of the `Arc` brought all they did.
        let (mut head, tail) = (
            self.head.load(Ordering::Relaxed),
            self.tail.load(Ordering::Relaxed),
        );
        while head != tail {
            self.slot(head).with_mut(|slot| {
                // SAFETY: counts from head to tail are filled and nobody else is left.
                unsafe { (*slot).assume_init_drop() }
            });
            head = head.wrapping_add(1);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::channel;

    #[test]
    fn values_arrive_whole_and_in_order_through_a_ring_that_wraps() {
        loom::model(|| {
            let (mut sender, mut receiver) = channel(2);
            let writer = loom::thread::spawn(move || {
                for value in 1..=3u64 {
                    while sender.push([value; 2]).is_err() {
                        loom::thread::yield_now();
                    }
                }
            });
            let mut got = Vec::new();
            while got.len() < 3 {
                match receiver.pop() {
                    Some(value) => got.push(value),
                    None => loom::thread::yield_now(),
                }
            }
            writer.join().unwrap();
            assert_eq!(got, [[1; 2], [2; 2], [3; 2]]);
        });
    }

    #[test]
    fn slices_arrive_whole_and_in_order() {
        // Every way of switching threads at most three times.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let (mut sender, mut receiver) = channel(2);
            let writer = loom::thread::spawn(move || {
                let mut values = &[1u8, 2, 3][..];
                while !values.is_empty() {
                    values = &values[sender.write(values)..];
                    loom::thread::yield_now();
                }
            });
            let (mut got, mut count) = ([0; 3], 0);
            while count < 3 {
                count += receiver.read(&mut got[count..]);
                loom::thread::yield_now();
            }
            writer.join().unwrap();
            assert_eq!(got, [1, 2, 3]);
        });
    }

    #[test]
    fn a_closed_ring_shows_all_that_was_sent() {
        loom::model(|| {
            let (mut sender, mut receiver) = channel(2);
            let writer = loom::thread::spawn(move || sender.push(7u8).unwrap());
            if receiver.is_closed() {
                assert_eq!(receiver.pop(), Some(7));
            }
            writer.join().unwrap();
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::channel;
    use std::collections::VecDeque;
    use std::sync::Arc;

    #[test]
    fn a_full_ring_hands_the_value_back() {
        let (mut sender, mut receiver) = channel(3);
        assert!((1..=3).all(|n| sender.push(n).is_ok()));
        assert_eq!(sender.push(4), Err(4));
        assert_eq!((sender.room(), receiver.available()), (0, 3));
        assert_eq!(receiver.pop(), Some(1));
        assert_eq!(sender.push(4), Ok(()));
        assert_eq!(
            std::iter::from_fn(|| receiver.pop()).collect::<Vec<_>>(),
            [2, 3, 4]
        );
    }

    #[test]
    fn slices_of_any_length_agree_with_a_queue() {
        let (mut sender, mut receiver) = channel(7);
        let mut oracle = VecDeque::new();
        let mut next = 0u32;
        for round in 0..1000usize {
            let values: Vec<u32> = (0..round * 7 % 11).map(|n| next + n as u32).collect();
            let room = sender.room();
            let put = sender.write(&values);
            assert_eq!(put, values.len().min(room));
            next += put as u32;
            oracle.extend(&values[..put]);
            let mut got = vec![0; round * 5 % 9];
            let count = receiver.read(&mut got);
            assert_eq!(count, got.len().min(oracle.len()));
            assert!(got[..count].iter().all(|v| Some(*v) == oracle.pop_front()));
        }
        assert!(next > 1000);
    }

    #[test]
    fn each_end_sees_the_other_go() {
        let (sender, receiver) = channel::<u8>(1);
        assert!(!sender.is_closed() && !receiver.is_closed());
        drop(receiver);
        assert!(sender.is_closed());
    }

    #[test]
    fn values_left_behind_are_dropped_once() {
        let value = Arc::new(());
        let (mut sender, mut receiver) = channel(2);
        sender.push(value.clone()).unwrap();
        sender.push(value.clone()).unwrap();
        drop(receiver.pop());
        drop((sender, receiver));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
