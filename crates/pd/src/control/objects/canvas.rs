//! The receiver of messages to a canvas: `; pd-NAME obj 10 10 metro 500`.

use super::super::canvases::{CanvasId, CanvasMessage};
use super::super::object::{Context, Handled, Object};
use super::super::symbol::words;
use super::super::value::Message;

/// Receives messages to a canvas.
pub(in super::super) struct CanvasReceiver {
    pub(in super::super) canvas: CanvasId,
}

/// Messages that make a box.
const MAKES: &[&str] = &[
    "obj",
    "msg",
    "text",
    "floatatom",
    "symbolatom",
    "listbox",
    "array",
];
/// Messages that say how a canvas looks.
const LOOKS: &[&str] = &[
    "vis",
    "editmode",
    "coords",
    "donecanvasdialog",
    "setbounds",
    "zoom",
    "dirty",
    "relocate",
    "map",
    "find",
    "findagain",
    "menuclose",
];

impl Object for CanvasReceiver {
    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let selector = message.selector;
        let text = context.symbols().text(selector);
        if LOOKS.contains(&text) {
            return Handled::Yes;
        }
        let changes = MAKES.contains(&text)
            || matches!(
                selector,
                words::CONNECT | words::DISCONNECT | words::CLEAR | words::RENAME
            );
        if !changes && selector != words::LOADBANG {
            return Handled::No;
        }
        if context.globals().jobs.is_deferred {
            context.print_with(|symbols, line| {
                let text = symbols.text(selector);
                write!(
                    line,
                    "error: canvas: '{text}' comes too late: a patch that plays live does not change once it is loaded"
                )
            });
            return Handled::Yes;
        }
        context.globals().edit = Some(Box::new(CanvasMessage {
            canvas: self.canvas,
            receiver: context.object,
            selector,
            values: message.values.to_vec(),
        }));
        Handled::Yes
    }
}
