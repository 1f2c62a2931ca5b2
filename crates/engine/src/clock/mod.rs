//! MIDI clock: [`ClockFollower`] makes tempo and position of the pulses that come in, [`ClockSender`] sends pulses where the
//! transport is.

mod follower;
mod pulse_filter;
mod sender;

pub(crate) use follower::ClockFollower;
pub(crate) use sender::ClockSender;

use driver::MidiEvent;
use processor::Transport;

/// Pulses in a beat.
const PULSES: f64 = 24.0;
/// Pulses in a unit of the song position pointer.
const PULSES_PER_POINTER: u64 = 6;

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
