//! `text` and its functions (`x_text.c`).
//!
//! | file | holds |
//! |---|---|
//! | `define` | `text define` |
//! | `file` | `read` and `write`, of everything that holds a text |
//! | `read` | `text get`, `size`, `tolist` |
//! | `write` | `text set`, `insert`, `delete`, `fromlist` |
//! | `search` | `text search` |
//! | `sequence` | `text sequence` |

mod define;
mod file;
mod read;
mod search;
mod sequence;
mod write;

pub(super) use file::TextFile;

use super::Making;
use super::sources::DataSource;
use crate::control::data::Place;
use crate::control::object::{Context, Handled, Object};
use crate::control::text::TextWord;
use crate::control::value::{Message, Value};
use define::define;
use read::{Get, Size, ToList};
use search::{Search, keys};
use sequence::Sequence;
use write::{Delete, FromList, Insert, Set};

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "text" {
        return None;
    }
    let function = making.symbol(0);
    let function = function.map_or("define", |symbol| making.globals.symbols.text(symbol));
    let function = function.to_owned();
    if matches!(function.as_str(), "define" | "d") {
        return Some(Box::new(define(making)));
    }
    let (name, numbers) = DataSource::of(making.values.get(1..).unwrap_or_default(), making);
    let number = |at: usize, default: f32| numbers.get(at).map_or(default, |value| value.number());
    Some(match function.as_str() {
        "get" => Box::new(Get {
            name,
            field: number(0, -1.0),
            count: number(1, 1.0),
        }),
        "set" => Box::new(Set {
            name,
            line: number(0, 0.0),
            field: number(1, -1.0),
        }),
        "insert" => Box::new(Insert {
            name,
            line: number(0, 0.0),
        }),
        "delete" => Box::new(Delete(name)),
        "size" => Box::new(Size(name)),
        "tolist" => Box::new(ToList(name)),
        "fromlist" => Box::new(FromList(name)),
        "search" => Box::new(Search {
            name,
            keys: keys(making, numbers),
        }),
        "sequence" => Box::new(Sequence::new(making, name, numbers)),
        _ => return None,
    })
}

/// Words of a text, or a line that says that there is none.
pub(super) fn find<'c>(
    source: DataSource,
    context: &'c mut Context<'_>,
) -> Option<&'c mut Vec<TextWord>> {
    let number = source.text(context)?;
    Some(context.globals().texts.words(number))
}

/// Values of a message as words, and the other way round.
pub(super) fn restored(values: &[Value], context: &mut Context<'_>) -> Vec<TextWord> {
    let symbols = context.symbols();
    values
        .iter()
        .map(|value| TextWord::of_value(*value, symbols))
        .collect()
}

/// A number of a line: at least 0.
fn line_number(line: f32) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative"
    )]
    (line > -1.0).then_some(line as usize)
}

/// Sends a pointer to what receives under a name.
pub(super) fn send_pointer(place: Option<Place>, values: &[Value], context: &mut Context<'_>) {
    if let (Some(place), [Value::Symbol(name), ..]) = (place, values) {
        let pointer = context.globals().data.pointer(place);
        context.send_to(*name, Message::of_list(&[Value::Pointer(pointer)]));
    }
}

/// A name, or a pointer, at the last inlet.
fn rename(message: Message<'_>, source: &mut DataSource) -> Handled {
    source.change(message)
}
