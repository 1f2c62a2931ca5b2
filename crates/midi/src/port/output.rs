//! `midi_output`: sends its events to a live MIDI port.
//!
//! Channel messages and system exclusive messages leave as they are, notes as channel messages: on channel 1, or with
//! `mpe` each on a channel of its own. What MIDI cannot say (a value, a text, and without `mpe` a bend of one note) is
//! counted in the gauge `lost`. A node that is removed releases the keys and pedals that are down. Each message leaves at its frame, in blocks of any size. Where the driver has no such port
//! the node does nothing, and says so.
//!
//! | | |
//! |---|---|
//! | ports | `in`, events; no output |
//! | parameters | `port`, by default the node's name; `mpe` |
//! | latency, tail | none |

use super::port_name;
use crate::file::NotesToMidi;
use graph::{Kind, Param, PortSpec};
use processor::{
    Block, EventBody, EventTarget, Gauge, HeldNotes, MakeContext, MakeError, MidiPortWriter,
    ProcessStatus, Processor, Setup,
};

pub(super) const KIND: &str = "midi_output";

pub(super) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::events("in")],
        params: vec![
            Param::text("port").doc("Name of the live MIDI port; by default the node's name."),
            Param::flag("mpe")
                .doc("Gives each note a channel of its own, for bends of single notes."),
        ],
        duplicable: false,
        typical_ns: 30,
        ..Kind::new(KIND, "Sends its events to a live MIDI port.")
    }
}

pub(super) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let has_mpe = creation.node.flag("mpe");
    Ok(Box::new(MidiOutput {
        port: port_name(creation.node).to_owned(),
        notes: NotesToMidi::new(has_mpe),
        has_begun: false,
        writer: None,
        held: HeldNotes::default(),
        position: 0,
        lost: Gauge::default(),
    }))
}

struct MidiOutput {
    port: String,
    notes: NotesToMidi,
    /// True once the size of the MPE zone was sent.
    has_begun: bool,
    writer: Option<MidiPortWriter>,
    held: HeldNotes,
    /// First frame behind the last block.
    position: u64,
    lost: Gauge,
}

impl MidiOutput {
    /// Releases what is down. Late events leave at once.
    fn release(&mut self) {
        let (writer, position) = (&mut self.writer, self.position);
        self.held.release(|message| {
            if let Some(writer) = writer {
                writer.push(position, EventBody::Midi(message));
            }
        });
    }
}

impl Drop for MidiOutput {
    fn drop(&mut self) {
        self.release();
    }
}

impl Processor for MidiOutput {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.release();
        self.writer = None;
        self.reset();
        self.lost = setup.services.gauge("lost");
        match setup.services.midi_ports().writer(&self.port) {
            Ok(Some(writer)) => self.writer = Some(writer),
            Ok(None) => setup.services.notify_user(format!(
                "there is no live MIDI port `{}` here, so nothing leaves",
                self.port
            )),
            Err(_) => setup.services.notify_user(format!(
                "the MIDI port `{}` has too many nodes, so nothing leaves",
                self.port
            )),
        }
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let position = block.position();
        self.position = position + block.frames() as u64;
        let Some(writer) = &mut self.writer else {
            return ProcessStatus::Sleep;
        };
        if !self.has_begun {
            self.has_begun = true;
            for message in self.notes.preamble() {
                writer.push(position, EventBody::Midi(*message));
            }
        }
        for event in block.events().iter() {
            if !matches!(event.target, EventTarget::Input(_)) {
                continue;
            }
            let at = position + u64::from(event.frame);
            match event.body {
                body @ EventBody::SysEx(_) => {
                    writer.push(at, body);
                }
                body => self.notes.translate(body, |message| {
                    if writer.push(at, EventBody::Midi(message)) {
                        self.held.follow(message);
                    }
                }),
            }
        }
        self.lost.set(self.notes.lost() as f32);
        ProcessStatus::Sleep
    }

    fn reset(&mut self) {
        self.notes.clear();
        self.has_begun = false;
    }
}
