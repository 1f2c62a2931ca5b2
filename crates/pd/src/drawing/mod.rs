//! Data structures as Pd draws them: scalars that are saved with a patch, by the boxes that stand beside their `struct`.
//!
//! | file | holds |
//! |---|---|
//! | `store` | templates and scalars of a patch that does not play |
//! | `axes` | units of a canvas to pixels |
//! | `fields` | numbers that a box states, or takes from a scalar |
//! | `painter` | scalars to lines, areas and words |
//! | `plot` | arrays |

mod axes;
mod fields;
mod painter;
mod plot;
mod store;

use crate::load::{Instance, LoadedPatch};
use painter::Painter;
use store::Store;

/// A line, an area or words of a scalar, in pixels from the top left corner of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Its points; of words the top left corner.
    pub points: Vec<(f64, f64)>,
    /// Red, green and blue of the line or of the words.
    pub color: [u8; 3],
    /// Its form.
    pub form: DrawnForm,
}

/// Form of a [`Drawn`].
#[derive(Clone, Debug, PartialEq)]
pub enum DrawnForm {
    /// A line along the points.
    Line {
        /// In pixels.
        width: f64,
        /// True for a curve, which the points attract.
        is_curve: bool,
    },
    /// The area between the points.
    Area {
        /// Red, green and blue inside.
        fill: [u8; 3],
        /// Width of the line around it, in pixels.
        width: f64,
        /// True for a curve, which the points attract.
        is_curve: bool,
    },
    /// Words.
    Words(String),
}

/// The scalars that the window of `canvas` shows, its own and those in graphs on it, as they are saved. `canvas` is one of the patch. More
/// than 20,000 lines, areas and words are left out.
///
/// Real-time: setup.
pub fn drawn_data(patch: &LoadedPatch, canvas: &Instance) -> Vec<Drawn> {
    let mut store = Store::default();
    store.read(&patch.root, canvas);
    let mut painter = Painter::new(store);
    painter.draw_all();
    painter.drawn
}
