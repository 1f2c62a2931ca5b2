//! [`ClassUnit`]: one signal object as a processor, for blocks of any size.
//!
//! A signal object computes 64 frames at once, and what it computes depends on where they begin. In blocks of a multiple of 64 frames
//! it plays at once. In others it collects 64 frames first, and what has inputs is late by as many; a source is not.

use super::class_kinds::{ClassKind, ClassParam, ParamWay};
use crate::control::Symbol;
use crate::load::load_text;
use crate::signal::{BLOCK, PatchPlayer};
use processor::{Block, Event, EventBody, EventTarget, ProcessStatus, Processor, Setup, Tail};
use std::fmt::Write;
use units::Frames;

/// Value of a parameter, and true if it is driven; `None` for one that nobody has stated.
type Stated = Option<(f32, bool)>;

/// A signal object as a processor.
pub(super) struct ClassUnit {
    class: &'static ClassKind,
    values: Vec<Stated>,
    rate: f32,
    player: Option<UnitPlayer>,
    /// True if blocks are no multiple of 64 frames: inputs and outputs are late.
    is_late: bool,
}

/// The object, with 64 frames of what it reads and writes.
struct UnitPlayer {
    player: PatchPlayer,
    /// By parameter: the name under which it is received.
    names: Vec<Symbol>,
    /// Inputs, then parameters that are driven.
    inputs: Vec<[f32; BLOCK]>,
    outputs: Vec<[f32; BLOCK]>,
    /// Frames of the 64 that are used.
    at: usize,
}

impl ClassUnit {
    pub(super) fn new(class: &'static ClassKind, values: Vec<Stated>) -> Self {
        Self {
            class,
            values,
            rate: 44_100.0,
            player: None,
            is_late: false,
        }
    }

    /// Returns true if nothing that it computes depends on signals of others.
    fn is_source(&self) -> bool {
        let driven = self
            .values
            .iter()
            .flatten()
            .any(|(_, is_driven)| *is_driven);
        self.class.inputs.is_empty() && !driven
    }

    fn begin(&mut self) {
        let patch = load_text(self.class.class, self.patch());
        let inputs = self.class.inputs.len() + self.driven().count();
        let outputs = self.class.outputs.len();
        let (mut player, _) = PatchPlayer::new(&patch, self.rate, inputs, outputs);
        let names = (0..self.values.len()).map(|at| player.symbol(&format!("p{at}")));
        let names = Vec::from_iter(names);
        for (name, value) in names.iter().zip(&self.values) {
            if let Some((value, false)) = value {
                player.send_number(*name, *value);
            }
        }
        self.player = Some(UnitPlayer {
            player,
            names,
            inputs: vec![[0.0; BLOCK]; inputs],
            outputs: vec![[0.0; BLOCK]; outputs],
            at: 0,
        });
    }

    /// Indices of the parameters that are driven.
    fn driven(&self) -> impl Iterator<Item = u16> {
        let all = (0..).zip(&self.values);
        all.filter(|(_, value)| matches!(value, Some((_, true))))
            .map(|(at, _)| at)
    }

    /// The words of its box.
    fn boxed(&self) -> String {
        let mut boxed = self.class.class.to_owned();
        for (param, value) in self.class.params.iter().zip(&self.values) {
            if let (ParamWay::Argument, Some((value, _))) = (param.way, value) {
                let _ = write!(boxed, " {value}");
            }
        }
        boxed
    }

    /// A patch with the object alone: its inputs are `adc~`, its outputs `dac~`, and each other parameter is received.
    fn patch(&self) -> String {
        let channels = |count: usize| Vec::from_iter((1..=count).map(|n| n.to_string())).join(" ");
        let (inputs, driven) = (self.class.inputs.len(), self.driven().count());
        let mut text = format!(
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 {};\n#X obj 0 0 adc~ {};\n#X obj 0 0 dac~ {};\n",
            self.boxed(),
            channels((inputs + driven).max(1)),
            channels(self.class.outputs.len()),
        );
        let mut wires = String::new();
        let mut wire = |from: (usize, usize), to: (usize, usize)| {
            let _ = writeln!(wires, "#X connect {} {} {} {};", from.0, from.1, to.0, to.1);
        };
        (0..inputs).for_each(|at| wire((1, at), (0, at)));
        (0..self.class.outputs.len()).for_each(|at| wire((0, at), (2, at)));
        let (mut next, mut channel) = (3, inputs);
        let is_list = |param: &&ClassParam| matches!(param.way, ParamWay::List(_));
        let list = self.class.params.iter().filter(is_list).count();
        if list > 0 {
            let _ = writeln!(text, "#X obj 0 0 pack{};", " 0".repeat(list));
            wire((next, 0), (0, 0));
            next += 1;
        }
        for (at, (param, value)) in self.class.params.iter().zip(&self.values).enumerate() {
            let inlet = match param.way {
                ParamWay::Signal(inlet) | ParamWay::Message(inlet) => inlet,
                ParamWay::Selector(_) => 0,
                ParamWay::Argument => continue,
                ParamWay::List(place) => {
                    // The number first, then a bang, which sends the list.
                    let _ = writeln!(text, "#X obj 0 0 r p{at};\n#X obj 0 0 t b f;");
                    wire((next, 0), (next + 1, 0));
                    wire((next + 1, 1), (3, place));
                    wire((next + 1, 0), (3, 0));
                    next += 2;
                    continue;
                }
            };
            if let Some((_, true)) = value {
                wire((1, channel), (0, inlet));
                channel += 1;
                continue;
            }
            let _ = writeln!(text, "#X obj 0 0 r p{at};");
            next += 1;
            if let ParamWay::Selector(selector) = param.way {
                let _ = writeln!(text, "#X msg 0 0 {selector} \\$1;");
                wire((next - 1, 0), (next, 0));
                next += 1;
            }
            wire((next - 1, 0), (0, inlet));
        }
        text + &wires
    }
}

impl UnitPlayer {
    fn receive(&mut self, event: &Event) {
        if let EventTarget::Param(param) = event.target
            && let Some(name) = self.names.get(usize::from(param))
            && let EventBody::Value(number) | EventBody::Glide(number) = event.body
        {
            self.player.send_number(*name, number);
        }
    }

    /// Computes 64 frames.
    fn play(&mut self) {
        let inputs = &self.inputs;
        self.player
            .play_with(|at, to| to.copy_from_slice(&inputs[at]));
        for (channel, to) in self.outputs.iter_mut().enumerate() {
            to.copy_from_slice(self.player.output(channel));
        }
    }
}

impl Processor for ClassUnit {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "rates are small")]
        let rate = setup.rate.hz() as f32;
        self.rate = rate;
        self.is_late = !self.is_source() && !(setup.block.0 as usize).is_multiple_of(BLOCK);
        self.begin();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let (is_source, is_late) = (self.is_source(), self.is_late);
        let Some(unit) = &mut self.player else {
            block.silence_outputs();
            return ProcessStatus::Continue;
        };
        let frames = block.frames();
        let sound = self.class.inputs.len();
        let mut from = 0;
        let mut events = block.events().iter().peekable();
        while from < frames {
            let count = (BLOCK - unit.at).min(frames - from);
            let (begin, end) = (unit.at, unit.at + count);
            // What changes within 64 frames counts for all of them, as in Pd.
            while let Some(event) = events.peek()
                && (event.frame as usize) < from + count
            {
                unit.receive(event);
                events.next();
            }
            for (port, to) in unit.inputs[..sound].iter_mut().enumerate() {
                to[begin..end].copy_from_slice(&block.input(port).channel(0)[from..from + count]);
            }
            let driven = (0..).zip(&self.values);
            let driven = driven.filter(|(_, value)| matches!(value, Some((_, true))));
            for (to, (param, _)) in unit.inputs[sound..].iter_mut().zip(driven) {
                match block.param_signal(param) {
                    Some(signal) => to[begin..end].copy_from_slice(&signal[from..from + count]),
                    None => to[begin..end].fill(0.0),
                }
            }
            let is_whole = count == BLOCK && !is_late;
            if is_whole || (is_source && begin == 0) {
                unit.play();
            }
            for (mut output, from_unit) in block.outputs().zip(&unit.outputs) {
                output.channel(0)[from..from + count].copy_from_slice(&from_unit[begin..end]);
            }
            unit.at = end % BLOCK;
            if unit.at == 0 && !is_whole && !is_source {
                unit.play();
            }
            from += count;
        }
        ProcessStatus::Continue
    }

    /// Makes the object anew: this takes memory.
    fn reset(&mut self) {
        self.begin();
    }

    fn latency(&self) -> Frames {
        Frames(if self.is_late { BLOCK as u32 } else { 0 })
    }

    fn tail(&self) -> Tail {
        Tail::Infinite
    }
}
