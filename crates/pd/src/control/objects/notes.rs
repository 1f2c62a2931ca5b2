//! Notes: `poly`, `makenote`, `stripnote` (`x_midi.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::value::{Message, Value};
use super::Making;
use super::glue::to_number;
use crate::state::{Held, held, held_arrays};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "poly" => Box::new(Poly::new(making)),
        "makenote" => Box::new(MakeNote {
            velocity: making.number(0, 0.0),
            duration: making.number(1, 0.0),
            sounding: Vec::new(),
            ending: Vec::new(),
        }),
        "stripnote" => Box::new(StripNote { velocity: 0.0 }),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct NoteSlot {
    pitch: f32,
    is_used: bool,
    /// The higher, the later it was taken or left.
    serial: u64,
}

/// Gives each note a voice by its number.
struct Poly {
    voices: Vec<NoteSlot>,
    steals: bool,
    velocity: f32,
    serial: u64,
}

impl Poly {
    fn new(making: &Making<'_>) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 100000"
        )]
        let count = making.number(0, 1.0).clamp(1.0, 1e5) as usize;
        let voice = NoteSlot {
            pitch: 0.0,
            is_used: false,
            serial: 0,
        };
        Self {
            voices: vec![voice; count],
            steals: making.number(1, 0.0) != 0.0,
            velocity: 0.0,
            serial: 0,
        }
    }

    /// The voice of lowest serial among those that are used, or not.
    fn oldest(&self, is_used: bool) -> Option<usize> {
        let all = self
            .voices
            .iter()
            .enumerate()
            .filter(|(_, v)| v.is_used == is_used);
        all.min_by_key(|(_, voice)| voice.serial).map(|(at, _)| at)
    }

    fn send(&self, at: usize, pitch: f32, velocity: f32, context: &mut Context<'_>) {
        context.send_float(2, velocity);
        context.send_float(1, pitch);
        #[expect(clippy::cast_precision_loss, reason = "at most 100000")]
        context.send_float(0, (at + 1) as f32);
    }

    fn begin(&mut self, at: usize, pitch: f32) {
        self.voices[at] = NoteSlot {
            pitch,
            is_used: true,
            serial: self.serial,
        };
        self.serial += 1;
    }
}

impl Held for NoteSlot {
    held!(pitch, is_used, serial);
}

held_arrays!(NoteSlot);

impl Object for Poly {
    held!(voices, velocity, serial; not steals; check |it| it.serial < 1 << 62);

    fn float(&mut self, pitch: f32, context: &mut Context<'_>) -> Handled {
        if self.velocity > 0.0 {
            if let Some(free) = self.oldest(false) {
                self.begin(free, pitch);
                self.send(free, pitch, self.velocity, context);
            } else if let Some(taken) = self.oldest(true).filter(|_| self.steals) {
                self.send(taken, self.voices[taken].pitch, 0.0, context);
                self.begin(taken, pitch);
                self.send(taken, pitch, self.velocity, context);
            }
            return Handled::Yes;
        }
        let same = self.voices.iter().enumerate();
        let same = same.filter(|(_, voice)| voice.is_used && voice.pitch == pitch);
        if let Some(at) = same.min_by_key(|(_, voice)| voice.serial).map(|(at, _)| at) {
            self.voices[at].is_used = false;
            self.voices[at].serial = self.serial;
            self.serial += 1;
            self.send(at, pitch, 0.0, context);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::STOP => {
                for at in 0..self.voices.len() {
                    if self.voices[at].is_used {
                        self.send(at, self.voices[at].pitch, 0.0, context);
                        self.voices[at].is_used = false;
                        self.voices[at].serial = self.serial;
                        self.serial += 1;
                    }
                }
            }
            words::CLEAR => {
                for voice in &mut self.voices {
                    voice.is_used = false;
                    voice.serial = 0;
                }
                self.serial = 0;
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.velocity)
    }
}

/// Sends a note, and its end after a time.
struct MakeNote {
    velocity: f32,
    duration: f32,
    sounding: Vec<Option<f32>>,
    /// Clocks of notes that are ended at once, with room for all.
    ending: Vec<u32>,
}

impl MakeNote {
    fn end(pitch: f32, context: &mut Context<'_>) {
        context.send_float(1, 0.0);
        context.send_float(0, pitch);
    }
}

impl Object for MakeNote {
    held!(velocity, duration, sounding; not ending);

    fn float(&mut self, pitch: f32, context: &mut Context<'_>) -> Handled {
        if self.velocity == 0.0 {
            return Handled::Yes;
        }
        context.send_float(1, self.velocity);
        context.send_float(0, pitch);
        let free = self.sounding.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.sounding.push(None);
            self.ending.reserve(self.sounding.len());
            self.sounding.len() - 1
        });
        self.sounding[slot] = Some(pitch);
        let slot = u32::try_from(slot).expect("fewer notes than memory");
        context.set_clock(slot, f64::from(self.duration));
        Handled::Yes
    }

    fn clock(&mut self, slot: u32, context: &mut Context<'_>) {
        if let Some(pitch) = self.sounding.get_mut(slot as usize).and_then(Option::take) {
            Self::end(pitch, context);
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if ![words::STOP, words::CLEAR].contains(&message.selector) {
            return Handled::No;
        }
        let slots = (0..).zip(&self.sounding);
        let sounding = slots.filter_map(|(slot, pitch)| pitch.map(|_| slot));
        self.ending.extend(sounding);
        // Pd takes what came last first.
        context.newest_first(&mut self.ending);
        for slot in self.ending.drain(..) {
            context.unset_clock(slot);
            let pitch = self.sounding[slot as usize].take();
            if let (Some(pitch), words::STOP) = (pitch, message.selector) {
                Self::end(pitch, context);
            }
        }
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let number = if inlet == 1 {
            &mut self.velocity
        } else {
            &mut self.duration
        };
        to_number(message, number)
    }
}

/// Passes the begins of notes on, not the ends.
struct StripNote {
    velocity: f32,
}

impl Object for StripNote {
    held!(velocity);

    fn float(&mut self, pitch: f32, context: &mut Context<'_>) -> Handled {
        if self.velocity != 0.0 {
            context.send_float(1, self.velocity);
            context.send_value(0, Value::Float(pitch));
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.velocity)
    }
}
