//! Fates of messages in words: the process of a cell writes them into the head of its memory, the supervisor reads them.
//!
//! ```text
//!   words 1024 …   for each of the last messages: frame, then number and fate (`rt::newest`)
//! ```
//!
//! A message of number n has place n modulo [`FATES`]. One whose place a later message has taken is not known any more. The supervisor
//! believes a frame and one of three fates.

use engine::WordsFate;
use rt::newest::{read_newest, write_newest};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Messages whose fates are remembered.
pub(crate) const FATES: usize = 256;
const FIRST: usize = 1024;
/// Words of a place.
const WORDS: usize = 3;

fn place(number: u32) -> Range<usize> {
    let first = FIRST + WORDS * (number as usize % FATES);
    first..first + WORDS
}

/// Tells the fate of the message of this number.
///
/// Real-time: hot.
pub(crate) fn tell_fate(head: &[AtomicU64], number: u32, fate: WordsFate) {
    let (frame, what) = match fate {
        WordsFate::Waits => return,
        WordsFate::Received(frame) => (frame, 1),
        WordsFate::Unheard(frame) => (frame, 2),
        WordsFate::Unknown => (0, 3),
    };
    if let Some(words) = head.get(place(number)) {
        write_newest(words, [frame, u64::from(number) << 2 | what]);
    }
}

/// The fate of the message of this number, as far as it was told.
///
/// Real-time: hot.
pub(crate) fn told_fate(head: &[AtomicU64], number: u32) -> WordsFate {
    let mut found = [0; 2];
    let is_whole = head
        .get(place(number))
        .is_some_and(|words| read_newest(words, &mut found));
    let [frame, what] = found;
    match (is_whole && what >> 2 == u64::from(number), what & 3) {
        (true, 1) => WordsFate::Received(frame),
        (true, 2) => WordsFate::Unheard(frame),
        (true, 3) => WordsFate::Unknown,
        _ => WordsFate::Waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::FIRST_BUFFER;
    use std::sync::atomic::Ordering;

    #[test]
    fn fates_arrive_until_their_places_are_taken_and_nonsense_is_no_harm() {
        let head: Vec<AtomicU64> = (0..FIRST_BUFFER).map(|_| AtomicU64::new(0)).collect();
        assert_eq!(told_fate(&head, 7), WordsFate::Waits);
        let last = FATES as u32 + 7;
        for number in 1..last {
            tell_fate(&head, number, WordsFate::Received(64 * u64::from(number)));
        }
        assert_eq!(told_fate(&head, 7), WordsFate::Received(7 * 64));
        tell_fate(&head, last, WordsFate::Unheard(9));
        assert_eq!(told_fate(&head, last), WordsFate::Unheard(9));
        assert_eq!(told_fate(&head, 7), WordsFate::Waits, "its place is taken");
        tell_fate(&head, 8, WordsFate::Waits);
        assert_eq!(told_fate(&head, 8), WordsFate::Received(8 * 64));
        assert!(place(u32::MAX).end <= FIRST_BUFFER && place(255).end <= FIRST_BUFFER);
        let mut state = 1u64;
        for number in 0..5_000 {
            for word in &head[FIRST..] {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                word.store(state >> (state >> 58), Ordering::Relaxed);
            }
            let _ = told_fate(&head, number);
        }
        tell_fate(&[], 1, WordsFate::Unknown);
        assert_eq!(told_fate(&[], 1), WordsFate::Waits);
    }
}
