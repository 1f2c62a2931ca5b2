//! The classes of control objects.
//!
//! | file | holds |
//! |---|---|
//! | `boxes` | message boxes, inlets and outlets |
//! | `canvas` | the receiver of messages to a canvas |
//! | `choice` | `choice` |
//! | `clones` | the two sides of `clone` |
//! | `expr` | `expr` |
//! | `fields` | fields of scalars |
//! | `file_names` | `makefilename` |
//! | `formats` | OSC and FUDI: messages as bytes |
//! | `handles` | `file handle` |
//! | `host` | what asks the host, or keeps for it |
//! | `glue` | what holds, tests and passes on |
//! | `gui` | boxes that show a value |
//! | `lists` | `list` and its functions |
//! | `math` | arithmetic on numbers |
//! | `midi` | `notein`, `ctlin`, …, `noteout`, `ctlout`, … |
//! | `names` | `send`, `receive`, `value`, `print` |
//! | `network`, `socket_link` | `netsend`, `netreceive` |
//! | `notes` | `poly`, `makenote`, `stripnote` |
//! | `packing` | `pack`, `unpack` |
//! | `paths` | `file` |
//! | `pointers` | `pointer` |
//! | `ranges` | `array` and its functions |
//! | `routing` | `trigger`, `route`, `select` |
//! | `scalars` | `scalar` |
//! | `sequence`, `texts` | `text` and its functions |
//! | `sound_files`, `sound_streams`, `sound_words` | `soundfiler`, `readsf~`, `writesf~`, and the words of their messages |
//! | `sources` | texts and arrays by name or pointer |
//! | `tables` | reading and writing arrays |
//! | `tempo` | units of time |
//! | `textfiles` | `textfile`, `qlist` |
//! | `time` | clocks: `delay`, `metro`, `line`, `timer`, `pipe` |

mod boxes;
mod canvas;
mod choice;
mod clones;
pub(crate) mod expr;
mod fields;
mod file_names;
mod formats;
mod glue;
mod gui;
mod handles;
mod host;
mod lists;
mod math;
mod midi;
mod names;
mod network;
mod notes;
mod packing;
mod paths;
mod pointers;
mod ranges;
mod routing;
mod scalars;
mod socket_link;
mod sound_files;
mod sound_streams;
mod sound_words;
mod sources;
mod tables;
mod tempo;
mod textfiles;
mod texts;
mod time;

pub(super) use boxes::{MessageBox, Passage, SignalInlet};
pub(super) use canvas::CanvasReceiver;
pub(super) use clones::{Collector, Distributor, Numbered};
pub use glue::{DRAWING_CLASSES, SILENT_CLASSES};
pub(super) use gui::GuiBox;
pub(crate) use math::unary;
pub(super) use tables::ArrayBox;

use super::globals::Globals;
use super::object::Object;
use super::value::Value;
use crate::file::Atom;
use std::path::Path;

/// Material of a new object.
pub(crate) struct Making<'m> {
    pub class: &'m str,
    /// Its arguments.
    pub values: &'m [Value],
    pub globals: &'m mut Globals,
    /// Folder of the file in which the box stands.
    pub folder: &'m Path,
    /// What was saved with the box.
    pub saved: &'m [Vec<Atom>],
    /// Words that the patch around has saved for the abstraction in which the box stands.
    pub saved_around: &'m [Vec<Atom>],
    /// Arguments of the abstraction.
    pub canvas_arguments: &'m [Value],
}

impl Making<'_> {
    /// The argument at `at`, as a number; `default` without one.
    pub(crate) fn number(&self, at: usize, default: f32) -> f32 {
        self.values.get(at).map_or(default, |value| value.number())
    }

    /// The argument at `at`, if it is a symbol.
    pub(crate) fn symbol(&self, at: usize) -> Option<super::symbol::Symbol> {
        match self.values.get(at) {
            Some(Value::Symbol(symbol)) => Some(*symbol),
            _ => None,
        }
    }
}

/// Makes an object of a class; `None` if there is no such control object here yet.
pub(super) fn make(making: &mut Making<'_>) -> Option<Box<dyn Object>> {
    glue::make(making)
        .or_else(|| choice::make(making))
        .or_else(|| expr::make(making))
        .or_else(|| fields::make(making))
        .or_else(|| formats::make(making))
        .or_else(|| host::make(making))
        .or_else(|| lists::make(making))
        .or_else(|| math::make(making))
        .or_else(|| midi::make(making))
        .or_else(|| names::make(making))
        .or_else(|| file_names::make(making))
        .or_else(|| network::make(making))
        .or_else(|| notes::make(making))
        .or_else(|| packing::make(making))
        .or_else(|| paths::make(making))
        .or_else(|| pointers::make(making))
        .or_else(|| ranges::make(making))
        .or_else(|| routing::make(making))
        .or_else(|| scalars::make(making))
        .or_else(|| sound_files::make(making))
        .or_else(|| sound_streams::make(making))
        .or_else(|| tables::make(making))
        .or_else(|| textfiles::make(making))
        .or_else(|| texts::make(making))
        .or_else(|| time::make(making))
}
