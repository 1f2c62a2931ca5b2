//! Bytes of a standard MIDI file: a whole one, or event by event.

use super::smf::{FileEventBody, MidiFile, MidiTrack, TickUnit};

/// Largest time between two events, in ticks: 28 bits.
const MAX_DELTA: u64 = (1 << 28) - 1;
/// The end of a track, without its time.
const END_OF_TRACK: [u8; 3] = [0xff, 0x2f, 0];
/// An empty event for sequencers, which nobody plays: for times that do not fit into one event.
const EMPTY_META: [u8; 3] = [0xff, 0x7f, 0];

impl MidiFile {
    /// The file's bytes: format 2 for a sequence, 0 for one track, else 1. Read again it is equal, if it was not damaged
    /// and all of it could be played. `None` if there are more than 65,535 tracks or a track has 4 GB.
    ///
    /// Real-time: setup.
    pub fn write(&self) -> Option<Vec<u8>> {
        let tracks = u16::try_from(self.tracks.len()).ok()?;
        let format = match (self.is_sequence, tracks) {
            (true, _) => 2,
            (false, 1) => 0,
            (false, _) => 1,
        };
        let mut bytes = header(format, tracks, self.unit).to_vec();
        for track in &self.tracks {
            let content = track_bytes(track);
            bytes.extend(b"MTrk");
            bytes.extend(u32::try_from(content.len()).ok()?.to_be_bytes());
            bytes.extend(content);
        }
        Some(bytes)
    }
}

fn track_bytes(track: &MidiTrack) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !track.name.is_empty() {
        bytes.push(0);
        put_meta(&mut bytes, 0x03, track.name.as_bytes());
    }
    let mut now = 0;
    for event in &track.events {
        put_event(&mut bytes, event.tick.saturating_sub(now), &event.body);
        now = event.tick.max(now);
    }
    put_end(&mut bytes, track.ticks.saturating_sub(now));
    bytes
}

/// The header chunk.
pub(super) fn header(format: u8, tracks: u16, unit: TickUnit) -> [u8; 14] {
    let [t0, t1] = tracks.to_be_bytes();
    let [u0, u1] = match unit {
        TickUnit::Beat(ticks) => ticks.to_be_bytes(),
        TickUnit::Second(1001, denominator) => [29_u8.wrapping_neg(), (denominator / 30_000) as u8],
        TickUnit::Second(_, denominator) => {
            let fps = [30, 25, 24]
                .into_iter()
                .find(|fps| denominator % fps == 0 && (1..256).contains(&(denominator / fps)));
            let fps = fps.unwrap_or(25);
            [(fps as u8).wrapping_neg(), (denominator / fps) as u8]
        }
    };
    [
        b'M', b'T', b'h', b'd', 0, 0, 0, 6, 0, format, t0, t1, u0, u1,
    ]
}

/// Appends an event `delta` ticks after the one before.
pub(super) fn put_event(bytes: &mut Vec<u8>, delta: u64, body: &FileEventBody) {
    put_delta(bytes, delta);
    match body {
        FileEventBody::Message(message) => bytes.extend(&message[..message_len(message[0])]),
        FileEventBody::Tempo(tempo) => put_meta(bytes, 0x51, &tempo.to_be_bytes()[1..]),
        FileEventBody::Text(text) => put_meta(bytes, 0x01, text.as_bytes()),
    }
}

/// Appends the end of the track, `delta` ticks after its last event.
pub(super) fn put_end(bytes: &mut Vec<u8>, delta: u64) {
    put_delta(bytes, delta);
    bytes.extend(END_OF_TRACK);
}

fn put_meta(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.extend([0xff, kind]);
    put_number(bytes, content.len() as u64);
    bytes.extend(content);
}

fn put_delta(bytes: &mut Vec<u8>, mut delta: u64) {
    while delta > MAX_DELTA {
        put_number(bytes, MAX_DELTA);
        bytes.extend(EMPTY_META);
        delta -= MAX_DELTA;
    }
    put_number(bytes, delta);
}

/// Appends a number of up to 28 bits, seven a byte, the highest first.
fn put_number(bytes: &mut Vec<u8>, number: u64) {
    for shift in [21, 14, 7] {
        if number >> shift > 0 {
            bytes.push((number >> shift) as u8 | 0x80);
        }
    }
    bytes.push(number as u8 & 0x7f);
}

/// Number of bytes of a channel message with this status byte.
pub(super) fn message_len(status: u8) -> usize {
    match status & 0xf0 {
        0xc0 | 0xd0 => 2,
        _ => 3,
    }
}
