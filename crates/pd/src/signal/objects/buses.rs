//! `dac~`, `adc~`, `send~`, `throw~` and their other ends.

use crate::control::{Context, Handled, Making, Message, Object, Symbol, Value, words};
use crate::signal::{Inlets, SignalWorld};

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
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 0 is 0"
    )]
    let channel = |value: &Value| (value.number() as usize).checked_sub(1);
    match making.values {
        [] => vec![Some(0), Some(1)],
        values => values.iter().map(channel).collect(),
    }
}

struct Dac {
    channels: Vec<Option<usize>>,
}

impl Object for Dac {
    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        for (inlet, channel) in self.channels.iter().enumerate().take(inlets.len()) {
            let output = channel.and_then(|channel| world.state.outputs.get_mut(channel));
            let Some(output) = output else {
                continue;
            };
            for (to, x) in output.iter_mut().zip(inlets.get(inlet)) {
                *to += x;
            }
        }
    }
}

struct Adc {
    channels: Vec<Option<usize>>,
}

impl Object for Adc {
    fn anything(&mut self, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        for (outlet, channel) in outlets.iter_mut().zip(&self.channels) {
            match channel.and_then(|channel| world.state.inputs.get(channel)) {
                Some(input) => outlet.copy_from_slice(input),
                None => outlet.fill(0.0),
            }
        }
    }
}

struct Send {
    name: Symbol,
}

impl Object for Send {
    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        let bus = world.state.sends.entry(self.name);
        bus.or_insert_with(|| signal.into()).copy_from_slice(signal);
    }
}

struct Receive {
    name: Symbol,
}

impl Object for Receive {
    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        match world.state.sends.get(&self.name) {
            Some(bus) => outlets[0].copy_from_slice(bus),
            None => outlets[0].fill(0.0),
        }
    }
}

struct Throw {
    name: Symbol,
}

impl Object for Throw {
    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        let signal = inlets.get(0);
        let bus = world.state.throws.entry(self.name);
        let bus = bus.or_insert_with(|| vec![0.0; signal.len()].into());
        for (to, x) in bus.iter_mut().zip(signal) {
            *to += x;
        }
    }
}

struct Catch {
    name: Symbol,
}

impl Object for Catch {
    fn perform(&mut self, _: &Inlets<'_>, outlets: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        match world.state.throws.get_mut(&self.name) {
            Some(bus) => {
                outlets[0].copy_from_slice(bus);
                bus.fill(0.0);
            }
            None => outlets[0].fill(0.0),
        }
    }
}
