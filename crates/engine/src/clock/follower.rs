//! [`ClockFollower`]: makes tempo and position of the pulses of a MIDI clock.
//!
//! A [`PulseFilter`] says when the next pulse is expected. At each pulse the transport gets the speed with which it reaches
//! the position of the next pulse then. So the position never jumps while the clock runs, and what it is off disappears
//! within a pulse. A position that is off by more than a factor of two in speed jumps. Without pulses the transport rolls on
//! at its last speed; pulses that were left out for up to two seconds count as if they had come.

use super::pulse_filter::PulseFilter;
use super::{PULSES, PULSES_PER_POINTER};
use crate::transport::{TransportAction, TransportCommand};
use graph::TempoMap;
use units::SampleRate;

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
    filter: PulseFilter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClockState {
    Stopped,
    /// It starts with the next pulse.
    Starting,
    Rolling,
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
            filter: PulseFilter::new(rate),
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
        let left_out = self.filter.push(at);
        match self.state {
            ClockState::Stopped => return,
            ClockState::Starting => {
                let position = self.position(self.next);
                send(command(at, TransportAction::Locate(position)));
                send(command(at, TransportAction::Start));
                self.filter.begin_at(at);
                self.state = ClockState::Rolling;
            }
            ClockState::Rolling => self.next = self.next.saturating_add_signed(left_out),
        }
        self.next += 1;
        if let Some(dll) = self.filter.dll() {
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

    /// Position of a pulse, in frames of the piece.
    fn position(&self, pulse: u64) -> f64 {
        self.map.seconds(pulse as f64 / PULSES) * self.rate
    }
}

fn command(at: u64, action: TransportAction) -> TransportCommand {
    TransportCommand { at, action }
}

#[cfg(test)]
mod tests {
    use super::super::ClockSender;
    use super::*;
    use crate::transport::TransportSchedule;
    use driver::HostTransport;
    use processor::Transport;
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
