//! Rules of Pd for messages that a class has no method of its own for (`m_class.c`).

use super::context::Context;
use super::object::{Handled, Object};
use super::symbol::{Symbol, words};
use super::value::{Message, Value};

/// Gives an object a number.
#[inline(always)]
pub(super) fn number_to_inlet(
    object: &mut dyn Object,
    inlet: usize,
    number: f32,
    context: &mut Context<'_>,
) -> Handled {
    if inlet == 0 && object.float(number, context) == Handled::Yes {
        return Handled::Yes;
    }
    number_as_words(object, inlet, number, context)
}

/// Gives an object that has no method for a number the words of it.
#[inline(never)]
fn number_as_words(
    object: &mut dyn Object,
    inlet: usize,
    number: f32,
    context: &mut Context<'_>,
) -> Handled {
    let (selector, values) = (words::FLOAT, &[Value::Float(number)][..]);
    let message = Message { selector, values };
    if inlet > 0 {
        return object.cold(inlet, message, context);
    }
    match object.list(values, context) {
        Handled::Yes => Handled::Yes,
        Handled::No => object.anything(message, context),
    }
}

/// Gives an object a bang.
#[inline(always)]
pub(super) fn bang_to_inlet(object: &mut dyn Object, context: &mut Context<'_>) -> Handled {
    match object.bang(context) {
        Handled::Yes => Handled::Yes,
        Handled::No => bang_as_list(object, context),
    }
}

/// Gives an object that has no method for a bang an empty list.
#[inline(never)]
fn bang_as_list(object: &mut dyn Object, context: &mut Context<'_>) -> Handled {
    let (selector, values) = (words::BANG, &[][..]);
    match object.list(values, context) {
        Handled::Yes => Handled::Yes,
        Handled::No => object.anything(Message { selector, values }, context),
    }
}

/// Gives an object a message. `set` sets the number at an inlet of signals, of `inlets` that the box has; false if it is none.
#[inline(always)]
pub(super) fn message_to_inlet(
    object: &mut dyn Object,
    set: &mut dyn FnMut(usize, f32) -> bool,
    (inlet, inlets): (usize, usize),
    message: Message<'_>,
    context: &mut Context<'_>,
) -> Handled {
    if (inlet, message.selector) == (0, words::LIST) {
        if let [Value::Float(number)] = message.values
            && !object.takes_short_lists()
            && set(0, *number)
        {
            // A number in Pd too, also for boxes that pass lists on.
            return Handled::Yes;
        }
        return match object.list(message.values, context) {
            Handled::Yes => Handled::Yes,
            Handled::No => spread(object, set, inlets, message.values, context),
        };
    }
    other_to_inlet(object, set, inlet, message, context)
}

/// Gives an object a message at a right inlet, or one that is no list.
#[inline(never)]
fn other_to_inlet(
    object: &mut dyn Object,
    set: &mut dyn FnMut(usize, f32) -> bool,
    inlet: usize,
    message: Message<'_>,
    context: &mut Context<'_>,
) -> Handled {
    let message = match (message.selector, message.values) {
        (words::SYMBOL, [] | [Value::Float(_) | Value::Pointer(_), ..]) => Message {
            values: &[Value::Symbol(words::EMPTY)],
            ..message
        },
        _ => message,
    };
    if message
        .one_number()
        .is_some_and(|number| set(inlet, number))
    {
        return Handled::Yes;
    }
    match inlet {
        0 => to_left_inlet(object, message, context),
        _ => match (object.cold(inlet, message, context), message.values) {
            // An empty list is a bang where nothing else is expected.
            (Handled::No, []) if message.selector == words::LIST => {
                let selector = words::BANG;
                object.cold(
                    inlet,
                    Message {
                        selector,
                        ..message
                    },
                    context,
                )
            }
            (handled, _) => handled,
        },
    }
}

/// Gives an object a message that is no list at its left inlet.
fn to_left_inlet(
    object: &mut dyn Object,
    message: Message<'_>,
    context: &mut Context<'_>,
) -> Handled {
    let exact = match (message.selector, message.values) {
        (words::BANG, _) => object.bang(context),
        (words::FLOAT, [Value::Float(number), ..]) => object.float(*number, context),
        (words::FLOAT, []) => object.float(0.0, context),
        (words::FLOAT, [Value::Symbol(_) | Value::Pointer(_), ..]) => return Handled::No,
        (words::SYMBOL, [Value::Symbol(symbol), ..]) => object.symbol(*symbol, context),
        (words::SYMBOL, _) => object.symbol(words::EMPTY, context),
        (words::POINTER, [Value::Pointer(pointer)]) => object.pointer(*pointer, context),
        _ => return object.anything(message, context),
    };
    if exact == Handled::Yes {
        return exact;
    }
    match object.list(message.values, context) {
        Handled::Yes => Handled::Yes,
        Handled::No => object.anything(message, context),
    }
}

/// A list that an object has no method for: as the value that it is, else spread over the inlets, the left one last.
/// Words behind the last inlet are left out.
#[inline(never)]
fn spread(
    object: &mut dyn Object,
    set: &mut dyn FnMut(usize, f32) -> bool,
    inlets: usize,
    values: &[Value],
    context: &mut Context<'_>,
) -> Handled {
    let short = match values {
        [] => object.bang(context),
        [Value::Float(number)] => object.float(*number, context),
        [Value::Symbol(symbol)] => object.symbol(*symbol, context),
        [Value::Pointer(pointer)] => object.pointer(*pointer, context),
        _ => Handled::No,
    };
    if short == Handled::Yes {
        return short;
    }
    let message = Message {
        selector: words::LIST,
        values,
    };
    if object.anything(message, context) == Handled::Yes {
        return Handled::Yes;
    }
    for (inlet, value) in values.iter().enumerate().take(inlets).skip(1) {
        if !matches!(value, Value::Float(number) if set(inlet, *number)) {
            let message = Message::of_list(std::slice::from_ref(value));
            if object.cold(inlet, message, context) == Handled::No {
                report_refused(message.selector, context);
            }
        }
    }
    match values.first() {
        Some(Value::Float(number)) if set(0, *number) => Handled::Yes,
        Some(Value::Float(number)) => object.float(*number, context),
        Some(Value::Symbol(symbol)) => object.symbol(*symbol, context),
        Some(Value::Pointer(pointer)) => object.pointer(*pointer, context),
        None => Handled::No,
    }
}

/// Says that an inlet does not take a word of a list.
#[cold]
fn report_refused(got: Symbol, context: &mut Context<'_>) {
    context.print_with(|symbols, line| {
        let got = symbols.text(got);
        write!(line, "error: inlet: expected 'float' but got '{got}'")
    });
}
