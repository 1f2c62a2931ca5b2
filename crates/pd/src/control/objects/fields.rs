//! `get`, `set`, `element`, `getsize`, `setsize` and `append`: fields of scalars (`g_traversal.c`).

use super::super::context::Context;
use super::super::data::{Datum, FieldKind, Place};
use super::super::object::{Handled, Object};
use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::glue::to_number;
use super::pointers::{complain, to_pointer};

/// Elements of an array in a scalar, at most, that a message may ask for.
const MAX_ELEMENTS: f32 = 16_777_216.0;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    let class = making.class;
    if !matches!(
        class,
        "get" | "set" | "element" | "getsize" | "setsize" | "append"
    ) {
        return None;
    }
    let mut values = making.values;
    let is_symbol = class == "set"
        && making
            .symbol(0)
            .is_some_and(|flag| making.globals.symbols.text(flag) == "-symbol");
    if is_symbol {
        values = &values[1..];
    }
    let name = |value: Option<&Value>| match value {
        Some(Value::Symbol(name)) => *name,
        _ => words::EMPTY,
    };
    let template = template_name(name(values.first()), making);
    let mut fields: Vec<Symbol> = values
        .iter()
        .skip(1)
        .map(|value| name(Some(value)))
        .collect();
    if fields.is_empty() {
        fields.push(words::EMPTY);
    }
    let wanted = Wanted {
        class: match class {
            "get" => "get",
            "set" => "set",
            "element" => "element",
            "getsize" => "getsize",
            "setsize" => "setsize",
            _ => "append",
        },
        template,
        field: fields[0],
    };
    let numbers = vec![
        match is_symbol {
            true => Value::Symbol(words::EMPTY),
            false => Value::Float(0.0),
        };
        fields.len()
    ];
    Some(match class {
        "get" => Box::new(Get { wanted, fields }),
        "set" => Box::new(Set {
            wanted,
            fields,
            values: numbers,
            is_symbol,
            at: None,
        }),
        "append" => Box::new(Append {
            wanted,
            fields,
            numbers: vec![0.0; values.len().saturating_sub(1).max(1)],
            at: None,
        }),
        "element" => Box::new(Element { wanted, at: None }),
        "getsize" => Box::new(GetSize(wanted)),
        _ => Box::new(SetSize { wanted, at: None }),
    })
}

/// A template's name: `-` is any.
fn template_name(name: Symbol, making: &Making<'_>) -> Symbol {
    match making.globals.symbols.text(name) {
        "-" => words::EMPTY,
        _ => name,
    }
}

/// The template and field that a box wants of a pointer.
struct Wanted {
    class: &'static str,
    /// Empty for any.
    template: Symbol,
    field: Symbol,
}

impl Wanted {
    /// The place and its template; says what is wrong.
    fn place(
        &self,
        pointer: Option<Pointer>,
        context: &mut Context<'_>,
    ) -> Option<(Place, Symbol)> {
        let class = self.class;
        let data = &context.globals().data;
        let place = data.datum_place(pointer);
        let Some((place, template)) = place.and_then(|at| Some((at, data.template(at)?))) else {
            context.print_with(|_, to| write!(to, "error: {class}: stale or empty pointer"));
            return None;
        };
        if self.template != words::EMPTY && self.template != template {
            context.print_with(|symbols, to| {
                let (own, other) = (symbols.text(self.template), symbols.text(template));
                write!(
                    to,
                    "error: {class} pd-{own}: got wrong template (pd-{other})"
                )
            });
            return None;
        }
        Some((place, template))
    }

    /// The array of the wanted field.
    fn array(&self, pointer: Option<Pointer>, context: &mut Context<'_>) -> Option<u32> {
        let (place, template) = self.place(pointer, context)?;
        let (class, field) = (self.class, self.field);
        let (data, beside, _) = context.globals().data();
        let found = data.field(template, field);
        let why = match found {
            None => "couldn't find array field",
            Some((at, FieldKind::Array(_))) => match data.get(place, at, &beside) {
                Some(Datum::Array(array)) => return Some(array),
                _ => "no array in field",
            },
            Some(_) => "not of type array: field",
        };
        context
            .print_with(|symbols, to| write!(to, "error: {class}: {why} {}", symbols.text(field)));
        None
    }

    /// `set TEMPLATE FIELD`.
    fn change(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [Value::Symbol(template), Value::Symbol(field), ..]) => {
                self.template = match context.symbols().text(*template) {
                    "-" => words::EMPTY,
                    _ => *template,
                };
                self.field = *field;
                Handled::Yes
            }
            _ => Handled::No,
        }
    }
}

/// Sets a number or a symbol of a field; says what is wrong.
fn set_field(
    place: Place,
    template: Symbol,
    field: Symbol,
    value: Value,
    context: &mut Context<'_>,
) {
    let (data, mut beside, _) = context.globals().data();
    let why = match (data.field(template, field), value) {
        (Some((at, FieldKind::Float)), Value::Float(_))
        | (Some((at, FieldKind::Symbol)), Value::Symbol(_)) => {
            return data.set(place, at, value, &mut beside);
        }
        (None, _) => "no such field",
        (_, Value::Float(_)) => "not a number",
        _ => "not a symbol",
    };
    field_mistake("", template, field, why, context);
}

fn field_mistake(
    before: &str,
    template: Symbol,
    field: Symbol,
    why: &str,
    context: &mut Context<'_>,
) {
    context.print_with(|symbols, to| {
        let (template, field) = (symbols.text(template), symbols.text(field));
        write!(to, "error: {before}pd-{template}.{field}: {why}")
    });
}

struct Get {
    wanted: Wanted,
    fields: Vec<Symbol>,
}

impl Object for Get {
    fn pointer(&mut self, pointer: Pointer, context: &mut Context<'_>) -> Handled {
        let Some((place, template)) = self.wanted.place(Some(pointer), context) else {
            return Handled::Yes;
        };
        // The last ones first, as all were when the pointer came.
        for (outlet, field) in self.fields.iter().enumerate().rev() {
            let (data, beside, _) = context.globals().data();
            let found = data.field(template, *field);
            let datum = found.and_then(|(at, _)| data.get(place, at, &beside));
            match datum {
                Some(Datum::Float(number)) => context.send_float(outlet, number),
                Some(Datum::Symbol(symbol)) => context.send_value(outlet, Value::Symbol(symbol)),
                None => field_mistake("get: ", template, *field, "no such field", context),
                _ => field_mistake(
                    "get: ",
                    template,
                    *field,
                    "is not a number or symbol",
                    context,
                ),
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if self.fields.len() != 1 && message.selector == words::SET {
            complain("get: cannot set multiple fields.", context);
            return Handled::Yes;
        }
        let handled = self.wanted.change(message, context);
        if handled == Handled::Yes {
            self.fields[0] = self.wanted.field;
        }
        handled
    }
}

struct Set {
    wanted: Wanted,
    fields: Vec<Symbol>,
    values: Vec<Value>,
    is_symbol: bool,
    at: Option<Pointer>,
}

impl Set {
    fn first(&mut self, value: Value, context: &mut Context<'_>) -> Handled {
        if matches!(value, Value::Symbol(_)) != self.is_symbol {
            complain("set: type mismatch or no field specified", context);
            return Handled::Yes;
        }
        self.values[0] = value;
        self.bang(context)
    }
}

impl Object for Set {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some((place, template)) = self.wanted.place(self.at, context) {
            for (field, value) in self.fields.iter().zip(&self.values) {
                set_field(place, template, *field, *value, context);
            }
        }
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.first(Value::Float(number), context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.first(Value::Symbol(symbol), context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if self.fields.len() != 1 && message.selector == words::SET {
            complain("set: cannot set multiple fields.", context);
            return Handled::Yes;
        }
        let handled = self.wanted.change(message, context);
        if handled == Handled::Yes {
            self.fields[0] = self.wanted.field;
            self.values[0] = match self.is_symbol {
                true => Value::Symbol(words::EMPTY),
                false => Value::Float(0.0),
            };
        }
        handled
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match (self.values.get_mut(inlet), message.values) {
            (None, _) => to_pointer(message, &mut self.at),
            (Some(Value::Float(number)), _) => to_number(message, number),
            (Some(own), [symbol @ Value::Symbol(_)]) => {
                *own = *symbol;
                Handled::Yes
            }
            _ => Handled::No,
        }
    }
}

struct Append {
    wanted: Wanted,
    fields: Vec<Symbol>,
    numbers: Vec<f32>,
    at: Option<Pointer>,
}

impl Object for Append {
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let template = self.wanted.template;
        let (data, mut beside, _) = context.globals().data();
        if data.fields(template).is_none() {
            context.print_with(|symbols, to| {
                let name = symbols.text(template);
                write!(to, "error: append: couldn't find template pd-{name}")
            });
            return Handled::Yes;
        }
        let Some(place) = data.place(self.at) else {
            let why = match self.at {
                None => "append: no current pointer",
                Some(_) => "append: stale pointer",
            };
            complain(why, context);
            return Handled::Yes;
        };
        let scalar = match data.insert(place, template, &mut beside) {
            Ok(scalar) => Place::Scalar(scalar),
            Err(why) => {
                context.print_with(|_, to| write!(to, "error: append: {why}"));
                return Handled::Yes;
            }
        };
        let pointer = data.pointer(scalar);
        self.at = Some(pointer);
        self.numbers[0] = number;
        for (field, number) in self.fields.iter().zip(&self.numbers) {
            set_field(scalar, template, *field, Value::Float(*number), context);
        }
        context.send_value(0, Value::Pointer(pointer));
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if self.fields.len() != 1 && message.selector == words::SET {
            complain("append set: cannot set multiple fields.", context);
            return Handled::Yes;
        }
        let handled = self.wanted.change(message, context);
        if handled == Handled::Yes {
            self.fields[0] = self.wanted.field;
            self.numbers[0] = 0.0;
        }
        handled
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match self.numbers.get_mut(inlet) {
            None => to_pointer(message, &mut self.at),
            Some(number) => to_number(message, number),
        }
    }
}

/// An index between 0 and the last one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; larger ones saturate"
)]
fn index(number: f32, len: usize) -> Option<u32> {
    let last = len.checked_sub(1)?;
    u32::try_from((number.max(0.0) as usize).min(last)).ok()
}

struct Element {
    wanted: Wanted,
    at: Option<Pointer>,
}

impl Object for Element {
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        if let Some(array) = self.wanted.array(self.at, context) {
            let (data, beside, _) = context.globals().data();
            if let Some(at) = index(number, data.array_len(array, beside.arrays)) {
                let pointer = data.pointer(Place::Element(array, at));
                context.send_value(0, Value::Pointer(pointer));
            }
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.wanted.change(message, context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_pointer(message, &mut self.at)
    }
}

struct GetSize(Wanted);

impl Object for GetSize {
    fn pointer(&mut self, pointer: Pointer, context: &mut Context<'_>) -> Handled {
        if let Some(array) = self.0.array(Some(pointer), context) {
            let (data, beside, _) = context.globals().data();
            #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
            let len = data.array_len(array, beside.arrays) as f32;
            context.send_float(0, len);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.0.change(message, context)
    }
}

struct SetSize {
    wanted: Wanted,
    at: Option<Pointer>,
}

impl Object for SetSize {
    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        if let Some(array) = self.wanted.array(self.at, context) {
            resize(array, number, context);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.wanted.change(message, context)
    }

    fn cold(&mut self, inlet: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match inlet {
            1 => to_pointer(message, &mut self.at),
            _ => Handled::No,
        }
    }
}

/// Changes the number of elements of an array in a scalar: at least one.
pub(super) fn resize(array: u32, len: f32, context: &mut Context<'_>) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded"
    )]
    let len = len.clamp(1.0, MAX_ELEMENTS) as usize;
    let (data, mut beside, _) = context.globals().data();
    if let Some(id) = data.named_array(array) {
        return context.resize_array(id, len);
    }
    if len != data.array_len(array, beside.arrays) && !data.resize(array, len, &mut beside) {
        complain("setsize: no memory for more data", context);
    }
}
