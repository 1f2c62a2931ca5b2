//! Parts of [`Data`](super::Data): words and their places, scalars and their lists, arrays, templates.

use super::super::arrays::{ArrayId, Arrays};
use super::super::symbol::{Symbol, words};
use super::super::text::Texts;
use super::super::wire::ObjectId;

/// Templates inside one another, at most.
pub(super) const MAX_DEPTH: usize = 32;

/// Words that a scalar, an array or a text takes beside those of its fields.
pub(super) const OVERHEAD: usize = 8;

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

/// A place that a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The begin of a list, before its first scalar.
    Head(u32),
    Scalar(u32),
    /// An element of an array.
    Element(u32, u32),
}

/// Whose stamp it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    List(u32),
    Array(u32),
}

/// The scalars of a canvas.
#[derive(Debug, Default)]
pub(super) struct List {
    pub stamp: u32,
    pub first: u32,
    pub last: u32,
    pub receiver: Option<ObjectId>,
}

/// A scalar. Its memory stays where it was, for the next one.
#[derive(Debug)]
pub(super) struct Scalar {
    pub is_used: bool,
    pub template: Symbol,
    pub list: u32,
    pub next: u32,
    pub previous: u32,
    pub words: Vec<Datum>,
}

impl Default for Scalar {
    fn default() -> Self {
        Self {
            is_used: false,
            template: words::EMPTY,
            list: 0,
            next: 0,
            previous: 0,
            words: Vec::new(),
        }
    }
}

/// Elements of an array.
#[derive(Debug)]
pub(super) enum Elements {
    /// Words, those of an element one behind the other.
    Words(Vec<Datum>),
    /// The points of a named array.
    Points(ArrayId),
}

/// An array of elements of a template.
#[derive(Debug)]
pub(super) struct DataArray {
    pub is_used: bool,
    pub stamp: u32,
    pub template: Symbol,
    /// The scalar or element in which it is.
    pub owner: Place,
    /// Words of an element.
    pub width: usize,
    pub elements: Elements,
}

impl DataArray {
    pub(super) fn len(&self, arrays: &Arrays) -> usize {
        match &self.elements {
            Elements::Words(words) => words.len() / self.width.max(1),
            Elements::Points(id) => arrays.points(*id).len(),
        }
    }

    pub(super) fn get(&self, at: usize, field: usize, arrays: &Arrays) -> Option<Datum> {
        match &self.elements {
            Elements::Words(words) if field < self.width => {
                words.get(at * self.width + field).copied()
            }
            Elements::Points(id) if field == 0 => {
                arrays.points(*id).get(at).map(|point| Datum::Float(*point))
            }
            _ => None,
        }
    }

    pub(super) fn set(&mut self, at: usize, field: usize, datum: Datum, arrays: &mut Arrays) {
        match &mut self.elements {
            Elements::Words(words) if field < self.width => {
                if let Some(word) = words.get_mut(at * self.width + field) {
                    *word = datum;
                }
            }
            Elements::Points(id) if field == 0 => {
                if let (Some(point), Datum::Float(number)) =
                    (arrays.points_mut(*id).get_mut(at), datum)
                {
                    *point = number;
                }
            }
            _ => {}
        }
    }

    /// Takes its words out; `None` for a named array.
    pub(super) fn take_words(&mut self) -> Option<Vec<Datum>> {
        match &mut self.elements {
            Elements::Words(words) => Some(std::mem::take(words)),
            Elements::Points(_) => None,
        }
    }

    /// Puts other words in, `width` for an element.
    pub(super) fn put_words(&mut self, words: Vec<Datum>, width: usize) {
        self.width = width;
        self.elements = Elements::Words(words);
    }
}

/// Kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Float,
    Symbol,
    Text,
    /// An array of elements of a template.
    Array(Symbol),
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub name: Symbol,
    pub kind: FieldKind,
}

/// The fields of scalars of one name.
#[derive(Debug)]
pub(super) struct Template {
    pub fields: Vec<Field>,
    /// `struct` boxes of this name with their fields; the first one counts.
    pub boxes: Vec<(ObjectId, Vec<Field>)>,
    /// Words that a scalar takes with its arrays; `None` where one of their templates is missing.
    pub weight: Option<usize>,
    /// True for one of Pd's own, which does not change.
    pub is_fixed: bool,
    /// True once its last box was removed.
    pub is_left: bool,
}

/// The texts and the named arrays of a patch: a change of data needs them too.
pub(crate) struct Beside<'m> {
    pub texts: &'m mut Texts,
    pub arrays: &'m mut Arrays,
}
