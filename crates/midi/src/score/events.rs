//! `score`: notes, values and texts at written times.
//!
//! Its events are a text of lines ([`line`](super::line)):
//!
//! ```text
//! 0    C4       0.8  2      # beat, pitch, velocity, length in beats
//! 2    E4,G4                # a chord, with velocity 0.8 and length 1
//! 2.5s value 0.5            # at 2.5 seconds
//! 4    text "verse"
//! ```
//!
//! An event falls on the frame nearest to its time. At one frame ends of notes come first, then the rest in the order of
//! the text. With `loop` the score begins again after so many beats; a note is not longer than that.
//!
//! It follows the transport: where that stops or jumps, the notes that sound there end.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, events |
//! | parameters | `events`, the text; `loop` in beats, 0 for none: then all times are in beats and before its end |
//! | latency | none |
//! | length | up to the last event; endless with `loop` |

use super::line::{ScoreBody, ScoreEvent, parse};
use super::sounding::SoundingNotes;
use super::timing::ScoreTime;
use crate::note_id::NoteIds;
use graph::{Kind, Param, PortSpec, TempoMap};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, Tail, TextId,
    Transport, TransportSegment,
};
use std::sync::Arc;
use units::SampleRate;

/// The length of a loop; `None` for 0, no loop.
///
/// # Errors
///
/// It is too short.
fn loop_beats(beats: f64) -> Result<Option<f64>, String> {
    match beats {
        0.0 => Ok(None),
        _ if beats < MIN_LOOP_BEATS => {
            Err(format!("`loop` takes 0 or at least {MIN_LOOP_BEATS} beats"))
        }
        _ => Ok(Some(beats)),
    }
}

/// Shortest round of a loop: each block looks at all rounds that begin in it.
const MIN_LOOP_BEATS: f64 = 1.0 / 64.0;

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::text("events").doc(
                "A line for each event: time in beats (or seconds: 2.5s), then pitch, velocity, \
                 length; or value and a number; or text and words.",
            ),
            Param::number("loop", (0.0, 1e6), 0.0)
                .unit("beats")
                .doc("Length after which it begins again; 0: it plays once."),
        ],
        typical_ns: 40,
        ..Kind::new("score", "Notes, values and texts at written times.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let wrong = |message: String| MakeError::param("events", message);
    let text = creation.node.text("events").unwrap_or_default();
    let written = parse(text).map_err(|error| wrong(format!("`events`, {error}")))?;
    let loop_beats = loop_beats(creation.number("loop")?)
        .map_err(|message| MakeError::param("loop", message))?;
    player(creation, &written, loop_beats).map_err(wrong)
}

/// The processor that sends `written`, again after `loop_beats` if there are any.
pub(super) fn player(
    creation: &MakeContext<'_>,
    written: &[ScoreEvent],
    loop_beats: Option<f64>,
) -> Result<Box<dyn Processor>, String> {
    let ids = NoteIds::of_node(&creation.node.name);
    Ok(Box::new(Score {
        tempo: creation.tempo.clone(),
        rate: SampleRate::default(),
        loop_beats,
        timed: timed(written, loop_beats, ids, creation.tempo)?,
        frames: Vec::new(),
        notes: SoundingNotes::default(),
        transport: Arc::default(),
    }))
}

/// An event, or the begin or end of a note, and its time.
type Timed = (ScoreTime, EventBody);

/// Events to be sent, in the order of the text.
fn timed(
    written: &[ScoreEvent],
    loop_beats: Option<f64>,
    ids: NoteIds,
    tempo: &TempoMap,
) -> Result<Vec<Timed>, String> {
    let mut timed = Vec::with_capacity(2 * written.len());
    for (number, event) in (0..).zip(written) {
        let at = event.at;
        if loop_beats.is_some_and(|end| at.beats().is_none_or(|at| at >= end)) {
            return Err("with `loop` all times are in beats, and before its end".into());
        }
        match &event.body {
            ScoreBody::Value(value) => timed.push((at, EventBody::Value(*value))),
            ScoreBody::Text(text) => {
                let max = TextId::MAX_LEN;
                let id = TextId::new(text)
                    .ok_or_else(|| format!("a text is longer than {max} bytes"))?;
                timed.push((at, EventBody::Text(id)));
            }
            &ScoreBody::Note {
                pitch,
                velocity,
                length,
            } => {
                let id = ids.id(number);
                let pitch = pitch.key();
                let on = EventBody::NoteOn {
                    id,
                    pitch,
                    velocity,
                };
                let end = note_end(at, length, loop_beats, tempo)?;
                timed.extend([(at, on), (end, EventBody::NoteOff { id, velocity: 0.5 })]);
            }
        }
    }
    Ok(timed)
}

/// The time at which a note ends: in a loop perhaps in its next round.
fn note_end(
    at: ScoreTime,
    length: ScoreTime,
    loop_beats: Option<f64>,
    tempo: &TempoMap,
) -> Result<ScoreTime, String> {
    let Some(round) = loop_beats else {
        return Ok(at.plus(length, tempo));
    };
    match (at, length) {
        (ScoreTime::Beats(at), ScoreTime::Beats(length)) => {
            Ok(ScoreTime::Beats((at + length.min(round)) % round))
        }
        _ => Err("with `loop` all lengths are in beats".into()),
    }
}

struct Score {
    tempo: TempoMap,
    rate: SampleRate,
    loop_beats: Option<f64>,
    timed: Vec<Timed>,
    /// Events to be sent, in the order of time: the frame of the first round, the beat in a round, and the event.
    frames: Vec<(u64, f64, EventBody)>,
    /// The notes, in frames; in beats of a round with a loop.
    notes: SoundingNotes,
    transport: Arc<Transport>,
}

/// Beats by which a position may be off where notes are ended: a note may be ended twice, but not left out.
const TOLERANCE: f64 = 1e-3;

impl Score {
    /// Sends the events of a segment in which the transport rolls. Returns true if all are sent then.
    fn send(&self, block: &mut Block<'_>, segment: &TransportSegment) -> bool {
        let Some(beats) = self.loop_beats else {
            return self.send_once(block, segment);
        };
        // A round before and one after: rounding may carry an event over the end of its round.
        let positions = segment.positions();
        let now = self.beat(positions.start) / beats;
        let last = self.beat(positions.end) / beats;
        let first = (now as u64).saturating_sub(1);
        for round in first..=(last as u64).saturating_add(1) {
            self.send_round(block, segment, round, beats);
        }
        false
    }

    fn send_once(&self, block: &mut Block<'_>, segment: &TransportSegment) -> bool {
        let positions = segment.positions();
        let from = block.position();
        let first = self
            .frames
            .partition_point(|(at, ..)| (*at as f64) < positions.start);
        let due = self.frames[first..].iter();
        for (at, _, body) in due.take_while(|(at, ..)| (*at as f64) < positions.end) {
            let frame = segment.frame_of(*at as f64) - from;
            block.send_event(0, frame as u32, *body);
        }
        let last = self.frames.last();
        last.is_none_or(|(at, ..)| (*at as f64) < positions.end)
    }

    /// Sends the events of round `round` that are in the segment.
    fn send_round(
        &self,
        block: &mut Block<'_>,
        segment: &TransportSegment,
        round: u64,
        loop_beats: f64,
    ) {
        let positions = segment.positions();
        let from = block.position();
        let begin = round as f64 * loop_beats;
        let frame = |beat: f64| self.tempo.frame(begin + beat, self.rate);
        let first = self
            .frames
            .partition_point(|(_, beat, _)| (frame(*beat) as f64) < positions.start);
        for (_, beat, body) in &self.frames[first..] {
            let at = frame(*beat) as f64;
            if at >= positions.end {
                return;
            }
            block.send_event(0, (segment.frame_of(at) - from) as u32, *body);
        }
    }

    /// Ends the notes that sound at `position`, at `frame` of the block.
    fn end_notes(&self, block: &mut Block<'_>, frame: u32, position: f64) {
        let mut end = |id| {
            let body = EventBody::NoteOff { id, velocity: 0.5 };
            block.send_event(0, frame, body);
        };
        let Some(beats) = self.loop_beats else {
            return self.notes.at(position, 0.0).for_each(end);
        };
        let beat = self.beat(position) % beats;
        self.notes.at(beat, TOLERANCE).for_each(&mut end);
        // Those that began in the round before.
        self.notes.at(beat + beats, TOLERANCE).for_each(&mut end);
    }

    /// The beat at a position.
    fn beat(&self, position: f64) -> f64 {
        self.tempo.beat(position / f64::from(self.rate.hz()))
    }

    /// Begin and end of each note: in frames, or in beats of a loop.
    fn note_times(&self) -> Vec<(f64, f64, u32)> {
        let time = |(at, _): &Timed| match self.loop_beats {
            Some(_) => at.beats().unwrap_or_default(),
            None => at.frame(&self.tempo, self.rate) as f64,
        };
        // A note's begin is followed by its end.
        let pairs = self.timed.windows(2).filter_map(|pair| match pair[0].1 {
            EventBody::NoteOn { id, .. } => Some((time(&pair[0]), time(&pair[1]), id)),
            _ => None,
        });
        let round = self.loop_beats.unwrap_or(0.0);
        // In a loop a note that ends in the next round has an end before its begin.
        let ended = |(begin, end, id)| (begin, if end <= begin { end + round } else { end }, id);
        pairs.map(ended).collect()
    }
}

impl Processor for Score {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = setup.rate;
        self.transport = setup.services.transport();
        self.notes = SoundingNotes::new(self.note_times());
        let frame = |(at, body): &Timed| {
            let frame = at.frame(&self.tempo, self.rate);
            (frame, at.beats().unwrap_or_default(), *body)
        };
        self.frames = self.timed.iter().map(frame).collect();
        let is_end = |body: &EventBody| matches!(body, EventBody::NoteOff { .. });
        if self.loop_beats.is_some() {
            let key = |(_, beat, body): &(u64, f64, EventBody)| (*beat, !is_end(body));
            self.frames
                .sort_by(|a, b| key(a).partial_cmp(&key(b)).expect("beats are numbers"));
        } else {
            self.frames
                .sort_by_key(|(frame, _, body)| (*frame, !is_end(body)));
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let (from, to) = (block.position(), block.position() + block.frames() as u64);
        let mut is_over = false;
        for segment in self.transport.segments(from, to) {
            if let Some(position) = segment.cut_at {
                let frame = (segment.frames.start - from) as u32;
                self.end_notes(block, frame, position);
            }
            // Stopped, nothing comes until the transport changes.
            is_over = !segment.state.is_rolling || self.send(block, &segment);
        }
        match is_over {
            true => ProcessStatus::Sleep,
            false => ProcessStatus::Continue,
        }
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn length(&self) -> Option<u64> {
        let last = self.frames.last().map_or(0, |(frame, ..)| frame + 1);
        let last = self.transport.frames_until(last);
        self.loop_beats.is_none().then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::loop_beats;

    #[test]
    fn a_loop_is_too_long_to_fill_a_block_with_rounds() {
        assert_eq!(loop_beats(0.0), Ok(None));
        assert_eq!(loop_beats(4.0), Ok(Some(4.0)));
        assert!(loop_beats(1e-9).is_err());
    }
}
