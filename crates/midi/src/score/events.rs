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
//! | | |
//! |---|---|
//! | ports | no input; `out`, events |
//! | parameters | `events`, the text; `loop` in beats, 0 for none: then all times are in beats and before its end |
//! | latency | none |
//! | length | up to the last event; endless with `loop` |

use super::line::{ScoreBody, ScoreEvent, parse};
use super::timing::ScoreTime;
use crate::note_id::NoteIds;
use graph::{Kind, Param, PortSpec, TempoMap};
use processor::{
    Block, EventBody, MakeContext, MakeError, ProcessStatus, Processor, Setup, Tail, TextId,
};
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
    }))
}

/// An event, or the begin or end of a note, and its time.
type Timed = (ScoreTime, EventBody);

/// What is sent, in the order of the text.
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
    /// What is sent, in the order of time: the frame of the first round, the beat in a round, and the event.
    frames: Vec<(u64, f64, EventBody)>,
}

impl Score {
    /// Sends the events of round `round` that are in the block.
    fn send_round(&self, block: &mut Block<'_>, round: u64, loop_beats: f64) {
        let (from, to) = range(block);
        let begin = round as f64 * loop_beats;
        let frame = |beat: f64| self.tempo.frame(begin + beat, self.rate);
        let first = self
            .frames
            .partition_point(|(_, beat, _)| frame(*beat) < from);
        for (_, beat, body) in &self.frames[first..] {
            let at = frame(*beat);
            if at >= to {
                return;
            }
            block.send_event(0, (at - from) as u32, *body);
        }
    }
}

/// The frames of `block`, from the start of playback.
fn range(block: &Block<'_>) -> (u64, u64) {
    let from = block.position();
    (from, from.saturating_add(block.frames() as u64))
}

impl Processor for Score {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = setup.rate;
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
        let (from, to) = range(block);
        if let Some(beats) = self.loop_beats {
            // A round before and one after: rounding may carry an event over the end of its round.
            let now = self.tempo.beat_at(from, self.rate) / beats;
            let last = self.tempo.beat_at(to, self.rate) / beats;
            let first = (now as u64).saturating_sub(1);
            for round in first..=(last as u64).saturating_add(1) {
                self.send_round(block, round, beats);
            }
            return ProcessStatus::Continue;
        }
        let first = self.frames.partition_point(|(frame, ..)| *frame < from);
        for (frame, _, body) in self.frames[first..].iter().take_while(|(at, ..)| *at < to) {
            block.send_event(0, (frame - from) as u32, *body);
        }
        match self.frames.last().is_some_and(|(last, ..)| *last >= to) {
            true => ProcessStatus::Continue,
            false => ProcessStatus::Sleep,
        }
    }

    fn reset(&mut self) {}

    fn tail(&self) -> Tail {
        Tail::Infinite
    }

    fn length(&self) -> Option<u64> {
        let last = self.frames.last().map_or(0, |(frame, ..)| frame + 1);
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
