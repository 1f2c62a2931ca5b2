//! Reading and writing arrays: `tabread`, `tabread4`, `tabwrite`, and the messages that an array takes.

use super::super::arrays::ArrayId;
use super::super::context::Context;
use super::super::data::Place;
use super::super::globals::Globals;
use super::super::object::{Handled, Object};
use super::super::sums;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::super::wire::ObjectId;
use super::Making;
use super::glue::to_number;
use super::math::narrow;
use super::texts::send_pointer;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let name = making.symbol(0).unwrap_or(words::EMPTY);
    Some(match making.class {
        "tabread" => Box::new(Read {
            name,
            is_cubic: false,
        }),
        "tabread4" => Box::new(Read {
            name,
            is_cubic: true,
        }),
        "tabwrite" => Box::new(Write { name, index: 0.0 }),
        _ => return None,
    })
}

struct Read {
    name: Symbol,
    is_cubic: bool,
}

impl Object for Read {
    held!(name; not is_cubic);

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let Some(points) = context.arrays().named(self.name) else {
            context.print_with(|symbols, line| {
                write!(line, "error: {}: no such array", symbols.text(self.name))
            });
            return Handled::Yes;
        };
        let value = match self.is_cubic {
            true => cubic(points, number),
            false => nearest(points, number),
        };
        context.send_float(0, value);
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

/// The point below `at`, within the array.
fn nearest(points: &[f32], at: f32) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 0 is 0, beyond the end the last"
    )]
    let index = at as usize;
    points
        .get(index.min(points.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

/// Between the points by a cubic through four of them, as in Pd's `tabread4`.
fn cubic(points: &[f32], at: f32) -> f32 {
    let count = points.len();
    if count < 4 {
        return points.first().copied().unwrap_or(0.0);
    }
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let last = (count - 3) as f32;
    if at <= 1.0 {
        return points[1];
    }
    if at >= last {
        return points[count - 3 + 1];
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and the end"
    )]
    let index = (at as usize).clamp(1, count - 3);
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    let fraction = at - index as f32;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| points[index - 1 + i]);
    let slope = c - b;
    let inner = f64::from((d - a - 3.0 * slope) * fraction + (d + 2.0 * a - 3.0 * b));
    let curve = f64::from(slope) - 0.166_666_67 * (1.0 - f64::from(fraction)) * inner;
    narrow(f64::from(b) + f64::from(fraction) * curve)
}

struct Write {
    name: Symbol,
    index: f32,
}

impl Object for Write {
    held!(name, index);

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let Some(id) = context.arrays().find(self.name) else {
            context.print_with(|symbols, line| {
                write!(line, "error: {}: no such array", symbols.text(self.name))
            });
            return Handled::Yes;
        };
        let points = context.arrays().points_mut(id);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0, beyond the end the last"
        )]
        let index = (self.index as usize).min(points.len().saturating_sub(1));
        if let Some(point) = points.get_mut(index) {
            *point = number;
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(name), ..]) => self.name = *name,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.index)
    }
}

/// Receiver of messages under the name of an array.
pub(in super::super) struct ArrayBox {
    pub(in super::super) name: Symbol,
    pub(in super::super) id: ArrayId,
    /// The place of pointers to an `array define`.
    pub(in super::super) place: Option<Place>,
}

/// Points of an array, at most, by a message.
const MAX_POINTS: f32 = 268_435_456.0;

impl ArrayBox {
    /// Takes another name.
    fn rename(&mut self, to: Symbol, context: &mut Context<'_>) {
        context.arrays().rename(self.id, self.name, to);
        context.rename_receiver(Some(self.name), Some(to));
        self.name = to;
    }

    fn sum(&self, id: ArrayId, values: &[Value], is_sine: bool, context: &mut Context<'_>) {
        let [size, partials @ ..] = values else {
            return self.refuse_sum(is_sine, context);
        };
        if partials.is_empty() {
            return self.refuse_sum(is_sine, context);
        }
        let stated = size.number().clamp(-MAX_POINTS, MAX_POINTS);
        #[expect(clippy::cast_possible_truncation, reason = "bounded")]
        let stated = match stated as i64 {
            0 => 512,
            stated => stated,
        };
        // A power of two, and three points more for the cubic.
        let size = 1_usize << stated.max(1).ilog2();
        if usize::try_from(stated) != Ok(size) {
            context.print_with(|_, line| write!(line, "pd-float: rounding to {size} points"));
        }
        context.make_points(id, size + sums::EXTRA, Some((is_sine, partials)));
    }

    /// Takes what says how an array looks.
    fn other(selector: Symbol, context: &mut Context<'_>) -> Handled {
        match context.symbols().text(selector) {
            "bounds" | "xticks" | "yticks" | "xlabel" | "ylabel" | "style" | "width" | "color"
            | "vis" | "zoom" | "edit" | "print" | "arraydialog" | "arrayviewlistnew"
            | "arrayviewclose" => Handled::Yes,
            _ => Handled::No,
        }
    }

    fn refuse_sum(&self, is_sine: bool, context: &mut Context<'_>) {
        let name = self.name;
        let message = if is_sine { "sinesum" } else { "cosinesum" };
        context.print_with(|symbols, line| {
            let name = symbols.text(name);
            write!(
                line,
                "error: {message}: {name}: need number of points and partial strengths"
            )
        });
    }
}

impl Object for ArrayBox {
    held!(name; not id, place);

    fn removed(&mut self, _: ObjectId, globals: &mut Globals) {
        let (data, mut beside, _) = globals.data();
        data.remove_around(self.place, &mut beside);
        globals.arrays.remove(self.id, self.name);
    }

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(place) = self.place {
            let pointer = context.globals().data.pointer(place);
            context.send_value(0, Value::Pointer(pointer));
        }
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        let points = context.arrays().points_mut(self.id);
        let Some((first, values)) = values.split_first() else {
            return Handled::Yes;
        };
        #[expect(clippy::cast_possible_truncation, reason = "larger ones saturate")]
        let first = first.number() as isize;
        // What lies before the first point is left out.
        let (from, left_out) = match usize::try_from(first) {
            Ok(from) => (from, 0),
            Err(_) => (0, first.unsigned_abs()),
        };
        let values = values.iter().skip(left_out);
        for (point, value) in points.iter_mut().skip(from).zip(values) {
            *point = value.number();
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if message.selector == words::SEND && self.place.is_some() {
            send_pointer(self.place, message.values, context);
            return Handled::Yes;
        }
        if let (words::RENAME, [Value::Symbol(to), ..]) = (message.selector, message.values) {
            self.rename(*to, context);
            return Handled::Yes;
        }
        let id = self.id;
        let points = context.arrays().points_mut(id);
        match message.selector {
            words::CONST => points.fill(message.number()),
            words::SINESUM => self.sum(id, message.values, true, context),
            words::COSINESUM => self.sum(id, message.values, false, context),
            words::RESIZE => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "bounded"
                )]
                let size = message.number().clamp(1.0, MAX_POINTS) as usize;
                context.resize_array(id, size);
            }
            words::NORMALIZE => {
                let target = if message.number() > 0.0 {
                    message.number()
                } else {
                    1.0
                };
                let peak = points
                    .iter()
                    .fold(0.0_f32, |peak, point| peak.max(point.abs()));
                if peak > 0.0 {
                    let factor = target / peak;
                    points.iter_mut().for_each(|point| *point *= factor);
                }
            }
            _ => return Self::other(message.selector, context),
        }
        Handled::Yes
    }
}
