//! [`Reblock`]: a canvas that computes with blocks of its own (`block~`, `switch~`).
//!
//! To the canvas around it is one object: it takes the signals at the inlets, runs the row of steps inside as often as is due, and
//! gives the signals of the outlets. The box of `block~` or `switch~` is that object, so messages to the box reach it.
//!
//! | file | holds |
//! |---|---|
//! | `settings` | the arguments, and how often to compute |
//! | `ports` | inlets and outlets between blocks of two lengths and rates |

mod ports;
mod settings;

pub(super) use ports::Upsampling;
pub(super) use settings::BlockSettings;

use super::place::ObjectPlace;
use super::row::Row;
use super::shared::SharedCell;
use super::world::{BlockTime, Inlets, SignalWorld};
use super::{Accesses, RowFormat};
use crate::control::{ArrayId, Context, Handled, Message, Object, ObjectId, Symbol, words};
use crate::state::{Held, StateReader, StateWriter, Unfit};
use ports::{InletBuffer, OutletBuffer};
use settings::Reblocking;
use std::sync::Arc;

/// What a canvas with blocks of its own consists of.
pub(super) struct ReblockParts {
    pub settings: BlockSettings,
    /// True for `switch~`, which is off at first.
    pub is_switch: bool,
    /// True if no canvas is around it.
    pub is_root: bool,
    /// Format of the canvas around.
    pub outer: RowFormat,
    pub row: Row,
    /// Objects without signals that depend on the rate.
    pub observers: Vec<ObjectPlace>,
    /// Blocks of the row that hold the signals of inlets.
    pub inputs: Vec<(u32, Upsampling)>,
    /// Blocks of the row with the signals of outlets; `None` where an outlet is never reached.
    pub outputs: Vec<(Option<u32>, Upsampling)>,
    /// Objects inside that set clocks.
    pub clock_setters: Vec<(ObjectId, ObjectPlace)>,
    /// Arrays that signals inside touch.
    pub arrays: Vec<(ArrayId, SharedCell)>,
    /// Numbers of `value` that signals inside touch.
    pub values: Vec<(Symbol, SharedCell)>,
    pub time: Arc<BlockTime>,
}

/// A canvas with blocks of its own.
pub(super) struct Reblock {
    parts: ReblockParts,
    to: Reblocking,
    inlets: Vec<InletBuffer>,
    outlets: Vec<OutletBuffer>,
    is_on: bool,
    /// Blocks of the canvas around since the last computation; at 0 it computes.
    phase: usize,
}

impl Reblock {
    /// `is_on` is the state of the one whose place it takes.
    pub(super) fn new(parts: ReblockParts, is_on: Option<bool>) -> Self {
        let inputs = parts.inputs.iter();
        let outputs = parts.outputs.iter();
        let mut new = Self {
            to: parts.settings.within(parts.outer, parts.is_root),
            inlets: inputs
                .map(|(_, method)| InletBuffer::new(*method))
                .collect(),
            outlets: outputs
                .map(|(_, method)| OutletBuffer::new(*method))
                .collect(),
            is_on: is_on.unwrap_or(!parts.is_switch),
            phase: 0,
            parts,
        };
        new.reformat();
        new
    }

    /// Adjusts everything inside to the settings and the canvas around.
    fn reformat(&mut self) {
        let parts = &mut self.parts;
        self.to = parts.settings.within(parts.outer, parts.is_root);
        let tick = block_number(&parts.time);
        for inlet in &mut self.inlets {
            inlet.prepare(&self.to, tick);
        }
        for outlet in &mut self.outlets {
            outlet.prepare(&self.to, tick);
        }
        self.phase = tick & (self.to.period - 1);
        parts.row.prepare(&self.to.format);
        for observer in &parts.observers {
            observer.write().object.prepare(&self.to.format);
        }
    }

    /// A sentence where the settings were made smaller.
    pub(super) fn bound(&self) -> Option<&'static str> {
        let why = "error: block~: too much work: overlap and resampling are made smaller, to at most 16777216 blocks and \
                   33554432 frames a second";
        self.to.is_bounded.then_some(why)
    }

    /// Computes `count` blocks inside, one after the other: several as one where the row allows it.
    fn run_some(&mut self, count: usize) {
        let does_overlap = self.to.format.vector * count != self.to.outer_frames;
        let joined = self.parts.row.join(if does_overlap { 1 } else { count });
        for _ in 0..count / joined {
            self.run(joined);
        }
    }

    /// Computes as many blocks inside as are joined. Inlets that are not reblocked were written before.
    fn run(&mut self, joined: usize) {
        let buffers = self.parts.inputs.iter().zip(&mut self.inlets);
        if self.to.is_reblocked {
            for ((block, _), inlet) in buffers {
                let vector = self.to.format.vector * joined;
                inlet.read(self.parts.row.block_mut(*block), vector);
            }
        }
        self.parts.row.run();
        let buffers = self.parts.outputs.iter().zip(&mut self.outlets);
        if self.to.is_reblocked {
            for ((block, _), outlet) in buffers {
                if let Some(block) = block {
                    outlet.add(self.parts.row.block(*block), joined);
                }
            }
        }
    }

    /// Computes what is due in a block of the canvas around.
    fn run_due(&mut self) {
        if self.phase > 0 {
            self.phase = (self.phase + 1) % self.to.period;
            return;
        }
        self.phase = usize::from(self.to.period > 1);
        let count = if self.to.is_reblocked {
            self.to.frequency
        } else {
            1
        };
        self.run_some(count);
    }

    /// Exchanges the points of arrays and the numbers of `value` between messages and signals.
    fn swap_arrays(&self, context: &mut Context<'_>) {
        for (id, cell) in &self.parts.arrays {
            let points = context.arrays().points_mut(*id);
            std::mem::swap(points, &mut cell.write().samples);
        }
        for (name, cell) in &self.parts.values {
            std::mem::swap(context.value_mut(*name), &mut cell.write().samples[0]);
        }
    }
}

impl Object for Reblock {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.parts.settings.save(state);
        self.is_on.save(state);
        self.phase.save(state);
        self.inlets.save(state);
        self.outlets.save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut settings = self.parts.settings;
        settings.load(state)?;
        if settings != self.parts.settings {
            if !settings.is_like(&self.parts.settings) {
                return Err(Unfit);
            }
            self.parts.settings = settings;
            self.reformat();
        }
        self.is_on.load(state)?;
        self.phase.load(state)?;
        self.inlets.load(state)?;
        self.outlets.load(state)?;
        (self.phase < self.to.period).then_some(()).ok_or(Unfit)
    }

    fn is_on(&self) -> Option<bool> {
        Some(self.is_on)
    }

    fn turn(&mut self, is_on: bool) {
        self.is_on = is_on;
        // It was made in another block.
        let tick = block_number(&self.parts.time);
        self.inlets
            .iter_mut()
            .for_each(|inlet| inlet.align(&self.to, tick));
        self.outlets
            .iter_mut()
            .for_each(|outlet| outlet.align(&self.to, tick));
        self.phase = tick & (self.to.period - 1);
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        if self.parts.is_switch {
            self.is_on = number != 0.0;
        }
        Handled::Yes
    }

    /// One block of a canvas that is off, at once.
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if self.is_on {
            context.print_with(|_, line| {
                line.write_str("error: bang to block~ or on-state switch~ has no effect")
            });
            return Handled::Yes;
        }
        self.parts.time.set_now(context.clocks().now());
        self.swap_arrays(context);
        self.run_some(1);
        self.swap_arrays(context);
        for (id, place) in &self.parts.clock_setters {
            for (slot, delay_ms) in place.write().clocks.drain(..) {
                context.set_clock_of(*id, slot, delay_ms);
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector != words::SET {
            return Handled::No;
        }
        let number = |at: usize| message.values.get(at).map_or(0.0, |value| value.number());
        let settings = BlockSettings::new(number(0), number(1), number(2));
        if settings != self.parts.settings {
            self.parts.settings = settings;
            self.reformat();
            if let Some(why) = self.bound() {
                context.print_with(|_, line| line.write_str(why));
            }
        }
        Handled::Yes
    }

    fn prepare(&mut self, outer: &RowFormat) {
        self.parts.outer = *outer;
        self.reformat();
    }

    /// Its steps declare what they touch, each by itself.
    fn accesses(&self, _: &mut Accesses) {}

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let is_reblocked = self.to.is_reblocked;
        for at in 0..inlets.len().min(self.inlets.len()) {
            if is_reblocked {
                self.inlets[at].write(inlets.get(at));
            } else {
                let to = self.parts.row.block_mut(self.parts.inputs[at].0);
                copy_common(inlets.get(at), to);
            }
        }
        if self.is_on {
            self.run_due();
        }
        for (at, to) in outlets.iter_mut().enumerate() {
            match self.parts.outputs[at].0 {
                _ if is_reblocked => self.outlets[at].take(to),
                Some(block) if self.is_on => copy_common(self.parts.row.block(block), to),
                _ => to.fill(0.0),
            }
        }
    }
}

/// Number of the block of the patch.
#[expect(clippy::cast_possible_truncation, reason = "its low bits count")]
fn block_number(time: &BlockTime) -> usize {
    time.tick() as usize
}

/// Copies what both have: around `block~ 100` a block is shorter than its vector of 128, and inside it may not be.
fn copy_common(from: &[f32], to: &mut [f32]) {
    let count = from.len().min(to.len());
    to[..count].copy_from_slice(&from[..count]);
    to[count..].fill(0.0);
}
