//! [`Tempo`]: the unit of time of a clock, which arguments and `tempo` state.

use super::super::clocks::UNITS_PER_MS;
use super::super::context::Context;
use super::super::object::Handled;
use super::super::value::Value;
use super::Making;
use crate::state::{Held, StateReader, StateWriter, Unfit};

/// Length of a unit of time, in units of logical time: a millisecond, or what `tempo` states.
pub(super) struct Tempo {
    length: f64,
    /// True for a number of samples.
    is_of_samples: bool,
}

impl Default for Tempo {
    fn default() -> Self {
        Self {
            length: UNITS_PER_MS,
            is_of_samples: false,
        }
    }
}

impl Held for Tempo {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.length.save(state);
        self.is_of_samples.save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        self.length.load(state)?;
        self.is_of_samples.load(state)?;
        // With another one a clock would be due again at once, for ever.
        let is_unit = self.length.is_finite() && self.length > 0.0;
        is_unit.then_some(()).ok_or(Unfit)
    }
}

impl Tempo {
    /// From the arguments at `at`: how many, and of which unit.
    pub(super) fn new(making: &mut Making<'_>, at: usize) -> Self {
        let (amount, unit) = (making.number(at, 0.0), making.symbol(at + 1));
        let globals = &mut *making.globals;
        let unit = unit.map_or("", |unit| globals.symbols.text(unit));
        match amount {
            0.0 => Self::default(),
            _ => match Self::of(amount, unit, globals.rate) {
                Some(tempo) => tempo,
                None => {
                    let why = format!("error: {unit}: unknown time unit");
                    globals.print(&why);
                    Self::default()
                }
            },
        }
    }

    /// So many `msec`, `sec`, `min` or `samp`, or the part of one that `per` states: `120 permin`. `None` for any other word.
    pub(super) fn of(amount: f32, unit: &str, rate: f32) -> Option<Self> {
        let amount = if amount > 0.0 { f64::from(amount) } else { 1.0 };
        let (is_rate, name) = match unit.strip_prefix("per") {
            Some(name) => (true, name),
            None => (false, unit),
        };
        let one = match name {
            "msec" | "millisecond" => UNITS_PER_MS,
            name if name.starts_with("sec") => 1000.0 * UNITS_PER_MS,
            name if name.starts_with("min") => 60_000.0 * UNITS_PER_MS,
            name if name.starts_with("sam") => 1000.0 * UNITS_PER_MS / f64::from(rate),
            _ => return None,
        };
        Some(Self {
            length: if is_rate { one / amount } else { one * amount },
            is_of_samples: name.starts_with("sam"),
        })
    }

    /// Takes `tempo AMOUNT UNIT`. A clock that is set has as many of the new units left, as in Pd; one that counts
    /// samples stays as it is set.
    ///
    /// Real-time: hot.
    pub(super) fn message(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let [Value::Float(amount), Value::Symbol(unit), ..] = values else {
            return Handled::No;
        };
        let rate = context.globals().rate;
        let tempo = Self::of(*amount, context.symbols().text(*unit), rate);
        if tempo.is_none() {
            context.print_with(|symbols, line| {
                write!(line, "error: {}: unknown time unit", symbols.text(*unit))
            });
        }
        let before = std::mem::replace(self, tempo.unwrap_or_default());
        if !before.is_of_samples
            && self.length != before.length
            && let Some(left) = context.clock_left(0)
        {
            context.set_clock_after(0, left / before.length * self.length);
        }
        Handled::Yes
    }

    /// So many units of time, in units of logical time.
    pub(super) fn units(&self, count: f32) -> f64 {
        f64::from(count) * self.length
    }

    /// Units of time from `then` to now.
    pub(super) fn since(&self, then: f64, context: &Context<'_>) -> f64 {
        (context.clocks().now() - then) / self.length
    }
}
