//! Words, lines and pointers of a text, for all functions.

use super::super::sources::DataSource;
use crate::control::context::Context;
use crate::control::data::Place;
use crate::control::object::Handled;
use crate::control::text::TextWord;
use crate::control::value::{Message, Value};

/// Words of a text, or a line that says that there is none.
pub(super) fn find<'c>(
    source: DataSource,
    context: &'c mut Context<'_>,
) -> Option<&'c mut Vec<TextWord>> {
    let number = source.text(context)?;
    Some(context.globals().texts.words(number))
}

/// Values of a message as words, and the other way round.
pub(in crate::control::objects) fn restored(
    values: &[Value],
    context: &mut Context<'_>,
) -> Vec<TextWord> {
    let symbols = context.symbols();
    values
        .iter()
        .map(|value| TextWord::of_value(*value, symbols))
        .collect()
}

/// A number of a line: at least 0.
pub(super) fn line_number(line: f32) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative"
    )]
    (line > -1.0).then_some(line as usize)
}

/// Sends a pointer to what receives under a name.
pub(in crate::control::objects) fn send_pointer(
    place: Option<Place>,
    values: &[Value],
    context: &mut Context<'_>,
) {
    if let (Some(place), [Value::Symbol(name), ..]) = (place, values) {
        let pointer = context.globals().data.pointer(place);
        context.send_to(*name, Message::of_list(&[Value::Pointer(pointer)]));
    }
}

/// A name, or a pointer, at the last inlet.
pub(super) fn rename(message: Message<'_>, source: &mut DataSource) -> Handled {
    source.change(message)
}
