//! [`MidiFile`]: a standard MIDI file of format 0, 1 or 2, read from hostile bytes.
//!
//! The crate `midly` parses. It leaves out what it cannot read and does not say so, and it panics at some headers. So the
//! chunks are looked at first, a panic becomes an error without a message on the terminal, and the place at which a track
//! breaks off is kept as the file's damage.

use super::contain::contain_panic;
use midly::{EventIter, Format, Fps, MetaMessage, Timing, TrackEventKind};
use std::path::{Path, PathBuf};

/// Largest file, in bytes. An event takes three bytes there and ten times as many here.
pub const MAX_BYTES: u64 = 16 << 20;
/// The most tracks: what a header can state.
const MAX_TRACKS: usize = u16::MAX as usize;
/// Longest text that is kept, in bytes.
const MAX_TEXT: usize = processor::TextId::MAX_LEN;

/// A MIDI file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MidiFileError {
    /// It cannot be opened, or has more than [`MAX_BYTES`] bytes.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// Its bytes are no MIDI file.
    #[error("{} is not a MIDI file: {reason}", path.display())]
    NotMidi {
        /// The file.
        path: PathBuf,
        /// The mistake.
        reason: String,
    },
}

/// Unit of the times in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickUnit {
    /// Ticks of a beat (a quarter note): 1 to 32,767. How long a beat lasts is up to the tempo.
    Beat(u16),
    /// Ticks of a fixed length in seconds: `length.0 / length.1`.
    Second(u32, u32),
}

/// Content of an event of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEventBody {
    /// A channel message; unused bytes are 0.
    Message([u8; 3]),
    /// A beat lasts so many microseconds from here on.
    Tempo(u32),
    /// A text, lyric, marker or cue.
    Text(String),
}

/// An event of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEvent {
    /// Its time, in ticks from the start of its track.
    pub tick: u64,
    /// Its content.
    pub body: FileEventBody,
}

/// A track of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MidiTrack {
    /// Its name, if it states one.
    pub name: String,
    /// Its events, by time.
    pub events: Vec<FileEvent>,
    /// Time of its end, in ticks.
    pub ticks: u64,
}

/// A standard MIDI file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MidiFile {
    /// True if the tracks play one after the other (format 2), false if together.
    pub is_sequence: bool,
    /// Unit of all times.
    pub unit: TickUnit,
    /// Its tracks.
    pub tracks: Vec<MidiTrack>,
    /// The first damage that was found.
    pub damage: Option<String>,
    /// Content that is no event of a graph, each with its number: system exclusive messages.
    pub not_played: Vec<(&'static str, usize)>,
}

impl MidiFile {
    /// Reads the file `path`.
    ///
    /// # Errors
    ///
    /// It is missing, too long, or no MIDI file. A damaged one is read as far as it goes.
    ///
    /// Real-time: waits, on the disk.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MidiFileError> {
        let path = path.as_ref();
        let bytes = files::read(path, MAX_BYTES).map_err(|source| MidiFileError::Open {
            path: path.to_path_buf(),
            source,
        })?;
        Self::read(&bytes).map_err(|reason| MidiFileError::NotMidi {
            path: path.to_path_buf(),
            reason,
        })
    }

    /// Reads `bytes`.
    ///
    /// # Errors
    ///
    /// They are no MIDI file; the sentence says why.
    ///
    /// Real-time: setup.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let damage = contain_panic(|| find_cut(bytes)).flatten();
        contain_panic(|| parse(bytes, damage))
            .unwrap_or_else(|| Err("its numbers make no sense".into()))
    }
}

fn parse(bytes: &[u8], damage: Option<String>) -> Result<MidiFile, String> {
    let (header, tracks) = midly::parse(bytes).map_err(|error| error.to_string())?;
    let stated = tracks.size_hint().0;
    let mut file = MidiFile {
        is_sequence: header.format == Format::Sequential,
        unit: tick_unit(header.timing)?,
        tracks: Vec::new(),
        damage,
        not_played: Vec::new(),
    };
    for events in tracks.take(MAX_TRACKS) {
        let events = events.map_err(|error| error.to_string())?;
        file.add_track(events);
    }
    let found = file.tracks.len();
    if found == 0 {
        return Err("it has no track".into());
    }
    if found < stated {
        file.add_damage(format!("it has {found} tracks and states {stated}"));
    }
    Ok(file)
}

/// The unit of time.
///
/// # Errors
///
/// A tick would have no length.
fn tick_unit(timing: Timing) -> Result<TickUnit, String> {
    match timing {
        Timing::Metrical(ticks) if ticks.as_int() > 0 => Ok(TickUnit::Beat(ticks.as_int())),
        Timing::Timecode(fps, ticks) if ticks > 0 => {
            let ticks = u32::from(ticks);
            Ok(match fps {
                Fps::Fps24 => TickUnit::Second(1, 24 * ticks),
                Fps::Fps25 => TickUnit::Second(1, 25 * ticks),
                // 29.97 frames a second.
                Fps::Fps29 => TickUnit::Second(1001, 30_000 * ticks),
                Fps::Fps30 => TickUnit::Second(1, 30 * ticks),
            })
        }
        _ => Err("its unit of time is 0".into()),
    }
}

impl MidiFile {
    /// Number of channel messages: of a track (an index), or of all; on a channel (from 0), or on all.
    pub fn messages(&self, track: Option<usize>, channel: Option<usize>) -> usize {
        let tracks = self.tracks.iter().enumerate();
        let tracks = tracks.filter(|(index, _)| track.is_none_or(|track| track == *index));
        let events = tracks.flat_map(|(_, track)| &track.events);
        let is_played = |event: &&FileEvent| match event.body {
            FileEventBody::Message([status, ..]) => {
                channel.is_none_or(|channel| channel == usize::from(status & 0xf))
            }
            _ => false,
        };
        events.filter(is_played).count()
    }

    fn add_damage(&mut self, what: String) {
        self.damage.get_or_insert(what);
    }

    fn add_track(&mut self, mut events: EventIter<'_>) {
        let number = self.tracks.len() + 1;
        let mut track = MidiTrack::default();
        let mut has_end = false;
        while !has_end {
            let left = events.unread().len();
            match events.next() {
                Some(Ok(event)) => {
                    track.ticks += u64::from(event.delta.as_int());
                    has_end = self.add_event(&mut track, event.kind);
                }
                // The iterator ends at an event that it cannot read.
                _ if left > 0 => {
                    let read = track.events.len();
                    self.add_damage(format!(
                        "track {number} breaks off after {read} events, {left} bytes before its end"
                    ));
                    break;
                }
                _ => {
                    self.add_damage(format!("track {number} has no end"));
                    break;
                }
            }
        }
        self.tracks.push(track);
    }

    /// Adds an event to `track`. Returns true at the track's end.
    fn add_event(&mut self, track: &mut MidiTrack, kind: TrackEventKind<'_>) -> bool {
        let body = match kind {
            TrackEventKind::Midi { channel, message } => {
                FileEventBody::Message(message_bytes(channel.as_int(), message))
            }
            TrackEventKind::Meta(MetaMessage::Tempo(tempo)) => {
                FileEventBody::Tempo(tempo.as_int().max(1))
            }
            TrackEventKind::Meta(meta) => match meta {
                MetaMessage::EndOfTrack => return true,
                MetaMessage::TrackName(name) => {
                    track.name = text(name);
                    return false;
                }
                MetaMessage::Text(bytes)
                | MetaMessage::Lyric(bytes)
                | MetaMessage::Marker(bytes)
                | MetaMessage::CuePoint(bytes) => FileEventBody::Text(text(bytes)),
                _ => return false,
            },
            TrackEventKind::SysEx(_) => {
                self.count_not_played("system exclusive messages");
                return false;
            }
            TrackEventKind::Escape(_) => {
                self.count_not_played("escaped messages");
                return false;
            }
        };
        let tick = track.ticks;
        track.events.push(FileEvent { tick, body });
        false
    }

    fn count_not_played(&mut self, what: &'static str) {
        match self.not_played.iter_mut().find(|(name, _)| *name == what) {
            Some((_, count)) => *count += 1,
            None => self.not_played.push((what, 1)),
        }
    }
}

/// The bytes of a channel message.
fn message_bytes(channel: u8, message: midly::MidiMessage) -> [u8; 3] {
    use midly::MidiMessage as M;
    let (status, a, b) = match message {
        M::NoteOff { key, vel } => (0x80, key.as_int(), vel.as_int()),
        M::NoteOn { key, vel } => (0x90, key.as_int(), vel.as_int()),
        M::Aftertouch { key, vel } => (0xa0, key.as_int(), vel.as_int()),
        M::Controller { controller, value } => (0xb0, controller.as_int(), value.as_int()),
        M::ProgramChange { program } => (0xc0, program.as_int(), 0),
        M::ChannelAftertouch { vel } => (0xd0, vel.as_int(), 0),
        M::PitchBend { bend } => {
            let value = bend.0.as_int();
            (0xe0, (value & 0x7f) as u8, (value >> 7) as u8)
        }
    };
    [status | channel, a, b]
}

/// At most [`MAX_TEXT`] bytes as text; what is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    let end = (0..=MAX_TEXT.min(text.len())).rev();
    let end = end.into_iter().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
    text
}

/// Number of bytes by which the file is shorter than its chunks say, as a sentence.
fn find_cut(bytes: &[u8]) -> Option<String> {
    // The wrapper that some files have states its own lengths; the parser looks at them.
    let mut rest = bytes.strip_prefix(b"MThd").map(|_| bytes)?;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let length = u32::from_be_bytes([head[4], head[5], head[6], head[7]]) as usize;
        if length > after.len() {
            let missing = length - after.len();
            return Some(format!("it was cut off: {missing} bytes are missing"));
        }
        rest = &after[length..];
    }
    None
}
