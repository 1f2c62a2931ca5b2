//! One or two signals to one (`d_arithmetic.c`, `d_math.c`).

use super::functions::{RootTables, exp, ln, mtof, wrap};
use crate::control::{Context, Handled, Making, Message, Object};
use crate::signal::loops::{map_by_table, map_each, zip_each};
use crate::signal::{Arithmetic, Inlets, Operation, SignalWorld};
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class == "clip~" {
        return Some(Box::new(Clip(making.number(0, 0.0), making.number(1, 0.0))));
    }
    binary(making).or_else(|| unary(making.class))
}

fn binary(making: &Making<'_>) -> Option<Box<dyn Object>> {
    // With a number the right inlet takes messages alone.
    let scalar = (!making.values.is_empty()).then(|| making.number(0, 0.0));
    let operation = match making.class {
        "+~" => Operation::Add,
        "-~" => Operation::Subtract,
        "*~" => Operation::Multiply,
        "max~" => Operation::Larger,
        "min~" => Operation::Smaller,
        "/~" => {
            return Some(match scalar {
                Some(divisor) => Box::new(Quotient { divisor }),
                None => Box::new(Binary(|a, b| if b == 0.0 { 0.0 } else { a / b })),
            });
        }
        "pow~" => return Some(Box::new(Binary(power))),
        "log~" => return Some(Box::new(Binary(logarithm))),
        _ => return None,
    };
    Some(Box::new(Arithmetic { operation, scalar }))
}

fn power(a: f32, b: f32) -> f32 {
    let is_undefined = (a == 0.0 && b < 0.0) || (a < 0.0 && b.fract() != 0.0);
    if is_undefined { 0.0 } else { a.powf(b) }
}

/// The logarithm of `a` to the base `b`, or to the base e if `b` is none.
fn logarithm(a: f32, b: f32) -> f32 {
    let natural = ln(a);
    let result = if b <= 0.0 { natural } else { natural / ln(b) };
    if a <= 0.0 { -1000.0 } else { result }
}

impl Object for Arithmetic {
    held!(scalar; not operation; check |_| true);

    fn arithmetic(&self) -> Option<Arithmetic> {
        Some(*self)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, self.scalar.as_mut())
    }
}

/// A function of two signals. Each function is a type of its own, so that its loop runs in vectors.
struct Binary<F>(F);

impl<F: Fn(f32, f32) -> f32 + Send + Sync> Object for Binary<F> {
    held!(nothing);

    fn may_join(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        zip_each(&mut outlets[0], inlets.get(0), inlets.get(1), &self.0);
    }
}

/// A number for a right inlet that has one.
pub(super) fn set(message: Message<'_>, number: Option<&mut f32>) -> Handled {
    match (message.one_number(), number) {
        (Some(value), Some(number)) => *number = value,
        _ => return Handled::No,
    }
    Handled::Yes
}

/// A signal divided by a number: Pd multiplies by the inverse.
struct Quotient {
    divisor: f32,
}

impl Object for Quotient {
    held!(divisor);

    fn arithmetic(&self) -> Option<Arithmetic> {
        let inverse = match self.divisor {
            0.0 => 0.0,
            divisor => 1.0 / divisor,
        };
        Some(Arithmetic {
            operation: Operation::Multiply,
            scalar: Some(inverse),
        })
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        set(message, Some(&mut self.divisor))
    }
}

struct Clip(f32, f32);

impl Object for Clip {
    held!(tuple low, high);

    fn may_join(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        let (low, high) = (self.0, self.1);
        map_each(&mut outlets[0], inlets.get(0), |x| {
            let x = if x < low { low } else { x };
            if x > high { high } else { x }
        });
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let limit = match inlet {
            1 => &mut self.0,
            _ => &mut self.1,
        };
        set(message, Some(limit))
    }
}

/// A function of one signal; `BY_TABLE` if it reads one.
struct Unary<F, const BY_TABLE: bool>(F);

impl<F: Fn(f32) -> f32 + Send + Sync, const BY_TABLE: bool> Object for Unary<F, BY_TABLE> {
    held!(nothing);

    fn may_join(&self) -> bool {
        true
    }

    fn perform(
        &mut self,
        inlets: &Inlets<'_>,
        outlets: &mut [Box<[f32]>],
        _: &mut SignalWorld<'_>,
    ) {
        match BY_TABLE {
            true => map_by_table(&mut outlets[0], inlets.get(0), &self.0),
            false => map_each(&mut outlets[0], inlets.get(0), &self.0),
        }
    }
}

fn plain<F: Fn(f32) -> f32 + Send + Sync + 'static>(function: F) -> Box<dyn Object> {
    Box::new(Unary::<F, false>(function))
}

fn by_table<F: Fn(f32) -> f32 + Send + Sync + 'static>(function: F) -> Box<dyn Object> {
    Box::new(Unary::<F, true>(function))
}

fn unary(class: &str) -> Option<Box<dyn Object>> {
    let roots = RootTables::get();
    Some(match class {
        "abs~" => plain(f32::abs),
        "exp~" => plain(exp),
        "wrap~" => plain(wrap),
        "sqrt~" | "q8_sqrt~" => by_table(|x| x * roots.inverse_root(x)),
        "rsqrt~" | "q8_rsqrt~" => by_table(|x| roots.inverse_root(x)),
        "mtof~" => plain(mtof),
        "ftom~" => plain(|x| {
            let key = 17.312_34_f32 * ln(0.122_312_21_f32 * x);
            if x > 0.0 { key } else { -1500.0 }
        }),
        "rmstodb~" => plain(|x| to_db(x, 20.0)),
        "powtodb~" => plain(|x| to_db(x, 10.0)),
        "dbtorms~" => plain(|x| from_db(x, 0.05, 485.0)),
        "dbtopow~" => plain(|x| from_db(x, 0.1, 870.0)),
        _ => return None,
    })
}

const LN_10: f32 = crate::constants::LN_10 as f32;

fn to_db(x: f32, factor: f32) -> f32 {
    let db = (100.0 + factor / LN_10 * ln(x)).max(0.0);
    if x <= 0.0 { 0.0 } else { db }
}

fn from_db(x: f32, factor: f32, max: f32) -> f32 {
    let value = exp(LN_10 * factor * (x.min(max) - 100.0));
    if x <= 0.0 { 0.0 } else { value }
}
