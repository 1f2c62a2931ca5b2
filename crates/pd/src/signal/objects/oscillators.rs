//! `osc~`, `phasor~`, `cos~`, `noise~` (`d_osc.c`).

use super::phases::{
    CosineTable, UNIT, add_up, add_up_same, fraction, fractions, with_fraction, wrapped,
};
use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::loops::RUN;
use crate::signal::{Inlets, SignalWorld};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "osc~" => Box::new(Oscillator { phase: 0.0 }),
        "phasor~" => Box::new(Phasor { phase: 0.0 }),
        "cos~" => Box::new(Cosine),
        "noise~" => {
            let seed = &mut making.globals.seeds.1;
            if *seed == 0 {
                *seed = 307;
            }
            *seed = seed.wrapping_mul(1319);
            let state = seed.cast_signed();
            Box::new(Noise { state })
        }
        _ => return None,
    })
}

/// The number of a message at a right inlet.
fn number(message: Message<'_>) -> Option<f32> {
    match message.values.first() {
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    }
}

struct Oscillator {
    phase: f64,
}

impl Object for Oscillator {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let table = CosineTable::get();
        let step = 512.0 / world.rate;
        let mut phase = self.phase + UNIT;
        let number = inlets.number(0);
        let (runs, rest) = outlets[0].as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = inlets.get(0).as_chunks::<RUN>();
        for (to, frequencies) in runs.iter_mut().zip(from_runs) {
            let mut phases = [0; RUN];
            phase = match number {
                Some(frequency) => add_up_same(&mut phases, phase, frequency, step),
                None => add_up(&mut phases, phase, frequencies, step),
            };
            table.cosines(&phases, to);
        }
        for (to, frequency) in rest.iter_mut().zip(from_rest) {
            *to = table.cosine(phase.to_bits());
            phase += f64::from(frequency * step);
        }
        // Whole periods are dropped on the coarser grid of doubles near 512·UNIT.
        let unit = UNIT * 512.0;
        self.phase = wrapped(phase + (unit - UNIT), unit);
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = number(message) else {
            return Handled::No;
        };
        self.phase = 512.0 * f64::from(number);
        Handled::Yes
    }
}

struct Phasor {
    phase: f64,
}

impl Object for Phasor {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let step = 1.0 / world.rate;
        let mut phase = self.phase + UNIT;
        let number = inlets.number(0);
        let (runs, rest) = outlets[0].as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = inlets.get(0).as_chunks::<RUN>();
        for (to, frequencies) in runs.iter_mut().zip(from_runs) {
            let all = frequencies.iter();
            let is_long = match number {
                Some(frequency) => is_long(frequency * step),
                None => all.fold(0, |any, x| any | is_long(x * step)),
            };
            phase = match (is_long, number) {
                (0, Some(frequency)) => same_ramps(with_fraction(phase, UNIT), frequency, step, to),
                (0, None) => short_ramps(with_fraction(phase, UNIT), frequencies, step, to),
                _ => ramps(phase, frequencies, step, to),
            };
        }
        phase = ramps(phase, from_rest, step, rest);
        self.phase = wrapped(phase, UNIT);
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = number(message) else {
            return Handled::No;
        };
        self.phase = f64::from(number);
        Handled::Yes
    }
}

/// 1 if a run of such steps may leave the range in which phases have one resolution, or if it is no number.
#[inline(always)]
fn is_long(step: f32) -> u32 {
    u32::from(step.to_bits() & 0x7fff_ffff >= 4096_f32.to_bits())
}

/// Fractions of phases, each with `frequency * step` more than the one before. Whole periods stay in the phase: they change no
/// fraction as long as the steps are short. Gives the next phase.
#[inline(never)]
fn short_ramps(phase: f64, frequencies: &[f32; RUN], step: f32, to: &mut [f32; RUN]) -> f64 {
    let mut phases = [0; RUN];
    let next = add_up(&mut phases, phase, frequencies, step);
    fractions(&phases, to);
    next
}

/// As [`short_ramps`], all with one frequency.
#[inline(never)]
fn same_ramps(phase: f64, frequency: f32, step: f32, to: &mut [f32; RUN]) -> f64 {
    let mut phases = [0; RUN];
    let next = add_up_same(&mut phases, phase, frequency, step);
    fractions(&phases, to);
    next
}

/// As [`short_ramps`]; whole periods are dropped after each step, as Pd does.
fn ramps(mut phase: f64, frequencies: &[f32], step: f32, to: &mut [f32]) -> f64 {
    for (to, frequency) in to.iter_mut().zip(frequencies) {
        phase = with_fraction(phase, UNIT);
        *to = fraction(phase);
        phase += f64::from(frequency * step);
    }
    phase
}

struct Cosine;

impl Object for Cosine {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let table = CosineTable::get();
        let bits = |x: &f32| (f64::from(x * 512.0) + UNIT).to_bits();
        let (runs, rest) = outlets[0].as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = inlets.get(0).as_chunks::<RUN>();
        for (to, from) in runs.iter_mut().zip(from_runs) {
            let mut phases = [0; RUN];
            for (phase, x) in phases.iter_mut().zip(from) {
                *phase = bits(x);
            }
            table.cosines(&phases, to);
        }
        for (to, x) in rest.iter_mut().zip(from_rest) {
            *to = table.cosine(bits(x));
        }
    }
}

struct Noise {
    state: i32,
}

impl Object for Noise {
    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], _: &mut SignalWorld<'_>) {
        for to in &mut outlets[0] {
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let whole = ((self.state & 0x7fff_ffff) - 0x4000_0000) as f32;
            *to = whole * (1.0 / 1_073_741_824.0);
            self.state = self
                .state
                .wrapping_mul(435_898_247)
                .wrapping_add(382_842_987);
        }
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        #[expect(clippy::cast_possible_truncation, reason = "any bits are a seed")]
        match message.values.first() {
            Some(Value::Float(seed)) => self.state = *seed as i32,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
