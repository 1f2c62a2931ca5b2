//! [`Data`]: data structures. Scalars lie in the lists of canvases, each as its template says, with arrays and texts inside.
//!
//! A [`Pointer`] is two numbers: the stamp of a list or of an array, and the place in it. Whoever takes something away from a list, or
//! changes the length of an array, gives it another stamp, so older pointers find nothing, as in Pd.
//!
//! | file | holds |
//! |---|---|
//! | `templates` | what scalars consist of, and what becomes of them when that changes |
//! | `parts` | words, places, scalars, lists, arrays and templates as they lie in memory |
//! | `lists` | scalars of canvases |
//! | `elements` | arrays inside scalars |
//! | `saved` | scalars as they stand in files |

mod elements;
mod lists;
mod parts;
mod saved;
mod templates;

pub(crate) use parts::{Beside, Datum, FieldKind, Place};
pub(crate) use templates::{TemplateMistake, fields_of};

use super::symbol::Symbol;
use super::wire::ObjectId;
use parts::{DataArray, List, Owner, Scalar, Template};
use std::collections::HashMap;

/// Words of all scalars and arrays of a patch, at most: 128 MiB.
pub(crate) const MAX_DATA: usize = 1 << 24;

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
