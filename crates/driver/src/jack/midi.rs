//! [`MidiSide`]: the MIDI ports of a client in its process callback, and [`JackBlocks`], which exchanges blocks with it.

use std::ffi::c_void;
use std::slice::from_raw_parts;
use std::sync::Arc;

use super::library::{Functions, RawMidiEvent, RawPort};
use crate::block_adapter::AdapterClient;
use crate::midi::MidiLossCounts;
use crate::{AudioCallback, CallbackInfo, MidiEvent, MidiParser};

/// MIDI ports, with the buffers of one call of the process callback.
pub(super) struct MidiSide {
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    losses: Arc<MidiLossCounts>,
}

struct InputPort {
    port: *mut RawPort,
    /// Buffer of this call; null if the server has none.
    buffer: *mut c_void,
    /// Events of the buffer, and those of them that were read.
    count: u32,
    next: u32,
    parser: MidiParser,
}

struct OutputPort {
    port: *mut RawPort,
    buffer: *mut c_void,
    /// Frame of the last event: a server takes events in order only.
    last: u32,
}

impl MidiSide {
    /// Ports that are registered.
    pub(super) fn new(
        inputs: Vec<*mut RawPort>,
        outputs: Vec<*mut RawPort>,
        losses: Arc<MidiLossCounts>,
    ) -> Self {
        let input = |port| InputPort {
            port,
            buffer: std::ptr::null_mut(),
            count: 0,
            next: 0,
            parser: MidiParser::default(),
        };
        let output = |port| OutputPort {
            port,
            buffer: std::ptr::null_mut(),
            last: 0,
        };
        Self {
            inputs: inputs.into_iter().map(input).collect(),
            outputs: outputs.into_iter().map(output).collect(),
            losses,
        }
    }

    /// Asks for the buffers of this call and empties those of the outputs.
    ///
    /// # Safety
    /// Called in the process callback of the client that owns the ports.
    ///
    /// Real-time: hot.
    pub(super) unsafe fn begin(&mut self, f: &Functions, frames: u32) {
        // SAFETY: the ports exist and are MIDI ports; a buffer is null or one of this call.
        unsafe {
            for input in &mut self.inputs {
                input.buffer = (f.jack_port_get_buffer)(input.port, frames);
                input.next = 0;
                input.count = match input.buffer.is_null() {
                    true => 0,
                    false => (f.jack_midi_get_event_count)(input.buffer),
                };
            }
            for output in &mut self.outputs {
                output.buffer = (f.jack_port_get_buffer)(output.port, frames);
                output.last = 0;
                if !output.buffer.is_null() {
                    (f.jack_midi_clear_buffer)(output.buffer);
                }
            }
        }
    }
}

/// One call of the process callback: blocks for the callback, and the MIDI of the ports.
pub(super) struct JackBlocks<'a, I> {
    pub(super) functions: &'a Functions,
    pub(super) callback: &'a mut dyn AudioCallback,
    pub(super) midi: &'a mut MidiSide,
    /// Facts about the next block.
    pub(super) info: I,
}

impl<I: FnMut() -> CallbackInfo> AdapterClient for JackBlocks<'_, I> {
    fn process(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) {
        self.callback.process((self.info)(), inputs, outputs);
    }

    fn read_midi(&mut self, from: usize, to: usize, frames: usize) {
        let end = (from + frames) as u32;
        for (port, input) in (0..).zip(&mut self.midi.inputs) {
            while input.next < input.count {
                let mut event = RawMidiEvent::default();
                // SAFETY: `begin` got the buffer in this call, and it has more than `next` events.
                let failed = unsafe {
                    (self.functions.jack_midi_event_get)(&mut event, input.buffer, input.next)
                };
                if failed == 0 && event.time >= end {
                    break;
                }
                input.next += 1;
                if failed != 0 || event.buffer.is_null() {
                    continue;
                }
                let frame = (event.time as usize).saturating_sub(from) + to;
                let frame = frame as u32;
                // SAFETY: the server keeps the bytes of an event for this call.
                let bytes = unsafe { from_raw_parts(event.buffer, event.size) };
                let losses = &self.midi.losses;
                input.parser.parse_counted(bytes, losses, |message| {
                    self.callback.push_midi(MidiEvent {
                        port,
                        frame,
                        message,
                    });
                });
            }
        }
    }

    fn write_midi(&mut self, from: usize, to: usize, frames: usize) {
        let MidiSide {
            outputs, losses, ..
        } = &mut *self.midi;
        let functions = self.functions;
        if outputs.is_empty() || frames == 0 {
            return;
        }
        let last = (to + frames - 1) as u32;
        self.callback
            .pop_midi((from + frames) as u32, &mut |event| {
                let Some(output) = outputs.get_mut(usize::from(event.port)) else {
                    return;
                };
                if output.buffer.is_null() {
                    return;
                }
                let time = (event.frame as usize).saturating_sub(from) + to;
                output.last = output.last.max((time as u32).min(last));
                // SAFETY: `begin` got the buffer in this call, and the message's bytes are copied. An event that finds no
                // room is refused.
                let refused = unsafe {
                    (functions.jack_midi_event_write)(
                        output.buffer,
                        output.last,
                        event.message.as_ptr(),
                        event.message.len(),
                    )
                };
                if refused != 0 {
                    losses.add_no_room();
                }
            });
    }
}
