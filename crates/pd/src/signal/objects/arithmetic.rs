//! One or two signals to one (`d_arithmetic.c`, `d_math.c`).

use crate::control::{Context, Handled, Making, Message, Object, Value};
use crate::signal::{Inlets, SignalWorld};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if let Some(function) = binary(making.class) {
        // With a number the right inlet takes messages alone.
        let is_scalar = !making.values.is_empty() && !matches!(making.class, "pow~" | "log~");
        let scalar = is_scalar.then(|| making.number(0, 0.0));
        let is_division = making.class == "/~";
        return Some(Box::new(Binary {
            function,
            scalar,
            is_division,
        }));
    }
    if making.class == "clip~" {
        return Some(Box::new(Clip(making.number(0, 0.0), making.number(1, 0.0))));
    }
    unary(making.class).map(|function| Box::new(Unary(function)) as Box<dyn Object>)
}

struct Binary {
    function: fn(f32, f32) -> f32,
    scalar: Option<f32>,
    is_division: bool,
}

fn binary(class: &str) -> Option<fn(f32, f32) -> f32> {
    Some(match class {
        "+~" => |a, b| a + b,
        "-~" => |a, b| a - b,
        "*~" => |a, b| a * b,
        "/~" => |a, b| if b == 0.0 { 0.0 } else { a / b },
        "max~" => |a, b| if a > b { a } else { b },
        "min~" => |a, b| if a < b { a } else { b },
        "pow~" => |a, b| {
            let is_undefined = (a == 0.0 && b < 0.0) || (a < 0.0 && b.fract() != 0.0);
            if is_undefined { 0.0 } else { a.powf(b) }
        },
        "log~" => |a, b| {
            if a <= 0.0 {
                -1000.0
            } else if b <= 0.0 {
                a.ln()
            } else {
                a.ln() / b.ln()
            }
        },
        _ => return None,
    })
}

impl Object for Binary {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let left = inlets.get(0);
        match self.scalar {
            // Pd multiplies by the inverse.
            Some(scalar) if self.is_division => {
                let inverse = if scalar == 0.0 { 0.0 } else { 1.0 / scalar };
                for (to, a) in outlets[0].iter_mut().zip(left) {
                    *to = a * inverse;
                }
            }
            Some(scalar) => {
                for (to, a) in outlets[0].iter_mut().zip(left) {
                    *to = (self.function)(*a, scalar);
                }
            }
            None => {
                for ((to, a), b) in outlets[0].iter_mut().zip(left).zip(inlets.get(1)) {
                    *to = (self.function)(*a, *b);
                }
            }
        }
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(Value::Float(number)) => self.scalar = Some(*number),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct Clip(f32, f32);

impl Object for Clip {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        for (to, x) in outlets[0].iter_mut().zip(inlets.get(0)) {
            let x = if *x < self.0 { self.0 } else { *x };
            *to = if x > self.1 { self.1 } else { x };
        }
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.values.first() {
            Some(Value::Float(number)) if inlet == 1 => self.0 = *number,
            Some(Value::Float(number)) => self.1 = *number,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct Unary(fn(f32) -> f32);

impl Object for Unary {
    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        for (to, x) in outlets[0].iter_mut().zip(inlets.get(0)) {
            *to = (self.0)(*x);
        }
    }
}

fn unary(class: &str) -> Option<fn(f32) -> f32> {
    Some(match class {
        "abs~" => f32::abs,
        "exp~" => f32::exp,
        "wrap~" => |x| x - x.floor(),
        "sqrt~" | "q8_sqrt~" => |x| if x < 0.0 { 0.0 } else { x * inverse_root(x) },
        "rsqrt~" | "q8_rsqrt~" => |x| if x < 0.0 { 0.0 } else { inverse_root(x) },
        "mtof~" => |x| {
            if x <= -1500.0 {
                0.0
            } else {
                (0.057_762_265_f32 * x.min(1499.0)).exp() * 8.175_799_f32
            }
        },
        "ftom~" => |x| {
            if x > 0.0 {
                17.312_34_f32 * (0.122_312_21_f32 * x).ln()
            } else {
                -1500.0
            }
        },
        "rmstodb~" => |x| to_db(x, 20.0),
        "powtodb~" => |x| to_db(x, 10.0),
        "dbtorms~" => |x| from_db(x, 0.05, 485.0),
        "dbtopow~" => |x| from_db(x, 0.1, 870.0),
        _ => return None,
    })
}

const LN_10: f32 = crate::constants::LN_10 as f32;

fn to_db(x: f32, factor: f32) -> f32 {
    if x <= 0.0 {
        return 0.0;
    }
    (100.0 + factor / LN_10 * x.ln()).max(0.0)
}

fn from_db(x: f32, factor: f32, max: f32) -> f32 {
    if x <= 0.0 {
        return 0.0;
    }
    (LN_10 * factor * (x.min(max) - 100.0)).exp()
}

/// One over the root, from eight bits of exponent and ten of mantissa, and one step of Newton's method in doubles.
fn inverse_root(x: f32) -> f32 {
    let bits = x.to_bits();
    let mantissa = f64::from(f32::from_bits(0x3f80_0000 | (bits & 0x007f_e000)));
    let exponent = bits >> 23;
    // The tables of Pd hold floats.
    let of_exponent = match exponent {
        0 => 0.0,
        exponent => {
            let value = f32::from_bits(exponent << 23);
            f64::from(narrow(1.0 / f64::from(value).sqrt()))
        }
    };
    let of_mantissa = f64::from(narrow(1.0 / mantissa.sqrt()));
    let guess = f64::from(narrow(of_exponent) * narrow(of_mantissa));
    narrow(1.5 * guess - 0.5 * guess * guess * guess * f64::from(x))
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's signals are floats")]
fn narrow(x: f64) -> f32 {
    x as f32
}
