//! Edits of a cell's own engine, while its process plays: the words by which the supervisor asks and the process answers.
//!
//! ```text
//!   supervisor                                   process, its thread of edits
//!   the session of the edited cell ─▶ memory
//!   ORDER := number ────────────────────────────▶ reads the session, edits its engine
//!   ANSWER is of this number ◀──────────────────── FRAME or the reason, then ANSWER := number and result
//! ```
//!
//! The words are in the head of the memory of checkpoints ([`crate::checkpoint`]), the session is behind its buffers
//! ([`crate::handed`]). The supervisor believes a number, a bit, a frame and a text of bounded length.

use std::sync::atomic::{AtomicU64, Ordering};

/// Index of the supervisor's word: the number of its last edit.
const ORDER: usize = 24;
/// Indices of the process's words: number and result, frame, length of a reason.
const ANSWER: usize = 25;
const FRAME: usize = 26;
const LENGTH: usize = 27;
/// The words of a reason.
const REASON: std::ops::Range<usize> = 28..60;

/// Asks for the edit of this number. The session lies in the memory.
///
/// Real-time: setup.
pub(crate) fn ask(head: &[AtomicU64], number: u64) {
    if let Some(word) = head.get(ORDER) {
        // pairs with the load in `asked`: the session comes with it.
        word.store(number, Ordering::Release);
    }
}

/// Number of the edit that was asked for last; 0 for none.
///
/// Real-time: hot.
pub(crate) fn asked(head: &[AtomicU64]) -> u64 {
    // pairs with the store in `ask`.
    let order = head.get(ORDER);
    order.map_or(0, |word| word.load(Ordering::Acquire))
}

/// Answers the edit of this number: with the frame from which on it is heard, or the reason for which nothing changes.
///
/// Real-time: setup.
pub(crate) fn answer(head: &[AtomicU64], number: u64, result: &Result<u64, String>) {
    let Some(words) = head.get(..REASON.end) else {
        return;
    };
    // Relaxed, all but the last: published by it.
    let store = |at: usize, word: u64| words[at].store(word, Ordering::Relaxed);
    match result {
        Ok(frame) => store(FRAME, *frame),
        Err(why) => {
            let bytes = &why.as_bytes()[..why.len().min(8 * REASON.len())];
            store(LENGTH, bytes.len() as u64);
            for (at, bytes) in REASON.zip(bytes.chunks(8)) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                store(at, u64::from_le_bytes(word));
            }
        }
    }
    // pairs with the load in `answered`.
    words[ANSWER].store(number << 1 | u64::from(result.is_ok()), Ordering::Release);
}

/// The answer to the edit of this number, if it has come.
///
/// Real-time: setup.
pub(crate) fn answered(head: &[AtomicU64], number: u64) -> Option<Result<u64, String>> {
    let words = head.get(..REASON.end)?;
    // pairs with the store in `answer`.
    let answer = words[ANSWER].load(Ordering::Acquire);
    if answer >> 1 != number {
        return None;
    }
    // Relaxed, all: ordered by the answer.
    let word = |at: usize| words[at].load(Ordering::Relaxed);
    if answer & 1 == 1 {
        return Some(Ok(word(FRAME)));
    }
    let len = usize::try_from(word(LENGTH)).unwrap_or(usize::MAX);
    let bytes: Vec<u8> = REASON
        .flat_map(|at| word(at).to_le_bytes())
        .take(len)
        .collect();
    let text = String::from_utf8_lossy(&bytes);
    Some(Err(text.chars().filter(|it| !it.is_control()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_arrive_and_nonsense_is_no_harm() {
        let head: Vec<AtomicU64> = (0..512).map(|_| AtomicU64::new(0)).collect();
        ask(&head, 3);
        assert_eq!((asked(&head), answered(&head, 3)), (3, None));
        answer(&head, 3, &Ok(4096));
        assert_eq!(answered(&head, 3), Some(Ok(4096)));
        let long = "it cannot\n".repeat(99);
        answer(&head, 4, &Err(long));
        assert_eq!(answered(&head, 3), None);
        let why = answered(&head, 4).unwrap().unwrap_err();
        assert!(why.starts_with("it cannotit") && why.len() <= 256, "{why}");
        let mut state = 1u64;
        for number in 0..5_000 {
            for word in &head {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                word.store(state >> (state % 60), Ordering::Relaxed);
            }
            head[ANSWER].store(number << 1, Ordering::Relaxed);
            let why = answered(&head, number).unwrap().unwrap_err();
            assert!(why.chars().count() <= 256);
        }
        assert_eq!(answered(&[], 1), None);
    }
}
