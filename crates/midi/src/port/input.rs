//! `midi_input`: sends what comes in at a live MIDI port.
//!
//! Each message leaves at the frame at which the driver got it, in blocks of any size. At most 64 events leave in 128
//! frames; of a larger crowd the rest follows. Where the driver has no such port the node is silent, and says so.
//!
//! | | |
//! |---|---|
//! | ports | no input; `out`, events: channel messages, and system exclusive ones of at most 1024 bytes |
//! | parameters | `port`, by default the node's name; `channel` 1 to 16, 0 is all |
//! | latency | none |
//! | tail | endless |

use super::port_name;
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, EventBody, MakeContext, MakeError, MidiPortReader, ProcessStatus, Processor, Setup, Tail,
};

pub(super) const KIND: &str = "midi_input";

/// The most events in a window of frames, which fit into the room for events of a block of any size.
const EVENTS_PER_WINDOW: u32 = 64;
const WINDOW_FRAMES: u64 = 128;

pub(super) fn kind() -> Kind {
    Kind {
        outputs: vec![PortSpec::events("out")],
        params: vec![
            Param::text("port").doc("Name of the live MIDI port; by default the node's name."),
            Param::number("channel", (0.0, 16.0), 0.0)
                .doc("The only MIDI channel that passes, counted from 1; 0 is all."),
        ],
        duplicable: false,
        typical_ns: 20,
        ..Kind::new(KIND, "Sends what comes in at a live MIDI port.")
    }
}

pub(super) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(MidiInput {
        port: port_name(creation.node).to_owned(),
        channel: (creation.number("channel")? as u8).checked_sub(1),
        reader: None,
        window: 0,
        sent: 0,
    }))
}

struct MidiInput {
    port: String,
    /// Counted from 0; `None` for all.
    channel: Option<u8>,
    reader: Option<MidiPortReader>,
    /// Window of the last event, and the number of events in it.
    window: u64,
    sent: u32,
}

impl MidiInput {
    fn passes(&self, body: EventBody) -> bool {
        match (self.channel, body) {
            (Some(channel), EventBody::Midi([status, ..])) => status & 15 == channel,
            _ => true,
        }
    }

    /// First frame at which another event may leave.
    fn earliest(&self) -> u64 {
        let is_full = self.sent >= EVENTS_PER_WINDOW;
        (self.window + u64::from(is_full)) * WINDOW_FRAMES
    }

    fn count_sent(&mut self, frame: u64) {
        let window = frame / WINDOW_FRAMES;
        if window != self.window {
            (self.window, self.sent) = (window, 0);
        }
        self.sent += 1;
    }
}

impl Processor for MidiInput {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        // The old end first: a port has few.
        self.reader = None;
        self.reset();
        match setup.services.midi_ports().reader(&self.port) {
            Ok(Some(reader)) => self.reader = Some(reader),
            Ok(None) => setup.services.notify_user(format!(
                "there is no live MIDI port `{}` here, so it is silent",
                self.port
            )),
            Err(_) => setup.services.notify_user(format!(
                "the MIDI port `{}` has too many nodes, so it is silent",
                self.port
            )),
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let position = block.position();
        let end = position + block.frames() as u64;
        let mut last = position;
        while self.earliest() < end
            && let Some((at, body)) = self.reader.as_mut().and_then(|reader| reader.pop(end))
        {
            if !self.passes(body) {
                continue;
            }
            // What was late, or came in a block that was left out, is sent now.
            last = at.max(last).max(self.earliest());
            block.send_event(0, (last - position) as u32, body);
            self.count_sent(last);
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        (self.window, self.sent) = (0, 0);
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
