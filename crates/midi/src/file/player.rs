//! `midi_file`: plays a standard MIDI file.
//!
//! Reads formats 0, 1 and 2, with time in beats or in seconds (SMPTE). Sends every channel message as it is in the file, and
//! its texts, lyrics, markers and cues, each at the frame nearest to its exact time; tempo changes take effect at their tick.
//! With `tempo = "session"` its beats are the session's, and its own tempo is left out.
//! The file's time is that of the transport: its position 0 is `start`. Where the transport stops or jumps, all notes of the
//! file's channels end (controllers 64 and 123). After a jump, and from a `start` within the file, the controllers, programs
//! and bends that were set before come first. At the end, and at the end of each round of a loop, notes and pedals that are
//! still down are released.
//!
//! At most 64 events leave in 128 frames (24,000 a second at 48 kHz); of a larger crowd the rest follows in the next
//! 128 frames, so that none finds an event buffer full.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, events |
//! | parameters | `file`; `track` from 1, 0 is all; `channel` 1 to 16, 0 is all; `start` in seconds; `loop`; `tempo` |
//! | latency | none |
//! | tail | until the end of the file; endless in a loop |

use super::chase::SettingChase;
use super::smf::{MidiFile, MidiFileError};
use super::timeline::{Selection, Timeline};
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, EventBody, FileLog, FileProblem, MakeContext, MakeError, ProcessStatus, Processor,
    Setup, StateError, Tail, Transport, TransportSegment, state,
};
use std::path::Path;
use std::sync::Arc;
use units::SampleRate;

/// The most events in a window of frames, which fit into the room for events of a block of any size.
const EVENTS_PER_WINDOW: u32 = 64;
const WINDOW_FRAMES: u64 = 128;
/// Shortest round of a loop, in seconds.
const MIN_ROUND_S: f64 = 0.01;

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::file("file", true).doc("A standard MIDI file, from the session's folder."),
            Param::number("track", (0.0, 65_535.0), 0.0)
                .doc("The only track that is played, counted from 1; 0 is all."),
            Param::number("channel", (0.0, 16.0), 0.0)
                .doc("The only MIDI channel that is played, counted from 1; 0 is all."),
            Param::number("start", (0.0, 86_400.0), 0.0)
                .unit("s")
                .doc("Position in the file at which it begins."),
            Param::flag("loop").doc("Plays in a loop."),
            Param::choice("tempo", &["file", "session"]).doc("Whose tempo its beats have."),
        ],
        duplicable: false,
        typical_ns: 30,
        ..Kind::new("midi_file", "Plays a standard MIDI file.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let Some(name) = creation.node.text("file").filter(|file| !file.is_empty()) else {
        return Err(MakeError::param("file", "`midi_file` needs `file`"));
    };
    let path = creation.folder.join(name);
    let file = MidiFile::open(&path).map_err(open_error)?;
    let timeline = timeline(creation, &file, &path)?;
    let is_loop = creation.node.flag("loop");
    if is_loop && timeline.seconds() < MIN_ROUND_S {
        let message = format!(
            "{} has no {MIN_ROUND_S} seconds that could be played in a loop",
            path.display()
        );
        return Err(MakeError::param("loop", message));
    }
    let damage = file.damage;
    let channels = (timeline.events.iter()).fold(0, |channels, event| match event.body {
        EventBody::Midi([status, ..]) => channels | 1 << (status & 15),
        _ => channels,
    });
    Ok(Box::new(MidiFilePlayer {
        channels,
        transport: Arc::default(),
        damage: damage.map(|what| format!("{} is damaged: {what}", path.display())),
        chase: SettingChase::new(&timeline.events),
        timeline,
        is_loop,
        rate: None,
        state: PlayerState::default(),
    }))
}

/// The part of a file that is played, and its times.
fn timeline(
    creation: &MakeContext<'_>,
    file: &MidiFile,
    path: &Path,
) -> Result<Timeline, MakeError> {
    let selection = Selection {
        track: selected(creation, "track")?,
        channel: selected(creation, "channel")?.map(|channel| channel as u8),
        start: creation.number("start")?,
    };
    let (track, tracks) = (selection.track, file.tracks.len());
    if track.is_some_and(|track| track >= tracks) {
        let message = format!("{} has {tracks} tracks", path.display());
        return Err(MakeError::param("track", message));
    }
    let is_session = creation.choice("tempo")? == 1;
    let tempo = is_session.then_some(creation.tempo);
    Timeline::new(file, selection, tempo).ok_or_else(|| {
        let path = path.display();
        let message = format!("the times of {path} are in seconds, not in beats");
        MakeError::param("tempo", message)
    })
}

/// The number of a track or channel, counted from 0; `None` for all.
fn selected(creation: &MakeContext<'_>, key: &'static str) -> Result<Option<usize>, MakeError> {
    Ok((creation.number(key)? as usize).checked_sub(1))
}

fn open_error(error: MidiFileError) -> MakeError {
    MakeError::param("file", error.to_string())
}

struct MidiFilePlayer {
    damage: Option<String>,
    /// Messages that are sent after a jump.
    chase: SettingChase,
    timeline: Timeline,
    is_loop: bool,
    rate: Option<SampleRate>,
    /// The MIDI channels of its events, a bit each.
    channels: u16,
    transport: Arc<Transport>,
    state: PlayerState,
}

/// State that changes while it plays.
#[derive(Clone, Copy, Debug, Default)]
struct PlayerState {
    /// False until the first block, which may be anywhere in the session.
    is_started: bool,
    /// Rounds of the loop that have ended.
    round: u64,
    /// Index of the next event.
    next: usize,
    /// Window of the last event, and the number of events in it.
    window: u64,
    sent: u32,
    /// Round and next event at the last jump, and the number of settings that were sent since.
    chase_from: (u64, usize),
    chased: usize,
}

impl MidiFilePlayer {
    /// Frame at which event `index` of round `round` is due.
    fn frame(&self, round: u64, index: usize, rate: SampleRate) -> u64 {
        let begin = self.timeline.end.saturating_mul(u128::from(round));
        let at = begin.saturating_add(self.timeline.events[index].at);
        self.timeline.frame(at, rate)
    }

    /// Finds the first event that is not before `position`.
    fn seek(&mut self, position: u64, rate: SampleRate) {
        let time = self.timeline.time(position, rate);
        let round = match self.is_loop {
            true => u64::try_from(time / self.timeline.end.max(1)).unwrap_or(u64::MAX),
            false => 0,
        };
        let begin = self.timeline.end.saturating_mul(u128::from(round));
        let is_before = |at: u128| self.timeline.frame(begin.saturating_add(at), rate) < position;
        let next = self.timeline.events.partition_point(|e| is_before(e.at));
        self.state = PlayerState {
            is_started: true,
            round,
            next,
            chase_from: (round, next),
            ..PlayerState::default()
        };
        self.chase.begin(round, next);
        self.begin_next_round();
    }

    fn begin_next_round(&mut self) {
        if self.is_loop && self.state.next == self.timeline.events.len() {
            self.state.next = 0;
            self.state.round = self.state.round.saturating_add(1);
        }
    }

    /// Frame at which the next event leaves: when it is due, or in the first window that has room.
    fn next_frame(&self, rate: SampleRate) -> Option<u64> {
        let state = &self.state;
        if state.next >= self.timeline.events.len() {
            return None;
        }
        Some(self.first_free(self.frame(state.round, state.next, rate)))
    }

    /// First frame from `frame` on at which another event may leave.
    fn first_free(&self, frame: u64) -> u64 {
        let window = self.state.window.saturating_mul(WINDOW_FRAMES);
        let frame = frame.max(window);
        let is_full =
            self.state.sent >= EVENTS_PER_WINDOW && frame / WINDOW_FRAMES == self.state.window;
        match is_full {
            true => window.saturating_add(WINDOW_FRAMES),
            false => frame,
        }
    }

    fn count_sent(&mut self, frame: u64) {
        let window = frame / WINDOW_FRAMES;
        if window != self.state.window {
            (self.state.window, self.state.sent) = (window, 0);
        }
        self.state.sent += 1;
    }
}

impl MidiFilePlayer {
    /// Sends the events of a segment in which the transport rolls.
    fn play_segment(
        &mut self,
        block: &mut Block<'_>,
        segment: &TransportSegment,
        rate: SampleRate,
    ) {
        let (from, positions) = (block.position(), segment.positions());
        let is_due = |at: &u64| (*at as f64) < positions.end;
        while let Some(index) = self.chase.event(self.state.chased) {
            let at = self.first_free(positions.start.ceil() as u64);
            if !is_due(&at) {
                return;
            }
            let frame = segment.frame_of((at as f64).max(positions.start)) - from;
            let body = self.timeline.events[index].body;
            block.send_event(0, frame as u32, body);
            self.count_sent(at);
            self.state.chased += 1;
        }
        while let Some(at) = self.next_frame(rate).filter(is_due) {
            // What blocks that were left out should have sent is sent now.
            let late = (at as f64).max(positions.start);
            let frame = segment.frame_of(late) - from;
            let body = self.timeline.events[self.state.next].body;
            block.send_event(0, frame as u32, body);
            self.count_sent(late as u64);
            self.state.next += 1;
            self.begin_next_round();
        }
    }

    /// Ends all notes of the file's channels, and releases their pedals.
    fn end_notes(&self, block: &mut Block<'_>, frame: u32) {
        for channel in (0..16_u8).filter(|channel| self.channels >> channel & 1 == 1) {
            for controller in [64, 123] {
                let message = [0xb0 | channel, controller, 0];
                block.send_event(0, frame, EventBody::Midi(message));
            }
        }
    }
}

impl Processor for MidiFilePlayer {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.transport = setup.services.transport();
        self.reset();
        let log: FileLog = setup.services.file_log();
        if let Some(damage) = &self.damage {
            log.report(FileProblem::Damaged(damage.clone()));
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let Some(rate) = self.rate else {
            return ProcessStatus::Sleep;
        };
        let (from, to) = (block.position(), block.position() + block.frames() as u64);
        let transport = self.transport.clone();
        let mut is_rolling = false;
        for segment in transport.segments(from, to) {
            let position = segment.positions().start.ceil() as u64;
            if !self.state.is_started || segment.is_jump {
                self.seek(position, rate);
            }
            if segment.cut_at.is_some() {
                self.end_notes(block, (segment.frames.start - from) as u32);
            }
            is_rolling = segment.state.is_rolling;
            if is_rolling {
                self.play_segment(block, &segment, rate);
            }
        }
        let is_chasing = self.chase.event(self.state.chased).is_some();
        match is_rolling && (is_chasing || self.state.next < self.timeline.events.len()) {
            true => ProcessStatus::Continue,
            false => ProcessStatus::Sleep,
        }
    }

    fn reset(&mut self) {
        self.state = PlayerState::default();
        self.chase.begin(0, 0);
    }

    fn tail(&self) -> Tail {
        self.length().map_or(Tail::Infinite, Tail::Frames)
    }

    fn length(&self) -> Option<u64> {
        let rate = self.rate.filter(|_| !self.is_loop)?;
        // The last event is within its frame.
        let end = self
            .timeline
            .frame(self.timeline.end, rate)
            .saturating_add(1);
        Some(self.transport.frames_until(end))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let state = &self.state;
        state::put(
            bytes,
            [
                u64::from(state.is_started),
                state.round,
                state.next as u64,
                state.window,
                u64::from(state.sent),
                self.timeline.events.len() as u64,
                state.chase_from.0,
                state.chase_from.1 as u64,
                state.chased as u64,
            ],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 9)?;
        let count = self.timeline.events.len();
        // Of another file: it goes on from the position of the session.
        let is_same = words.at(5) == count as u64 && words.at(2) <= count as u64;
        self.reset();
        if is_same && words.at(0) == 1 {
            self.state = PlayerState {
                is_started: true,
                round: words.at(1),
                next: words.at(2) as usize,
                window: words.at(3),
                sent: words.at(4).min(u64::from(EVENTS_PER_WINDOW)) as u32,
                chase_from: (words.at(6), words.at(7) as usize),
                chased: words.at(8) as usize,
            };
            self.chase
                .begin(words.at(6), words.at(7).min(count as u64) as usize);
            self.begin_next_round();
        }
        Ok(())
    }
}
