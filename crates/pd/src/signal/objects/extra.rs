//! Small classes of Pd's `extra`, and `print~`: `bob~`, `loop~`, `lrshift~`.

use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::{Accesses, Inlets, RowFormat, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "lrshift~" => Box::new(Shift(making.number(0, 0.0))),
        "loop~" => Box::new(Loop::default()),
        "bob~" => Box::new(Ladder::new(making)),
        "print~" => Box::new(Print::new(making)),
        _ => return None,
    })
}

/// Moves the samples of a block to the left, or by a negative number to the right.
struct Shift(f32);

impl Object for Shift {
    held!(tuple samples);

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (from, to) = (inlets.get(0), &mut outlets[0]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let by = (self.0.abs() as usize).min(from.len());
        let kept = from.len() - by;
        if self.0 < 0.0 {
            to[by..].copy_from_slice(&from[..kept]);
            to[..by].fill(0.0);
        } else {
            to[..kept].copy_from_slice(&from[by..]);
            to[kept..].fill(0.0);
        }
    }
}

/// A phase, and the length of the window that it runs through; a new length counts from the next round on.
struct Loop {
    phase: f64,
    window: f32,
    inverse: f32,
    is_set: bool,
}

impl Default for Loop {
    fn default() -> Self {
        Self {
            phase: 0.0,
            window: 1.0,
            inverse: 1.0,
            is_set: false,
        }
    }
}

impl Loop {
    fn set_window(&mut self, window: f32) {
        self.window = match window < 0.0 {
            true => window.min(-1.0),
            false => window.max(1.0),
        };
        self.inverse = 1.0 / self.window.abs();
    }

    fn set_phase(&mut self, phase: f32) {
        let is_phase = (0.0..=1.0).contains(&phase);
        self.phase = f64::from(if is_phase { phase } else { 0.0 });
        self.is_set = true;
    }
}

impl Object for Loop {
    held!(phase, window, inverse, is_set);

    fn bang(&mut self, _: &mut Context<'_>) -> Handled {
        self.set_phase(0.0);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if context.symbols().text(message.selector) != "set" {
            return Handled::No;
        }
        self.set_phase(message.number());
        Handled::Yes
    }

    #[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (speeds, windows) = (inlets.get(0), inlets.get(1));
        let [phases, lengths] = outlets else {
            return;
        };
        if std::mem::take(&mut self.is_set) {
            self.set_window(windows[0]);
        }
        for (at, speed) in speeds.iter().enumerate() {
            let step = f64::from(self.inverse * speed);
            let step = if (0.0..1.0).contains(&step) {
                step
            } else {
                0.0
            };
            self.phase += step;
            if self.phase >= 1.0 {
                self.set_window(windows[at]);
                self.phase -= 1.0;
            }
            phases[at] = self.phase as f32;
            lengths[at] = self.window;
        }
    }
}

/// Two times pi as Pd's `bob~` has it.
const CIRCLE: f64 = crate::constants::TWO_PI as f64;

/// Most steps of the circuit in a sample.
const MAX_OVERSAMPLE: u32 = 1024;

/// A ladder filter: the equations of the circuit, solved by the method of Runge and Kutta. Numbers in the box do not reach the inlets
/// of frequency and resonance, in Pd neither.
struct Ladder {
    state: [f64; 4],
    saturation: f64,
    oversample: u32,
    rate: f64,
}

/// What the circuit is driven by.
struct Drive {
    input: f64,
    cutoff: f64,
    resonance: f64,
    saturation: f64,
}

impl Drive {
    /// A cubic in place of the hyperbolic tangent.
    #[expect(clippy::cast_possible_truncation, reason = "as in Pd")]
    fn clip(&self, value: f64) -> f64 {
        let v = (value * (1.0 / self.saturation)).clamp(-1.0, 1.0) as f32;
        let v = f64::from(v);
        self.saturation * (v - (1.0 / 3.0) * v * v * v)
    }

    /// How fast each stage changes.
    fn slopes(&self, state: &[f64; 4]) -> [f64; 4] {
        let k = CIRCLE * self.cutoff;
        let [a, b, c, d] = state.map(|stage| self.clip(stage));
        let input = self.clip(self.input - self.resonance * state[3]);
        [k * (input - a), k * (a - b), k * (b - c), k * (c - d)]
    }

    /// Goes on by one step.
    fn step(&self, state: &mut [f64; 4], length: f64) {
        let along =
            |slopes: &[f64; 4], by: f64| std::array::from_fn(|at| state[at] + by * slopes[at]);
        let first = self.slopes(state);
        let second = self.slopes(&along(&first, 0.5 * length));
        let third = self.slopes(&along(&second, 0.5 * length));
        let fourth = self.slopes(&along(&third, length));
        *state = std::array::from_fn(|at| {
            let sum = first[at] + 2.0 * second[at] + 2.0 * third[at] + fourth[at];
            state[at] + (1.0 / 6.0) * length * sum
        });
    }
}

impl Ladder {
    fn new(making: &mut Making<'_>) -> Self {
        let mut new = Self {
            state: [0.0; 4],
            saturation: 3.0,
            oversample: 2,
            rate: f64::from(making.globals.rate),
        };
        for pair in making.values.windows(2) {
            if let Value::Symbol(name) = pair[0] {
                let name = making.globals.symbols.text(name).to_owned();
                new.set(name.trim_start_matches('-'), pair[1].number());
            }
        }
        new
    }

    fn set(&mut self, name: &str, number: f32) -> bool {
        match name {
            "saturation" => self.saturation = f64::from(number.max(1e-3)),
            "oversample" => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "bounded"
                )]
                let oversample = (number as u32).clamp(1, MAX_OVERSAMPLE);
                self.oversample = oversample;
            }
            "clear" => self.state = [0.0; 4],
            _ => return false,
        }
        true
    }
}

impl Object for Ladder {
    held!(state, saturation, oversample; not rate; check |it| (1..=MAX_OVERSAMPLE).contains(&it.oversample));

    fn prepare(&mut self, format: &RowFormat) {
        self.rate = f64::from(format.rate);
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let name = context.symbols().text(message.selector);
        match self.set(name, message.number()) {
            true => Handled::Yes,
            false => Handled::No,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let length = 1.0 / (f64::from(self.oversample) * self.rate);
        for (at, to) in outlets[0].iter_mut().enumerate() {
            let drive = Drive {
                input: f64::from(inlets.get(0)[at]),
                cutoff: f64::from(inlets.get(1)[at]),
                resonance: f64::from(inlets.get(2)[at].max(0.0)),
                saturation: self.saturation,
            };
            for _ in 0..self.oversample {
                drive.step(&mut self.state, length);
            }
            *to = self.state[3] as f32;
        }
    }
}

/// Prints blocks.
struct Print {
    name: String,
    count: u32,
    block: Vec<f32>,
}

impl Print {
    fn new(making: &mut Making<'_>) -> Self {
        let name = making.symbol(0);
        let name = name.map_or("print~", |name| making.globals.symbols.text(name));
        Self {
            name: name.to_owned(),
            count: 0,
            block: Vec::new(),
        }
    }
}

impl Object for Print {
    held!(count; not name, block);

    fn accesses(&self, list: &mut Accesses) {
        list.sets_clocks();
    }

    fn joins(&self, _: &SignalWorld<'_>) -> usize {
        if self.count == 0 { usize::MAX } else { 1 }
    }

    fn prepare(&mut self, format: &RowFormat) {
        self.block = vec![0.0; format.frames];
    }

    fn bang(&mut self, _: &mut Context<'_>) -> Handled {
        self.count = 1;
        Handled::Yes
    }

    fn float(&mut self, number: f32, _: &mut Context<'_>) -> Handled {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let count = number as u32;
        self.count = count;
        Handled::Yes
    }

    fn clock(&mut self, _: u32, context: &mut Context<'_>) {
        context.print_with(|_, line| write!(line, "{}:", self.name));
        for row in self.block.chunks(8) {
            context.print_with(|_, line| {
                row.iter()
                    .try_for_each(|x| write!(line, "{}  ", four_digits(*x)))
            });
        }
    }

    fn perform(&mut self, inlets: &Inlets<'_>, _: &mut [Box<[f32]>], world: &mut SignalWorld<'_>) {
        if self.count == 0 {
            return;
        }
        self.count -= 1;
        for (to, x) in self.block.iter_mut().zip(inlets.get(0)) {
            *to = *x;
        }
        world.set_clock(0, 0.0);
    }
}

/// A number in four digits, as C's `%.4g` writes it.
fn four_digits(x: f32) -> String {
    if !x.is_finite() {
        return format!("{x}").to_lowercase();
    }
    let scientific = format!("{x:.3e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => digits.to_owned(),
    };
    if (-4..4).contains(&exponent) {
        let decimals = usize::try_from(3 - exponent).unwrap_or(0);
        return trimmed(&format!("{x:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::four_digits;

    #[test]
    fn numbers_are_written_in_four_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.123_456, "0.1235"),
            (-1234.56, "-1235"),
            (12_345.0, "1.234e+04"),
            (0.000_012_34, "1.234e-05"),
        ];
        for (x, text) in cases {
            assert_eq!(four_digits(x), text);
        }
    }
}
