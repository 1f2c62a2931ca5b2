//! `mix`: the same sum on every output.
//!
//! `in` inputs, `out` outputs, each as wide as `channels` says. The sum is taken in the order of the ports, so its bits
//! do not change. With `grouped`, where the number of outputs divides the number of inputs, each output is the sum of
//! as many neighbouring inputs; where it is the other way round, each input is copied to as many neighbouring outputs
//! (the adaptor of the 2019 report's program); where neither divides, the flag changes nothing.

use crate::knob::{channels, flag};
use crate::sample::{bounded, channels_of};
use graph::{Kind, PortCount, PortSpec, Width};
use processor::{Activity, Block, Creation, MakeError, Processor, Setup};
use std::ops::Range;

/// A run of like ports as wide as the node says.
pub(crate) fn many(name: &'static str, default: u16, least: u16) -> PortSpec {
    PortSpec {
        name,
        width: Width::AsNode,
        count: PortCount::Many {
            default,
            least,
            most: 4096,
        },
    }
}

pub(crate) fn kind() -> Kind {
    let grouped = "Sums or copies neighbouring ports instead, where the numbers divide.";
    Kind {
        inputs: vec![many("in", 2, 0)],
        outputs: vec![many("out", 1, 0)],
        params: vec![flag("grouped", grouped), channels()],
        typical_ns: 60,
        ..Kind::new("mix", "The same sum of all inputs on every output.")
    }
}

pub(crate) fn make(creation: &Creation<'_>) -> Result<Box<dyn Processor>, MakeError> {
    Ok(Box::new(Mix {
        grouped: creation.node.flag("grouped"),
        channels: channels_of(creation.node),
    }))
}

#[derive(Clone)]
struct Mix {
    grouped: bool,
    channels: usize,
}

/// Which of `inputs` inputs reach output `port` of `outputs`, in groups.
fn share(inputs: usize, outputs: usize, port: usize) -> Range<usize> {
    if inputs > 0 && inputs.is_multiple_of(outputs) {
        let each = inputs / outputs;
        port * each..(port + 1) * each
    } else if inputs > 0 && outputs.is_multiple_of(inputs) {
        let from = port / (outputs / inputs);
        from..from + 1
    } else {
        0..inputs
    }
}

/// Puts the sum of the inputs `from` on the output `port`, in the order of the ports; without inputs, silence.
///
/// Real-time: hot.
pub(crate) fn sum(block: &mut Block<'_>, from: Range<usize>, port: usize, channels: usize) {
    let mut begun = false;
    for i in from {
        let input = block.input(i);
        if input.is_silent() {
            continue;
        }
        let mut output = block.output(port);
        for c in 0..channels {
            let pairs = output.channel(c).iter_mut().zip(input.channel(c));
            if begun {
                pairs.for_each(|(y, x)| *y = bounded(*y + x));
            } else {
                pairs.for_each(|(y, x)| *y = bounded(*x));
            }
        }
        begun = true;
    }
    if !begun {
        block.output(port).silence();
    }
}

/// Copies the first output to all others.
pub(crate) fn spread(block: &mut Block<'_>, channels: usize) {
    let mut outputs = block.all_outputs();
    let Some(mut first) = outputs.next() else {
        return;
    };
    for mut output in outputs {
        for c in 0..channels {
            output.channel(c).copy_from_slice(first.channel(c));
        }
    }
}

impl Processor for Mix {
    fn setup(&mut self, _setup: &mut Setup<'_>) {}

    fn process(&mut self, block: &mut Block<'_>) -> Activity {
        if block.is_silent() {
            block.silence();
            return Activity::Asleep;
        }
        let (inputs, outputs) = (block.inputs(), block.outputs());
        if self.grouped {
            for port in 0..outputs {
                let from = share(inputs, outputs, port);
                sum(block, from, port, self.channels);
            }
        } else if outputs > 0 {
            sum(block, 0..inputs, 0, self.channels);
            spread(block, self.channels);
        }
        Activity::Awake
    }

    fn reset(&mut self) {}

    fn duplicate(&self) -> Option<Box<dyn Processor>> {
        Some(Box::new(self.clone()))
    }
}
