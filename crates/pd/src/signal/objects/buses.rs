//! `dac~`, `adc~`, `send~`, `throw~` and their other ends. All of them pass blocks of 64 frames alone, as in Pd.

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
            if output.samples.len() == signal.len() {
                add_each(&mut output.samples, signal);
            }
        }
    }
}

struct Adc {
    channels: Vec<Option<usize>>,
}

impl Object for Adc {
    held!(; not channels);

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
            match channel.and_then(|channel| world.read(SharedName::Input(channel))) {
                Some(input) if input.samples.len() == outlet.len() => {
                    outlet.copy_from_slice(&input.samples);
                }
                _ => outlet.fill(0.0),
            }
        }
    }
}

struct Send {
    name: Symbol,
}

impl Object for Send {
    held!(name);

    fn accesses(&self, list: &mut Accesses) {
        let bus = SharedName::Send(self.name);
        list.makes(bus, SharedSamples::block()).writes(bus);
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        if let Some(mut bus) = world.write(SharedName::Send(self.name))
            && bus.samples.len() == signal.len()
        {
            bus.samples.copy_from_slice(signal);
        }
    }
}

struct Receive {
    name: Symbol,
}

impl Object for Receive {
    held!(name);

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
        match world.read(SharedName::Send(self.name)) {
            Some(bus) if bus.samples.len() == outlets[0].len() => {
                outlets[0].copy_from_slice(&bus.samples);
            }
            _ => outlets[0].fill(0.0),
        }
    }
}

struct Throw {
    name: Symbol,
}

impl Object for Throw {
    held!(name);

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
        if bus.samples.len() == signal.len() {
            add_each(&mut bus.samples, signal);
        }
    }
}

struct Catch {
    name: Symbol,
}

impl Object for Catch {
    held!(name);

    fn accesses(&self, list: &mut Accesses) {
        let bus = SharedName::Throw(self.name);
        list.makes(bus, SharedSamples::block()).writes(bus);
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        match world.write(SharedName::Throw(self.name)) {
            Some(mut bus) if bus.samples.len() == outlets[0].len() => {
                outlets[0].copy_from_slice(&bus.samples);
                bus.samples.fill(0.0);
            }
            _ => outlets[0].fill(0.0),
        }
    }
}
