//! [`List`]: the scalars of a canvas, in their order, and pointers to them.

use super::super::pointer::Pointer;
use super::super::symbol::{Symbol, words};
use super::super::value::Value;
use super::super::wire::ObjectId;
use super::Data;
use super::parts::{Beside, Datum, FieldKind, List, OVERHEAD, Owner, Place, Scalar};

/// Scalars of a patch, at most.
const MAX_SCALARS: usize = 1 << 20;

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("data is bounded")
}

impl Data {
    /// Adds a list; that of a canvas has the receiver of its messages.
    ///
    /// Real-time: setup.
    pub(crate) fn add_list(&mut self, receiver: Option<ObjectId>) -> u32 {
        let list = self.free_lists.pop().unwrap_or_else(|| {
            self.lists.push(List::default());
            number(self.lists.len() - 1)
        });
        let stamp = self.stamp(Owner::List(list), 0);
        self.lists[list as usize] = List {
            stamp,
            receiver,
            ..List::default()
        };
        if let Some(receiver) = receiver {
            self.receivers.insert(receiver, list);
        }
        list
    }

    /// The list of the canvas with this receiver.
    ///
    /// Real-time: hot.
    pub(crate) fn list_of(&self, receiver: ObjectId) -> Option<u32> {
        self.receivers.get(&receiver).copied()
    }

    /// The receiver of the canvas around a place.
    ///
    /// Real-time: hot.
    pub(crate) fn receiver(&self, place: Place) -> Option<ObjectId> {
        let list = match place {
            Place::Head(list) => list,
            Place::Scalar(scalar) => self.scalars[scalar as usize].list,
            Place::Element(array, _) => {
                let mut scalar = self.arrays[array as usize].owner;
                while let Place::Element(outer, _) = scalar {
                    scalar = self.arrays[outer as usize].owner;
                }
                match scalar {
                    Place::Scalar(scalar) => self.scalars[scalar as usize].list,
                    _ => return None,
                }
            }
        };
        self.lists[list as usize].receiver
    }

    /// A pointer to a place.
    ///
    /// Real-time: hot.
    pub(crate) fn pointer(&self, place: Place) -> Pointer {
        let (stamp, item) = match place {
            Place::Head(list) => (self.lists[list as usize].stamp, 0),
            Place::Scalar(scalar) => {
                let list = self.scalars[scalar as usize].list;
                (self.lists[list as usize].stamp, scalar)
            }
            Place::Element(array, at) => (self.arrays[array as usize].stamp, at),
        };
        Pointer { stamp, item }
    }

    /// The place that a pointer leads to; `None` if that is gone.
    ///
    /// Real-time: hot.
    pub(crate) fn place(&self, pointer: Option<Pointer>) -> Option<Place> {
        let pointer = pointer?;
        Some(match (self.owners.get(&pointer.stamp)?, pointer.item) {
            (Owner::List(list), 0) => Place::Head(*list),
            (Owner::List(_), scalar) => Place::Scalar(scalar),
            (Owner::Array(array), at) => Place::Element(*array, at),
        })
    }

    /// As [`Data::place`], without the begins of lists.
    ///
    /// Real-time: hot.
    pub(crate) fn datum_place(&self, pointer: Option<Pointer>) -> Option<Place> {
        let place = self.place(pointer)?;
        (!matches!(place, Place::Head(_))).then_some(place)
    }

    /// The template at a place.
    ///
    /// Real-time: hot.
    pub(crate) fn template(&self, place: Place) -> Option<Symbol> {
        match place {
            Place::Head(_) => None,
            Place::Scalar(scalar) => Some(self.scalars[scalar as usize].template),
            Place::Element(array, _) => Some(self.arrays[array as usize].template),
        }
    }

    /// The scalar behind `place` in its list, of a template if one is wanted.
    ///
    /// Real-time: hot, by the number of scalars.
    pub(crate) fn next(&self, place: Place) -> Option<Place> {
        let next = match place {
            Place::Head(list) => self.lists[list as usize].first,
            Place::Scalar(scalar) => self.scalars[scalar as usize].next,
            Place::Element(..) => 0,
        };
        (next != 0).then_some(Place::Scalar(next))
    }

    /// The begin of the list of a place; `None` in an array.
    ///
    /// Real-time: hot.
    pub(crate) fn head_of(&self, place: Place) -> Option<Place> {
        match place {
            Place::Head(_) => Some(place),
            Place::Scalar(scalar) => Some(Place::Head(self.scalars[scalar as usize].list)),
            Place::Element(..) => None,
        }
    }

    /// All scalars of a list.
    pub(super) fn scalars_of(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |place: &Place| self.next(*place);
        let places = std::iter::successors(self.next(Place::Head(list)), next);
        places.filter_map(|place| match place {
            Place::Scalar(scalar) => Some(scalar),
            _ => None,
        })
    }

    /// The last scalar of a list, or its head.
    pub(super) fn last(&self, list: u32) -> Place {
        match self.lists[list as usize].last {
            0 => Place::Head(list),
            last => Place::Scalar(last),
        }
    }

    /// Puts a new scalar behind `after`, which is in a list. A mistake is a word for it.
    ///
    /// Real-time: takes memory, where there are more scalars than ever before.
    pub(crate) fn insert(
        &mut self,
        after: Place,
        template: Symbol,
        beside: &mut Beside<'_>,
    ) -> Result<u32, &'static str> {
        let (list, previous) = match after {
            Place::Head(list) => (list, 0),
            Place::Scalar(scalar) => (self.scalars[scalar as usize].list, scalar),
            Place::Element(..) => return Err("lists only, not arrays"),
        };
        let weight = self
            .weight(template)
            .ok_or("a template of it is missing, or holds itself")?;
        let is_full = self.free_scalars.is_empty() && self.scalars.len() > MAX_SCALARS;
        if is_full || weight.saturating_add(OVERHEAD) > self.left {
            return Err("no memory for more data");
        }
        let scalar = self.free_scalars.pop().unwrap_or_else(|| {
            self.scalars.push(Scalar::default());
            number(self.scalars.len() - 1)
        });
        self.claim(OVERHEAD);
        let next = match previous {
            0 => std::mem::replace(&mut self.lists[list as usize].first, scalar),
            previous => std::mem::replace(&mut self.scalars[previous as usize].next, scalar),
        };
        match next {
            0 => self.lists[list as usize].last = scalar,
            next => self.scalars[next as usize].previous = scalar,
        }
        let memory = std::mem::take(&mut self.scalars[scalar as usize].words);
        self.scalars[scalar as usize] = Scalar {
            is_used: true,
            template,
            list,
            next,
            previous,
            words: Vec::new(),
        };
        let words = self.fresh(template, memory, beside);
        self.own(&words, Place::Scalar(scalar));
        self.scalars[scalar as usize].words = words;
        Ok(scalar)
    }

    /// Removes a scalar: all pointers into its list are stale then.
    ///
    /// Real-time: hot.
    pub(crate) fn delete(&mut self, scalar: u32, beside: &mut Beside<'_>) {
        let Scalar {
            list,
            next,
            previous,
            ..
        } = self.scalars[scalar as usize];
        match previous {
            0 => self.lists[list as usize].first = next,
            previous => self.scalars[previous as usize].next = next,
        }
        match next {
            0 => self.lists[list as usize].last = previous,
            next => self.scalars[next as usize].previous = previous,
        }
        self.free_scalar(scalar, beside);
        self.restamp(list);
    }

    fn free_scalar(&mut self, scalar: u32, beside: &mut Beside<'_>) {
        let mut words = std::mem::take(&mut self.scalars[scalar as usize].words);
        words.drain(..).for_each(|datum| {
            self.free_datum(datum, beside);
        });
        self.scalars[scalar as usize].words = words;
        self.scalars[scalar as usize].is_used = false;
        self.free_scalars.push(scalar);
        self.left += OVERHEAD;
    }

    fn restamp(&mut self, list: u32) {
        let old = self.lists[list as usize].stamp;
        self.lists[list as usize].stamp = self.stamp(Owner::List(list), old);
    }

    /// Removes all scalars of a list.
    ///
    /// Real-time: hot, by the number of scalars.
    pub(crate) fn clear_list(&mut self, list: u32, beside: &mut Beside<'_>) {
        let mut next = self.lists[list as usize].first;
        while next != 0 {
            let scalar = next;
            next = self.scalars[scalar as usize].next;
            self.free_scalar(scalar, beside);
        }
        self.lists[list as usize].first = 0;
        self.lists[list as usize].last = 0;
        self.restamp(list);
    }

    /// Removes the list of a box that is removed, with its scalars.
    ///
    /// Real-time: setup.
    pub(crate) fn remove_list(&mut self, list: u32, beside: &mut Beside<'_>) {
        self.clear_list(list, beside);
        self.owners.remove(&self.lists[list as usize].stamp);
        self.free_lists.push(list);
    }

    /// The word of a field.
    ///
    /// Real-time: hot.
    pub(crate) fn get(&self, place: Place, field: usize, beside: &Beside<'_>) -> Option<Datum> {
        match place {
            Place::Head(_) => None,
            Place::Scalar(scalar) => self.scalars[scalar as usize].words.get(field).copied(),
            Place::Element(array, at) => {
                self.arrays[array as usize].get(at as usize, field, beside.arrays)
            }
        }
    }

    /// Changes a number or a symbol.
    ///
    /// Real-time: hot.
    pub(crate) fn set(
        &mut self,
        place: Place,
        field: usize,
        value: Value,
        beside: &mut Beside<'_>,
    ) {
        let datum = match value {
            Value::Float(number) => Datum::Float(number),
            Value::Symbol(symbol) => Datum::Symbol(symbol),
            Value::Pointer(_) => return,
        };
        match place {
            Place::Head(_) => {}
            Place::Scalar(scalar) => {
                if let Some(word) = self.scalars[scalar as usize].words.get_mut(field) {
                    *word = datum;
                }
            }
            Place::Element(array, at) => {
                self.arrays[array as usize].set(at as usize, field, datum, beside.arrays);
            }
        }
    }

    /// A scalar of Pd's own around a text or a named array, for pointers to it.
    ///
    /// Real-time: setup.
    pub(crate) fn add_around(
        &mut self,
        template: Symbol,
        datum: Datum,
        beside: &mut Beside<'_>,
    ) -> Option<Place> {
        let list = self.add_list(None);
        let scalar = self.insert(Place::Head(list), template, beside).ok()?;
        let words = &mut self.scalars[scalar as usize].words;
        let is_same = |word: &&mut Datum| {
            std::mem::discriminant::<Datum>(word) == std::mem::discriminant(&datum)
        };
        let word = words.iter_mut().find(is_same)?;
        let own = std::mem::replace(word, datum);
        self.free_datum(own, beside);
        Some(Place::Scalar(scalar))
    }

    /// Removes what [`add_around`](Self::add_around) has added. A text stays, and is not found by pointers any more.
    ///
    /// Real-time: setup.
    pub(crate) fn remove_around(&mut self, place: Option<Place>, beside: &mut Beside<'_>) {
        if let Some(Place::Scalar(scalar)) = place {
            let scalar = &mut self.scalars[scalar as usize];
            // The text is its box's, and was never counted here.
            scalar
                .words
                .retain(|datum| !matches!(datum, Datum::Text(_)));
            let list = scalar.list;
            self.remove_list(list, beside);
        }
    }

    /// New words as a template says. Arrays have one element; none where memory is lacking.
    pub(super) fn fresh(
        &mut self,
        template: Symbol,
        mut memory: Vec<Datum>,
        beside: &mut Beside<'_>,
    ) -> Vec<Datum> {
        memory.clear();
        let count = self.fields(template).map_or(0, <[_]>::len);
        for at in 0..count {
            let kind = self.fields(template).map(|fields| fields[at].kind);
            let datum = match kind {
                Some(FieldKind::Symbol) => Datum::Symbol(words::SYMBOL),
                Some(FieldKind::Text) => {
                    self.left = self.left.saturating_sub(OVERHEAD);
                    Datum::Text(number(beside.texts.add_unnamed()))
                }
                Some(FieldKind::Array(inner)) => Datum::Array(self.add_array(inner, beside)),
                _ => {
                    self.left = self.left.saturating_sub(1);
                    Datum::Float(0.0)
                }
            };
            if let Datum::Symbol(_) = datum {
                self.left = self.left.saturating_sub(1);
            }
            memory.push(datum);
        }
        memory
    }

    /// Gives back what a word holds.
    pub(super) fn free_datum(&mut self, datum: Datum, beside: &mut Beside<'_>) {
        match datum {
            Datum::Float(_) | Datum::Symbol(_) => self.left += 1,
            Datum::Text(text) => {
                beside.texts.remove(text as usize);
                self.left += OVERHEAD;
            }
            Datum::Array(array) => self.free_array(array, beside),
        }
    }
}
