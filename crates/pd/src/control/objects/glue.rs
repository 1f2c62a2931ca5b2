//! What holds, tests and passes on.

use super::super::context::Context;
use super::super::object::{Handled, Object};
use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::{Message, Value};
use super::Making;
use super::names::send_number;
use crate::state::held;

pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    Some(match making.class {
        "bang" => Box::new(Bang),
        "float" => Box::new(Float(making.number(0, 0.0))),
        "int" => Box::new(Int(making.number(0, 0.0))),
        "symbol" => Box::new(SymbolBox(making.symbol(0).unwrap_or(words::EMPTY))),
        "spigot" => Box::new(Spigot(making.number(0, 0.0) != 0.0)),
        "moses" => Box::new(Moses(making.number(0, 0.0))),
        "until" => Box::new(Until {
            left: 0,
            is_running: false,
        }),
        "change" => Box::new(Change(making.number(0, 0.0))),
        "swap" => Box::new(Swap {
            left: 0.0,
            right: making.number(0, 0.0),
        }),
        "loadbang" => Box::new(Loadbang),
        // The builder does what they say.
        "struct" | "namecanvas" => Box::new(Mute),
        class if is_silent(class) => Box::new(Mute),
        _ => return None,
    })
}

/// Classes that take everything and send nothing: what only the host's screen and devices could answer.
pub const SILENT_CLASSES: &[&str] = &[
    "openpanel",
    "savepanel",
    "key",
    "keyup",
    "keyname",
    "declare",
];

/// Classes that draw scalars, and take everything as those of [`SILENT_CLASSES`].
#[rustfmt::skip]
pub const DRAWING_CLASSES: &[&str] = &[
    "drawcurve", "filledcurve", "drawpolygon", "filledpolygon", "plot", "drawnumber", "drawsymbol", "drawtext",
];

fn is_silent(class: &str) -> bool {
    SILENT_CLASSES.contains(&class) || DRAWING_CLASSES.contains(&class)
}

/// Takes everything, sends nothing.
struct Mute;

impl Object for Mute {
    held!();

    fn anything(&mut self, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }

    fn cold(&mut self, _: usize, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        Handled::Yes
    }
}

struct Bang;

impl Object for Bang {
    held!();

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_bang(0);
        Handled::Yes
    }

    fn anything(&mut self, _: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.bang(context)
    }
}

struct Loadbang;

impl Object for Loadbang {
    held!();

    fn loadbang(&mut self, context: &mut Context<'_>) {
        context.send_bang(0);
    }
}

/// A number at a right inlet; anything else is not understood.
pub(super) fn to_number(message: Message<'_>, number: &mut f32) -> Handled {
    set_to(message.one_number(), number)
}

/// A number, or the first of several, at a right inlet.
pub(super) fn to_first_number(message: Message<'_>, number: &mut f32) -> Handled {
    set_to(message.first_number(), number)
}

fn set_to(found: Option<f32>, number: &mut f32) -> Handled {
    let Some(found) = found else {
        return Handled::No;
    };
    *number = found;
    Handled::Yes
}

struct Float(f32);

impl Object for Float {
    held!(tuple number);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, self.0);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.0 = number;
        self.bang(context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        match crate::file::parse_float(context.symbols().text(symbol)) {
            Some(number) => self.float(number, context),
            None => {
                context.print_with(|symbols, line| {
                    let text = symbols.text(symbol);
                    write!(line, "error: couldn't convert {text} to float")
                });
                Handled::Yes
            }
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        match (message.selector, message.values) {
            (words::SET, [value, ..]) => self.0 = value.number(),
            _ => return send_number(self.0, message, context),
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.0)
    }
}

struct Int(f32);

impl Object for Int {
    held!(tuple number);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, whole(self.0));
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.0 = number;
        self.bang(context)
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        send_number(whole(self.0), message, context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.0)
    }
}

/// A number without its fraction, by way of an integer as in Pd: no negative zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "Pd does the same"
)]
fn whole(number: f32) -> f32 {
    match number.abs() < 9_223_372_036_854_775_808.0 {
        true => number as i64 as f32,
        // What does not fit is the least one, as in C.
        false => i64::MIN as f32,
    }
}

struct SymbolBox(Symbol);

impl Object for SymbolBox {
    held!(tuple symbol);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_value(0, Value::Symbol(self.0));
        Handled::Yes
    }

    fn float(&mut self, _: f32, context: &mut Context<'_>) -> Handled {
        self.symbol(words::FLOAT, context)
    }

    fn symbol(&mut self, symbol: Symbol, context: &mut Context<'_>) -> Handled {
        self.0 = symbol;
        self.bang(context)
    }

    fn pointer(&mut self, _: Pointer, context: &mut Context<'_>) -> Handled {
        self.symbol(words::POINTER, context)
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        match values {
            [] => self.bang(context),
            [Value::Symbol(symbol)] => self.symbol(*symbol, context),
            _ => self.symbol(words::LIST, context),
        }
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        self.symbol(message.selector, context)
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let Some(Value::Symbol(symbol)) = message.one_value() else {
            return Handled::No;
        };
        self.0 = symbol;
        Handled::Yes
    }
}

struct Spigot(bool);

impl Object for Spigot {
    held!(tuple is_open);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.anything(
            Message {
                selector: words::BANG,
                values: &[],
            },
            context,
        )
    }

    fn list(&mut self, values: &[Value], context: &mut Context<'_>) -> Handled {
        if self.0 {
            context.send_list(0, values);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        if self.0 {
            context.send(0, message);
        }
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        let mut number = f32::from(u8::from(self.0));
        let handled = to_number(message, &mut number);
        self.0 = number != 0.0;
        handled
    }
}

struct Moses(f32);

impl Object for Moses {
    held!(tuple limit);

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        let outlet = usize::from(number >= self.0);
        context.send_float(outlet, number);
        Handled::Yes
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.0)
    }
}

/// Bangs until it is stopped; a number is how often.
struct Until {
    left: i64,
    is_running: bool,
}

impl Object for Until {
    held!(left, is_running);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        self.is_running = true;
        self.left = -1;
        context.resume(0);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.is_running = true;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a float as large as this saturates"
        )]
        let count = number as i64;
        self.left = count.max(0);
        context.resume(0);
        Handled::Yes
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        if !self.is_running || self.left == 0 {
            return;
        }
        self.left -= i64::from(self.left > 0);
        context.send_bang(0);
        context.resume(0);
    }

    fn cold(&mut self, _: usize, _: Message<'_>, _: &mut Context<'_>) -> Handled {
        self.is_running = false;
        Handled::Yes
    }
}

struct Change(f32);

impl Object for Change {
    held!(tuple number);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(0, self.0);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        if number != self.0 {
            self.0 = number;
            context.send_float(0, number);
        }
        Handled::Yes
    }

    fn anything(&mut self, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        match message.selector {
            words::SET => self.0 = message.number(),
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

struct Swap {
    left: f32,
    right: f32,
}

impl Object for Swap {
    held!(left, right);

    fn bang(&mut self, context: &mut Context<'_>) -> Handled {
        context.send_float(1, self.left);
        context.resume(0);
        Handled::Yes
    }

    fn float(&mut self, number: f32, context: &mut Context<'_>) -> Handled {
        self.left = number;
        self.bang(context)
    }

    fn resume(&mut self, _: u32, context: &mut Context<'_>) {
        context.send_float(0, self.right);
    }

    fn cold(&mut self, _: usize, message: Message<'_>, _: &mut Context<'_>) -> Handled {
        to_number(message, &mut self.right)
    }
}
