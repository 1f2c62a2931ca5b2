//! [`EnvelopeState`]: the levels of an envelope, sixteen frames at once.
//!
//! ```text
//! level = base + size × shape[k], k = 0 … 15 in a row of frames; then the next row begins
//! attack:   shape = 1 … 16        base = level of the last row's end      size = rise in a frame
//! decay:    shape = d … d^16      base = sustain                          size = distance at the last row's end
//! release:  shape = r … r^16      base = 0                                size = level at the last row's end
//! ```
//!
//! Rows are counted from the begin of a segment, or from a change of the times. So the bits do not depend on how time is cut into
//! blocks, and no frame waits for the one before.

use crate::generators::note_gate::{GateChange, NoteGate};
use processor::{EventBody, StateError};

/// Frames of a row.
const ROW: usize = 16;
/// Rows that are computed together at most, and the frames that lie in them wherever the first row began.
const ROWS: usize = 5;
const FRAMES: usize = (ROWS - 1) * ROW;
/// Level at which a release ends: -100 dB.
const SILENCE: f32 = 1e-5;
/// Distance from the sustain level at which a decay ends: -240 dB.
const NO_DISTANCE: f32 = 1e-12;

type Row = [f32; ROW];

/// Frames since a row began.
const RISE: Row = [
    1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0,
];

/// Change of the level in each segment.
#[derive(Clone, Copy, Default)]
pub(super) struct SegmentRates {
    /// In a frame.
    rise: f32,
    /// Powers of the factors of a frame.
    decay: Row,
    release: Row,
    sustain: f32,
}

impl SegmentRates {
    /// For attack, decay, sustain and release as parameters, at a rate in Hz.
    ///
    /// Real-time: hot.
    pub(super) fn new([attack, decay, sustain, release]: [f64; 4], rate: f64) -> Self {
        let powers = |time: f64| {
            // 60 dB are ln(1000) = 6.908 nepers.
            let factor = libm::exp(-6.907_755 / (time * rate).max(1e-3));
            let mut power = 1.0;
            [(); ROW].map(|()| {
                power *= factor;
                power as f32
            })
        };
        Self {
            rise: (1.0 / (attack * rate).max(1.0)) as f32,
            decay: powers(decay),
            release: powers(release),
            sustain: sustain as f32,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum EnvelopeSegment {
    #[default]
    Idle,
    Attack,
    Decay,
    Release,
}

/// State that changes from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EnvelopeState {
    pub(super) segment: EnvelopeSegment,
    /// The last one.
    pub(super) level: f32,
    pub(super) gate: NoteGate,
    /// Of the row that is under way.
    base: f32,
    size: f32,
    /// Frames of it that have passed, less than a row.
    passed: usize,
}

impl EnvelopeState {
    /// Words of a saved state.
    pub(super) const WORDS: usize = 5 + NoteGate::STATE_WORDS;

    /// Begins a segment at the present level, or the one that is under way anew with other rates.
    ///
    /// Real-time: hot.
    pub(super) fn begin(&mut self, segment: EnvelopeSegment, rates: &SegmentRates) {
        (self.segment, self.passed) = (segment, 0);
        let (level, peak) = (self.level, self.gate.peak);
        (self.base, self.size) = match segment {
            EnvelopeSegment::Idle => (level, 0.0),
            EnvelopeSegment::Attack => (level, rates.rise * peak),
            EnvelopeSegment::Decay => (rates.sustain * peak, level - rates.sustain * peak),
            EnvelopeSegment::Release => (0.0, level),
        };
    }

    /// Writes the levels of frames with these gates.
    ///
    /// Real-time: hot.
    pub(super) fn write(&mut self, gates: &[f32], rates: &SegmentRates, out: &mut [f32]) {
        let mut at = 0;
        while let Some(gate) = gates.get(at) {
            match self.gate.next(*gate) {
                Some(GateChange::Opens) => self.begin(EnvelopeSegment::Attack, rates),
                Some(GateChange::Shuts) => self.begin(EnvelopeSegment::Release, rates),
                None => {}
            }
            let rest = &gates[at..];
            let same = match self.gate.is_held() {
                true => rest.len(),
                false => count_equal(rest, self.gate.is_open),
            };
            self.write_run(rates, &mut out[at..at + same]);
            at += same;
        }
    }

    /// Writes the levels of frames in which the gate does not change.
    fn write_run(&mut self, rates: &SegmentRates, mut out: &mut [f32]) {
        while !out.is_empty() {
            let written = match self.segment {
                EnvelopeSegment::Attack => self.write_rows(&RISE, rates, out),
                EnvelopeSegment::Decay if self.size != 0.0 => {
                    self.write_rows(&rates.decay, rates, out)
                }
                EnvelopeSegment::Release => self.write_rows(&rates.release, rates, out),
                EnvelopeSegment::Idle | EnvelopeSegment::Decay => {
                    self.level = self.base;
                    out.fill(self.level);
                    out.len()
                }
            };
            out = &mut out[written..];
        }
    }

    /// Writes the levels of some frames, up to the end of the segment at most. Returns their number.
    fn write_rows(&mut self, shape: &Row, rates: &SegmentRates, out: &mut [f32]) -> usize {
        let first = self.passed;
        let behind = first + out.len().min(FRAMES);
        let mut rows = [[0.0; ROW]; ROWS];
        let mut end = None;
        for (row, at) in rows.iter_mut().zip((0..behind).step_by(ROW)) {
            *row = shape.map(|shape| self.base + self.size * shape);
            if self.is_over(row[ROW - 1]) {
                let over = row.iter().position(|level| self.is_over(*level));
                end = Some(at + over.unwrap_or(ROW - 1)).filter(|end| *end < behind);
                break;
            }
            if at + ROW <= behind {
                self.end_row(row[ROW - 1], shape[ROW - 1]);
            }
        }
        let behind = end.map_or(behind, |end| end.max(first) + 1);
        let out = &mut out[..behind - first];
        out.copy_from_slice(&rows.as_flattened()[first..behind]);
        self.level = out[out.len() - 1];
        self.passed = if self.size == 0.0 { 0 } else { behind % ROW };
        if end.is_some() {
            self.end_segment(rates);
            out[out.len() - 1] = self.level;
        }
        out.len()
    }

    /// Returns true if a level ends the segment: each one behind it does so too.
    #[inline(always)]
    fn is_over(&self, level: f32) -> bool {
        match self.segment {
            EnvelopeSegment::Attack => level >= self.gate.peak,
            EnvelopeSegment::Release => level < SILENCE,
            EnvelopeSegment::Idle | EnvelopeSegment::Decay => false,
        }
    }

    /// Goes to the next row, from the level and the shape at the end of this one.
    #[inline(always)]
    fn end_row(&mut self, level: f32, shape: f32) {
        if self.segment == EnvelopeSegment::Attack {
            self.base = level;
            return;
        }
        self.size *= shape;
        let has_arrived = self.base + self.size == self.base || self.size.abs() < NO_DISTANCE;
        if self.segment == EnvelopeSegment::Decay && has_arrived {
            self.size = 0.0;
        }
    }

    fn end_segment(&mut self, rates: &SegmentRates) {
        let (level, next) = match self.segment {
            EnvelopeSegment::Attack => (self.gate.peak, EnvelopeSegment::Decay),
            _ => (0.0, EnvelopeSegment::Idle),
        };
        self.level = level;
        self.begin(next, rates);
    }

    /// Returns true if a frame with this gate changes nothing: a decay has come to rest.
    ///
    /// Real-time: hot.
    pub(super) fn is_settled(&self, gate: f32) -> bool {
        let mut next = self.gate;
        self.segment == EnvelopeSegment::Decay
            && self.size == 0.0
            && self.level.to_bits() == self.base.to_bits()
            && next.next(gate).is_none()
    }

    /// Opens or shuts the gate as a value or a note says. `amount` is the share of the velocity in the level.
    ///
    /// Real-time: hot.
    pub(super) fn handle_gate(&mut self, body: EventBody, amount: f32) {
        if self.gate.handle(body, amount) {
            *self = Self {
                gate: self.gate,
                ..Self::default()
            };
        }
    }

    /// The state as [`from_words`](Self::from_words) takes it.
    pub(super) fn words(&self) -> [u64; Self::WORDS] {
        let [held, peak, is_open] = self.gate.state_words();
        let bits = |x: f32| u64::from(x.to_bits());
        [
            self.segment as u64,
            bits(self.level),
            held,
            peak,
            is_open,
            bits(self.base),
            bits(self.size),
            self.passed as u64,
        ]
    }

    /// The state of saved words.
    ///
    /// # Errors
    ///
    /// A level is not from 0 to 1, or a row is not one of an envelope.
    pub(super) fn from_words(words: [u64; Self::WORDS]) -> Result<Self, StateError> {
        let [segment, level, held, peak, is_open, base, size, passed] = words;
        let [level, base, size] = [level, base, size].map(|word| f32::from_bits(word as u32));
        let gate = NoteGate::from_words([held, peak, is_open]);
        let is_level = |level: &f32| (0.0..=1.0).contains(level);
        let is_row = is_level(&base) && (-1.0..=1.0).contains(&size) && passed < ROW as u64;
        let Some(gate) = gate.filter(|_| is_level(&level) && is_row) else {
            return Err(StateError("a saved level is not from 0 to 1".into()));
        };
        Ok(Self {
            segment: match segment {
                1 => EnvelopeSegment::Attack,
                2 => EnvelopeSegment::Decay,
                3 => EnvelopeSegment::Release,
                _ => EnvelopeSegment::Idle,
            },
            level,
            gate,
            base,
            size,
            passed: passed as usize,
        })
    }
}

/// Number of gates that are open, or that are shut, before the first other one. Whole rows are compared in vectors.
fn count_equal(gates: &[f32], is_open: bool) -> usize {
    let differs = |gate: &f32| (*gate > 0.5) != is_open;
    let rows = gates.as_chunks::<ROW>().0.iter();
    let equal = rows.take_while(|row| !row.iter().fold(false, |any, gate| any | differs(gate)));
    let first = ROW * equal.count();
    let rest = gates[first..].iter().position(differs);
    first + rest.unwrap_or(gates.len() - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a few frames, and a rate of 1 Hz.
    fn rates() -> SegmentRates {
        SegmentRates::new([77.0, 226.0, 0.4, 134.0], 1.0)
    }

    #[test]
    fn runs_have_the_bits_of_frame_after_frame() {
        let rates = rates();
        // Short and long times of the gate, and a note that holds it.
        for length in [1, 2, 30, 100, 700] {
            let gates: Vec<f32> = (0..4000)
                .map(|i| f32::from(u8::from(i / length % 2 == 1)))
                .collect();
            let (mut runs, mut frames) = (EnvelopeState::default(), EnvelopeState::default());
            for (part, gates) in gates.chunks(77).enumerate() {
                if part % 20 == 10 {
                    let on = part == 10;
                    let body = EventBody::Midi([if on { 0x90 } else { 0x80 }, 60, 90]);
                    runs.handle_gate(body, 0.5);
                    frames.handle_gate(body, 0.5);
                }
                let mut out = vec![0.0; gates.len()];
                runs.write(gates, &rates, &mut out);
                for (y, gate) in out.iter().zip(gates) {
                    let mut one = [0.0];
                    frames.write(&[*gate], &rates, &mut one);
                    assert_eq!(y.to_bits(), one[0].to_bits());
                }
                assert_eq!(runs, frames);
            }
        }
    }

    #[test]
    fn levels_are_those_of_their_formulas() {
        let mut gates = vec![1.0; 3000];
        gates.resize(6000, 0.0);
        let mut out = vec![0.0; gates.len()];
        let mut state = EnvelopeState::default();
        state.write(&gates, &rates(), &mut out);
        let [decay, release] = [226.0, 134.0].map(|time: f64| (-6.907_755 / time).exp());
        let mut level = 0.0;
        for (i, y) in out.iter().enumerate() {
            level = match i {
                0..77 => (i + 1) as f64 / 77.0,
                77..3000 => 0.4 + (level - 0.4) * decay,
                _ => level * release,
            };
            let want = if level < 1e-5 { 0.0 } else { level };
            assert!((f64::from(*y) - want).abs() < 2e-6, "{i}: {y} {want}");
        }
        assert_eq!(out[2999], 0.4);
        assert_eq!(state, EnvelopeState::default());
    }
}
