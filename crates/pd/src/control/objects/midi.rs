//! Boxes of MIDI: `notein`, `ctlin`, …, `noteout`, `ctlout`, … (`x_midi.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::value::{Message, Value};
use super::Making;
use super::glue::to_number;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let channel = |at: usize| making.values.get(at).map(|value| value.number());
    let channel_of = |at| channel(at).filter(|number| *number != 0.0);
    let input = |order: &'static [usize], wanted: [Option<f32>; 3]| Input { order, wanted };
    Some(match making.class {
        "notein" => Box::new(input(&[0, 1, 2], [None, None, channel_of(0)])),
        "polytouchin" => Box::new(input(&[1, 0, 2], [None, None, channel_of(0)])),
        // A number that is stated may be 0: it is that of a controller.
        "ctlin" => {
            let number = channel(0).filter(|number| *number >= 0.0);
            let channel = channel_of(1);
            // As in Pd the number has no outlet either, where the channel is stated.
            let order: &[usize] = if channel.is_some() { &[1] } else { &[1, 0, 2] };
            Box::new(input(order, [number, None, channel]))
        }
        "pgmin" | "bendin" | "touchin" => Box::new(input(&[0, 1], [None, channel_of(0), None])),
        "midiin" | "sysexin" => Box::new(Bytes { is_first: true }),
        "midirealtimein" => Box::new(Bytes { is_first: false }),
        "noteout" => Box::new(Output::new(0x90, [0.0, making.number(0, 1.0)])),
        "ctlout" => Box::new(Output::new(
            0xb0,
            [making.number(0, 0.0), making.number(1, 1.0)],
        )),
        "polytouchout" => Box::new(Output::new(0xa0, [0.0, making.number(0, 1.0)])),
        "pgmout" => Box::new(Output::new(0xc0, [making.number(0, 1.0); 2])),
        "touchout" => Box::new(Output::new(0xd0, [making.number(0, 1.0); 2])),
        "bendout" => Box::new(Output::new(0xe0, [making.number(0, 1.0); 2])),
        "midiout" => Box::new(Output::new(0, [making.number(0, 1.0); 2])),
        _ => return None,
    })
}

/// Sends the words of a list to its outlets, unless they are for another channel or controller.
struct Input {
    /// The word of each outlet.
    order: &'static [usize],
    /// Numbers that words must have: such words have no outlet.
    wanted: [Option<f32>; 3],
}

impl Object for Input {
    held!(wanted; not order);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        let differs = |at: usize| self.wanted[at].is_some_and(|wanted| wanted != number(at));
        if (0..3).any(differs) {
            return Handled::Yes;
        }
        let is_sent = |at: usize| self.wanted[at].is_none();
        let mut outlet = self.order.iter().filter(|at| is_sent(**at)).count();
        for at in self.order.iter().rev().filter(|at| is_sent(**at)) {
            outlet -= 1;
            context.send_float(outlet, number(*at));
        }
        Handled::Yes
    }
}

/// Sends bytes, and the number of their port.
struct Bytes {
    /// True where the byte comes before the port, which then counts from 1.
    is_first: bool,
}

impl Object for Bytes {
    held!(; not is_first);

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        let (byte, port) = match self.is_first {
            true => (number(0), number(1) + 1.0),
            false => (number(1), number(0)),
        };
        context.send_float(1, port);
        context.send_float(0, byte);
        Handled::Yes
    }
}

/// Sends MIDI.
struct Output {
    /// The status byte of channel 1; 0 for bytes as they come.
    status: u8,
    /// Numbers of the inlets at the right: of two, the last one is the channel.
    numbers: [f32; 2],
}

impl Output {
    fn new(status: u8, numbers: [f32; 2]) -> Self {
        Self { status, numbers }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and the highest"
)]
fn bounded(number: f32, highest: u16) -> u16 {
    (number as i64).clamp(0, i64::from(highest)) as u16
}

#[expect(clippy::cast_possible_truncation, reason = "seven bits")]
fn data(number: f32) -> u8 {
    bounded(number, 127) as u8
}

impl Object for Output {
    held!(numbers; not status);

    #[expect(clippy::cast_possible_truncation, reason = "bounded")]
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let [middle, channel] = self.numbers;
        let channel = bounded(channel - 1.0, 16 * 256 - 1);
        let (port, status) = ((channel / 16) as u8, self.status | (channel % 16) as u8);
        let message = match self.status {
            0 => {
                let port = bounded(self.numbers[1] - 1.0, 255) as u8;
                (port, [bounded(number, 255) as u8, 0, 0], 1)
            }
            0x90 => (port, [status, data(number), data(middle)], 3),
            0xa0 | 0xb0 => (port, [status, data(middle), data(number)], 3),
            0xc0 => (port, [status, data(number - 1.0), 0], 2),
            0xd0 => (port, [status, data(number), 0], 2),
            _ => {
                let value = bounded(number + 8192.0, 16_383);
                let [low, high] = [value & 127, value >> 7].map(|part| part as u8);
                (port, [status, low, high], 3)
            }
        };
        context.globals().midi_output.push(message);
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let has_middle = matches!(self.status, 0x90 | 0xa0 | 0xb0);
        let at = if has_middle && inlet == 1 { 0 } else { 1 };
        to_number(message, &mut self.numbers[at])
    }
}
