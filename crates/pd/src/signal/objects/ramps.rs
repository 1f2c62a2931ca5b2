//! Messages to signals: `sig~`, `line~`; and `samplerate~` (`d_ctl.c`).

use super::arithmetic::set;
use super::even_sums;
use super::sample_line::SampleLine;
use crate::control::{Context, EarlyWords, Handled, Making, Message, Object, Value, words};
use crate::signal::{Inlets, RowFormat, SignalWorld};
use crate::state::held;
use crate::whole_number::whole_number;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "sig~" => Box::new(Constant(making.number(0, 0.0))),
        "line~" => Box::new(Line::default()),
        "vline~" => Box::new(SampleLine::default()),
        "samplerate~" => Box::new(Rate(making.globals.rate)),
        _ => return None,
    })
}

struct Constant(f32);

impl Object for Constant {
    held!(tuple number);

    fn may_join(&self) -> bool {
        true
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        self.0 = number;
        Handled::Yes
    }

    fn takes_early(&self, inlet: usize, words: EarlyWords) -> bool {
        matches!((inlet, words), (0, EarlyWords::One(_)))
    }

    fn take_early(&mut self, _: usize, words: EarlyWords, _: f64) {
        if let EarlyWords::One(number) = words {
            self.0 = number;
        }
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        outlets[0].fill(self.0);
    }
}

/// The rate of the canvas, in which an overlap does not count.
struct Rate(f32);

impl Object for Rate {
    held!(nothing);

    fn prepare(&mut self, format: &RowFormat) {
        self.0 = format.nominal_rate;
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, self.0);
        Handled::Yes
    }
}

/// A ramp that begins and ends with blocks.
#[derive(Default)]
struct Line {
    target: f32,
    value: f32,
    big_step: f32,
    step: f32,
    blocks_left: u32,
    /// Length of the next ramp, from the right inlet.
    next_ms: f32,
    /// Length of the ramp that begins with the next block.
    ramp_ms: f32,
    has_new_target: bool,
}

impl Object for Line {
    held!(
        target,
        value,
        big_step,
        step,
        blocks_left,
        next_ms,
        ramp_ms,
        has_new_target
    );

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        self.go_to(number);
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], _: &mut Context<'_>) -> Handled {
        match values {
            [Value::Float(target), Value::Float(ms)] => {
                self.next_ms = *ms;
                self.go_to(*target);
                Handled::Yes
            }
            _ => Handled::No,
        }
    }

    fn takes_early(&self, inlet: usize, words: EarlyWords) -> bool {
        inlet == 0 || matches!(words, EarlyWords::One(_))
    }

    fn take_early(&mut self, inlet: usize, words: EarlyWords, _: f64) {
        match (inlet, words) {
            (0, EarlyWords::One(target)) => self.go_to(target),
            (_, EarlyWords::One(ms)) => self.next_ms = ms,
            (_, EarlyWords::Two([target, ms])) => {
                self.next_ms = ms;
                self.go_to(target);
            }
        }
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, Some(&mut self.next_ms))
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != words::STOP {
            return Handled::No;
        }
        self.target = self.value;
        self.blocks_left = 0;
        self.has_new_target = false;
        Handled::Yes
    }

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        match outlets[0].len() == world.frames() {
            true => self.block(&mut outlets[0], world.rate()),
            false => {
                let blocks = outlets[0].chunks_mut(world.frames());
                blocks.for_each(|to| self.block(to, world.rate()));
            }
        }
    }
}

impl Line {
    /// Begins a ramp to a number with the next block, or jumps there.
    fn go_to(&mut self, target: f32) {
        self.target = target;
        if self.next_ms <= 0.0 {
            self.value = target;
            self.blocks_left = 0;
            self.has_new_target = false;
        } else {
            self.has_new_target = true;
            // Used up at once: a second number in the same block is a jump.
            self.ramp_ms = std::mem::take(&mut self.next_ms);
        }
    }

    /// Computes a block.
    fn block(&mut self, to: &mut [f32], rate: f32) {
        // Denormals and huge numbers end here.
        if is_odd(self.value) {
            self.value = 0.0;
        }
        if self.has_new_target {
            #[expect(clippy::cast_precision_loss, reason = "a block is short")]
            self.begin_ramp(to.len() as f32, rate);
        }
        if self.blocks_left > 0 {
            even_sums::write(to, self.value, self.step);
            self.value += self.big_step;
            self.blocks_left -= 1;
        } else {
            self.value = self.target;
            to.fill(self.target);
        }
    }

    /// Begins a ramp with a block of so many frames.
    fn begin_ramp(&mut self, frames: f32, rate: f32) {
        let blocks = self.ramp_ms * (rate / (1000.0 * frames));
        // As in Pd a length out of range is the lowest whole number: the ramp leads away from its target, and its blocks run out there.
        let blocks = match whole_number(blocks.into()) {
            0 => 1,
            blocks => blocks,
        };
        self.blocks_left = blocks.cast_unsigned();
        self.has_new_target = false;
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        let count = blocks as f32;
        self.big_step = (self.target - self.value) / count;
        self.step = (1.0 / frames) * self.big_step;
    }
}

/// Returns true for a number outside 2⁻⁶³ to 2⁶⁵.
#[inline(always)]
pub(in super::super) fn is_odd(x: f32) -> bool {
    let exponent = x.to_bits() & 0x6000_0000;
    exponent == 0 || exponent == 0x6000_0000
}
