//! `tempo_tracker`: the tempo of a sound, and its beats as events.
//!
//! ```text
//! each 10 ms: spectral flux (`flux`)        each 0.5 s: tempo and place of the beats in the fluxes of the last ten seconds (`tempo_job`)
//! beats: events at the frames where the beats of the last result go on
//! ```
//!
//! The first tempo comes after four seconds. Each is found from what ended 20 ms before, and the beats go on from there: so
//! they are on time, within some 10 ms, where the tempo does not change. A tempo that changes is followed within the ten seconds. Twice or
//! half of what one would tap may be found; tempi around 120 are preferred. The event of a beat is the tempo. There are beats as
//! long as the result is clear.
//!
//! D. Ellis, "Beat tracking by dynamic programming", *J. New Music Research* 36 (2007); the beats are found by a sum over the
//! fluxes and not by dynamic programming.
//!
//! | | |
//! |---|---|
//! | ports | `in`, one channel; `bpm`, 0 before the first tempo; `clarity` from 0 to 1; `beats`, events |
//! | parameters | `clear` 0 to 1: the clarity from which a tempo counts |
//! | latency | 0.5 s and more for a tempo; none for beats, which are expected |
//! | tail | endless: `bpm` stays |

use super::tempo_job::{FLUXES, RANGE_BPM, Tempo, TempoJob};
use super::window_tracker::{Listener, WindowTracker, hop};
use crate::param::ParamSpec;
use crate::state;
use graph::{Kind, KindPicture, PortSpec};
use processor::state::StateWords;
use processor::{Event, MakeContext, MakeError, Processor, StateError};
use std::ops::Range;

const CLEAR: ParamSpec =
    ParamSpec::new(0, "clear", (0.0, 1.0), 0.1).doc("Clarity from which a tempo counts.");
/// Hops from one tempo to the next.
const TEMPO_HOPS: u64 = 50;
/// Time from a stroke to the end of the window with its largest flux.
const STROKE_S: f64 = 0.0125;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![
            PortSpec::mono("bpm"),
            PortSpec::mono("clarity"),
            PortSpec::events("beats"),
        ],
        params: vec![CLEAR.param()],
        typical_ns: 150,
        duplicable: false,
        picture: KindPicture::Strokes,
        ..Kind::new("tempo_tracker", "The tempo of a sound, and its beats.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let clear = CLEAR.read(creation)?;
    let listener = TempoListener {
        initial: clear,
        clear,
        hop: 1.0,
        rate: 48_000.0,
        fluxes: vec![0.0; FLUXES],
        count: 0,
        bpm: 0.0,
        clarity: 0.0,
        beat: None,
    };
    Ok(WindowTracker::make(listener, creation.work_seat()))
}

/// The beat that is expected next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NextBeat {
    /// In frames since the start.
    at: f64,
    /// Frames to the one after it.
    period: f64,
}

struct TempoListener {
    initial: f64,
    clear: f64,
    /// Frames of a hop.
    hop: f64,
    rate: f64,
    /// The last fluxes, in a circle: `count` is the number of all so far.
    fluxes: Vec<f32>,
    count: u64,
    bpm: f64,
    clarity: f64,
    beat: Option<NextBeat>,
}

impl TempoListener {
    fn push(&mut self, flux: f32) {
        let slot = (self.count % FLUXES as u64) as usize;
        self.fluxes[slot] = flux;
        self.count = self.count.wrapping_add(1);
    }

    /// Goes on with the beats of a tempo that was found in `frame`.
    fn follow(&mut self, tempo: Tempo, frame: u64) {
        let period = tempo.period * self.hop;
        self.bpm = (60.0 * self.rate / period).clamp(RANGE_BPM.0 / 2.0, RANGE_BPM.1 * 2.0);
        let frame = frame as f64;
        // The newest flux that was looked at is that of the window which ended two hops ago.
        let last = frame - (2.0 + tempo.since) * self.hop - STROKE_S * self.rate;
        let expected = self.beat.map_or(frame, |beat| beat.at.max(frame));
        // The beat nearest to the one that was expected: none is played twice.
        let mut at = last + ((expected - last) / period).round() * period;
        if at < frame {
            at += period;
        }
        self.beat = Some(NextBeat { at, period });
    }
}

impl Listener for TempoListener {
    type Job = TempoJob;
    const SIGNALS: usize = 2;

    fn job(&mut self, rate: f64) -> TempoJob {
        (self.rate, self.hop) = (rate, hop(rate) as f64);
        TempoJob::new(rate)
    }

    fn prepare(&mut self, job: &mut TempoJob) {
        job.is_wanted = self.count > 0 && self.count.is_multiple_of(TEMPO_HOPS);
        if job.is_wanted {
            let oldest = (self.count % FLUXES as u64) as usize;
            let (newer, older) = self.fluxes.split_at(oldest);
            job.fluxes[..older.len()].copy_from_slice(older);
            job.fluxes[older.len()..].copy_from_slice(newer);
            job.count = self.count.min(FLUXES as u64) as usize;
        }
    }

    fn take(&mut self, job: &mut TempoJob, frame: u64) -> Option<f32> {
        if job.is_wanted {
            self.clarity = job.result.map_or(0.0, |tempo| tempo.clarity);
            match job.result.filter(|tempo| tempo.clarity >= self.clear) {
                Some(tempo) => self.follow(tempo, frame),
                None => self.beat = None,
            }
        }
        self.push(job.flux.flux as f32);
        None
    }

    fn miss(&mut self) {
        self.push(0.0);
    }

    fn due(&mut self, frames: Range<u64>) -> Option<(u64, f32)> {
        let beat = self.beat.as_mut()?;
        let at = beat.at.max(frames.start as f64) as u64;
        if !frames.contains(&at) {
            return None;
        }
        beat.at += beat.period;
        Some((at, self.bpm as f32))
    }

    fn signals(&self) -> [f32; 2] {
        [self.bpm as f32, self.clarity as f32]
    }

    fn handle_event(&mut self, event: &Event) {
        self.clear = CLEAR.value_of(event).unwrap_or(self.clear);
    }

    fn reset(&mut self) {
        self.clear = self.initial;
        self.fluxes.fill(0.0);
        (self.count, self.bpm, self.clarity, self.beat) = (0, 0.0, 0.0, None);
    }

    fn state_words(&self) -> usize {
        7 + FLUXES
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let (at, period) = self.beat.map_or((0.0, 0.0), |beat| (beat.at, beat.period));
        let numbers = [self.initial, self.clear, self.bpm, self.clarity, at, period];
        state::put(bytes, numbers.map(f64::to_bits));
        state::put(bytes, [self.count]);
        state::put(bytes, self.fluxes.iter().map(|x| u64::from(x.to_bits())));
    }

    fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        let [initial, clear, bpm, clarity, at, period] = words.numbers(0)?;
        let flux = |index: usize| f32::from_bits(words.at(7 + index) as u32);
        if !(0..FLUXES).all(|index| (0.0..=100.0).contains(&flux(index))) {
            return Err(StateError("a saved flux is out of range".into()));
        }
        for (index, to) in self.fluxes.iter_mut().enumerate() {
            *to = flux(index);
        }
        if initial == self.initial {
            self.clear = clear.clamp(CLEAR.min, CLEAR.max);
        }
        self.count = words.at(6);
        self.bpm = bpm.clamp(0.0, 1e3);
        self.clarity = clarity.clamp(0.0, 1.0);
        let is_beat = period >= 1.0 && at >= 0.0;
        self.beat = is_beat.then_some(NextBeat { at, period });
        Ok(())
    }
}
