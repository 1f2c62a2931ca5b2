//! `expr~` and `fexpr~`: programs over blocks, and sample by sample.

use crate::control::{Context, Handled, Making, Message, Object, Symbol, Value, expr, words};
use crate::expression::{
    LibraryRandom, Operand, Program, Samples, Stack, Storage, Surroundings, Touched,
};
use crate::signal::{Accesses, BLOCK, Inlets, RowFormat, SharedName, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let has_blocks = match making.class {
        "expr~" => true,
        "fexpr~" => false,
        _ => return None,
    };
    let (program, names) = expr::program(making)?;
    let common = Common {
        stack: Stack::new(&program, has_blocks),
        inlets: expr::initial(&program),
        names,
        random: LibraryRandom::default(),
        program,
    };
    if has_blocks {
        return Some(Box::new(Blocks(common)));
    }
    let blocks = |count: usize| vec![vec![0.0; BLOCK]; count];
    Some(Box::new(PerSample {
        inputs_before: blocks(common.program.signal_count()),
        results: blocks(common.program.outlet_count()),
        results_before: blocks(common.program.outlet_count()),
        is_stopped: false,
        common,
    }))
}

/// Arrays and variables as signals find them.
struct Granted<'g, 'w>(&'g SignalWorld<'w>);

impl Storage for Granted<'_, '_> {
    fn read(&self, name: Symbol, read: &mut dyn FnMut(&[f32])) -> bool {
        let array = self.0.read(SharedName::Array(name));
        array.map(|array| read(&array.samples)).is_some()
    }

    fn change(&mut self, name: Symbol, change: &mut dyn FnMut(&mut [f32])) -> bool {
        let array = self.0.write(SharedName::Array(name));
        array.map(|mut array| change(&mut array.samples)).is_some()
    }

    fn value(&self, name: Symbol) -> Option<f32> {
        let value = self.0.read(SharedName::Value(name))?;
        value.samples.first().copied()
    }

    fn set_value(&mut self, name: Symbol, number: f32) -> bool {
        let value = self.0.write(SharedName::Value(name));
        value.map(|mut value| value.samples[0] = number).is_some()
    }
}

struct Common {
    program: Program,
    names: Vec<Symbol>,
    inlets: Vec<Operand>,
    stack: Stack,
    /// An object's own: in Pd all share one, and the order in which objects compute decides who gets which number.
    random: LibraryRandom,
}

impl crate::state::Held for Common {
    held!(inlets, random; not program, names, stack);
}

impl Common {
    fn accesses(&self, list: &mut Accesses) {
        for touched in self.program.touched() {
            let symbol = |name: usize| self.names[name];
            match touched {
                Touched::Array(name, false) => list.reads(SharedName::Array(symbol(name))),
                Touched::Array(name, true) => list.writes(SharedName::Array(symbol(name))),
                Touched::Variable(name, false) => list.reads(SharedName::Value(symbol(name))),
                Touched::Variable(name, true) => list.writes(SharedName::Value(symbol(name))),
                Touched::AnyArray(is_write) => {
                    list.touches_all_arrays(is_write);
                    continue;
                }
            };
        }
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>) -> Handled {
        match message.first_value() {
            Some(value) if expr::set(&self.program, &mut self.inlets, inlet, value) => Handled::Yes,
            _ => Handled::No,
        }
    }
}

fn version(message: Message<'_>, context: &mut Context<'_>) -> Handled {
    if context.symbols().text(message.selector) != "version" {
        return Handled::No;
    }
    context.print_with(|_, line| line.write_str("expr, expr~, fexpr~ version 0.57"));
    Handled::Yes
}

struct Blocks(Common);

impl Object for Blocks {
    held!(tuple common);

    fn may_batch(&self) -> bool {
        true
    }

    fn accesses(&self, list: &mut Accesses) {
        self.0.accesses(list);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        version(message, context)
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        self.0.cold(inlet, message)
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        let Common {
            program,
            names,
            inlets: numbers,
            stack,
            random,
        } = &mut self.0;
        let frames = inlets.get(0).len();
        // The stack has room for 64 frames; larger blocks are computed in parts.
        for from in (0..frames).step_by(BLOCK) {
            let to = frames.min(from + BLOCK);
            let mut around = Surroundings {
                inlets: numbers,
                names,
                storage: &mut Granted(world),
                random,
                signals: Some((inlets, from, to)),
                samples: None,
                fault: None,
            };
            for (at, outlet) in outlets.iter_mut().enumerate() {
                let result = stack.run(program, at, &mut around);
                stack.write(result, &mut outlet[from..to], &around);
            }
        }
    }
}

struct PerSample {
    common: Common,
    inputs_before: Vec<Vec<f32>>,
    results: Vec<Vec<f32>>,
    results_before: Vec<Vec<f32>>,
    is_stopped: bool,
}

impl PerSample {
    /// The past of an inlet (`x`, `x2`) or of an outlet (`y`).
    fn past(&mut self, name: &str) -> Option<&mut Vec<f32>> {
        let number = match name.get(1..)? {
            "" => 0,
            digits => digits.parse::<usize>().ok()?.checked_sub(1)?,
        };
        match &name[..1] {
            "x" => self.inputs_before.get_mut(number),
            "y" => self.results_before.get_mut(number),
            _ => None,
        }
    }

    /// `set x 1 2`: the newest sample first. Without a name the last sample of each outlet.
    fn set(&mut self, values: &[Value], context: &mut Context<'_>) {
        if let [Value::Symbol(name), values @ ..] = values {
            let name = context.symbols().text(*name).to_owned();
            match self.past(&name) {
                Some(past) => past
                    .iter_mut()
                    .rev()
                    .zip(values)
                    .for_each(|(to, value)| *to = value.number()),
                None => {
                    context.print_with(|_, line| write!(line, "fexpr~.set: there is no `{name}`"))
                }
            }
            return;
        }
        for (past, value) in self.results_before.iter_mut().zip(values) {
            if let Some(last) = past.last_mut() {
                *last = value.number();
            }
        }
    }

    fn clear(&mut self, values: &[Value], context: &mut Context<'_>) {
        if let [Value::Symbol(name), ..] = values {
            let name = context.symbols().text(*name).to_owned();
            match self.past(&name) {
                Some(past) => past.fill(0.0),
                None => {
                    context.print_with(|_, line| write!(line, "fexpr~.clear: there is no `{name}`"))
                }
            }
            return;
        }
        for past in self
            .inputs_before
            .iter_mut()
            .chain(&mut self.results_before)
        {
            past.fill(0.0);
        }
    }
}

impl Object for PerSample {
    held!(common, inputs_before, results, results_before, is_stopped);

    fn prepare(&mut self, format: &RowFormat) {
        let histories = [
            &mut self.inputs_before,
            &mut self.results,
            &mut self.results_before,
        ];
        for block in histories.into_iter().flatten() {
            if block.len() != format.frames {
                // A block of another size begins with silence.
                block.clear();
                block.resize(format.frames, 0.0);
            }
        }
    }

    fn accesses(&self, list: &mut Accesses) {
        self.common.accesses(list);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET => self.set(message.values, context),
            words::CLEAR => self.clear(message.values, context),
            words::STOP => self.is_stopped = true,
            selector if context.symbols().text(selector) == "start" => self.is_stopped = false,
            _ => return version(message, context),
        }
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        self.common.cold(inlet, message)
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        world: &mut SignalWorld<'_>,
    ) {
        if self.is_stopped {
            return outlets.iter_mut().for_each(|outlet| outlet.fill(0.0));
        }
        let frames = inlets.get(0).len();
        let Common {
            program,
            names,
            inlets: numbers,
            stack,
            random,
        } = &mut self.common;
        for index in 0..frames {
            for at in 0..outlets.len() {
                let mut around = Surroundings {
                    inlets: numbers,
                    names,
                    storage: &mut Granted(world),
                    random,
                    signals: Some((inlets, 0, frames)),
                    samples: Some(Samples {
                        inputs_before: &self.inputs_before,
                        results: &self.results,
                        results_before: &self.results_before,
                        index,
                    }),
                    fault: None,
                };
                let result = stack.run(program, at, &mut around).number();
                self.results[at][index] = result;
            }
        }
        for (at, before) in self.inputs_before.iter_mut().enumerate() {
            before.copy_from_slice(inlets.get(at));
        }
        for ((outlet, results), before) in outlets
            .iter_mut()
            .zip(&self.results)
            .zip(&mut self.results_before)
        {
            outlet.copy_from_slice(results);
            before.copy_from_slice(results);
        }
    }
}
