//! Reading and writing arrays (`d_array.c`).

use super::arithmetic;
use super::cubic::{CubicRun, RUN, floor, index};
use super::ramps::is_odd;
use super::table_oscillator::TableOscillator;
use crate::control::{Context, Handled, Making, Message, Object, Symbol, Value, words};
use crate::signal::{Accesses, Inlets, SharedName, SignalWorld};
use crate::state::held;
use rt::vectors::{WideWork, widest};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let name = making.symbol(0).unwrap_or(words::EMPTY);
    Some(match making.class {
        "tabread~" => Box::new(Read { name }),
        "tabread4~" => Box::new(Read4 { name, onset: 0.0 }),
        "tabosc4~" => Box::new(TableOscillator::new(name)),
        "tabwrite~" => Box::new(Write { name, at: None }),
        "tabplay~" => Box::new(Play {
            name,
            at: usize::MAX,
            end: usize::MAX,
        }),
        "tabsend~" => Box::new(Send { name }),
        "tabreceive~" => Box::new(Receive { name }),
        _ => return None,
    })
}

/// `set NAME`.
pub(super) fn set(message: Message<'_>, name: &mut Symbol) -> Handled {
    match (message.selector, message.values) {
        (words::SET, [Value::Symbol(symbol), ..]) => *name = *symbol,
        _ => return Handled::No,
    }
    Handled::Yes
}

struct Read {
    name: Symbol,
}

impl Object for Read {
    held!(name);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Array(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.name)
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let array = world.read(SharedName::Array(self.name));
        let points = array.as_deref().map_or(&[][..], |array| &array.samples);
        let Some(last) = points.last() else {
            return outlets[0].fill(0.0);
        };
        for (to, index) in outlets[0].iter_mut().zip(inlets.get(0)) {
            #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
            let index = (*index as i64).max(0).cast_unsigned() as usize;
            *to = *points.get(index).unwrap_or(last);
        }
    }
}

struct Read4 {
    name: Symbol,
    onset: f32,
}

impl Object for Read4 {
    held!(name, onset);

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
        arithmetic::set(message, Some(&mut self.onset))
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let array = world.read(SharedName::Array(self.name));
        let points = array.as_deref().map_or(&[][..], |array| &array.samples);
        let Some(last) = points.len().checked_sub(3).filter(|last| *last >= 1) else {
            return outlets[0].fill(0.0);
        };
        #[expect(clippy::cast_precision_loss, reason = "indices of arrays")]
        let (last, end) = (last as f64, (last + 1) as f64);
        let bounds = (f64::from(self.onset), last, end);
        let runs = inlets.get(0).chunks(RUN);
        for (to, indices) in outlets[0].chunks_mut(RUN).zip(runs) {
            widest(ReadFour(Indices(indices, bounds), points, to));
        }
    }
}

/// Indices of a run; what is added to them, the last one that has two points behind it, and the one behind that.
struct Indices<'s>(&'s [f32], (f64, f64, f64));

impl Indices<'_> {
    /// The places between points that they are.
    #[inline(always)]
    fn find(&self, run: &mut CubicRun) {
        let (onset, last, end) = self.1;
        for ((first, fraction), x) in run.places().zip(self.0) {
            let place = f64::from(*x) + onset;
            // Also where it is no number.
            let held = if place >= 1.0 { place } else { 1.0 };
            let held = if held < end { held } else { end };
            let whole = floor(held);
            let whole = if whole < last { whole } else { last };
            // The point before it is the first.
            *first = index(whole - 1.0);
            #[expect(clippy::cast_possible_truncation, reason = "as in Pd")]
            let part = (held - whole) as f32;
            *fraction = part;
        }
    }
}

/// The loops of `tabread4~`.
struct ReadFour<'s>(Indices<'s>, &'s [f32], &'s mut [f32]);

impl WideWork for ReadFour<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(indices, points, to) = self;
        let mut run = CubicRun::new();
        indices.find(&mut run);
        run.read_wide::<false>(points, to);
    }
}

struct Write {
    name: Symbol,
    /// Index of the next sample.
    at: Option<usize>,
}

impl Object for Write {
    held!(name, at);

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        // Others may read in the same block what it writes.
        if self.at.is_some() { 1 } else { usize::MAX }
    }

    fn accesses(&self, list: &mut Accesses) {
        list.writes(SharedName::Array(self.name)).is_renamed();
    }

    fn bang(&mut self, _: &mut Context<'_>) -> Handled {
        self.at = Some(0);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector == words::STOP {
            self.at = None;
            return Handled::Yes;
        }
        if context.symbols().text(message.selector) == "start" {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 0 is 0"
            )]
            let at = message.number() as usize;
            self.at = Some(at);
            return Handled::Yes;
        }
        set(message, &mut self.name)
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let Some(at) = self.at else {
            return;
        };
        let Some(mut array) = world.write(SharedName::Array(self.name)) else {
            return;
        };
        let points = &mut array.samples;
        let signal = inlets.get(0);
        for (to, x) in points.iter_mut().skip(at).zip(signal) {
            *to = if is_odd(*x) { 0.0 } else { *x };
        }
        let next = at.saturating_add(signal.len());
        self.at = (next < points.len()).then_some(next);
    }
}

struct Play {
    name: Symbol,
    at: usize,
    end: usize,
}

impl Object for Play {
    held!(name, at, end);

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Array(self.name));
        list.is_renamed();
        list.sets_clocks();
    }

    fn joins(&self, world: &SignalWorld<'_>) -> usize {
        if self.at == usize::MAX {
            return usize::MAX;
        }
        // Up to the block with which it ends.
        let array = world.read(SharedName::Array(self.name));
        let points = array.map_or(0, |array| array.samples.len());
        let left = self.end.min(points).saturating_sub(self.at);
        left.div_ceil(world.frames()).max(1)
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.list(&[], context)
    }

    fn list(&mut self, values: &[Value], _: &mut Context<'_>) -> Handled {
        let number = |at: usize| values.get(at).map_or(0.0, |value| value.number());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let (start, length) = (number(0) as usize, number(1) as usize);
        self.at = start;
        self.end = if length == 0 {
            usize::MAX
        } else {
            start.saturating_add(length)
        };
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector == words::STOP {
            self.at = usize::MAX;
            return Handled::Yes;
        }
        set(message, &mut self.name)
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_bang(1);
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let array = world.read(SharedName::Array(self.name));
        let points = array.as_deref().map_or(&[][..], |array| &array.samples);
        let end = self.end.min(points.len());
        let rest = points.get(self.at..end).unwrap_or_default();
        let out = &mut outlets[0];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        out[count..].fill(0.0);
        if self.at == usize::MAX {
            return;
        }
        self.at += count;
        if self.at >= end {
            self.at = usize::MAX;
            drop(array);
            world.set_clock(0, 0.0);
        }
    }
}

struct Send {
    name: Symbol,
}

impl Object for Send {
    held!(name);

    fn accesses(&self, list: &mut Accesses) {
        list.writes(SharedName::Array(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.name)
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        if let Some(mut array) = world.write(SharedName::Array(self.name)) {
            for (to, x) in array.samples.iter_mut().zip(inlets.get(0)) {
                *to = if is_odd(*x) { 0.0 } else { *x };
            }
        }
    }
}

struct Receive {
    name: Symbol,
}

impl Object for Receive {
    held!(name);

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Array(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, &mut self.name)
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let array = world.read(SharedName::Array(self.name));
        let points = array.as_deref().map_or(&[][..], |array| &array.samples);
        let count = points.len().min(outlets[0].len());
        outlets[0][..count].copy_from_slice(&points[..count]);
        outlets[0][count..].fill(0.0);
    }
}
