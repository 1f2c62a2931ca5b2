//! One patch file: text to canvases, boxes and connections.
//!
//! Nothing is looked up and nothing is made here: an object is its words. Reading never fails; a statement that is wrong is a
//! diagnostic and costs only itself.
//!
//! | file | holds |
//! |---|---|
//! | `words` | words and statements with their places |
//! | `atom` | numbers, symbols, separators, dollars |
//! | `canvas` | what a patch consists of |
//! | `gui` | boxes that show a value, with their state |
//! | `read` | statements to canvases |

mod atom;
mod canvas;
mod gui;
mod read;
mod words;

pub use atom::Atom;
pub(crate) use atom::{parse_float, write_float};
pub use canvas::{
    ArrayData, BoxBody, Canvas, Connection, Coordinates, PatchBox, PatchFile, Position,
};
pub use gui::{Gui, GuiKind};
pub use read::{MAX_ARRAY, MAX_BOXES, MAX_DEPTH, read_patch};
