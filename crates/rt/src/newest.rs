//! The newest value: words that one party writes again and again, and another reads, as a whole, when it likes.
//!
//! | number | the words are | owned by |
//! |---|---|---|
//! | even | whole | the writer, which may begin again at any time |
//! | odd | being written | the writer |
//!
//! Neither side waits. A reader that meets a write keeps what it had: values that are replaced between two looks are never
//! seen. A writer that ends in the middle leaves an odd number, and the reader keeps its last value for ever.
//!
//! The words may be in the memory of another process: the reader takes as many as it has room for, whatever they hold, and
//! looks at most `TRIES` times.

use crate::sync::atomic::{AtomicU64, Ordering, fence};

/// Looks of a reader at most.
const TRIES: usize = 4;

/// Writes `values` behind the number in `words[0]`. Values for which there is no room are left out. For one writer.
///
/// Real-time: hot.
pub fn write_newest(words: &[AtomicU64], values: impl IntoIterator<Item = u64>) {
    let Some((number, places)) = words.split_first() else {
        return;
    };
    // Relaxed: only the writer stores it. An odd one is of a writer that ended.
    let begun = number.load(Ordering::Relaxed) | 1;
    number.store(begun, Ordering::Relaxed);
    // pairs with the fence in `read_newest`: who reads a word of this write reads the odd number, or a later one.
    fence(Ordering::Release);
    for (place, value) in places.iter().zip(values) {
        place.store(value, Ordering::Relaxed);
    }
    // pairs with the first load in `read_newest`: the words are whole.
    number.store(begun.wrapping_add(1), Ordering::Release);
}

/// Reads as many words as `into` has room for, and returns true if they are those of one write. `into` is not changed by a
/// write that is met.
///
/// Real-time: hot.
pub fn read_newest<const N: usize>(words: &[AtomicU64], into: &mut [u64; N]) -> bool {
    let Some((number, places)) = words.split_first() else {
        return false;
    };
    for _ in 0..TRIES {
        // pairs with the last store in `write_newest`.
        let before = number.load(Ordering::Acquire);
        if before == 0 || before & 1 == 1 {
            continue;
        }
        let mut found = *into;
        for (to, place) in found.iter_mut().zip(places) {
            *to = place.load(Ordering::Relaxed);
        }
        // pairs with the fence in `write_newest`.
        fence(Ordering::Acquire);
        if number.load(Ordering::Relaxed) == before {
            *into = found;
            return true;
        }
    }
    false
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn what_is_read_is_of_one_write() {
        loom::model(|| {
            let words: Arc<[AtomicU64; 3]> = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
            let writer = {
                let words = words.clone();
                loom::thread::spawn(move || {
                    write_newest(&words[..], [1, 10]);
                    write_newest(&words[..], [2, 20]);
                })
            };
            let mut found = [0; 2];
            if read_newest(&words[..], &mut found) {
                assert!([[1, 10], [2, 20]].contains(&found), "{found:?}");
            }
            writer.join().unwrap();
            assert!(read_newest(&words[..], &mut found));
            assert_eq!(found, [2, 20]);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_value_is_whole_or_none_and_an_unfinished_write_leaves_the_last() {
        let words: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(0)).collect();
        let mut found = [7; 3];
        assert!(!read_newest(&words, &mut found));
        assert!(!read_newest(&[], &mut found));
        write_newest(&words, 1..100);
        assert!(read_newest(&words, &mut found));
        assert_eq!(found, [1, 2, 3]);
        // A writer that ended in the middle.
        words[0].fetch_or(1, Ordering::Relaxed);
        words[2].store(55, Ordering::Relaxed);
        assert!(!read_newest(&words, &mut found));
        assert_eq!(found, [1, 2, 3]);
        write_newest(&words, [4, 5, 6]);
        assert!(read_newest(&words, &mut found));
        assert_eq!(found, [4, 5, 6]);
    }

    #[test]
    fn a_reader_beside_a_writer_never_sees_two_writes() {
        // Miri is some thousand times slower.
        const WRITES: u64 = if cfg!(miri) { 300 } else { 20_000 };
        let words: Arc<[AtomicU64]> = (0..9).map(|_| AtomicU64::new(0)).collect();
        let writer = {
            let words = words.clone();
            std::thread::spawn(move || (1..=WRITES).for_each(|k| write_newest(&words, [k; 8])))
        };
        let (mut found, mut last) = ([0; 8], 0);
        while last < WRITES {
            if read_newest(&words, &mut found) {
                assert!(found.iter().all(|it| *it == found[0]) && found[0] >= last);
                last = found[0];
            }
        }
        writer.join().unwrap();
    }
}
