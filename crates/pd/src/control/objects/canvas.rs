//! The receiver of messages to a canvas: `; pd-NAME obj 10 10 metro 500`.

use super::super::canvases::{CanvasId, CanvasMessage};
use super::super::chains::MAX_WORDS;
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
        match context.globals().jobs.is_deferred {
            true => self.keep_for_later(message, context),
            false => {
                context.globals().edit = Some(Box::new(CanvasMessage {
                    canvas: self.canvas,
                    receiver: context.object,
                    selector,
                    values: message.values.to_vec(),
                }));
            }
        }
        Handled::Yes
    }
}

impl CanvasReceiver {
    /// Keeps a message for the thread that changes the patch.
    ///
    /// Real-time: hot.
    fn keep_for_later(&self, message: Message<'_>, context: &mut Context<'_>) {
        let receiver = context.object;
        let fits = message.values.len() <= MAX_WORDS;
        let spare = fits.then(|| context.globals().spare_edits.pop());
        let Some(mut edit) = spare.flatten() else {
            let why = match context.globals().spare_edits.capacity() {
                0 => {
                    "error: canvas: a sub-patch of pd~ that plays live does not change once it is loaded"
                }
                _ => "error: canvas: too many changes at once, or too many words in one",
            };
            return context.globals().print(why);
        };
        edit.canvas = self.canvas;
        edit.receiver = receiver;
        edit.selector = message.selector;
        edit.values.clear();
        edit.values.extend_from_slice(message.values);
        context.globals().edit = Some(edit);
    }
}
