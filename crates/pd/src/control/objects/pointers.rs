//! `pointer`: a place in data structures that moves along them (`g_traversal.c`).

use super::super::context::Context;
use super::super::data::Place;
use super::super::object::{Handled, Object};
use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    if making.class != "pointer" {
        return None;
    }
    let templates = making.values.iter().map(|value| match value {
        Value::Symbol(name) => *name,
        _ => words::EMPTY,
    });
    Some(Box::new(PointerBox {
        at: None,
        templates: templates.collect(),
    }))
}

/// Prints a mistake.
pub(super) fn complain(line: &str, context: &mut Context<'_>) {
    context.print_with(|_, to| write!(to, "error: {line}"));
}

/// A pointer at a right inlet.
pub(super) fn to_pointer(message: Message<'_>, pointer: &mut Option<Pointer>) -> Handled {
    match message.values {
        [Value::Pointer(new)] => *pointer = Some(*new),
        _ => return Handled::No,
    }
    Handled::Yes
}

struct PointerBox {
    at: Option<Pointer>,
    /// Templates that have an outlet of their own.
    templates: Vec<Symbol>,
}

impl PointerBox {
    /// The place that it has; says why there is none.
    fn place(&self, command: &str, context: &mut Context<'_>) -> Option<Place> {
        let place = context.globals().data.place(self.at);
        if place.is_none() {
            let why = match self.at {
                None => "empty pointer",
                Some(_) => "stale pointer",
            };
            context.print_with(|_, to| write!(to, "error: pointer {command}: {why}"));
        }
        place
    }

    /// The place in a list.
    fn in_list(&self, command: &str, context: &mut Context<'_>) -> Option<Place> {
        let place = self.place(command, context)?;
        if let Place::Element(..) = place {
            context
                .print_with(|_, to| write!(to, "error: pointer {command}: lists only, not arrays"));
            return None;
        }
        Some(place)
    }

    /// Sends the pointer from the outlet of its template.
    fn send(&self, place: Place, context: &mut Context<'_>) {
        let template = context.globals().data.template(place);
        let own = self.templates.iter().position(|own| Some(*own) == template);
        let outlet = own.unwrap_or(self.templates.len());
        if let Some(pointer) = self.at {
            context.send_value(outlet, Value::Pointer(pointer));
        }
    }

    fn next(&mut self, context: &mut Context<'_>) {
        let Some(place) = self.in_list("next", context) else {
            return;
        };
        let next = context.globals().data.next(place);
        self.go_on(next, context);
    }

    /// Goes to the next scalar and sends it, or says that there is none.
    fn go_on(&mut self, next: Option<Place>, context: &mut Context<'_>) {
        self.at = next.map(|next| context.globals().data.pointer(next));
        match next {
            Some(next) => self.send(next, context),
            None => context.send_bang(self.templates.len() + 1),
        }
    }

    fn delete(&mut self, context: &mut Context<'_>) {
        let scalar = match self.in_list("delete", context) {
            Some(Place::Scalar(scalar)) => scalar,
            Some(_) => return complain("pointer delete: pointing to head", context),
            None => return,
        };
        let place = Place::Scalar(scalar);
        let (data, mut beside, _) = context.globals().data();
        if data.receiver(place).is_none() {
            return complain("pointer delete: can't delete a scalar of Pd's own", context);
        }
        let next = data.next(place);
        data.delete(scalar, &mut beside);
        self.go_on(next, context);
    }

    fn traverse(&mut self, name: Symbol, context: &mut Context<'_>) {
        let globals = context.globals();
        let receiver = globals
            .receivers
            .oldest(name, |id| globals.data.list_of(id).is_some());
        match receiver.and_then(|receiver| globals.data.list_of(receiver)) {
            Some(list) => self.at = Some(globals.data.pointer(Place::Head(list))),
            None => context.print_with(|symbols, to| {
                let name = symbols.text(name);
                write!(to, "error: pointer: list '{name}' not found")
            }),
        }
    }

    /// Goes back to the begin of the list.
    fn rewind(&mut self, context: &mut Context<'_>) {
        let Some(place) = self.place("rewind", context) else {
            return;
        };
        let data = &context.globals().data;
        match data.head_of(place) {
            Some(head) => {
                self.at = Some(data.pointer(head));
                self.send(head, context);
            }
            None => complain("pointer rewind: sorry, unavailable for arrays", context),
        }
    }

    fn send_to(&self, name: Symbol, context: &mut Context<'_>) {
        if !context.globals().receivers.any(name, |_| true) {
            return context.globals().report_no_receiver(name);
        }
        if let (Some(_), Some(at)) = (self.place("send", context), self.at) {
            context.send_to(name, Message::of_list(&[Value::Pointer(at)]));
        }
    }

    /// Sends a message to the canvas around the data.
    fn send_window(&self, values: &[Value], context: &mut Context<'_>) {
        let Some(place) = self.place("send-window", context) else {
            return;
        };
        let receiver = context.globals().data.receiver(place);
        match (values, receiver) {
            ([Value::Symbol(selector), rest @ ..], Some(receiver)) => context.send_object(
                receiver,
                Message {
                    selector: *selector,
                    values: rest,
                },
            ),
            (_, None) => {}
            _ => complain("pointer send-window: no message?", context),
        }
    }

    fn equal(&self, other: Pointer, context: &mut Context<'_>) {
        let Some(place) = self.place("equal", context) else {
            return;
        };
        match context.globals().data.place(Some(other)) == Some(place) {
            true => self.send(place, context),
            false => context.send_bang(self.templates.len() + 1),
        }
    }
}

impl Object for PointerBox {
    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        if let Some(place) = self.place("bang", context) {
            self.send(place, context);
        }
        Handled::Yes
    }

    fn pointer(&mut self, pointer: Pointer, context: &mut Context<'_>) -> Handled {
        self.at = Some(pointer);
        self.bang(context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let text = context.symbols().text(message.selector);
        match (text, message.values) {
            ("next", _) => self.next(context),
            ("vnext", values) => match values.first().map_or(0.0, |value| value.number()) {
                0.0 => self.next(context),
                _ => complain(
                    "pointer vnext: next-selected only works for a visible window",
                    context,
                ),
            },
            ("delete", _) => self.delete(context),
            ("rewind", _) => self.rewind(context),
            ("traverse", [Value::Symbol(name), ..]) => self.traverse(*name, context),
            ("send", [Value::Symbol(name), ..]) => self.send_to(*name, context),
            ("send-window", values) => self.send_window(values, context),
            ("equal", [Value::Pointer(other), ..]) => self.equal(*other, context),
            ("set", [Value::Pointer(new), ..]) => self.at = Some(*new),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_pointer(message, &mut self.at)
    }
}
