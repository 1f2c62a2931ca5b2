//! Samples of outputs inside a cell, for meters: its process copies them into its memory, the supervisor reads them.
//!
//! ```text
//!   supervisor                       process, its thread of edits
//!   ORDER := node, port, number ───▶ taps the output
//!                               ◀─── ANSWER := number, channels
//!   reads up to COUNT           ◀─── samples, then COUNT := number of all so far
//! ```
//!
//! The three words of each tap are in the head of the memory of checkpoints ([`crate::checkpoint`]). The samples, channels side by side, are in
//! a circle before the page of [`crate::own_params`]: so nobody waits, and who comes late misses the oldest.
//!
//! # What the supervisor believes
//!
//! That an order was answered, and samples: as many as the blocks have that it has asked for, and what is no finite number is silence.
//! The process writes on meanwhile, so only the newer half of a circle is read: a torn sample would be a wrong one for a meter, no more.

use crate::own_params::begin;
use graph::NodeId;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most taps of a cell.
pub(crate) const TAPS: usize = 64;
/// Most channels of a tap.
pub(crate) const TAP_CHANNELS: usize = 256;
/// Samples in the circle of a tap.
const SAMPLES: usize = 1 << 16;
/// Bytes of all circles.
pub(crate) const TAP_BYTES: u64 = (TAPS * SAMPLES * size_of::<f32>()) as u64;
/// Index of the first tap's words, and how many each has.
const FIRST: usize = 512;
const WORDS: usize = 3;
const ORDER: usize = 0;
const ANSWER: usize = 1;
const COUNT: usize = 2;

/// An output that is to be tapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TapOrder {
    pub(crate) node: NodeId,
    pub(crate) port: u16,
    /// Never 0: an order that is given again has another number.
    pub(crate) number: u16,
}

impl TapOrder {
    fn word(self) -> u64 {
        u64::from(self.node.0) | u64::from(self.port) << 32 | u64::from(self.number) << 48
    }

    fn of(word: u64) -> Option<Self> {
        let number = (word >> 48) as u16;
        (number > 0).then_some(Self {
            node: NodeId(word as u32),
            port: (word >> 32) as u16,
            number,
        })
    }
}

/// A word of the tap at `place`.
fn word(head: &[AtomicU64], place: usize, which: usize) -> Option<&AtomicU64> {
    head.get(FIRST + WORDS * place + which)
        .filter(|_| place < TAPS)
}

/// Orders the tap at `place`, or none.
///
/// Real-time: setup.
pub(crate) fn order_tap(head: &[AtomicU64], place: usize, order: Option<TapOrder>) {
    let new = order.map_or(0, TapOrder::word);
    if let Some(word) = word(head, place, ORDER)
        // Relaxed, both: the word is all.
        && word.load(Ordering::Relaxed) != new
    {
        word.store(new, Ordering::Relaxed);
    }
}

/// The tap that is ordered at `place`.
///
/// Real-time: setup.
pub(crate) fn ordered_tap(head: &[AtomicU64], place: usize) -> Option<TapOrder> {
    // Relaxed: as above.
    TapOrder::of(word(head, place, ORDER)?.load(Ordering::Relaxed))
}

/// Answers the order of this number: with the channels of the output, or 0 where it cannot be tapped.
///
/// Real-time: setup.
pub(crate) fn answer_tap(head: &[AtomicU64], place: usize, number: u16, channels: usize) {
    let all = [word(head, place, COUNT), word(head, place, ANSWER)];
    if let [Some(count), Some(answer)] = all {
        // Relaxed: published by the answer.
        count.store(0, Ordering::Relaxed);
        let word = u64::from(number) << 32 | channels as u64;
        // pairs with the load in `ReadTap::read`.
        answer.store(word, Ordering::Release);
    }
}

/// Returns true if the process has answered the order at `place` that it cannot tap that output.
///
/// Real-time: setup.
pub(crate) fn is_refused(head: &[AtomicU64], place: usize, order: TapOrder) -> bool {
    // Relaxed: the word is all.
    let answer = word(head, place, ANSWER).map(|it| it.load(Ordering::Relaxed));
    answer == Some(u64::from(order.number) << 32)
}

/// Answers no order any more.
///
/// Real-time: setup.
pub(crate) fn clear_answer(head: &[AtomicU64], place: usize) {
    // No order has this number.
    answer_tap(head, place, 0, 0);
}

/// Samples of a circle of so many channels: whole frames.
fn capacity(channels: usize) -> usize {
    SAMPLES / channels * channels
}

/// First byte of the circles in a memory. A process asks before it gives up the call for that.
///
/// Real-time: setup.
pub(crate) fn circles(file: &File) -> io::Result<u64> {
    let end = begin(file)?;
    let first = end.checked_sub(TAP_BYTES);
    first.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// First byte of the circle at `place`, of those from `first` on.
fn circle(first: u64, place: usize) -> u64 {
    first + (place * SAMPLES * size_of::<f32>()) as u64
}

/// The part of a circle from sample number `from` on, up to its end: first byte, and number of samples.
fn part(first: u64, channels: usize, from: u64, len: usize) -> (u64, usize) {
    let capacity = capacity(channels);
    let at = (from % capacity as u64) as usize;
    let bytes = (at * size_of::<f32>()) as u64;
    (first + bytes, len.min(capacity - at))
}

/// Adds samples to the circle at `place`, behind the first `count` of all. `circles` is the first byte of them.
///
/// Real-time: setup.
pub(crate) fn write_samples(
    (file, circles, head): (&File, u64, &[AtomicU64]),
    (place, channels): (usize, usize),
    count: u64,
    samples: &[f32],
) -> io::Result<u64> {
    let end = count + samples.len() as u64;
    let skipped = samples.len().saturating_sub(capacity(channels));
    let (mut from, mut left) = (count + skipped as u64, &samples[skipped..]);
    let first = circle(circles, place);
    while !left.is_empty() {
        let (at, len) = part(first, channels, from, left.len());
        let (now, rest) = left.split_at(len);
        let bytes: Vec<u8> = now.iter().flat_map(|it| it.to_le_bytes()).collect();
        file.write_all_at(&bytes, at)?;
        (from, left) = (from + len as u64, rest);
    }
    if let Some(word) = word(head, place, COUNT) {
        // pairs with the load in `ReadTap::read`: the samples are there.
        word.store(end, Ordering::Release);
    }
    Ok(end)
}

/// The supervisor's reading of a tap.
#[derive(Debug, Default)]
pub(crate) struct ReadTap {
    /// Process and order of which samples were read last.
    of: Option<(u32, TapOrder)>,
    /// Samples so far.
    count: u64,
    /// Blocks that were asked for then.
    blocks: u64,
}

impl ReadTap {
    /// The samples since the last call, of the tap that was ordered at `place`, with `channels`. `process` is the number of its process;
    /// `asked` are the blocks that it was asked for so far, and their length. `None` as long as it is not tapped.
    ///
    /// Real-time: setup.
    pub(crate) fn read(
        &mut self,
        (file, head): (&File, &[AtomicU64]),
        (place, channels): (usize, usize),
        (process, order): (u32, TapOrder),
        (blocks, frames): (u64, usize),
    ) -> Option<Vec<f32>> {
        // pairs with the store in `answer_tap`.
        let answer = word(head, place, ANSWER)?.load(Ordering::Acquire);
        if answer != (u64::from(order.number) << 32 | channels as u64) || channels == 0 {
            return None;
        }
        // pairs with the store in `write_samples`.
        let count = word(head, place, COUNT)?.load(Ordering::Acquire);
        let count = count - count % channels as u64;
        let is_new = self.of != Some((process, order));
        if is_new || count < self.count {
            *self = Self {
                of: Some((process, order)),
                count,
                blocks,
            };
        }
        // Some blocks may have been on their way.
        let blocks = blocks - std::mem::replace(&mut self.blocks, blocks).min(blocks);
        let most = (blocks + 4).saturating_mul((frames * channels) as u64);
        let half = (capacity(channels) / 2 / channels * channels) as u64;
        let len = (count - self.count).min(most).min(half);
        // The count before may have been of other channels.
        let len = len - len % channels as u64;
        self.count = count;
        read_samples(file, (place, channels), count - len, len as usize).ok()
    }
}

/// Reads samples of the circle at `place`.
fn read_samples(
    file: &File,
    (place, channels): (usize, usize),
    mut from: u64,
    mut len: usize,
) -> io::Result<Vec<f32>> {
    let first = circle(circles(file)?, place);
    let mut samples = Vec::with_capacity(len);
    while len > 0 {
        let (at, now) = part(first, channels, from, len);
        let mut bytes = vec![0; now * size_of::<f32>()];
        file.read_exact_at(&mut bytes, at)?;
        let (words, _) = bytes.as_chunks::<4>();
        let found = words.iter().map(|word| f32::from_le_bytes(*word));
        samples.extend(found.map(|x| if x.is_finite() { x } else { 0.0 }));
        (from, len) = (from + now as u64, len - now);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::CheckpointMemory;
    use crate::own_params::OWN_BYTES;

    const BLOCK: usize = 64;

    fn order(number: u16) -> TapOrder {
        TapOrder {
            node: NodeId(70_000),
            port: 3,
            number,
        }
    }

    #[test]
    fn samples_arrive_in_their_order_around_the_circle() {
        let memory = CheckpointMemory::with(b"a session", 7).unwrap();
        let shared = memory.map_head().unwrap();
        let (file, head) = (memory.file(), shared.words());
        let mut tap = ReadTap::default();
        order_tap(head, 5, Some(order(9)));
        assert_eq!(ordered_tap(head, 5), Some(order(9)));
        assert_eq!(ordered_tap(head, TAPS), None);
        let read = |tap: &mut ReadTap, blocks| {
            tap.read((file, head), (5, 3), (1, order(9)), (blocks, BLOCK))
        };
        assert_eq!(read(&mut tap, 0), None, "it is not answered");
        assert!(!is_refused(head, 5, order(9)));
        answer_tap(head, 5, 9, 0);
        assert_eq!(read(&mut tap, 0), None, "it is refused");
        assert!(is_refused(head, 5, order(9)) && !is_refused(head, 5, order(8)));
        answer_tap(head, 5, 9, 3);
        assert!(!is_refused(head, 5, order(9)));
        assert_eq!(read(&mut tap, 0), Some(Vec::new()));
        let (mut count, mut expected) = (0, 0);
        for block in 1..2000 {
            let next = |at: usize| (count as usize + at) as f32;
            let samples: Vec<f32> = (0..3 * BLOCK).map(next).collect();
            let to = (file, circles(file).unwrap(), head);
            count = write_samples(to, (5, 3), count, &samples).unwrap();
            if block % 7 == 0 {
                let found = read(&mut tap, block).unwrap();
                assert_eq!(found.len(), 7 * 3 * BLOCK);
                assert!(found.iter().all(|x| {
                    expected += 1;
                    *x == (expected - 1) as f32
                }));
            }
        }
        assert!(count > 2 * SAMPLES as u64);
        // One who comes late gets the newest.
        let late = ReadTap::default();
        let mut late = ReadTap { of: tap.of, ..late };
        let found = read(&mut late, 4000).unwrap();
        assert_eq!(found.last(), Some(&(count as f32 - 1.0)));
        assert_eq!(found.len(), capacity(3) / 2 / 3 * 3);
        order_tap(head, 5, None);
        assert_eq!(ordered_tap(head, 5), None);
        clear_answer(head, 5);
        assert_eq!(read(&mut late, 4001), None, "it is tapped no more");
    }

    #[test]
    fn nonsense_is_no_harm() {
        let memory = CheckpointMemory::with(b"a session", 7).unwrap();
        let shared = memory.map_head().unwrap();
        let (file, head) = (memory.file(), shared.words());
        let mut tap = ReadTap::default();
        let (mut state, mut heard) = (1u64, 0);
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> (state >> 58)
        };
        let bytes: Vec<u8> = (0..SAMPLES).flat_map(|_| next().to_le_bytes()).collect();
        let last = begin(file).unwrap() - bytes.len() as u64;
        file.write_all_at(&bytes, last).unwrap();
        for blocks in 0..20_000u64 {
            let channels = 1 + next() as usize % TAP_CHANNELS;
            answer_tap(head, TAPS - 1, 2, channels);
            word(head, TAPS - 1, COUNT)
                .unwrap()
                .store(next(), Ordering::Relaxed);
            if blocks % 5 == 0 {
                word(head, TAPS - 1, ANSWER)
                    .unwrap()
                    .store(next(), Ordering::Relaxed);
            }
            let process = blocks as u32 / 100;
            let who = (process, order(2));
            let found = tap.read((file, head), (TAPS - 1, channels), who, (blocks, BLOCK));
            let found = found.unwrap_or_default();
            heard += found.len();
            assert!(found.len() <= 6 * BLOCK * channels && found.len() % channels == 0);
            assert!(found.iter().all(|x| x.is_finite()));
        }
        assert!(heard > 100_000, "{heard}");
        assert_eq!(
            OWN_BYTES + last + bytes.len() as u64,
            file.metadata().unwrap().len()
        );
    }
}
