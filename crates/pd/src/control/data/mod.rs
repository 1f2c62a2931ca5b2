//! [`Data`]: data structures. Scalars lie in the lists of canvases, each as its template says, with arrays and texts inside.
//!
//! A [`Pointer`] is two numbers: the stamp of a list or of an array, and the place in it. Whoever takes something away from a list, or
//! changes the length of an array, gives it another stamp, so older pointers find nothing, as in Pd.
//!
//! | file | holds |
//! |---|---|
//! | `templates` | what scalars consist of, and what becomes of them when that changes |
//! | `lists` | scalars of canvases |
//! | `elements` | arrays inside scalars |
//! | `saved` | scalars as they stand in files |

mod elements;
mod lists;
mod saved;
mod templates;

pub(crate) use lists::Place;
pub(crate) use templates::{FieldKind, TemplateMistake, fields_of};

use super::arrays::Arrays;
use super::symbol::Symbol;
use super::text::Texts;
use super::wire::ObjectId;
use elements::DataArray;
use lists::{List, Scalar};
use std::collections::HashMap;
use templates::Template;

/// Words of all scalars and arrays of a patch, at most: 128 MiB.
pub(crate) const MAX_DATA: usize = 1 << 24;

/// Words that a scalar, an array or a text takes beside those of its fields.
const OVERHEAD: usize = 8;

/// A word of a scalar or of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Datum {
    Float(f32),
    Symbol(Symbol),
    /// A text, by its number.
    Text(u32),
    /// An array, by its number.
    Array(u32),
}

/// Whose stamp it is.
#[derive(Clone, Copy, Debug)]
enum Owner {
    List(u32),
    Array(u32),
}

/// The data structures of a patch.
#[derive(Debug)]
pub(crate) struct Data {
    templates: HashMap<Symbol, Template>,
    lists: Vec<List>,
    free_lists: Vec<u32>,
    /// Lists of canvases, by their receivers.
    receivers: HashMap<ObjectId, u32>,
    /// From 1 on: 0 is none.
    scalars: Vec<Scalar>,
    free_scalars: Vec<u32>,
    arrays: Vec<DataArray>,
    free_arrays: Vec<u32>,
    owners: HashMap<u32, Owner>,
    last_stamp: u32,
    /// Words that may still be taken.
    left: usize,
}

impl Default for Data {
    fn default() -> Self {
        Self {
            templates: HashMap::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            receivers: HashMap::new(),
            scalars: vec![Scalar::default()],
            free_scalars: Vec::new(),
            arrays: Vec::new(),
            free_arrays: Vec::new(),
            owners: HashMap::new(),
            last_stamp: 0,
            left: MAX_DATA,
        }
    }
}

/// What else is needed to change data: the texts and the named arrays of a patch.
pub(crate) struct Beside<'m> {
    pub texts: &'m mut Texts,
    pub arrays: &'m mut Arrays,
}

impl Data {
    /// A stamp for an owner, in place of its old one.
    fn stamp(&mut self, owner: Owner, old: u32) -> u32 {
        self.owners.remove(&old);
        self.last_stamp = self.last_stamp.wrapping_add(1).max(1);
        self.owners.insert(self.last_stamp, owner);
        self.last_stamp
    }

    /// Takes words of memory; false if there are too few.
    fn claim(&mut self, words: usize) -> bool {
        match self.left.checked_sub(words) {
            Some(left) => self.left = left,
            None => return false,
        }
        true
    }
}
