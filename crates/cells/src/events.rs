//! Events in a message: those of one port and one block, as words.
//!
//! | word | holds |
//! |---|---|
//! | 0 | number of events |
//! | 1 + 5k | frame |
//! | 2 + 5k | kind |
//! | 3 … 5 + 5k | its numbers |
//!
//! # What a reader believes
//!
//! | of a port | then |
//! |---|---|
//! | more events than there is room for | the first ones are read |
//! | a frame behind the block, or before that of the event before | the next frame that can be |
//! | an unknown kind, a number that is not finite, a length that is none | the event is left out, and counted |
//!
//! A text has a number that only its own process knows. So events of texts do not cross; they are left out, and counted.

use processor::{EventBody, SysExPart};

/// Words of an event.
const WORDS: usize = 5;

/// One event of a port.
pub(crate) type PortEvent = (u32, EventBody);

/// Events of a port in a block of `frames`: as many as a node can send.
pub(crate) const fn room(frames: usize) -> usize {
    128 + frames / 2
}

/// Words of a port in a block of `frames`.
pub(crate) const fn words(frames: usize) -> usize {
    1 + WORDS * room(frames)
}

/// Writes `events` into the words of a port. Returns the number of those that do not cross.
///
/// Real-time: hot.
pub(crate) fn write(events: impl Iterator<Item = PortEvent>, to: &mut [u32]) -> u64 {
    let Some((count, to)) = to.split_first_mut() else {
        return events.count() as u64;
    };
    let (mut written, mut lost) = (0, 0);
    let (places, _) = to.as_chunks_mut::<WORDS>();
    let mut places = places.iter_mut();
    for (frame, body) in events {
        match encode(body).zip(places.as_slice().first().map(|_| ())) {
            Some(([kind, a, b, c], ())) => {
                if let Some(place) = places.next() {
                    *place = [frame, kind, a, b, c];
                    written += 1;
                }
            }
            None => lost += 1,
        }
    }
    *count = written;
    lost
}

/// Passes the events in the words of a port, for a block of `frames`, to `take`, in the order of their frames. Each word is
/// read once. Returns the number of those that are left out.
///
/// Real-time: hot if `take` is.
pub(crate) fn read(from: &[u32], frames: usize, mut take: impl FnMut(PortEvent)) -> u64 {
    let Some((count, from)) = from.split_first() else {
        return 0;
    };
    let (places, _) = from.as_chunks::<WORDS>();
    let last = frames.saturating_sub(1) as u32;
    let (mut earliest, mut lost) = (0, 0);
    for place in places.iter().take(*count as usize) {
        let [frame, kind, a, b, c] = *place;
        earliest = frame.clamp(earliest, last);
        match decode(kind, [a, b, c]) {
            Some(body) => take((earliest, body)),
            None => lost += 1,
        }
    }
    lost
}

/// Kind and numbers of an event; `None` for one that does not cross.
pub(crate) fn encode(body: EventBody) -> Option<[u32; 4]> {
    let f = f32::to_bits;
    Some(match body {
        EventBody::Value(value) => [1, f(value), 0, 0],
        EventBody::Glide(value) => [2, f(value), 0, 0],
        EventBody::Midi([a, b, c]) => [3, u32::from_le_bytes([a, b, c, 0]), 0, 0],
        EventBody::NoteOn {
            id,
            pitch,
            velocity,
        } => [4, id, f(pitch), f(velocity)],
        EventBody::NoteOff { id, velocity } => [5, id, f(velocity), 0],
        EventBody::NoteChoke { id } => [6, id, 0, 0],
        EventBody::NotePressure { id, value } => [7, id, f(value), 0],
        EventBody::NoteBend { id, semitones } => [8, id, f(semitones), 0],
        EventBody::NotePan { id, value } => [9, id, f(value), 0],
        EventBody::NoteTimbre { id, value } => [10, id, f(value), 0],
        EventBody::SysEx(part) => {
            let mut bytes = [0; 12];
            bytes[0] = part.bytes().len() as u8;
            (bytes[1..].iter_mut().zip(part.bytes())).for_each(|(to, from)| *to = *from);
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
            [11, word(0), word(4), word(8)]
        }
        _ => return None,
    })
}

/// The event of a kind with these numbers; `None` if there is none.
pub(crate) fn decode(kind: u32, [a, b, c]: [u32; 3]) -> Option<EventBody> {
    let f = |bits: u32| Some(f32::from_bits(bits)).filter(|it| it.is_finite());
    Some(match kind {
        1 => EventBody::Value(f(a)?),
        2 => EventBody::Glide(f(a)?),
        3 => {
            let [status, second, third, rest] = a.to_le_bytes();
            let is_message = status >= 0x80 && second < 0x80 && third < 0x80 && rest == 0;
            is_message.then_some(EventBody::Midi([status, second, third]))?
        }
        4 => EventBody::NoteOn {
            id: a,
            pitch: f(b)?,
            velocity: f(c)?,
        },
        5 => EventBody::NoteOff {
            id: a,
            velocity: f(b)?,
        },
        6 => EventBody::NoteChoke { id: a },
        7 => EventBody::NotePressure {
            id: a,
            value: f(b)?,
        },
        8 => EventBody::NoteBend {
            id: a,
            semitones: f(b)?,
        },
        9 => EventBody::NotePan {
            id: a,
            value: f(b)?,
        },
        10 => EventBody::NoteTimbre {
            id: a,
            value: f(b)?,
        },
        11 => {
            let [a, b, c] = [a, b, c].map(u32::to_le_bytes);
            let mut bytes = [0; 12];
            (bytes.iter_mut().zip([a, b, c].as_flattened())).for_each(|(to, from)| *to = *from);
            let len = usize::from(bytes[0]);
            let part = bytes.get(1..=len).filter(|_| len > 0)?;
            EventBody::SysEx(SysExPart::split(part).next()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::TextId;

    #[test]
    fn events_cross_as_they_are_but_texts() {
        let id = 7;
        let all = [
            EventBody::Value(-1.5),
            EventBody::Glide(3.25),
            EventBody::Midi([0x93, 64, 127]),
            EventBody::NoteOn {
                id,
                pitch: 60.5,
                velocity: 0.5,
            },
            EventBody::NoteOff { id, velocity: 0.25 },
            EventBody::NoteChoke { id },
            EventBody::NotePressure { id, value: 0.75 },
            EventBody::NoteBend {
                id,
                semitones: -2.0,
            },
            EventBody::NotePan { id, value: -1.0 },
            EventBody::NoteTimbre { id, value: 1.0 },
            EventBody::SysEx(
                SysExPart::split(&[0xf0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xf7])
                    .next()
                    .unwrap(),
            ),
        ];
        let mut port = vec![9; words(64)];
        let sent = (5..).zip(all);
        assert_eq!(write(sent.clone(), &mut port), 0);
        let mut found = Vec::new();
        assert_eq!(read(&port, 64, |event| found.push(event)), 0);
        assert_eq!(found, sent.collect::<Vec<_>>());
        let text = EventBody::Text(TextId::new("a text").unwrap());
        assert_eq!(write([(0, text), (1, all[0])].into_iter(), &mut port), 1);
        assert_eq!(port[0], 1);
        // What finds no room is counted.
        let many = (0..200).map(|frame| (frame, all[0]));
        assert_eq!(write(many, &mut port), 200 - room(64) as u64);
        assert_eq!(port[0] as usize, room(64));
    }

    #[test]
    fn garbage_gives_events_of_this_block_in_the_order_of_their_frames() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match state >> 28 {
                0 => u32::MAX,
                1..8 => state >> 16 & 15,
                _ => state,
            }
        };
        let (mut taken, mut lost) = (0, 0);
        for _ in 0..2000 {
            let mut port: Vec<u32> = (0..words(64)).map(|_| next()).collect();
            port[0] = next();
            let (mut last, mut count) = (0, 0);
            lost += read(&port, 64, |(frame, body)| {
                assert!((last..64).contains(&frame));
                assert!(encode(body).is_some());
                (last, count) = (frame, count + 1);
            });
            assert!(count <= room(64));
            taken += count;
        }
        assert!(taken > 0 && lost > 0);
    }
}
