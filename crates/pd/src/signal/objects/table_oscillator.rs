//! `tabosc4~` (`d_osc.c`): an oscillator over an array of a power of two and three points.

use super::arrays::set;
use super::cubic::{CubicRun, RUN};
use super::phases::{PhaseRun, UNIT, add_up, even_phases, fraction, whole, whole_step, wrapped};
use crate::control::{Context, Handled, Message, Object, Symbol};
use crate::signal::loops::{block_by_block, only_number};
use crate::signal::{Accesses, Inlets, SharedName, SignalWorld};
use crate::state::held;
use rt::vectors::{WideWork, widest};

pub(super) struct TableOscillator {
    name: Symbol,
    /// In periods.
    phase: f64,
}

impl TableOscillator {
    pub(super) fn new(name: Symbol) -> Self {
        Self { name, phase: 0.0 }
    }

    /// Computes a block; `number` is the frequency where it is one.
    #[inline(always)]
    fn block(&mut self, to: &mut [f32], frequencies: &[f32], number: Option<f32>, table: &Table) {
        let step = table.length / table.rate;
        let mut phase = f64::from(table.length) * self.phase + UNIT;
        let (runs, rest) = to.as_chunks_mut::<RUN>();
        let (from_runs, from_rest) = frequencies.as_chunks::<RUN>();
        for (to, frequencies) in runs.iter_mut().zip(from_runs) {
            let number = number.or_else(|| only_number(frequencies));
            let mut phases = [0; RUN];
            phase = match number.and_then(|frequency| whole_step(phase, frequency, step)) {
                Some(step) => even_phases(&mut phases, phase, step),
                None => add_up(&mut phases, phase, frequencies, step),
            };
            widest(Reading(table, &phases, to));
        }
        if !rest.is_empty() {
            phase = table.read_part(rest, phase, from_rest);
        }
        let period = UNIT * f64::from(table.length);
        self.phase = wrapped(phase + (period - UNIT), period) / f64::from(table.length);
    }
}

/// Points that are read, and how.
struct Table<'t> {
    points: &'t [f32],
    /// Points of a period, less one: they are a power of two.
    mask: usize,
    length: f32,
    rate: f32,
}

impl Table<'_> {
    /// Index of the first of four points at the bits of a phase, and the way from the second to the third one.
    #[inline(always)]
    fn place(&self, phase: f64) -> (u32, f32) {
        #[expect(clippy::cast_possible_truncation, reason = "an index of the array")]
        let index = (whole(phase) & self.mask) as u32;
        (index, fraction(phase))
    }

    /// Computes less than a run. Gives the next phase.
    #[inline(never)]
    fn read_part(&self, to: &mut [f32], mut phase: f64, frequencies: &[f32]) -> f64 {
        let step = self.length / self.rate;
        let mut run = CubicRun::new();
        for ((first, part), frequency) in run.places().zip(frequencies) {
            (*first, *part) = self.place(phase);
            phase += f64::from(frequency * step);
        }
        run.read::<false>(self.points, to);
        phase
    }
}

/// Reads a run of phases.
struct Reading<'r>(&'r Table<'r>, &'r PhaseRun, &'r mut [f32; RUN]);

impl WideWork for Reading<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(table, phases, to) = self;
        let mut run = CubicRun::new();
        for ((first, part), bits) in run.places().zip(phases) {
            (*first, *part) = table.place(f64::from_bits(*bits));
        }
        run.read_wide::<false>(table.points, to);
    }
}

impl Object for TableOscillator {
    held!(name, phase);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Array(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.name)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(number) = message.first_number() else {
            return Handled::No;
        };
        self.phase = f64::from(number);
        Handled::Yes
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let array = world.read(SharedName::Array(self.name));
        let points = array.as_deref().map_or(&[][..], |array| &array.samples);
        let count = points.len().saturating_sub(3);
        if !count.is_power_of_two() {
            return outlets[0].fill(0.0);
        }
        let table = Table {
            points,
            mask: count - 1,
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            length: count as f32,
            rate: world.rate(),
        };
        let (frames, number) = (world.frames(), inlets.number(0));
        block_by_block(&mut outlets[0], inlets.get(0), frames, |to, from| {
            self.block(to, from, number, &table);
        });
    }
}
