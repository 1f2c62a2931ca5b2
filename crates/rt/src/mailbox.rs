//! A box for one letter: how a plan goes to the audio thread, and the retired one back.
//!
//! # Who owns the slot
//!
//! | `full` | the slot belongs to | who changes it |
//! |---|---|---|
//! | false | [`Sender`] | sender, in [`Sender::put`] |
//! | true | [`Receiver`] | receiver, in [`Receiver::take`] |
//!
//! Each change is a `Release` store, seen by the other end's `Acquire` load; the letter travels with it, or its absence.

use crate::sync::Arc;
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicBool, Ordering};

struct Shared<T> {
    full: AtomicBool,
    slot: UnsafeCell<Option<T>>,
}

// SAFETY: the table above lets one thread at a time reach `slot`; `T: Send` lets the letter move between them.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above; with the box travels the letter in it.
unsafe impl<T: Send> Send for Shared<T> {}

/// The end that puts letters in.
pub struct Sender<T>(Arc<Shared<T>>);

/// The end that takes letters out.
pub struct Receiver<T>(Arc<Shared<T>>);

/// An empty box and its two ends. Whichever end is dropped last frees it, with the letter in it.
///
/// Real-time: setup.
pub fn mailbox<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        full: AtomicBool::new(false),
        slot: UnsafeCell::new(None),
    });
    (Sender(shared.clone()), Receiver(shared))
}

impl<T> Sender<T> {
    /// Whether a letter put in now would not come back.
    ///
    /// Real-time: hot.
    pub fn is_empty(&self) -> bool {
        // pairs with the store in `take`: its read of the slot is over before we write.
        !self.0.full.load(Ordering::Acquire)
    }

    /// Puts `letter` in, or hands it back while the last one still waits.
    ///
    /// Real-time: hot.
    pub fn put(&mut self, letter: T) -> Result<(), T> {
        if !self.is_empty() {
            return Err(letter);
        }
        // SAFETY: `full` was false, so the slot is ours; `&mut self` keeps other puts out. What we overwrite is `None`,
        // since `take` leaves that, so nothing is freed.
        self.0
            .slot
            .with_mut(|slot| unsafe { slot.write(Some(letter)) });
        // pairs with the load in `take`: the letter is whole before it can be seen.
        self.0.full.store(true, Ordering::Release);
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Whether a letter waits to be taken.
    ///
    /// Real-time: hot.
    pub fn is_full(&self) -> bool {
        // pairs with the store in `put`.
        self.0.full.load(Ordering::Acquire)
    }

    /// Takes the letter out, if there is one.
    ///
    /// Real-time: hot.
    pub fn take(&mut self) -> Option<T> {
        // The letter comes with the look.
        if !self.is_full() {
            return None;
        }
        // SAFETY: `full` was true, so the slot is ours; `&mut self` keeps other takes out.
        let letter = self.0.slot.with_mut(|slot| unsafe { (*slot).take() });
        // pairs with the load in `is_empty`.
        self.0.full.store(false, Ordering::Release);
        letter
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::mailbox;

    #[test]
    fn letters_arrive_whole_and_in_order() {
        loom::model(|| {
            let (mut sender, mut receiver) = mailbox();
            let writer = loom::thread::spawn(move || {
                for letter in [[1u64; 2], [2; 2]] {
                    while sender.put(letter).is_err() {
                        loom::thread::yield_now();
                    }
                }
            });
            let mut got = Vec::new();
            while got.len() < 2 {
                match receiver.take() {
                    Some(letter) => got.push(letter),
                    None => loom::thread::yield_now(),
                }
            }
            writer.join().unwrap();
            assert_eq!(got, [[1; 2], [2; 2]]);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::mailbox;
    use std::sync::Arc;

    #[test]
    fn a_full_box_hands_the_letter_back() {
        let (mut sender, mut receiver) = mailbox();
        assert_eq!(sender.put(1), Ok(()));
        assert_eq!(sender.put(2), Err(2));
        assert_eq!(receiver.take(), Some(1));
        assert!(sender.is_empty());
        assert_eq!(receiver.take(), None);
    }

    #[test]
    fn a_letter_left_behind_is_dropped_once() {
        let letter = Arc::new(());
        let (mut sender, receiver) = mailbox();
        sender.put(letter.clone()).unwrap();
        drop((sender, receiver));
        assert_eq!(Arc::strong_count(&letter), 1);
    }
}
