//! Clocks: `delay`, `metro`, `line`, `timer`, `pipe` (`x_time.c`).

use super::super::clocks::UNITS_PER_MS;
use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value, is_same_type};
use super::Making;
use super::glue::{to_first_number, to_number};
use super::tempo::Tempo;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "delay" => Box::new(Delay(Tempo::new(making, 1), making.number(0, 0.0))),
        "metro" => Box::new(Metro {
            tempo: Tempo::new(making, 1),
            period: making.number(0, 1.0),
            is_hit: false,
        }),
        "line" => Box::new(Line::new(making)),
        "timer" | "cputime" | "realtime" => Box::new(Timer {
            tempo: Tempo::new(making, 0),
            since: 0.0,
            passed: 0.0,
        }),
        "pipe" => Box::new(Pipe::new(making)),
        _ => return None,
    })
}

struct Delay(Tempo, f32);

impl Object for Delay {
    held!(tuple tempo, ms);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.set_clock_after(0, self.0.units(self.1));
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.1 = number.max(0.0);
        self.bang(context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::STOP => context.unset_clock(0),
            words::TEMPO => return self.0.message(message.values, context),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let handled = to_first_number(message, &mut self.1);
        self.1 = self.1.max(0.0);
        handled
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_bang(0);
    }
}

struct Metro {
    tempo: Tempo,
    period: f32,
    /// True if a message came in while a bang was under way.
    is_hit: bool,
}

impl Metro {
    const BY_CLOCK: u32 = 0;
    const BY_MESSAGE: u32 = 1;

    /// Sends a bang.
    fn tick(&mut self, by: u32, context: &mut Context<'_>) {
        self.is_hit = false;
        context.send_bang(0);
        // Armed again after what the bang caused, as in Pd: that is the order of clocks of the same time. A bang may stop it.
        context.resume(by);
    }

    /// Units of logical time between two bangs.
    fn interval(&self) -> f64 {
        // Not a number neither.
        let period = if self.period > 0.0 { self.period } else { 1.0 };
        self.tempo.units(period)
    }
}

impl Object for Metro {
    held!(tempo, period, is_hit);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.float(1.0, context)
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        if number != 0.0 {
            self.tick(Self::BY_MESSAGE, context);
        } else {
            context.unset_clock(0);
            self.is_hit = true;
        }
        Handled::Yes
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        self.tick(Self::BY_CLOCK, context);
    }

    fn resume(&mut self, code: u32, context: &mut Context<'_>) {
        if !self.is_hit {
            context.set_clock_after(0, self.interval());
        }
        self.is_hit |= code == Self::BY_MESSAGE;
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::STOP => self.float(0.0, context),
            words::TEMPO => self.tempo.message(message.values, context),
            _ => Handled::No,
        }
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_first_number(message, &mut self.period)
    }
}

/// Ramps of numbers, one each `grain` milliseconds.
struct Line {
    target: f32,
    current: f32,
    /// Logical time of the begin and the end, in units.
    begin: f64,
    end: f64,
    over_ms: f64,
    grain: f32,
    is_time_given: bool,
    next_over: f32,
}

impl Line {
    fn new(making: &Making<'_>) -> Self {
        Self {
            target: making.number(0, 0.0),
            current: making.number(0, 0.0),
            begin: 0.0,
            end: 0.0,
            over_ms: 0.0,
            grain: grain(making.number(1, 20.0)),
            is_time_given: false,
            next_over: 0.0,
        }
    }
}

fn grain(grain: f32) -> f32 {
    if grain <= 0.0 { 20.0 } else { grain }
}

impl Object for Line {
    held!(
        target,
        current,
        begin,
        end,
        over_ms,
        grain,
        is_time_given,
        next_over;
        // What it is set to is no number, or above 0.
        check |it| it.grain.is_nan() || it.grain > 0.0
    );

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let now = context.clocks().now();
        let over = f64::from(self.next_over);
        if self.is_time_given && self.next_over > 0.0 {
            // Where the ramp before has come to.
            if now > self.end {
                self.current = self.target;
            } else if self.end > self.begin {
                let passed = (now - self.begin) / (self.end - self.begin);
                self.current = super::math::narrow(
                    f64::from(self.current) + passed * f64::from(self.target - self.current),
                );
            }
            self.begin = now;
            self.end = now + over * UNITS_PER_MS;
            self.target = number;
            self.over_ms = over;
            self.clock(0, context);
        } else {
            context.unset_clock(0);
            self.target = number;
            self.current = number;
            self.end = now;
            context.send_float(0, number);
        }
        self.is_time_given = false;
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::STOP => {
                context.unset_clock(0);
                self.target = self.current;
            }
            words::SET => {
                context.unset_clock(0);
                self.target = message.number();
                self.current = self.target;
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        let now = context.clocks().now();
        let left = (self.end - now) / UNITS_PER_MS;
        if left < 1e-9 {
            self.current = self.target;
            context.send_float(0, self.target);
            return;
        }
        let passed = (now - self.begin) / (self.end - self.begin);
        let number = f64::from(self.current) + passed * f64::from(self.target - self.current);
        context.send_float(0, super::math::narrow(number));
        let grain = f64::from(self.grain);
        context.set_clock(0, if grain > left { left } else { grain });
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            1 => {
                self.is_time_given = true;
                to_first_number(message, &mut self.next_over)
            }
            _ => {
                let handled = to_number(message, &mut self.grain);
                self.grain = grain(self.grain);
                handled
            }
        }
    }
}

struct Timer {
    tempo: Tempo,
    since: f64,
    passed: f64,
}

impl Object for Timer {
    held!(tempo, since, passed);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.since = context.clocks().now();
        self.passed = 0.0;
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector != words::BANG {
            return Handled::No;
        }
        let passed = self.passed + self.tempo.since(self.since, context);
        context.send_float(0, super::math::narrow(passed));
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match message.selector {
            words::TEMPO => {
                self.passed += self.tempo.since(self.since, context);
                self.since = context.clocks().now();
                self.tempo.message(message.values, context)
            }
            _ => Handled::No,
        }
    }
}

/// Messages that wait, each for its own time.
struct Pipe {
    is_symbol: Vec<bool>,
    values: Vec<Value>,
    delay: f32,
    /// Values of messages that wait: so many for each slot as the pipe has outlets.
    waiting: Vec<Value>,
    /// True for a slot whose message waits.
    is_used: Vec<bool>,
    free: Vec<u32>,
}

/// Messages that wait in one `pipe`, at most.
const MAX_WAITING: usize = 65_536;

impl Pipe {
    fn new(making: &Making<'_>) -> Self {
        let (delay, types) = match making.values {
            [types @ .., last] => (last.number(), types),
            [] => (0.0, making.values),
        };
        let is_symbol = |value: &Value| match value {
            Value::Symbol(symbol) => making.globals.symbols.text(*symbol).starts_with('s'),
            Value::Float(_) | Value::Pointer(_) => false,
        };
        let mut symbols: Vec<bool> = types.iter().map(is_symbol).collect();
        if symbols.is_empty() {
            symbols.push(false);
        }
        let initial = |at: usize, is_symbol: &bool| match (types.get(at), is_symbol) {
            (Some(Value::Float(number)), _) => Value::Float(*number),
            (_, true) => Value::Symbol(words::SYMBOL),
            _ => Value::Float(0.0),
        };
        let values = symbols
            .iter()
            .enumerate()
            .map(|(at, s)| initial(at, s))
            .collect();
        Self {
            is_symbol: symbols,
            values,
            delay,
            waiting: Vec::new(),
            is_used: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Returns true if its fields can be true together.
    fn is_sound(&self) -> bool {
        let slots = self.is_used.len();
        let is_there = |slot: &u32| (*slot as usize) < slots;
        self.values.len() == self.is_symbol.len()
            && self.waiting.len() == slots * self.values.len()
            && slots <= MAX_WAITING
            && self.free.iter().all(is_there)
    }

    /// Puts the values into a free slot.
    fn take_slot(&mut self) -> Option<u32> {
        let count = self.values.len();
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.is_used.len() >= MAX_WAITING => return None,
            None => {
                self.is_used.push(false);
                self.waiting.extend_from_slice(&self.values);
                u32::try_from(self.is_used.len() - 1).expect("MAX_WAITING is small")
            }
        };
        let at = slot as usize;
        self.waiting[at * count..(at + 1) * count].copy_from_slice(&self.values);
        self.is_used[at] = true;
        Some(slot)
    }

    /// Sends the values of a slot.
    fn send(&self, slot: u32, context: &mut Context<'_>) {
        let (at, count) = (slot as usize, self.values.len());
        let values = &self.waiting[at * count..(at + 1) * count];
        for (outlet, value) in values.iter().enumerate().rev() {
            context.send_value(outlet, *value);
        }
    }

    /// Sets a value to a word. One of another kind is 0, or the name of its kind.
    fn set(&mut self, at: usize, word: Value) {
        match (self.is_symbol.get(at), word) {
            (Some(true), Value::Symbol(_)) => self.values[at] = word,
            (Some(true), word) => {
                self.values[at] = Value::Symbol(Message::of_list(&[word]).selector)
            }
            (Some(false), word) => self.values[at] = Value::Float(word.number()),
            (None, _) => {}
        }
    }
}

impl Object for Pipe {
    held!(values, delay, waiting, is_used, free; not is_symbol; check |it| it.is_sound());

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        // One more word than there are values is a new delay.
        match values.get(self.values.len()) {
            Some(Value::Float(delay)) => self.delay = *delay,
            Some(_) => context.print_with(|_, line| {
                line.write_str("error: pipe: symbol or pointer in time inlet")
            }),
            None => {}
        }
        for (at, value) in values.iter().enumerate() {
            self.set(at, *value);
        }
        let Some(slot) = self.take_slot() else {
            context.print_with(|_, line| {
                write!(line, "error: pipe: more than {MAX_WAITING} messages wait")
            });
            return Handled::Yes;
        };
        context.set_clock(slot, f64::from(self.delay));
        Handled::Yes
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.list(&[Value::Symbol(symbol)], context)
    }

    fn clock(&mut self, slot: u32, context: &mut Context<'_>) {
        let at = slot as usize;
        if !self.is_used.get_mut(at).is_some_and(std::mem::take) {
            return;
        }
        self.free.push(slot);
        self.send(slot, context);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if ![words::CLEAR, words::FLUSH].contains(&message.selector) {
            return Handled::No;
        }
        let from = self.free.len();
        let slots = (0..).zip(&mut self.is_used);
        let used = slots.filter_map(|(slot, is_used)| std::mem::take(is_used).then_some(slot));
        self.free.extend(used);
        // Pd takes what came last first.
        context.newest_first(&mut self.free[from..]);
        for at in from..self.free.len() {
            context.unset_clock(self.free[at]);
            if message.selector == words::FLUSH {
                self.send(self.free[at], context);
            }
        }
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.one_value(), self.values.get(inlet)) {
            (Some(Value::Float(delay)), None) => self.delay = delay,
            (Some(value), Some(held)) if is_same_type(&value, held) => self.set(inlet, value),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
