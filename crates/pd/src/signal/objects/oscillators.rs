//! `osc~`, `phasor~`, `cos~` (`d_osc.c`).

use super::cosine_table::CosineTable;
use super::phases::{UNIT, add_up, even_fractions, fraction, fractions, whole_step, wrapped};
use crate::control::{Context, Handled, Making, Message, Object};
use crate::signal::loops::{RUN, block_by_block, map_by_table, only_number};
use crate::signal::{Inlets, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "osc~" => Box::new(Oscillator { phase: 0.0 }),
        "phasor~" => Box::new(Phasor { phase: 0.0 }),
        "cos~" => Box::new(Cosine),
        _ => return None,
    })
}

struct Oscillator {
    phase: f64,
}

impl Oscillator {
    /// Computes a block; `number` is the frequency where it is one, `step` the entries of the table that 1 Hz takes in a frame.
    #[inline(always)]
    fn block(&mut self, to: &mut [f32], frequencies: &[f32], number: Option<f32>, step: f32) {
        let table = CosineTable::get();
        let mut phase = self.phase + UNIT;
        let (runs, rest) = to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = frequencies.as_chunks::<RUN>();
        for (to, frequencies) in runs.iter_mut().zip(from_runs) {
            let number = number.or_else(|| only_number(frequencies));
            phase = match number.and_then(|frequency| whole_step(phase, frequency, step)) {
                Some(step) => table.even_cosines(phase, step, to),
                None => {
                    let mut phases = [0; RUN];
                    let next = add_up(&mut phases, phase, frequencies, step);
                    table.cosines(&phases, to);
                    next
                }
            };
        }
        for (to, frequency) in rest.iter_mut().zip(from_rest) {
            *to = table.cosine(phase.to_bits());
            phase += f64::from(frequency * step);
        }
        // Whole periods are dropped on the coarser grid of doubles near 512·UNIT.
        let unit = UNIT * 512.0;
        self.phase = wrapped(phase + (unit - UNIT), unit);
    }
}

impl Object for Oscillator {
    held!(phase);

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let (number, step) = (inlets.number(0), 512.0 / world.rate());
        block_by_block(
            &mut outlets[0],
            inlets.get(0),
            world.frames(),
            |to, from| {
                self.block(to, from, number, step);
            },
        );
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = message.first_number() else {
            return Handled::No;
        };
        self.phase = 512.0 * f64::from(number);
        Handled::Yes
    }
}

struct Phasor {
    phase: f64,
}

impl Phasor {
    /// Computes a block; `number` is the frequency where it is one, `step` the part of a period that 1 Hz takes in a frame.
    #[inline(always)]
    fn block(&mut self, to: &mut [f32], frequencies: &[f32], number: Option<f32>, step: f32) {
        let mut phase = self.phase + UNIT;
        let (runs, rest) = to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = frequencies.as_chunks::<RUN>();
        for (to, frequencies) in runs.iter_mut().zip(from_runs) {
            let number = number.or_else(|| only_number(frequencies));
            phase = match number.and_then(|frequency| whole_step(phase, frequency, step)) {
                Some(step) => even_fractions(phase, step, to),
                None => ramps(phase, frequencies, step, to),
            };
        }
        for (to, frequency) in rest.iter_mut().zip(from_rest) {
            *to = fraction(phase);
            phase += f64::from(frequency * step);
        }
        // Whole periods are dropped at the end alone: those of a block make the grid of its doubles coarser, as in Pd.
        self.phase = wrapped(phase, UNIT);
    }
}

impl Object for Phasor {
    held!(phase);

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let (number, step) = (inlets.number(0), 1.0 / world.rate());
        block_by_block(
            &mut outlets[0],
            inlets.get(0),
            world.frames(),
            |to, from| {
                self.block(to, from, number, step);
            },
        );
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = message.first_number() else {
            return Handled::No;
        };
        self.phase = f64::from(number);
        Handled::Yes
    }
}

/// Fractions of phases, each with `frequency * step` more than the one before. Gives the next phase.
#[inline(never)]
fn ramps(phase: f64, frequencies: &[f32; RUN], step: f32, to: &mut [f32; RUN]) -> f64 {
    let mut phases = [0; RUN];
    let next = add_up(&mut phases, phase, frequencies, step);
    fractions(&phases, to);
    next
}

struct Cosine;

impl Object for Cosine {
    held!();

    fn may_batch(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let table = CosineTable::get();
        map_by_table(&mut outlets[0], inlets.get(0), |x| {
            table.cosine((f64::from(x * 512.0) + UNIT).to_bits())
        });
    }
}
