//! The chunks `INST` and `MARK` of an AIFF file.
//!
//! ```text
//! INST  key, detune in cents, four bytes, gain │ sustain loop: mode, first mark, last mark │ release loop, likewise
//! MARK  count │ a mark: id, frame (32 bits), name (its length in a byte, and together an even number of bytes) │ …
//! ```
//!
//! Numbers are big-endian, of 16 bits where nothing else is said. A mark lies before the frame that it names. Apple, *Audio
//! Interchange File Format: "AIFF"*, version 1.3 (1989).

use super::SampleInfo;

/// Bytes of the chunks that are read; marks behind these are not known.
pub(super) const INST_BYTES: u64 = 20;
pub(super) const MARK_BYTES: u64 = 1 << 20;
/// Bytes of a mark before its name.
const MARK_HEAD: usize = 6;

/// The key and the loop of chunks that may be missing, cut off or hostile.
pub(super) fn read_info(inst: &[u8], marks: &[u8]) -> SampleInfo {
    let key = inst.first().filter(|key| **key < 128).map(|key| {
        // How much higher it is to be played, so the key that plays it as it is lies below.
        let cents = inst.get(1).map_or(0, |cents| *cents as i8);
        f64::from(*key) - f64::from(cents.clamp(-50, 50)) / 100.0
    });
    let number = |at: usize| Some(u16::from_be_bytes(inst.get(at..at + 2)?.try_into().ok()?));
    let cycle = || {
        let (mode, first, last) = (number(8)?, number(10)?, number(12)?);
        let (first, end) = (place_of(marks, first)?, place_of(marks, last)?);
        // 1 is forward; to and fro is not played.
        (mode == 1 && first < end).then_some((first, end))
    };
    SampleInfo {
        key: key.map(|key| key.max(0.0)),
        cycle: cycle(),
    }
}

/// The frame of a mark.
fn place_of(marks: &[u8], wanted: u16) -> Option<u64> {
    let mut rest = marks.get(2..)?;
    while let Some((head, behind)) = rest.split_first_chunk::<MARK_HEAD>() {
        let [id @ .., a, b, c, d] = *head;
        if u16::from_be_bytes(id) == wanted {
            return Some(u64::from(u32::from_be_bytes([a, b, c, d])));
        }
        // The length, the name, and a byte where both are odd together.
        let name = usize::from(*behind.first()?) + 1;
        rest = behind.get(name + name % 2..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inst(key: u8, cents: i8, (mode, first, last): (u16, u16, u16)) -> Vec<u8> {
        let mut bytes = vec![key, cents as u8, 0, 127, 1, 127, 0, 0];
        bytes.extend(
            [mode, first, last, 0, 0, 0]
                .map(u16::to_be_bytes)
                .as_flattened(),
        );
        bytes
    }

    fn marks(all: &[(u16, u32, &str)]) -> Vec<u8> {
        let mut bytes = (all.len() as u16).to_be_bytes().to_vec();
        for (id, frame, name) in all {
            bytes.extend(id.to_be_bytes());
            bytes.extend(frame.to_be_bytes());
            bytes.push(name.len() as u8);
            bytes.extend(name.as_bytes());
            bytes.resize(bytes.len() + (name.len() + 1) % 2, 0);
        }
        bytes
    }

    #[test]
    fn the_key_and_the_sustain_loop_are_read() {
        let marks = marks(&[(7, 1, ""), (1, 10, "begin"), (2, 100, "end!")]);
        let info = read_info(&inst(69, -25, (1, 1, 2)), &marks);
        assert_eq!((info.key, info.cycle), (Some(69.25), Some((10, 100))));
    }

    #[test]
    fn numbers_that_make_no_sense_say_nothing() {
        let marks = marks(&[(1, 10, "a"), (2, 100, "b")]);
        for cycle in [(0, 1, 2), (2, 1, 2), (1, 2, 1), (1, 1, 1), (1, 1, 9)] {
            assert_eq!(read_info(&inst(60, 0, cycle), &marks).cycle, None);
        }
        assert_eq!(
            read_info(&inst(200, 0, (0, 0, 0)), &[]),
            SampleInfo::default()
        );
        assert_eq!(read_info(&inst(0, 50, (0, 0, 0)), &[]).key, Some(0.0));
        let whole = inst(60, 0, (1, 1, 2));
        for length in 0..=whole.len() {
            let info = read_info(&whole[..length], &marks);
            assert_eq!(info.cycle.is_some(), length >= 14, "{length}");
        }
        for length in 0..=marks.len() {
            let info = read_info(&whole, &marks[..length]);
            assert_eq!(info.cycle.is_some(), length >= 2 + 8 + 6, "{length}");
        }
    }
}
