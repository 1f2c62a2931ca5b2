//! [`MidiExchange`]: live MIDI between the driver's messages and the events of nodes, on the audio thread.

use driver::{MAX_SYSEX_BYTES, MidiEvent};
use processor::{EventBody, HeldNotes, MAX_NODES_PER_MIDI_PORT, MidiPortsCallback, SysExPart};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bytes of a system exclusive message that waits to be whole.
type SysExBuffer = Vec<u8>;

/// Number of calls of [`MidiExchange::pop`] after the releases, after which a driver has passed them on.
const CALLS_AFTER_END: u32 = 4;

/// The end of what is sent: asked for by the control thread, done by the callback.
#[derive(Debug, Default)]
pub(crate) struct MidiEnd {
    is_asked: AtomicBool,
    is_done: AtomicBool,
}

impl MidiEnd {
    /// Asks the callback to release all keys, and to send nothing more.
    pub(crate) fn ask(&self) {
        // Relaxed, as all of these: the flags alone are read, no data travels with them.
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Returns true if the releases have been sent.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }
}

/// Live MIDI of one engine.
#[derive(Default)]
pub(crate) struct MidiExchange {
    ports: MidiPortsCallback,
    end: Arc<MidiEnd>,
    /// Of each output port.
    held: Vec<HeldNotes>,
    /// Calls of `pop` since the end was asked for.
    calls_after_end: u32,
    /// Of each output port and each of its writers, the system exclusive message that is not whole yet.
    sysex: Vec<[SysExBuffer; MAX_NODES_PER_MIDI_PORT]>,
    /// First frame of the block, later by what a pipeline delays the sound.
    begin: u64,
    delay: u64,
}

impl MidiExchange {
    /// Nothing waits. All memory is allocated.
    ///
    /// Real-time: setup.
    pub(crate) fn new(ports: MidiPortsCallback, end: Arc<MidiEnd>) -> Self {
        let buffers = || std::array::from_fn(|_| Vec::with_capacity(MAX_SYSEX_BYTES));
        let sysex = (0..ports.output_count()).map(|_| buffers()).collect();
        Self {
            end,
            held: vec![HeldNotes::default(); ports.output_count()],
            calls_after_end: 0,
            ports,
            sysex,
            begin: 0,
            delay: 0,
        }
    }

    /// Begins the block at `position`, whose sound leaves `delay` frames later.
    ///
    /// Real-time: hot.
    pub(crate) fn begin_block(&mut self, position: u64, delay: u64) {
        (self.begin, self.delay) = (position, delay);
    }

    /// Gives a message of the driver to the nodes of its port. Those of the system that no node can have are left out.
    ///
    /// Real-time: hot.
    pub(crate) fn push(&mut self, at: u64, event: MidiEvent<'_>) {
        let port = usize::from(event.port);
        match *event.message {
            [status @ 0x80..0xf0, ref data @ ..] => {
                let byte = |index| data.get(index).copied().unwrap_or(0);
                let message = EventBody::Midi([status, byte(0), byte(1)]);
                self.ports.push(port, at, std::iter::once(message));
            }
            [0xf0, ..] => {
                let parts = SysExPart::split(event.message).map(EventBody::SysEx);
                self.ports.push(port, at, parts);
            }
            _ => {}
        }
    }

    /// Passes what nodes sent before frame `end` of the block. Once the end was asked for, releases the keys that sound and
    /// passes nothing more.
    ///
    /// Real-time: hot, if `send` is.
    pub(crate) fn pop(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        if self.calls_after_end == 0 {
            self.pop_nodes(end, send);
        }
        if end > 0 && self.end.is_asked.load(Ordering::Relaxed) {
            self.release_keys(end - 1, send);
        }
    }

    fn release_keys(&mut self, frame: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        for (port, held) in (0..).zip(&mut self.held) {
            held.release(|message| {
                let message = &message[..];
                send(MidiEvent {
                    port,
                    frame,
                    message,
                });
            });
        }
        self.calls_after_end = self.calls_after_end.saturating_add(1);
        if self.calls_after_end > CALLS_AFTER_END {
            self.end.is_done.store(true, Ordering::Relaxed);
        }
    }

    fn pop_nodes(&mut self, end: u32, send: &mut dyn FnMut(MidiEvent<'_>)) {
        let limit = (self.begin + u64::from(end)).saturating_sub(self.delay);
        let outputs = self.sysex.iter_mut().zip(&mut self.held);
        for (port, (buffers, held)) in outputs.enumerate() {
            while let Some((writer, (at, body))) = self.ports.pop(port, limit) {
                let frame = (at + self.delay).saturating_sub(self.begin) as u32;
                let mut send = |message: &[u8]| {
                    send(MidiEvent {
                        port: port as u16,
                        frame,
                        message,
                    });
                };
                match body {
                    EventBody::Midi(message) => {
                        held.follow(message);
                        send(&message[..length(message[0])]);
                    }
                    EventBody::SysEx(part) => join(&mut buffers[writer], part, send),
                    _ => {}
                }
            }
        }
    }
}

/// Bytes of a channel message.
fn length(status: u8) -> usize {
    match status {
        0xc0..0xe0 => 2,
        _ => 3,
    }
}

/// Adds a part to a message, and sends it when it is whole. A message without a begin, or one that is too long, is left
/// out.
fn join(buffer: &mut SysExBuffer, part: SysExPart, send: impl FnOnce(&[u8])) {
    let bytes = part.bytes();
    if bytes.first() == Some(&0xf0) {
        buffer.clear();
    } else if buffer.is_empty() {
        return;
    }
    if buffer.len() + bytes.len() > MAX_SYSEX_BYTES {
        return buffer.clear();
    }
    buffer.extend_from_slice(bytes);
    if buffer.last() == Some(&0xf7) {
        send(buffer);
        buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use processor::{MidiPortNames, MidiPorts};

    fn event(frame: u32, message: &[u8]) -> MidiEvent<'_> {
        MidiEvent {
            port: 0,
            frame,
            message,
        }
    }

    #[test]
    fn messages_pass_from_port_to_port_at_their_frames_and_a_pipelines_delay_later() {
        let names = MidiPortNames {
            inputs: vec!["in".into()],
            outputs: vec!["out".into()],
        };
        let (ports, callback) = MidiPorts::new(&names);
        let mut exchange = MidiExchange::new(callback, Arc::default());
        let mut reader = ports.reader("in").unwrap().unwrap();
        let mut writer = ports.writer("out").unwrap().unwrap();
        let sysex: Vec<u8> = [0xf0].into_iter().chain(0..30).chain([0xf7]).collect();
        for message in [&[0xf8][..], &[0x90, 60, 1], &[0xc3, 9], &sysex] {
            exchange.push(67, event(3, message));
        }
        while let Some((at, body)) = reader.pop(1000) {
            assert_eq!(at, 67);
            writer.push(at, body);
        }
        for (delay, frame) in [(0, 3), (64, 67)] {
            exchange.begin_block(64, delay);
            let mut sent = Vec::new();
            exchange.pop(frame, &mut |event| sent.push(event.frame));
            assert!(sent.is_empty());
        }
        exchange.begin_block(64, 0);
        let mut sent = Vec::new();
        exchange.pop(64, &mut |event| {
            sent.push((event.frame, event.message.to_vec()))
        });
        let wanted: [&[u8]; 3] = [&[0x90, 60, 1], &[0xc3, 9], &sysex];
        assert_eq!(sent, wanted.map(|message| (3, message.to_vec())));
    }

    #[test]
    fn keys_and_pedals_that_sound_at_the_end_are_released_and_nothing_follows() {
        let names = MidiPortNames {
            inputs: vec![],
            outputs: vec!["quiet".into(), "out".into()],
        };
        let (ports, callback) = MidiPorts::new(&names);
        let end = Arc::<MidiEnd>::default();
        let mut exchange = MidiExchange::new(callback, end.clone());
        let mut writer = ports.writer("out").unwrap().unwrap();
        let mut play = |exchange: &mut MidiExchange, messages: &[[u8; 3]]| {
            for message in messages {
                assert!(writer.push(0, EventBody::Midi(*message)));
            }
            let mut sent = Vec::new();
            exchange.pop(64, &mut |event| {
                sent.push((event.port, event.frame, event.message.to_vec()));
            });
            sent
        };
        let played = [
            [0x90, 60, 1],
            [0x91, 127, 100],
            [0x90, 61, 1],
            [0x90, 61, 0],
            [0x80, 62, 0],
            [0xb3, 64, 127],
            [0x95, 5, 5],
            [0xb5, 123, 0],
        ];
        assert_eq!(play(&mut exchange, &played).len(), played.len());
        end.ask();
        // What came before the end is passed on.
        let sent = play(&mut exchange, &[[0x92, 0, 9]]);
        let wanted = [
            (0, [0x92, 0, 9]),
            (63, [0x80, 60, 64]),
            (63, [0x81, 127, 64]),
            (63, [0x82, 0, 64]),
            (63, [0xb3, 64, 0]),
        ];
        let wanted = wanted.map(|(frame, message)| (1, frame, message.to_vec()));
        assert_eq!(sent, wanted);
        assert!(!end.is_done());
        for _ in 0..CALLS_AFTER_END {
            assert_eq!(play(&mut exchange, &[[0x90, 1, 1]]), []);
        }
        assert!(end.is_done());
    }
}
