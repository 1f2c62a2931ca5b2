//! Gauges of a cell: its process writes the newest values into the head of its checkpoint memory, the supervisor reads them.
//!
//! ```text
//!   words 64 …           names: their number and length, then a line for each          written when they change
//!   words 320 …          number, then two values in a word (`rt::newest`)             every 5 ms
//! ```
//!
//! The supervisor takes [`GAUGES`] names at most, of printable text, and numbers that are finite; other ones are 0.

use processor::Gauge;
use rt::newest::{read_newest, write_newest};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Most gauges of a cell.
pub(crate) const GAUGES: usize = 128;
const NAMES: Range<usize> = 64..320;
const VALUES: Range<usize> = 320..320 + 1 + GAUGES / 2;
const NAME_BYTES: usize = 8 * (NAMES.end - NAMES.start - 1);

/// The gauges of a cell's engine that are shown.
pub(crate) struct ShownGauges(Vec<Gauge>);

impl ShownGauges {
    /// Writes the names into the head of a memory. Gives the number of those that find no room.
    ///
    /// Real-time: setup.
    pub(crate) fn new(all: Vec<(String, Gauge)>, head: &[AtomicU64]) -> (Self, usize) {
        let (shown, names, left_out) = Self::choose(all);
        show_names(head, &names);
        (shown, left_out)
    }

    /// The gauges that are shown, their names, and the number of those that find no room.
    ///
    /// Real-time: setup.
    pub(crate) fn choose(all: Vec<(String, Gauge)>) -> (Self, String, usize) {
        let (mut text, mut shown, count) = (String::new(), Vec::new(), all.len());
        for (name, gauge) in all {
            if text.len() + name.len() < NAME_BYTES && shown.len() < GAUGES && !name.contains('\n')
            {
                text += &name;
                text.push('\n');
                shown.push(gauge);
            }
        }
        let left_out = count - shown.len();
        (Self(shown), text, left_out)
    }

    /// Writes the values.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&self, head: &[AtomicU64]) {
        let Some(words) = head.get(VALUES) else {
            return;
        };
        let bits = |gauge: Option<&Gauge>| gauge.map_or(0, |it| u64::from(it.get().to_bits()));
        let pairs = self.0.chunks(2);
        let pairs = pairs.map(|pair| bits(pair.first()) | bits(pair.get(1)) << 32);
        write_newest(words, pairs);
    }
}

/// Writes the names of the values into the head of a memory; none for an empty text. For one writer at a time.
///
/// Real-time: setup.
pub(crate) fn show_names(head: &[AtomicU64], text: &str) {
    let Some(words) = head.get(NAMES) else {
        return;
    };
    // Relaxed: only the writer stores it.
    let number = words[0].load(Ordering::Relaxed) >> 32;
    let number = number.wrapping_add(1) << 32;
    // Who reads a word below together with the number before reads that number no more: pairs with the fence in `read_gauges`.
    words[0].store(number, Ordering::Relaxed);
    fence(Ordering::Release);
    for (word, bytes) in words[1..].iter().zip(text.as_bytes().chunks(8)) {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        // Relaxed: the length publishes them.
        word.store(u64::from_le_bytes(all), Ordering::Relaxed);
    }
    // pairs with the load in `read_gauges`.
    words[0].store(number | text.len() as u64, Ordering::Release);
}

/// The gauges in the head of a memory, as far as they can be believed; `None` if there are none, or a write was met.
///
/// Real-time: setup.
pub(crate) fn read_gauges(head: &[AtomicU64]) -> Option<BTreeMap<String, f32>> {
    let names = head.get(NAMES)?;
    // pairs with the last store in `show_names`.
    let number = names[0].load(Ordering::Acquire);
    let len = usize::try_from(number & u64::from(u32::MAX)).ok()?;
    if len == 0 || len > NAME_BYTES {
        return None;
    }
    // Relaxed: ordered by the length.
    let words = names[1..].iter().map(|it| it.load(Ordering::Relaxed));
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(len).collect();
    // pairs with the fence in `show_names`.
    fence(Ordering::Acquire);
    if names[0].load(Ordering::Relaxed) != number {
        return None;
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut values = [0; GAUGES / 2];
    if !read_newest(head.get(VALUES)?, &mut values) {
        return None;
    }
    let values = values
        .iter()
        .flat_map(|pair| [*pair as u32, (pair >> 32) as u32]);
    let values = values.map(|bits| Some(f32::from_bits(bits)).filter(|it| it.is_finite()));
    let named = text
        .lines()
        .filter(|name| !name.chars().any(char::is_control));
    let all = named.zip(values).take(GAUGES);
    Some(
        all.map(|(name, value)| (name.to_owned(), value.unwrap_or(0.0)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Vec<AtomicU64> {
        (0..512).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn names_and_newest_values_arrive() {
        let head = head();
        assert_eq!(read_gauges(&head), None);
        let gauges: Vec<_> = (0..200)
            .map(|k| (format!("n{k}.level"), Gauge::default()))
            .collect();
        let (shown, left_out) = ShownGauges::new(gauges.clone(), &head);
        assert_eq!(left_out, 200 - GAUGES);
        for round in 0..3 {
            for (k, (_, gauge)) in gauges.iter().enumerate() {
                gauge.set(k as f32 + round as f32 * 0.25);
            }
            shown.write(&head);
        }
        let found = read_gauges(&head).unwrap();
        assert_eq!(
            (found.len(), found["n0.level"], found["n127.level"]),
            (GAUGES, 0.5, 127.5)
        );
    }

    #[test]
    fn nonsense_is_no_harm() {
        let (head, mut state) = (head(), 1u64);
        for round in 0..5_000 {
            for word in &head {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                word.store(state >> (state >> 58), Ordering::Relaxed);
            }
            if round % 2 == 0 {
                head[NAMES.start].store(state >> 33 & 4095, Ordering::Relaxed);
                head[VALUES.start].store(2, Ordering::Relaxed);
                for word in &head[NAMES.start + 1..NAMES.end] {
                    word.fetch_and(0x7f0a_7f7f_7f7f_7f7f, Ordering::Relaxed);
                }
            }
            for (name, value) in read_gauges(&head).unwrap_or_default() {
                assert!(value.is_finite() && !name.chars().any(char::is_control));
            }
        }
    }
}
