//! [`TransportSchedule`]: the callback's half of the transport. Turns commands into changes, each at its frame.
//!
//! ```text
//! ring ──▶ waiting, by frame ──▶ due in this block ──┐
//! end of the loop range ─────────────────────────────┼──▶ processor::Transport, before the cycle
//! a server's transport (JACK), where it is followed ─┘
//! ```

use driver::HostTransport;
use processor::{MAX_TRANSPORT_CHANGES, Transport, TransportChange};
use std::sync::Arc;

/// Commands that may wait for their frames.
pub(crate) const COMMANDS: usize = 256;

/// Shortest loop range, in frames of the piece.
pub(crate) const MIN_LOOP: u64 = 64;

/// To the audio thread: a change of the transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransportCommand {
    /// Absolute frame at which it takes effect; one that has passed means the next block.
    pub(crate) at: u64,
    pub(crate) action: TransportAction,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TransportAction {
    Start,
    Stop,
    /// To a position, in frames of the piece.
    Locate(f64),
    /// Frames of the piece in a frame.
    Speed(f64),
    /// To be at `position` at the absolute frame `frame`, without a jump if that takes no speed far from `speed`.
    Approach {
        position: f64,
        frame: f64,
        speed: f64,
    },
    /// Range that is repeated, in frames of the piece.
    Loop(Option<(f64, f64)>),
}

/// Commands that wait, and the loop range.
pub(crate) struct TransportSchedule {
    transport: Arc<Transport>,
    /// By frame, the last one first; of one frame the first that came is the last here.
    waiting: Vec<TransportCommand>,
    range: Option<(f64, f64)>,
}

impl TransportSchedule {
    /// Nothing waits.
    ///
    /// Real-time: setup.
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self {
            transport,
            waiting: Vec::with_capacity(COMMANDS),
            range: None,
        }
    }

    /// The transport that it changes.
    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Returns true if one more command may come.
    ///
    /// Real-time: hot.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < COMMANDS
    }

    /// Takes a command, for which there is room.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, command: TransportCommand) {
        let at = self.waiting.partition_point(|other| other.at > command.at);
        self.waiting.insert(at, command);
    }

    /// Makes the changes of the block `position..end`: those of commands, of the end of the loop range, and of `host`, the
    /// transport of a server that is followed.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&mut self, (position, end): (u64, u64), host: &HostTransport) {
        let is_quiet = self.waiting.is_empty() && self.range.is_none() && host.changes().is_empty();
        if is_quiet || !self.transport.can_change() {
            return;
        }
        let mut followed = host.changes().iter().peekable();
        let mut now = position;
        for _ in 0..MAX_TRANSPORT_CHANGES {
            let last = self.transport.last();
            let from = now.max(last.frame);
            let at = |frame: u64| Some(frame.max(from)).filter(|at| *at < end);
            let command = self.waiting.last().and_then(|command| at(command.at));
            let followed_at = followed
                .peek()
                .and_then(|it| at(position + u64::from(it.offset)));
            let wrap = self.wrap_frame(last, from).filter(|at| *at < end);
            let first = [followed_at, wrap, command].into_iter().flatten().min();
            let Some(frame) = first else { return };
            now = frame;
            if followed_at == Some(frame) {
                if let Some(host) = followed.next() {
                    self.follow(frame, host.position, host.is_rolling);
                }
            } else if wrap == Some(frame) {
                self.wrap(frame);
            } else if let Some(command) = self.waiting.pop() {
                self.apply(frame, command.action);
            }
        }
    }

    /// The first frame, from `from` on, whose position is at or behind the end of the loop range, if rolling gets there.
    fn wrap_frame(&self, last: TransportChange, from: u64) -> Option<u64> {
        let (_, end) = self.range.filter(|_| last.is_rolling)?;
        // One that began behind the end rolls on.
        if last.position >= end {
            return None;
        }
        let frames = ((end - last.position) / last.speed) as u64;
        // Beyond the last frame that there is nothing ends.
        let near = last.frame.checked_add(frames.checked_add(4)?)? - 4;
        let near = near.saturating_sub(1).max(last.frame);
        // The division may be a frame wide of it.
        let mut frames = (near..).take(4);
        frames
            .find(|frame| last.position_at(*frame) >= end)
            .filter(|frame| *frame >= from)
    }

    fn wrap(&mut self, frame: u64) {
        if let Some((begin, end)) = self.range {
            let over = (self.transport.last().position_at(frame) - end).max(0.0);
            // At a high speed one frame may be several rounds of a short range.
            self.jump(frame, begin + over % (end - begin));
        }
    }

    fn apply(&mut self, frame: u64, action: TransportAction) {
        let here = self.transport.last().position_at(frame);
        match action {
            TransportAction::Start => self.roll(frame, true),
            TransportAction::Stop => self.roll(frame, false),
            TransportAction::Locate(position) => self.jump(frame, position),
            TransportAction::Speed(speed) => self.set_speed(frame, speed),
            TransportAction::Approach {
                position,
                frame: then,
                speed,
            } => {
                let left = (then - frame as f64).max(1.0);
                let needed = (position - here) / left;
                if (speed * 0.5..=speed * 2.0).contains(&needed) {
                    return self.set_speed(frame, needed);
                }
                self.set_speed(frame, speed);
                self.jump(frame, (position - left * speed).max(0.0));
            }
            TransportAction::Loop(range) => self.range = range,
        }
    }

    fn set_speed(&mut self, frame: u64, speed: f64) {
        let last = self.transport.last();
        self.transport.push(TransportChange {
            frame,
            position: last.position_at(frame),
            speed,
            is_rolling: last.is_rolling,
            is_cut: false,
            is_jump: false,
        });
    }

    fn roll(&mut self, frame: u64, is_rolling: bool) {
        let last = self.transport.last();
        if last.is_rolling != is_rolling {
            self.transport.push(TransportChange {
                frame,
                position: last.position_at(frame),
                speed: last.speed,
                is_rolling,
                is_cut: !is_rolling,
                is_jump: false,
            });
        }
    }

    fn jump(&mut self, frame: u64, position: f64) {
        let last = self.transport.last();
        self.transport.push(TransportChange {
            frame,
            position,
            is_cut: last.is_rolling,
            is_jump: true,
            ..last
        });
    }

    /// Goes to where a server's transport is, unless it is there.
    fn follow(&mut self, frame: u64, position: u64, is_rolling: bool) {
        let last = self.transport.last();
        let position = position as f64;
        if last.position_at(frame) != position || last.speed != 1.0 {
            // A server's position moves a frame in a frame.
            self.transport.push(TransportChange {
                frame,
                position,
                speed: 1.0,
                is_cut: last.is_rolling,
                is_jump: true,
                ..last
            });
        }
        self.roll(frame, is_rolling);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of the first `end` frames, in blocks of `block`.
    fn positions(commands: &[TransportCommand], block: u64, end: u64) -> Vec<f64> {
        let transport = Arc::new(Transport::new(0.0, true));
        let mut schedule = TransportSchedule::new(transport.clone());
        commands.iter().for_each(|command| schedule.push(*command));
        let mut all = Vec::new();
        for position in (0..end).step_by(block as usize) {
            let next = position + block;
            schedule.begin_block((position, next), &HostTransport::default());
            for segment in transport.segments(position, next) {
                all.extend(
                    segment
                        .frames
                        .clone()
                        .map(|frame| segment.state.position_at(frame)),
                );
            }
        }
        all.truncate(end as usize);
        all
    }

    #[test]
    fn commands_take_effect_at_their_frames_in_blocks_of_any_length() {
        let command = |at, action| TransportCommand { at, action };
        let commands = [
            command(333, TransportAction::Stop),
            command(100, TransportAction::Locate(5000.0)),
            command(500, TransportAction::Start),
            command(600, TransportAction::Speed(1.5)),
            command(700, TransportAction::Loop(Some((5000.0, 5500.0)))),
            command(1500, TransportAction::Locate(5100.0)),
        ];
        let expected = positions(&commands, 1, 4000);
        assert_eq!(expected[99], 99.0);
        assert_eq!(expected[100], 5000.0);
        assert_eq!(expected[333..=500], [5233.0; 168]);
        assert_eq!(expected[600], 5333.0);
        assert_eq!(expected[602], 5336.0);
        assert!(
            expected[1500..]
                .iter()
                .all(|p| (5000.0..5500.0).contains(p))
        );
        for block in [7, 64, 1000, 4096] {
            assert_eq!(positions(&commands, block, 4000), expected, "{block}");
        }
    }

    #[test]
    fn a_range_that_is_shorter_than_a_frame_is_not_left() {
        let command = |action| TransportCommand { at: 10, action };
        let commands = [
            command(TransportAction::Locate(1000.0)),
            command(TransportAction::Loop(Some((1000.0, 1064.0)))),
            command(TransportAction::Speed(6000.0)),
        ];
        let expected = positions(&commands, 1, 300);
        assert!(expected[10..].iter().all(|p| (1000.0..1064.0).contains(p)));
        for block in [7, 32] {
            assert_eq!(positions(&commands, block, 300), expected, "{block}");
        }
        // The last frame that there is.
        let far = [
            command(TransportAction::Loop(Some((0.0, 9e15)))),
            command(TransportAction::Speed(1.0 / 6000.0)),
        ];
        assert!(positions(&far, 64, 300)[299] < 300.0);
    }
}
