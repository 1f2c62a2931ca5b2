//! `array` and its functions over a part of an array (`x_array.c`).

use super::super::arrays::ArrayId;
use super::super::context::Context;
use super::super::data::{Datum, FieldKind, Place};
use super::super::object::{Handled, Object};
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::fields::resize;
use super::glue::to_number;
use super::math::narrow;
use super::sources::DataSource;
use crate::state::{Held, StateReader, StateWriter, Unfit, held};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "array" {
        return None;
    }
    let function = making.symbol(0)?;
    let function = match making.globals.symbols.text(function) {
        "size" => Function::Size,
        "sum" => Function::Sum,
        "get" => Function::Get,
        "set" => Function::Set,
        "quantile" => Function::Quantile,
        "random" => Function::Random(making.globals.next_array_seed()),
        "max" => Function::Max,
        "min" => Function::Min,
        _ => return None,
    };
    let mut rest = making.values.get(1..).unwrap_or_default();
    let (mut source, mut point) = (
        DataSource::Name(words::EMPTY),
        making.globals.symbols.intern("y"),
    );
    loop {
        let flag = match rest {
            [Value::Symbol(flag), ..] => making.globals.symbols.text(*flag),
            _ => "",
        };
        match (flag, rest) {
            ("-f", [_, Value::Symbol(_), Value::Symbol(field), after @ ..]) => {
                (point, rest) = (*field, after);
            }
            ("-s", [_, Value::Symbol(_), Value::Symbol(_), after @ ..]) => {
                (source, rest) = (DataSource::of(rest, making).0, after);
            }
            (flag, [_, after @ ..]) if flag.starts_with('-') => rest = after,
            _ => break,
        }
    }
    let numbers = match (source, rest) {
        (DataSource::Name(_), [Value::Symbol(name), numbers @ ..]) => {
            source = DataSource::Name(*name);
            numbers
        }
        (_, numbers) => numbers,
    };
    let number = |at: usize, default: f32| numbers.get(at).map_or(default, |value| value.number());
    Some(Box::new(Range {
        function,
        source,
        point,
        points: Vec::new(),
        onset: number(0, 0.0),
        count: number(1, -1.0),
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Size,
    Sum,
    Get,
    Set,
    Quantile,
    /// With its state.
    Random(u32),
    Max,
    Min,
}

struct Range {
    function: Function,
    source: DataSource,
    /// The field of an element that is its number.
    point: Symbol,
    /// Numbers of the elements of an array in a scalar.
    points: Vec<f32>,
    onset: f32,
    /// Points; below 0 it is all of them.
    count: f32,
}

/// Points of an array, at most, by a message.
const MAX_POINTS: f32 = 268_435_456.0;

impl Range {
    /// The named array; says that there is none.
    fn named(name: Symbol, context: &mut Context<'_>) -> Option<ArrayId> {
        let found = context.arrays().find(name);
        if found.is_none() {
            context.print_with(|symbols, to| {
                let name = symbols.text(name);
                write!(to, "error: array: couldn't find named array '{name}'")
            });
        }
        found
    }

    /// The named array, or the numbers of an array in a scalar put together; says what is wrong.
    fn gathered<'c>(&'c mut self, context: &'c mut Context<'_>) -> Option<&'c mut [f32]> {
        if let DataSource::Name(name) = self.source {
            let id = Self::named(name, context)?;
            return Some(context.arrays().points_mut(id));
        }
        let array = self.source.array(context)?;
        let (data, beside, _) = context.globals().data();
        let field = data.field(data.array_template(array), self.point);
        let Some((field, FieldKind::Float)) = field else {
            context.print_with(|symbols, to| {
                let point = symbols.text(self.point);
                write!(to, "error: array: {point}: no such number in its elements")
            });
            return None;
        };
        let count = u32::try_from(data.array_len(array, beside.arrays)).unwrap_or(u32::MAX);
        self.points.clear();
        self.points.extend((0..count).map(|at| {
            match data.get(Place::Element(array, at), field, &beside) {
                Some(Datum::Float(number)) => number,
                _ => 0.0,
            }
        }));
        Some(&mut self.points)
    }

    /// Puts numbers back into an array in a scalar, from `onset` on.
    fn scatter(&mut self, onset: usize, count: usize, context: &mut Context<'_>) {
        let DataSource::Field { .. } = self.source else {
            return;
        };
        let Some(array) = self.source.array(context) else {
            return;
        };
        let (data, mut beside, _) = context.globals().data();
        let field = data.field(data.array_template(array), self.point);
        let changed = self.points.iter().enumerate().skip(onset).take(count);
        for (at, number) in changed {
            if let (Some((field, _)), Ok(at)) = (field, u32::try_from(at)) {
                let place = Place::Element(array, at);
                data.set(place, field, Value::Float(*number), &mut beside);
            }
        }
    }

    /// The first index and the points; `None` without an array, which is printed.
    fn range<'c>(&'c mut self, context: &'c mut Context<'_>) -> Option<(usize, &'c mut [f32])> {
        let (first, wanted) = (self.onset, self.count);
        let points = self.gathered(context)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 0 is 0"
        )]
        let onset = (first as usize).min(points.len());
        let left = points.len() - onset;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative"
        )]
        let count = if wanted < 0.0 {
            left
        } else {
            (wanted as usize).min(left)
        };
        Some((onset, &mut points[onset..onset + count]))
    }

    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    fn quantile(&mut self, part: f32, context: &mut Context<'_>) {
        let Some((_, points)) = self.range(context) else {
            return;
        };
        let weight = |point: &f32| f64::from(if *point > 0.0 { *point } else { 0.0 });
        let mut sum: f64 =
            points.iter().fold(0.0, |sum, point| sum + weight(point)) * f64::from(part);
        let last = points.len().saturating_sub(1);
        let found = points[..last].iter().position(|point| {
            sum -= weight(point);
            sum < 0.0
        });
        context.send_float(0, found.unwrap_or(last) as f32);
    }

    /// The outermost value with its index.
    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
    fn extreme(&mut self, start: f32, is_better: fn(f32, f32) -> bool, context: &mut Context<'_>) {
        let Some((onset, points)) = self.range(context) else {
            return;
        };
        let mut best = (start, -1.0);
        for (at, point) in points.iter().enumerate() {
            if is_better(*point, best.0) {
                best = (*point, (onset + at) as f32);
            }
        }
        context.send_float(1, best.1);
        context.send_float(0, best.0);
    }

    fn resize(&self, size: f32, context: &mut Context<'_>) {
        let DataSource::Name(name) = self.source else {
            if let Some(array) = self.source.array(context) {
                resize(array, size, context);
            }
            return;
        };
        if let Some(id) = Self::named(name, context) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bounded"
            )]
            let size = size.clamp(1.0, MAX_POINTS) as usize;
            context.resize_array(id, size);
        }
    }

    /// The number of points.
    fn size(&self, context: &mut Context<'_>) -> Option<usize> {
        match self.source {
            DataSource::Name(name) => {
                let id = Self::named(name, context)?;
                Some(context.arrays().points(id).len())
            }
            source @ DataSource::Field { .. } => {
                let array = source.array(context)?;
                let (data, beside, _) = context.globals().data();
                Some(data.array_len(array, beside.arrays))
            }
        }
    }
}

impl Held for Function {
    fn save(&self, state: &mut StateWriter<'_>) {
        if let Self::Random(random) = self {
            random.save(state);
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        match self {
            Self::Random(random) => random.load(state),
            _ => Ok(()),
        }
    }
}

impl Object for Range {
    held!(function, source, onset, count; not point, points);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        match &mut self.function {
            Function::Size => {
                if let Some(size) = self.size(context) {
                    #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
                    let size = size as f32;
                    context.send_float(0, size);
                }
            }
            Function::Sum => {
                if let Some((_, points)) = self.range(context) {
                    let sum = points
                        .iter()
                        .fold(0.0, |sum, point| sum + f64::from(*point));
                    context.send_float(0, narrow(sum));
                }
            }
            Function::Get => {
                context.with_line(|list, context| {
                    if let Some((_, points)) = self.range(context) {
                        list.extend(points.iter().map(|point| Value::Float(*point)));
                        context.send_list(0, list);
                    }
                });
            }
            Function::Random(state) => {
                *state = state.wrapping_mul(472_940_017).wrapping_add(832_416_023);
                let part = narrow(f64::from(*state) / 4_294_967_296.0);
                self.quantile(part, context);
            }
            Function::Max => self.extreme(-1e30, |a, b| a > b, context),
            Function::Min => self.extreme(1e30, |a, b| a < b, context),
            Function::Set | Function::Quantile => return Handled::No,
        }
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        match self.function {
            Function::Size => self.resize(number, context),
            Function::Quantile => self.quantile(number, context),
            Function::Set => return Handled::No,
            _ => {
                self.onset = number;
                return self.bang(context);
            }
        }
        Handled::Yes
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if self.function != Function::Set {
            return Handled::No;
        }
        if let Some((onset, points)) = self.range(context) {
            for (point, value) in points.iter_mut().zip(values) {
                *point = value.number();
            }
            self.scatter(onset, values.len(), context);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (&mut self.function, message.selector) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "any bits are a seed"
            )]
            (Function::Random(state), words::SEED) => *state = message.number() as i64 as u32,
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let has_onset = matches!(self.function, Function::Set | Function::Quantile);
        let has_count = !matches!(self.function, Function::Set | Function::Size);
        match (inlet, has_onset, has_count) {
            (1, true, _) => to_number(message, &mut self.onset),
            (1, false, true) | (2, true, true) => to_number(message, &mut self.count),
            _ => self.source.change(message),
        }
    }
}
