//! `dac~`, `adc~`, `send~`, `throw~` and their other ends. All of them pass blocks of 64 frames alone, as in Pd, or batches of such.

use crate::control::{
    CHANNELS_OF_PATCH, Context, Handled, Making, Message, Object, Symbol, Value, words,
};
use crate::signal::loops::add_each;
use crate::signal::{Accesses, Inlets, SharedName, SharedSamples, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let name = making.symbol(0).unwrap_or(words::EMPTY);
    Some(match making.class {
        "dac~" => Box::new(Dac {
            channels: channels(making),
        }),
        "adc~" => Box::new(Adc {
            channels: channels(making),
        }),
        "send~" => Box::new(Send { name }),
        "receive~" => Box::new(Receive { name }),
        "throw~" => Box::new(Throw { name }),
        "catch~" => Box::new(Catch { name }),
        _ => return None,
    })
}

/// Channels from 0; those below 1 are none.
fn channels(making: &Making<'_>) -> Vec<Option<usize>> {
    let first = making.globals.first_channel;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 0 is 0"
    )]
    let channel = |value: &Value| {
        let channel = (value.number() as usize).checked_sub(1)?;
        (channel < CHANNELS_OF_PATCH).then_some(first + channel)
    };
    match making.values {
        [] => vec![Some(first), Some(first + 1)],
        values => values.iter().map(channel).collect(),
    }
}

struct Dac {
    channels: Vec<Option<usize>>,
}

impl Object for Dac {
    held!(; not channels);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        for channel in self.channels.iter().flatten() {
            list.writes(SharedName::Output(*channel));
        }
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        for (inlet, channel) in self.channels.iter().enumerate().take(inlets.len()) {
            let output = channel.and_then(|channel| world.write(SharedName::Output(channel)));
            let Some(mut output) = output else {
                continue;
            };
            let signal = inlets.get(inlet);
            if let Some(output) = frames_of(&mut output.samples, signal.len(), world) {
                add_each(output, signal);
            }
        }
    }
}

struct Adc {
    channels: Vec<Option<usize>>,
}

impl Object for Adc {
    held!(; not channels);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        for channel in self.channels.iter().flatten() {
            list.reads(SharedName::Input(*channel));
        }
    }

    fn anything(&mut self, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        for (outlet, channel) in outlets.iter_mut().zip(&self.channels) {
            let input = channel.and_then(|channel| world.read(SharedName::Input(channel)));
            take_bus(outlet, input.as_deref(), world);
        }
    }
}

/// The frames of a bus that belong to a signal of `count` frames in this block, if the bus passes them.
#[inline]
fn frames_of<'b>(
    bus: &'b mut [f32],
    count: usize,
    world: &SignalWorld<'_>,
) -> Option<&'b mut [f32]> {
    bus.get_mut(world.bus_frames(count)?)
}

/// Copies a bus to a signal; silence where it passes nothing.
#[inline]
fn take_bus(to: &mut [f32], bus: Option<&SharedSamples>, world: &SignalWorld<'_>) {
    let frames = world.bus_frames(to.len());
    match bus.and_then(|bus| bus.samples.get(frames?)) {
        Some(from) => to.copy_from_slice(from),
        None => to.fill(0.0),
    }
}

struct Send {
    name: Symbol,
}

impl Object for Send {
    held!(name);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        let bus = SharedName::Send(self.name);
        list.makes(bus, SharedSamples::block()).writes(bus);
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        if let Some(mut bus) = world.write(SharedName::Send(self.name))
            && let Some(bus) = frames_of(&mut bus.samples, signal.len(), world)
        {
            bus.copy_from_slice(signal);
        }
    }
}

struct Receive {
    name: Symbol,
}

impl Object for Receive {
    held!(name);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        list.reads(SharedName::Send(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let bus = world.read(SharedName::Send(self.name));
        take_bus(&mut outlets[0], bus.as_deref(), world);
    }
}

struct Throw {
    name: Symbol,
}

impl Object for Throw {
    held!(name);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        list.writes(SharedName::Throw(self.name)).is_renamed();
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        let Some(mut bus) = world.write(SharedName::Throw(self.name)) else {
            return;
        };
        if let Some(bus) = frames_of(&mut bus.samples, signal.len(), world) {
            add_each(bus, signal);
        }
    }
}

struct Catch {
    name: Symbol,
}

impl Object for Catch {
    held!(name);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        let bus = SharedName::Throw(self.name);
        list.makes(bus, SharedSamples::block()).writes(bus);
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let to = &mut outlets[0];
        let mut bus = world.write(SharedName::Throw(self.name));
        let bus = bus.as_deref_mut();
        match bus.and_then(|bus| frames_of(&mut bus.samples, to.len(), world)) {
            Some(from) => {
                to.copy_from_slice(from);
                from.fill(0.0);
            }
            None => to.fill(0.0),
        }
    }
}
