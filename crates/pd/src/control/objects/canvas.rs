//! The receiver of messages to a canvas: `; pd-NAME obj 10 10 metro 500`.

use super::super::canvases::{CanvasId, CanvasMessage};
use super::super::chains::MAX_WORDS;
use super::super::context::Context;
use super::super::jobs::JobResult;
use super::super::object::{Handled, Object};
use super::super::symbol::words;
use super::super::text::TextWord;
use super::super::value::Message;
use super::texts::{TextFile, restored};
use crate::state::held;
use std::collections::VecDeque;
use std::path::Path;

/// Receives messages to a canvas.
pub(in super::super) struct CanvasReceiver {
    canvas: CanvasId,
    /// Files of data.
    file: TextFile,
    /// For each file that is being read, true if it takes the place of what is there.
    reads: VecDeque<bool>,
}

impl CanvasReceiver {
    /// Files are looked for in `folder`.
    pub(in super::super) fn new(canvas: CanvasId, folder: &Path) -> Self {
        Self {
            canvas,
            file: TextFile::in_folder(folder),
            reads: VecDeque::new(),
        }
    }
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
/// Messages that select boxes, and remove what is selected.
const SELECTS: &[&str] = &[
    "selectall",
    "deselectall",
    "mouse",
    "mouseup",
    "cut",
    "copy",
    "paste",
    "duplicate",
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
    "motion",
];

impl Object for CanvasReceiver {
    held!(; not canvas, file, reads);

    fn anything(&mut self, message: Message<'_>, context: &mut Context<'_>) -> Handled {
        let selector = message.selector;
        let text = context.symbols().text(selector);
        if LOOKS.contains(&text) {
            return Handled::Yes;
        }
        if matches!(text, "scalar" | "read" | "mergefile" | "write") {
            self.change_data(message, context);
            return Handled::Yes;
        }
        let changes = MAKES.contains(&text)
            || SELECTS.contains(&text)
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

    fn reply(&mut self, result: &mut JobResult, context: &mut Context<'_>) {
        let file = match result {
            JobResult::WriteText { .. } => self.data_file(context),
            _ => Vec::new(),
        };
        let is_read = matches!(result, JobResult::Text(_));
        let replaces = is_read && self.reads.pop_front().unwrap_or(false);
        let Some(words) = TextFile::words(result, &file, context) else {
            return;
        };
        let object = context.object;
        let (data, mut beside, symbols) = context.globals().data();
        let Some(list) = data.list_of(object) else {
            return;
        };
        if replaces {
            data.clear_list(list, &mut beside);
        }
        let read = data.read_file(list, words, symbols, &mut beside);
        context.globals().report_restored(read);
    }
}

impl CanvasReceiver {
    /// The scalars of the canvas as a file.
    fn data_file(&self, context: &mut Context<'_>) -> Vec<TextWord> {
        let object = context.object;
        let (data, beside, symbols) = context.globals().data();
        let list = data.list_of(object);
        list.map_or_else(Vec::new, |list| data.file_of(list, symbols, &beside))
    }

    /// `scalar`, `read`, `mergefile` and `write`.
    fn change_data(&mut self, message: Message<'_>, context: &mut Context<'_>) {
        let result = match context.symbols().text(message.selector) {
            "scalar" => {
                let words = restored(message.values, context);
                let object = context.object;
                let (data, mut beside, symbols) = context.globals().data();
                let list = data.list_of(object).unwrap_or_default();
                let restored = data.restore(list, &words, symbols, &mut beside);
                return context.globals().report_restored(restored);
            }
            "write" => {
                let file = self.data_file(context);
                self.file.write(message.values, &file, context)
            }
            command => {
                self.reads.push_back(command == "read");
                self.file.read(message.values, context)
            }
        };
        if let Some(mut result) = result {
            if matches!(result, JobResult::Refused) {
                self.reads.pop_back();
            }
            self.reply(&mut result, context);
        }
    }

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
