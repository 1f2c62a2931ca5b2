//! [`DataArray`]: arrays inside scalars, and those of named arrays.

use super::super::arrays::{ArrayId, Arrays};
use super::super::symbol::Symbol;
use super::Data;
use super::parts::{Beside, DataArray, Datum, Elements, MAX_DEPTH, OVERHEAD, Owner, Place};

impl Data {
    /// Adds an array of one element.
    pub(super) fn add_array(&mut self, template: Symbol, beside: &mut Beside<'_>) -> u32 {
        self.left = self.left.saturating_sub(OVERHEAD);
        let array = self.free_arrays.pop().unwrap_or_else(|| {
            self.arrays.push(DataArray {
                is_used: false,
                stamp: 0,
                template,
                owner: Place::Head(0),
                width: 1,
                elements: Elements::Words(Vec::new()),
            });
            u32::try_from(self.arrays.len() - 1).expect("data is bounded")
        });
        let memory = self.arrays[array as usize].take_words().unwrap_or_default();
        let stamp = self.stamp(Owner::Array(array), 0);
        let words = match self.weight(template) {
            Some(weight) if weight <= self.left => self.fresh(template, memory, beside),
            _ => Vec::new(),
        };
        self.own(&words, Place::Element(array, 0));
        let width = self.fields(template).map_or(0, <[_]>::len);
        let slot = &mut self.arrays[array as usize];
        (slot.is_used, slot.template, slot.stamp) = (true, template, stamp);
        slot.put_words(words, width);
        array
    }

    /// Adds an array that is a named one.
    ///
    /// Real-time: setup.
    pub(crate) fn add_named(&mut self, template: Symbol, id: ArrayId) -> Datum {
        let array = u32::try_from(self.arrays.len()).expect("data is bounded");
        let stamp = self.stamp(Owner::Array(array), 0);
        self.left = self.left.saturating_sub(OVERHEAD);
        self.arrays.push(DataArray {
            is_used: true,
            stamp,
            template,
            owner: Place::Head(0),
            width: 1,
            elements: Elements::Points(id),
        });
        Datum::Array(array)
    }

    /// Arrays around a place, one inside the other.
    pub(super) fn nesting(&self, mut place: Place) -> usize {
        let mut arrays = 0;
        while let Place::Element(array, _) = place {
            (place, arrays) = (self.arrays[array as usize].owner, arrays + 1);
        }
        arrays
    }

    /// Lets arrays among `words` know in which scalar or element they are.
    pub(super) fn own(&mut self, words: &[Datum], owner: Place) {
        for datum in words {
            if let Datum::Array(array) = datum {
                self.arrays[*array as usize].owner = owner;
            }
        }
    }

    /// Gives back an array and all that is in it. Its memory stays for the next one.
    pub(super) fn free_array(&mut self, array: u32, beside: &mut Beside<'_>) {
        if !self.arrays[array as usize].is_used {
            return;
        }
        let stamp = self.arrays[array as usize].stamp;
        self.owners.remove(&stamp);
        let mut words = self.arrays[array as usize].take_words().unwrap_or_default();
        words.drain(..).for_each(|datum| {
            self.free_datum(datum, beside);
        });
        let slot = &mut self.arrays[array as usize];
        slot.is_used = false;
        slot.put_words(words, 1);
        self.free_arrays.push(array);
        self.left += OVERHEAD;
    }

    /// Number of elements.
    ///
    /// Real-time: hot.
    pub(crate) fn array_len(&self, array: u32, arrays: &Arrays) -> usize {
        self.arrays[array as usize].len(arrays)
    }

    /// Template of the elements.
    ///
    /// Real-time: hot.
    pub(crate) fn array_template(&self, array: u32) -> Symbol {
        self.arrays[array as usize].template
    }

    /// The named array that it is, if it is one.
    ///
    /// Real-time: hot.
    pub(crate) fn named_array(&self, array: u32) -> Option<ArrayId> {
        match self.arrays[array as usize].elements {
            Elements::Points(id) => Some(id),
            Elements::Words(_) => None,
        }
    }

    /// Changes the number of elements; false if there is no memory. Pointers to elements are stale then. Not for named arrays.
    ///
    /// Real-time: takes memory, where the array was never as long.
    pub(crate) fn resize(&mut self, array: u32, len: usize, beside: &mut Beside<'_>) -> bool {
        let before = self.array_len(array, beside.arrays);
        let template = self.arrays[array as usize].template;
        let Some(weight) = self.weight(template) else {
            return false;
        };
        let width = self.arrays[array as usize].width;
        if self.nesting(Place::Element(array, 0)) > MAX_DEPTH {
            return false;
        }
        if width == 0 || weight.saturating_mul(len.saturating_sub(before)) > self.left {
            return false;
        }
        let old = self.arrays[array as usize].stamp;
        self.arrays[array as usize].stamp = self.stamp(Owner::Array(array), old);
        let Some(mut words) = self.arrays[array as usize].take_words() else {
            return false;
        };
        if len < before {
            words.drain(len * width..).for_each(|datum| {
                self.free_datum(datum, beside);
            });
        }
        words.reserve((len * width).saturating_sub(words.len()));
        for at in before..len {
            let element = self.fresh(template, Vec::new(), beside);
            self.own(
                &element,
                Place::Element(array, u32::try_from(at).unwrap_or(u32::MAX)),
            );
            words.extend(element);
        }
        self.arrays[array as usize].put_words(words, width);
        true
    }
}
