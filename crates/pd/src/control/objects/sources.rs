//! [`DataSource`]: the text or the array that a box works on, by its name or as a field of a scalar.

use super::super::context::Context;
use super::super::data::{Datum, FieldKind};
use super::super::object::Handled;
use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use crate::state::{Held, StateReader, StateWriter, Unfit};

/// A text or an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DataSource {
    Name(Symbol),
    /// A field of what a pointer leads to (`-s STRUCT FIELD`).
    Field {
        template: Symbol,
        field: Symbol,
        pointer: Option<Pointer>,
    },
}

/// The name alone: a field is found by a pointer, and pointers begin anew.
impl Held for DataSource {
    fn save(&self, state: &mut StateWriter<'_>) {
        if let Self::Name(name) = self {
            name.save(state);
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        match self {
            Self::Name(name) => name.load(state),
            Self::Field { .. } => Ok(()),
        }
    }
}

impl DataSource {
    /// The source that words name, and the words behind it. Other flags stand before nothing.
    pub(super) fn of<'v>(values: &'v [Value], making: &Making<'_>) -> (Self, &'v [Value]) {
        let text = |symbol: Symbol| making.globals.symbols.text(symbol);
        match values {
            [
                Value::Symbol(flag),
                Value::Symbol(template),
                Value::Symbol(field),
                rest @ ..,
            ] if text(*flag) == "-s" => {
                let (template, field) = (*template, *field);
                let source = Self::Field {
                    template,
                    field,
                    pointer: None,
                };
                (source, rest)
            }
            [Value::Symbol(name), rest @ ..] if !text(*name).starts_with('-') => {
                (Self::Name(*name), rest)
            }
            rest => (Self::Name(words::EMPTY), rest),
        }
    }

    /// Another name, or another pointer.
    pub(super) fn change(&mut self, message: Message<'_>) -> Handled {
        match (self, message.values) {
            (Self::Name(name), [Value::Symbol(new)]) => *name = *new,
            (Self::Field { pointer, .. }, [Value::Pointer(new)]) => *pointer = Some(*new),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Content of the field; says what is wrong. Not for a name.
    fn datum(&self, class: &str, context: &mut Context<'_>) -> Option<(Datum, FieldKind)> {
        let Self::Field {
            template,
            field,
            pointer,
        } = *self
        else {
            return None;
        };
        let (data, beside, _) = context.globals().data();
        let found = data.datum_place(pointer).map(|place| {
            let is_own = data.template(place) == Some(template);
            let (at, kind) = data.field(template, field).filter(|_| is_own)?;
            Some((data.get(place, at, &beside)?, kind))
        });
        match found {
            Some(Some(found)) => return Some(found),
            Some(None) => context.print_with(|symbols, to| {
                let (template, field) = (symbols.text(template), symbols.text(field));
                write!(to, "error: {class}: pd-{template}.{field}: no such field")
            }),
            None => {
                context.print_with(|_, to| write!(to, "error: {class}: stale or empty pointer"))
            }
        }
        None
    }

    /// The number of the text; says that there is none.
    pub(super) fn text(&self, context: &mut Context<'_>) -> Option<usize> {
        let Self::Name(name) = *self else {
            let found = self.datum("text", context);
            let Some((Datum::Text(text), _)) = found else {
                if found.is_some() {
                    context.print_with(|_, to| to.write_str("error: text: not a list"));
                }
                return None;
            };
            return Some(text as usize);
        };
        let found = context.globals().texts.find(name);
        if found.is_none() {
            context.print_with(|symbols, to| {
                let name = symbols.text(name);
                write!(to, "error: text: couldn't find text buffer '{name}'")
            });
        }
        found
    }

    /// The array in a scalar; says that there is none. Not for a name.
    pub(super) fn array(&self, context: &mut Context<'_>) -> Option<u32> {
        let found = self.datum("array", context);
        if let Some((Datum::Array(array), _)) = found {
            return Some(array);
        }
        if found.is_some() {
            context.print_with(|_, to| to.write_str("error: array: field not of type array"));
        }
        None
    }
}
