//! MIDI clock: [`ClockFollower`] makes tempo and position of the pulses that come in, [`ClockSender`] sends pulses where the
//! transport is.
//!
//! # Following
//!
//! 24 pulses come in a beat, each some milliseconds early or late. A delay-locked loop of second order filters their times:
//!
//! ```text
//!   e  = t - t1                  t: frame of a pulse; t1: where it was expected; e2: period
//!   t1 = t1 + b e + e2           b = √2 ω, c = ω²; ω falls from 0.5 to 0.03 over the first pulses,
//!   e2 = e2 + c e                so that it locks at once and then hardly moves
//! ```
//!
//! Source: F. Adriaensen, *Using a DLL to filter time*, Linux Audio Conference 2005.
//!
//! At each pulse the transport gets the speed with which it reaches the position of the next pulse when that is expected. So
//! the position never jumps while the clock runs, and what it is off disappears within a pulse. A position that is off by more
//! than a factor of two in speed jumps. Without pulses the transport rolls on at its last speed; pulses that were left out for
//! up to two seconds count as if they had come.

use crate::transport::{TransportAction, TransportCommand};
use driver::MidiEvent;
use graph::TempoMap;
use processor::{Transport, TransportSegment};
use std::f64::consts::SQRT_2;
use units::SampleRate;

/// Pulses in a beat.
const PULSES: f64 = 24.0;
/// Pulses in a unit of the song position pointer.
const PULSES_PER_POINTER: u64 = 6;
/// Bandwidth of the loop at its begin and when it has locked, in radians a pulse.
const WIDE: f64 = 0.5;
const NARROW: f64 = 0.03;
/// Factor of the bandwidth at each pulse.
const NARROWING: f64 = 0.9;
/// Longest gap in which pulses count as left out, in seconds.
const MAX_GAP_S: f64 = 2.0;
/// Slowest and fastest clock, in pulses a second.
const PULSES_PER_S: (f64, f64) = (2.0, 500.0);

/// Change of the transport at a message of the clock.
type Send<'a> = &'a mut dyn FnMut(TransportCommand);

/// Makes transport commands of a MIDI clock.
#[derive(Debug)]
pub(crate) struct ClockFollower {
    map: TempoMap,
    rate: f64,
    /// Number of the next pulse, from the begin of the piece.
    next: u64,
    state: ClockState,
    dll: Option<Dll>,
    /// Frame of the last pulse, if there was one.
    last: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockState {
    Stopped,
    /// It starts with the next pulse.
    Starting,
    Rolling,
}

/// A delay-locked loop.
#[derive(Clone, Copy, Debug)]
struct Dll {
    /// Frame at which the next pulse is expected.
    expected: f64,
    period: f64,
    omega: f64,
}

impl Dll {
    fn new(at: f64, period: f64) -> Self {
        Self {
            expected: at + period,
            period,
            omega: WIDE,
        }
    }

    fn pulse(&mut self, at: f64) {
        let error = at - self.expected;
        self.expected += SQRT_2 * self.omega * error + self.period;
        self.period += self.omega * self.omega * error;
        self.omega = (self.omega * NARROWING).max(NARROW);
    }
}

impl ClockFollower {
    /// Stopped, at the begin of the piece.
    ///
    /// Real-time: setup.
    pub(crate) fn new(map: TempoMap, rate: SampleRate) -> Self {
        Self {
            map,
            rate: f64::from(rate.hz()),
            next: 0,
            state: ClockState::Stopped,
            dll: None,
            last: None,
        }
    }

    /// Takes a message that comes at absolute frame `at`; others than those of the clock do nothing.
    ///
    /// Real-time: hot, if `send` is.
    pub(crate) fn push(&mut self, at: u64, message: &[u8], send: Send<'_>) {
        match *message {
            [0xf8] => self.pulse(at, send),
            [0xfa] => {
                self.next = 0;
                self.state = ClockState::Starting;
            }
            [0xfb] => self.state = ClockState::Starting,
            [0xfc] => {
                self.state = ClockState::Stopped;
                send(command(at, TransportAction::Stop));
            }
            [0xf2, low, high] => {
                let pointer = u64::from(low & 0x7f) | u64::from(high & 0x7f) << 7;
                self.next = pointer * PULSES_PER_POINTER;
                let position = self.position(self.next);
                send(command(at, TransportAction::Locate(position)));
            }
            _ => {}
        }
    }

    fn pulse(&mut self, at: u64, send: Send<'_>) {
        self.count_left_out(at);
        self.filter(at);
        match self.state {
            ClockState::Stopped => return,
            ClockState::Starting => {
                let position = self.position(self.next);
                send(command(at, TransportAction::Locate(position)));
                send(command(at, TransportAction::Start));
                // Its pulses need not be in phase with those before.
                self.dll = self.dll.map(|dll| Dll::new(at as f64, dll.period));
                self.state = ClockState::Rolling;
            }
            ClockState::Rolling => {}
        }
        self.next += 1;
        if let Some(dll) = self.dll {
            send(command(
                at,
                TransportAction::Approach {
                    position: self.position(self.next),
                    frame: dll.expected,
                    speed: (self.position(self.next) - self.position(self.next - 1)) / dll.period,
                },
            ));
        }
    }

    /// Counts the pulses of a gap as if they had come.
    fn count_left_out(&mut self, at: u64) {
        let Some(dll) = &mut self.dll else { return };
        let late = at as f64 - dll.expected;
        let left_out = (late / dll.period).round();
        if left_out < 1.0 {
            return;
        }
        if late > MAX_GAP_S * self.rate {
            (self.dll, self.last) = (None, None);
            return;
        }
        dll.expected += left_out * dll.period;
        if self.state == ClockState::Rolling {
            self.next += left_out as u64;
        }
    }

    fn filter(&mut self, at: u64) {
        let now = at as f64;
        let since = self.last.replace(at).map(|last| now - last as f64);
        let range = self.rate / PULSES_PER_S.1..=self.rate / PULSES_PER_S.0;
        match (&mut self.dll, since) {
            // Another tempo at once: what was learnt is wrong.
            (Some(dll), Some(since)) if (now - dll.expected).abs() > 0.5 * dll.period => {
                self.dll = range.contains(&since).then(|| Dll::new(now, since));
            }
            (Some(dll), _) => {
                dll.pulse(now);
                dll.period = dll.period.clamp(*range.start(), *range.end());
            }
            (None, Some(since)) if range.contains(&since) => {
                self.dll = Some(Dll::new(now, since));
            }
            (None, _) => {}
        }
    }

    /// Position of a pulse, in frames of the piece.
    fn position(&self, pulse: u64) -> f64 {
        self.map.seconds(pulse as f64 / PULSES) * self.rate
    }
}

fn command(at: u64, action: TransportAction) -> TransportCommand {
    TransportCommand { at, action }
}

/// Both, each with the index of its MIDI port of the driver.
#[derive(Debug, Default)]
pub(crate) struct ClockPorts {
    pub(crate) follower: Option<(u16, ClockFollower)>,
    sender: Option<(u16, ClockSender)>,
    /// First frame of the block, later by what a pipeline delays the sound.
    begin: u64,
}

impl ClockPorts {
    /// Real-time: setup.
    pub(crate) fn new(
        follower: Option<(u16, ClockFollower)>,
        sender: Option<(u16, ClockSender)>,
    ) -> Self {
        Self {
            follower,
            sender,
            begin: 0,
        }
    }

    /// Adds the messages of the block `from..to`, whose sound leaves `delay` frames later.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&mut self, transport: &Transport, block: (u64, u64), delay: u64) {
        self.begin = block.0.saturating_sub(delay);
        if let Some((_, sender)) = &mut self.sender {
            sender.begin_block(transport, block);
        }
    }

    /// Passes what is due before frame `end` of the block.
    ///
    /// Real-time: hot, if `send` is.
    pub(crate) fn pop(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        let Some((port, sender)) = &mut self.sender else {
            return;
        };
        while let Some((at, bytes)) = sender.pop(self.begin + u64::from(end)) {
            let length = if bytes[0] == 0xf2 { 3 } else { 1 };
            send(MidiEvent {
                port: *port,
                frame: at.saturating_sub(self.begin) as u32,
                message: &bytes[..length],
            });
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::TransportSchedule;
    use driver::HostTransport;
    use std::sync::Arc;

    fn rate() -> SampleRate {
        SampleRate::new(48_000).unwrap()
    }

    /// Follows messages by frame in blocks; positions at each frame, and true where it rolls.
    fn follow(messages: &[(u64, Vec<u8>)], block: u64, end: u64) -> Vec<(f64, bool)> {
        let map = TempoMap::default();
        let transport = Arc::new(Transport::new(0.0, false));
        let mut schedule = TransportSchedule::new(transport.clone());
        let mut follower = ClockFollower::new(map, rate());
        let mut messages = messages.iter().peekable();
        let mut all = Vec::new();
        for from in (0..end).step_by(block as usize) {
            let to = from + block;
            while let Some((at, bytes)) = messages.next_if(|(at, _)| *at < to) {
                follower.push(*at, bytes, &mut |command| schedule.push(command));
            }
            schedule.begin_block((from, to), &HostTransport::default());
            for segment in transport.segments(from, to) {
                let state = segment.state;
                let at = |frame| (state.position_at(frame), state.is_rolling);
                all.extend(segment.frames.clone().map(at));
            }
        }
        all.truncate(end as usize);
        all
    }

    /// Pulses of a clock at `bpm`, each up to 3 ms early or late, those of `left_out` missing. The first is at frame 4800.
    fn pulses(bpm: f64, count: u64, left_out: std::ops::Range<u64>) -> Vec<(u64, Vec<u8>)> {
        let period = 48_000.0 * 60.0 / bpm / PULSES;
        let mut seed = units::SplitMix64(7);
        let mut all = vec![(100, vec![0xfa])];
        for n in 0..count {
            let jitter = (seed.bits() % 289) as f64 - 144.0;
            let jitter = if n == 0 { 0.0 } else { jitter };
            if !left_out.contains(&n) {
                all.push(((4800.0 + n as f64 * period + jitter) as u64, vec![0xf8]));
            }
        }
        all
    }

    #[test]
    fn a_clock_with_three_milliseconds_of_jitter_gives_a_steady_position() {
        let found = follow(&pulses(140.0, 24 * 40, 0..0), 64, 700_000);
        let ratio = 140.0 / 120.0;
        for frame in (200_000..700_000).step_by(97) {
            let expected = (frame as f64 - 4800.0) * ratio;
            let (position, is_rolling) = found[frame];
            assert!(is_rolling);
            // A millisecond.
            let error = (position - expected).abs();
            assert!(error < 48.0 * ratio, "{frame}: {error}");
        }
        let steps = found[10_000..].windows(2).map(|pair| pair[1].0 - pair[0].0);
        assert!(steps.clone().all(|step| step > 0.0 && step < 2.5));
    }

    #[test]
    fn the_same_clock_gives_the_same_positions_in_blocks_of_any_length() {
        let messages = pulses(97.0, 24 * 8, 60..70);
        let truth = follow(&messages, 1, 200_000);
        for block in [64, 1000, 4096] {
            assert!(follow(&messages, block, 200_000) == truth, "{block}");
        }
    }

    #[test]
    fn pulses_that_were_left_out_cost_no_position() {
        let found = follow(&pulses(120.0, 24 * 30, 200..230), 64, 700_000);
        let error = |frame: usize| (found[frame].0 - (frame as f64 - 4800.0)).abs();
        assert!(error(205_000) < 200.0, "{}", error(205_000));
        assert!(
            (300_000..700_000)
                .step_by(101)
                .all(|frame| error(frame) < 60.0)
        );
    }

    #[test]
    fn start_stop_continue_and_song_position_are_followed() {
        let mut messages = pulses(120.0, 48, 0..0);
        let last = messages.last().unwrap().0;
        messages.push((last + 500, vec![0xfc]));
        messages.push((last + 900, vec![0xf2, 16, 0]));
        messages.push((last + 2000, vec![0xfb]));
        messages.push((last + 2500, vec![0xf8]));
        let found = follow(&messages, 64, last + 6000);
        let at = |frame: u64| found[frame as usize];
        assert!(!at(4_700).1 && at(4_801).1);
        assert!(at(last + 400).1 && !at(last + 600).1);
        // 16 sixteenths are four beats.
        assert_eq!(at(last + 1000), (96_000.0, false));
        assert_eq!(at(last + 2500), (96_000.0, true));
    }

    #[test]
    fn a_follower_of_our_own_clock_is_where_we_are() {
        let transport = Arc::new(Transport::new(0.0, true));
        let mut schedule = TransportSchedule::new(transport.clone());
        let mut sender = ClockSender::new(TempoMap::default(), rate());
        let locate = TransportAction::Locate(480_100.0);
        schedule.push(command(100_003, locate));
        let mut messages = Vec::new();
        for from in (0..200_000).step_by(96) {
            let to = from + 96;
            schedule.begin_block((from, to), &HostTransport::default());
            sender.begin_block(&transport, (from, to));
            while let Some((at, [status, a, b])) = sender.pop(to) {
                let bytes = if status == 0xf2 {
                    vec![status, a, b]
                } else {
                    vec![status]
                };
                messages.push((at, bytes));
            }
        }
        assert_eq!(
            messages[..3],
            [(0, vec![0xfa]), (0, vec![0xf8]), (1000, vec![0xf8])]
        );
        let found = follow(&messages, 64, 200_000);
        assert!(
            (found[90_000].0 - 90_000.0).abs() < 1.0,
            "{:?}",
            found[90_000]
        );
        let expected = transport.at(190_000).position_at(190_000);
        assert!(
            (found[190_000].0 - expected).abs() < 2.0,
            "{:?}",
            found[190_000]
        );
    }
}
