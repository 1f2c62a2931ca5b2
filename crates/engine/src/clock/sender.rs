//! [`ClockSender`]: sends the pulses of a MIDI clock where the transport is.

use super::{PULSES, PULSES_PER_POINTER};
use graph::TempoMap;
use processor::{Transport, TransportSegment};
use units::SampleRate;

/// Messages of a clock that is given: pulses, start, stop, song position.
#[derive(Debug)]
pub(crate) struct ClockSender {
    map: TempoMap,
    rate: SampleRate,
    was_rolling: bool,
    /// First pulse after a start in the middle of the piece, before which none is sent.
    continue_at: Option<u64>,
    /// Messages that were not sent yet, by frame: the frame, and the bytes.
    messages: std::collections::VecDeque<(u64, [u8; 3])>,
}

/// Messages that may wait: those of a block of 65,536 frames at the fastest tempo.
const MESSAGES: usize = 8192;

impl ClockSender {
    /// Real-time: setup.
    pub(crate) fn new(map: TempoMap, rate: SampleRate) -> Self {
        Self {
            map,
            rate,
            was_rolling: false,
            continue_at: None,
            messages: std::collections::VecDeque::with_capacity(MESSAGES),
        }
    }

    /// Adds the messages of the block `from..to`.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&mut self, transport: &Transport, (from, to): (u64, u64)) {
        for segment in transport.segments(from, to) {
            let frame = segment.frames.start;
            let is_rolling = segment.state.is_rolling;
            if self.was_rolling && (!is_rolling || segment.is_jump) {
                self.add(frame, [0xfc, 0, 0]);
                self.was_rolling = false;
            }
            if is_rolling && !self.was_rolling {
                self.begin(&segment);
            }
            self.was_rolling = is_rolling;
            if is_rolling {
                self.add_pulses(&segment);
            }
        }
    }

    /// Takes the next message before frame `end`.
    ///
    /// Real-time: hot.
    pub(crate) fn pop(&mut self, end: u64) -> Option<(u64, [u8; 3])> {
        let is_due = self.messages.front().is_some_and(|(at, _)| *at < end);
        is_due.then(|| self.messages.pop_front()).flatten()
    }

    /// Start, or the position from which the receiver continues.
    fn begin(&mut self, segment: &TransportSegment) {
        let first = self.pulse_from(segment.positions().start);
        if first == 0 {
            self.continue_at = None;
            return self.add(segment.frames.start, [0xfa, 0, 0]);
        }
        let pointer = first.div_ceil(PULSES_PER_POINTER).min(0x3fff);
        self.continue_at = Some(pointer * PULSES_PER_POINTER);
        let bytes = [0xf2, (pointer & 0x7f) as u8, (pointer >> 7) as u8];
        self.add(segment.frames.start, bytes);
    }

    fn add_pulses(&mut self, segment: &TransportSegment) {
        let positions = segment.positions();
        let mut pulse = self.pulse_from(positions.start);
        loop {
            let position = self.position(pulse) as f64;
            if position >= positions.end || self.messages.len() + 2 > MESSAGES {
                return;
            }
            let frame = segment.frame_of(position);
            match self.continue_at {
                Some(first) if pulse < first => {}
                Some(_) => {
                    self.continue_at = None;
                    self.add(frame, [0xfb, 0, 0]);
                    self.add(frame, [0xf8, 0, 0]);
                }
                None => self.add(frame, [0xf8, 0, 0]),
            }
            pulse += 1;
        }
    }

    /// The first pulse that is not before a position.
    fn pulse_from(&self, position: f64) -> u64 {
        let beat = self.map.beat(position / f64::from(self.rate.hz()));
        let mut pulse = ((beat * PULSES) as u64).saturating_sub(1);
        // A pulse is at the nearest frame, so a few around it are looked at.
        for _ in 0..4 {
            if self.position(pulse) as f64 >= position {
                break;
            }
            pulse += 1;
        }
        pulse
    }

    fn position(&self, pulse: u64) -> u64 {
        self.map.frame(pulse as f64 / PULSES, self.rate)
    }

    fn add(&mut self, frame: u64, bytes: [u8; 3]) {
        if self.messages.len() < MESSAGES {
            self.messages.push_back((frame, bytes));
        }
    }
}
