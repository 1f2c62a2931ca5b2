//! Numbered words: a message that one party writes over the one before, and another reads whole, if it has the number that it wants.
//!
//! | number | the words are | owned by |
//! |---|---|---|
//! | 0 | being written | the writer |
//! | any other | whole | the writer, which may begin again at any time |
//!
//! Neither side waits. No number comes again as long as a reader may want the message that had it before.
//!
//! The words may be in the memory of another process: the reader takes as many as it has room for, whatever they hold.
//!
//! # A writer that comes late
//!
//! The number alone tells one writer's messages apart. Where a writer takes the place of another, the one before may still be in the
//! middle of a message, and nothing that it looks at first holds it back: it may be interrupted behind the look. So the reader decides:
//! a message begins with a [`sum`] over itself and its number, and what two writers have mixed has another one.

use crate::sync::atomic::{AtomicU32, Ordering, fence};
use std::ops::Range;

/// Writes `parts` of a message, which is `from`, and gives it a number, which is not 0. The other parts stay. For one writer; `from` is as long as
/// `words`, and each part lies within.
///
/// Real-time: hot.
///
/// # Panics
///
/// A part goes beyond the words.
pub fn write_numbered(
    words: &[AtomicU32],
    (word, number): (&AtomicU32, u32),
    from: &[u32],
    parts: &[Range<usize>],
) {
    // Relaxed: the fence orders it.
    word.store(0, Ordering::Relaxed);
    // pairs with the fence in `read_numbered`: who has read a new word sees that the old number is gone.
    fence(Ordering::Release);
    for part in parts {
        let changed = words[part.clone()].iter().zip(&from[part.clone()]);
        changed.for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
    }
    // pairs with the first load in `read_numbered`: the words come with their number.
    word.store(number, Ordering::Release);
}

/// Copies the message with the number `wanted`. Returns false if it is another one, or is not whole: then `to` holds anything.
///
/// Real-time: hot.
pub fn read_numbered(words: &[AtomicU32], number: &AtomicU32, wanted: u32, to: &mut [u32]) -> bool {
    // pairs with the last store in `write_numbered`.
    if number.load(Ordering::Acquire) != wanted {
        return false;
    }
    for (to, from) in to.iter_mut().zip(words) {
        *to = from.load(Ordering::Relaxed);
    }
    // pairs with the fence in `write_numbered`.
    fence(Ordering::Acquire);
    number.load(Ordering::Relaxed) == wanted
}

/// Number of words of a [`sum`].
pub const SUM_WORDS: usize = 2;

/// A sum over a message and its number. Another message has the same one by chance alone, once in 2^64.
///
/// Real-time: hot.
pub fn sum(number: u32, message: &[u32]) -> [u32; SUM_WORDS] {
    /// An odd factor with many bits: 2^64 over the golden ratio, as SplitMix64 has it.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let add = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    // Four beside each other: a multiplication waits for the one before.
    let mut sums = [1_u64, 2, 3, 4].map(|seed| add(seed, number.into()));
    let (fours, rest) = message.as_chunks::<4>();
    for four in fours {
        for (sum, word) in sums.iter_mut().zip(four) {
            *sum = add(*sum, u64::from(*word));
        }
    }
    let rest = rest.iter().map(|word| u64::from(*word));
    let whole = rest.chain(sums).fold(message.len() as u64, add);
    [whole as u32, (whole >> 32) as u32]
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    /// Word 0 is the number.
    type Words = Arc<[AtomicU32; 3]>;

    fn words() -> Words {
        Arc::new(std::array::from_fn(|_| AtomicU32::new(0)))
    }

    fn write(words: &Words, number: u32, message: [u32; 2], parts: &[Range<usize>]) {
        write_numbered(&words[1..], (&words[0], number), &message, parts);
    }

    fn read(words: &Words, wanted: u32) -> Option<[u32; 2]> {
        let mut found = [0; 2];
        read_numbered(&words[1..], &words[0], wanted, &mut found).then_some(found)
    }

    #[test]
    fn what_is_read_is_the_message_that_is_wanted() {
        loom::model(|| {
            let lane = words();
            let writer = {
                let lane = lane.clone();
                loom::thread::spawn(move || {
                    write(&lane, 1, [10, 11], &[0..2]);
                    // Only one of its words is another one.
                    write(&lane, 2, [10, 21], &[1..2]);
                })
            };
            for (wanted, message) in [(1, [10, 11]), (2, [10, 21])] {
                assert!(read(&lane, wanted).is_none_or(|it| it == message));
            }
            writer.join().unwrap();
            assert_eq!((read(&lane, 1), read(&lane, 2)), (None, Some([10, 21])));
        });
    }

    /// Two writers, of which the first one comes late: it may be anywhere in its message when the second one begins. What is read with
    /// the number of the second one and `is_whole` is its message.
    fn a_late_writer_is_found(is_whole: fn(&[u32; 3]) -> bool) {
        loom::model(move || {
            let lane: Arc<[AtomicU32; 4]> = Arc::new(std::array::from_fn(|_| AtomicU32::new(0)));
            let message = |number: u32| {
                let [low, high] = sum(number, &[10 * number]);
                [low, high, 10 * number]
            };
            let write = move |lane: &[AtomicU32; 4], number: u32| {
                let all = std::slice::from_ref(&(0..3));
                write_numbered(&lane[1..], (&lane[0], number), &message(number), all);
            };
            let late = {
                let lane = lane.clone();
                loom::thread::spawn(move || write(&lane, 1))
            };
            write(&lane, 2);
            let mut found = [0; 3];
            if read_numbered(&lane[1..], &lane[0], 2, &mut found) && is_whole(&found) {
                assert_eq!(found, message(2));
            }
            late.join().unwrap();
        });
    }

    #[test]
    fn a_sum_tells_a_message_from_what_two_writers_have_mixed() {
        a_late_writer_is_found(|found| found[..SUM_WORDS] == sum(2, &found[SUM_WORDS..]));
    }

    #[test]
    #[should_panic(expected = "left")]
    fn a_number_alone_does_not() {
        a_late_writer_is_found(|_| true);
    }

    /// The work of the model, which keeps what it has heard.
    #[derive(Default)]
    struct ReceivedWords {
        number: u32,
        sum: u32,
    }

    impl ReceivedWords {
        fn answer(&mut self, [a, b]: [u32; 2]) -> [u32; 2] {
            self.sum += a + b;
            [a, self.sum]
        }

        /// Does a request that is new.
        fn look(&mut self, requests: &Words, replies: &Words) {
            let number = requests[0].load(Ordering::Relaxed);
            let is_new = number != 0 && number != self.number;
            if let Some(request) = is_new.then(|| read(requests, number)).flatten() {
                self.number = number;
                write(replies, number, self.answer(request), &[0..2]);
            }
        }
    }

    #[test]
    fn a_reply_is_that_to_its_request_whenever_either_side_looks() {
        loom::model(|| {
            let (requests, replies) = (words(), words());
            let cell = {
                let (requests, replies) = (requests.clone(), replies.clone());
                loom::thread::spawn(move || {
                    let mut heard = ReceivedWords::default();
                    (0..2).for_each(|_| heard.look(&requests, &replies));
                })
            };
            write(&requests, 1, [1, 10], &[0..2]);
            // Due now: it has come, or is late.
            assert!(read(&replies, 1).is_none_or(|it| it == [1, 11]));
            write(&requests, 2, [2, 30], &[0..2]);
            cell.join().unwrap();
            // Nobody wants a late reply, but what was heard for it stays: all of the first request, or nothing.
            let second = read(&replies, 2);
            assert!(second.is_none_or(|it| it == [2, 32] || it == [2, 43]));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_another_one_for_each_word_its_place_and_the_number() {
        let message: Vec<u32> = (0..11).collect();
        let whole = sum(7, &message);
        assert_eq!(whole, sum(7, &message));
        assert_ne!(whole, sum(8, &message));
        assert_ne!(whole, sum(7, &message[..10]));
        for at in 0..message.len() {
            for bit in 0..32 {
                let mut other = message.clone();
                other[at] ^= 1 << bit;
                assert_ne!(whole, sum(7, &other), "{at} {bit}");
            }
            let mut other = message.clone();
            other.swap(at, (at + 4) % 11);
            assert_ne!(whole, sum(7, &other), "{at}");
        }
        assert_ne!(sum(0, &[]), sum(0, &[0]));
    }

    #[test]
    fn a_message_is_whole_or_another_one() {
        let words: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
        let (number, words) = words.split_first().expect("four");
        let mut found = [0; 3];
        assert!(!read_numbered(words, number, 1, &mut found));
        write_numbered(
            words,
            (number, 1),
            &[1, 2, 3],
            std::slice::from_ref(&(0..3)),
        );
        assert!(read_numbered(words, number, 1, &mut found));
        assert_eq!(found, [1, 2, 3]);
        // Two parts of three.
        write_numbered(words, (number, 2), &[4, 5, 6], &[0..1, 2..3]);
        assert!(!read_numbered(words, number, 1, &mut found));
        assert!(read_numbered(words, number, 2, &mut found));
        assert_eq!(found, [4, 2, 6]);
        // A writer that ended in the middle.
        number.store(0, Ordering::Relaxed);
        assert!(!read_numbered(words, number, 2, &mut found));
    }
}
