//! Arithmetic on numbers (`x_arithmetic.c`, `x_acoustics.c`).

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::value::Message;
use super::Making;
use super::glue::to_number;
use crate::constants::LN_10;
use crate::state::held;
use crate::whole_number::whole_number;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if let Some(function) = binary(making.class) {
        // `atan2` takes no argument.
        let right = if making.class == "atan2" {
            0.0
        } else {
            making.number(0, 0.0)
        };
        let left = 0.0;
        return Some(Box::new(Binary {
            function,
            left,
            right,
        }));
    }
    if let Some(function) = unary(making.class) {
        return Some(Box::new(Unary(function)));
    }
    Some(match making.class {
        "clip" => Box::new(Clip {
            number: 0.0,
            low: making.number(0, 0.0),
            high: making.number(1, 0.0),
        }),
        "random" => Box::new(Random::new(making)),
        _ => return None,
    })
}

struct Binary {
    function: fn(f32, f32) -> f32,
    left: f32,
    right: f32,
}

impl Object for Binary {
    held!(left, right; not function);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, (self.function)(self.left, self.right));
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.left = number;
        self.bang(context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.right)
    }
}

struct Unary(fn(f32) -> f32);

impl Object for Unary {
    held!(nothing);

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        context.send_float(0, (self.0)(number));
        Handled::Yes
    }
}

fn truth(is_true: bool) -> f32 {
    f32::from(u8::from(is_true))
}

/// A number as an integer.
fn int(number: f32) -> i32 {
    whole_number(number.into())
}

#[expect(clippy::cast_precision_loss, reason = "as in Pd")]
fn float(number: i32) -> f32 {
    number as f32
}

fn binary(class: &str) -> Option<fn(f32, f32) -> f32> {
    Some(match class {
        "+" => |a, b| a + b,
        "-" => |a, b| a - b,
        "*" => |a, b| a * b,
        "/" => |a, b| if b == 0.0 { 0.0 } else { a / b },
        "pow" => pow,
        "max" => |a, b| if a > b { a } else { b },
        "min" => |a, b| if a < b { a } else { b },
        "==" => |a, b| truth(a == b),
        "!=" => |a, b| truth(a != b),
        ">" => |a, b| truth(a > b),
        "<" => |a, b| truth(a < b),
        ">=" => |a, b| truth(a >= b),
        "<=" => |a, b| truth(a <= b),
        "&" => |a, b| float(int(a) & int(b)),
        "|" => |a, b| float(int(a) | int(b)),
        "&&" => |a, b| truth(int(a) != 0 && int(b) != 0),
        "||" => |a, b| truth(int(a) != 0 || int(b) != 0),
        "<<" => |a, b| float(int(a).wrapping_shl(shift(b))),
        ">>" => |a, b| float(int(a).wrapping_shr(shift(b))),
        // The sign is that of the left number, as in C.
        "%" => |a, b| float(int(a).wrapping_rem(divisor(b))),
        // Never negative.
        "mod" => |a, b| float(int(a).wrapping_rem_euclid(divisor(b))),
        "div" => |a, b| float(quotient(int(a), divisor(b))),
        "atan2" => |a, b| {
            if a == 0.0 && b == 0.0 {
                0.0
            } else {
                a.atan2(b)
            }
        },
        "log" => log,
        _ => return None,
    })
}

/// A quotient that is rounded down. The lowest numbers leave the range, as in Pd.
fn quotient(a: i32, divisor: i32) -> i32 {
    let a = match a < 0 {
        true => a.wrapping_sub(divisor.wrapping_sub(1)),
        false => a,
    };
    a.wrapping_div(divisor)
}

fn shift(number: f32) -> u32 {
    int(number).rem_euclid(32).unsigned_abs()
}

/// A divisor without its sign, which the lowest number keeps, as in C; 0 is 1.
fn divisor(number: f32) -> i32 {
    match int(number).wrapping_abs() {
        0 => 1,
        divisor => divisor,
    }
}

fn pow(a: f32, b: f32) -> f32 {
    let is_undefined = (a == 0.0 && b < 0.0) || (a < 0.0 && b.fract() != 0.0);
    if is_undefined { 0.0 } else { a.powf(b) }
}

/// Logarithm to the base `b`, the natural one without a base.
fn log(a: f32, b: f32) -> f32 {
    if a <= 0.0 {
        -1000.0
    } else if b <= 0.0 {
        a.ln()
    } else {
        narrow(f64::from(a).log2() / f64::from(b).log2())
    }
}

/// The function of a class with one operand.
pub(crate) fn unary(class: &str) -> Option<fn(f32) -> f32> {
    Some(match class {
        "mtof" => mtof,
        "ftom" => |f| {
            if f > 0.0 {
                narrow(17.312_340_504_6 * (0.122_312_205_85 * f64::from(f)).ln())
            } else {
                -1500.0
            }
        },
        "powtodb" => |f| to_db(f, 10.0),
        "rmstodb" => |f| to_db(f, 20.0),
        "dbtopow" => |f| from_db(f, 0.1, 870.0),
        "dbtorms" => |f| from_db(f, 0.05, 485.0),
        "sin" => f32::sin,
        "cos" => f32::cos,
        "tan" => f32::tan,
        "atan" => f32::atan,
        "sqrt" => |f| if f > 0.0 { f.sqrt() } else { 0.0 },
        "exp" => |f| f.min(87.3365).exp(),
        "abs" => f32::abs,
        "wrap" => |f| f - f.floor(),
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "Pd's numbers are floats")]
pub(super) fn narrow(number: f64) -> f32 {
    number as f32
}

pub(super) fn mtof(f: f32) -> f32 {
    if f <= -1500.0 {
        0.0
    } else {
        let f = f.min(1499.0);
        narrow(8.175_798_915_64 * (0.057_762_265_0 * f64::from(f)).exp())
    }
}

fn to_db(f: f32, factor: f64) -> f32 {
    if f <= 0.0 {
        return 0.0;
    }
    narrow(100.0 + factor / LN_10 * f64::from(f).ln()).max(0.0)
}

fn from_db(f: f32, factor: f64, max: f32) -> f32 {
    if f <= 0.0 {
        return 0.0;
    }
    narrow((LN_10 * factor * (f64::from(f.min(max)) - 100.0)).exp())
}

struct Clip {
    number: f32,
    low: f32,
    high: f32,
}

impl Object for Clip {
    held!(number, low, high);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let number = self.number;
        let clipped = if number < self.low {
            self.low
        } else if number > self.high {
            self.high
        } else {
            number
        };
        context.send_float(0, clipped);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.number = number;
        self.bang(context)
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(
            message,
            if inlet == 1 {
                &mut self.low
            } else {
                &mut self.high
            },
        )
    }
}

/// Linear congruence: each object begins where the one before it in the process would have gone on.
struct Random {
    range: f32,
    state: u32,
}

impl Random {
    fn new(making: &mut Making<'_>) -> Self {
        let seed = &mut making.globals.seeds.0;
        if *seed == 0 {
            *seed = 1_489_853_723;
        }
        *seed = seed.wrapping_mul(435_898_247).wrapping_add(938_284_287) & 0x7fff_ffff;
        let state = *seed;
        let range = making.number(0, 0.0);
        Self { range, state }
    }
}

impl Object for Random {
    held!(range, state);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        let range = int(self.range).max(1);
        self.state = self
            .state
            .wrapping_mul(472_940_017)
            .wrapping_add(832_416_023);
        #[expect(clippy::cast_possible_truncation, reason = "below the range")]
        let number = (f64::from(range) * f64::from(self.state) * (1.0 / 4_294_967_296.0)) as i32;
        context.send_float(0, float(number.min(range - 1)));
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        if message.selector != super::super::symbol::words::SEED {
            return Handled::No;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "any bits are a seed"
        )]
        let seed = message.number() as i64 as u32;
        self.state = seed;
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.range)
    }
}
