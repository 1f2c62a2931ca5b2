//! The chunk `smpl` of a WAV file.
//!
//! ```text
//!  0      8            20   24         36    44   48    52
//!  ┌────┬───┬─ ─ ─ ─ ─┬────┬─────┬─ ─ ─┬─ ─ ─┬────┬─────┬───┬─ ─      numbers of 32 bits, little-endian, after the name
//!  │smpl│len│         │key │part │     │count│    │     │ a loop: id, kind, first, last, part, count
//!  └────┴───┴─ ─ ─ ─ ─┴────┴─────┴─ ─ ─┴─ ─ ─┴────┴─────┴───┴─ ─
//! ```
//!
//! The chunk mostly follows the samples. IBM and Microsoft, *Multimedia Programming Interface and Data Specifications 1.0*
//! (1991), as later extended by Microsoft, *New Multimedia Data Types and Data Techniques* (1994).

use super::SampleInfo;

/// Bytes of the chunk that are read: those before its loops, and one loop.
pub(super) const BYTES: u64 = 36 + 24;

/// The key and the loop of a chunk that may be cut off or hostile.
pub(super) fn read_info(chunk: &[u8]) -> SampleInfo {
    let number = |at: usize| {
        let bytes = chunk.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let key = number(12).filter(|key| *key < 128).map(|key| {
        // A fraction of a semitone, in units of 2^-32.
        f64::from(key) + f64::from(number(16).unwrap_or(0)) / 4_294_967_296.0
    });
    let has_loop = number(28).is_some_and(|count| count > 0);
    let cycle = || {
        let (kind, first, last) = (number(40)?, number(44)?, number(48)?);
        // 0 is forward; to and fro, backward and what comes after is not played.
        (kind == 0 && first < last).then_some((u64::from(first), u64::from(last) + 1))
    };
    SampleInfo {
        key,
        cycle: has_loop.then(cycle).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of a key and a loop.
    fn chunk(key: u32, part: u32, count: u32, (kind, first, last): (u32, u32, u32)) -> Vec<u8> {
        let numbers = [0, 0, 20_833, key, part, 0, 0, count, 0];
        let of_loop = [0, kind, first, last, 0, 0];
        let all = numbers.into_iter().chain(of_loop);
        all.flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn the_key_and_the_first_loop_are_read() {
        let info = read_info(&chunk(69, 1 << 31, 1, (0, 10, 99)));
        assert_eq!((info.key, info.cycle), (Some(69.5), Some((10, 100))));
    }

    #[test]
    fn numbers_that_make_no_sense_say_nothing() {
        let none = SampleInfo::default();
        assert_eq!(read_info(&[]), none);
        assert_eq!(read_info(&chunk(128, 0, 0, (0, 0, 0))), none);
        for (count, cycle) in [
            (0, (0, 1, 9)),
            (1, (1, 1, 9)),
            (1, (0, 9, 9)),
            (1, (0, u32::MAX, 0)),
        ] {
            assert_eq!(read_info(&chunk(u32::MAX, 9, count, cycle)), none);
        }
        let long = read_info(&chunk(0, 0, u32::MAX, (0, 0, u32::MAX)));
        assert_eq!(long.cycle, Some((0, 1 << 32)));
        let whole = chunk(60, 0, 1, (0, 1, 9));
        for length in 0..whole.len() {
            let info = read_info(&whole[..length]);
            assert_eq!(info.key.is_some(), length >= 16, "{length}");
            assert_eq!(info.cycle.is_some(), length >= 52, "{length}");
        }
    }
}
