//! State of the control objects, and of what all objects share.

use super::arrays::{ArrayId, Arrays};
use super::clocks::{Clocks, Due};
use super::machine::Machine;
use super::object::Object;
use super::receivers::Receivers;
use super::slot::ObjectSlot;
use super::symbol::{Symbol, Symbols};
use super::wire::ObjectId;
use crate::state::{Held, StateReader, StateWriter, Unfit};

/// Places for clocks of objects with several that a state may add.
const MAX_PLACES: usize = 1 << 20;
/// Texts of symbols that a state may have.
const MAX_SYMBOLS: usize = 1 << 16;

impl Machine {
    /// Fixes what must be the same in all states: the patch is loaded.
    pub(crate) fn end_loading(&mut self) {
        self.globals.texts.end_loading();
    }

    /// Number of objects of the patch.
    pub(crate) fn objects_of_state(&self) -> usize {
        self.objects.len()
    }

    /// A count that is another one once messages have made or removed boxes or connections.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Writes the texts of symbols, then what objects share, then the objects.
    ///
    /// Real-time: hot if the writer's vector has the capacity.
    pub(crate) fn save_state(&self, state: &mut StateWriter<'_>) {
        let globals = &self.globals;
        save_symbols(&globals.symbols, state);
        globals.clocks.save(state);
        state.put_len(globals.values.len());
        for (name, value) in &globals.values {
            name.save(state);
            value.save(state);
        }
        globals.receivers.save(state);
        let arrays = globals.arrays.named_arrays();
        state.put_len(arrays.clone().count());
        for (name, array) in arrays {
            name.save(state);
            array.save(state);
        }
        globals.random.save(state);
        globals.array_state().save(state);
        globals.seeds.save(state);
        globals.dsp.save(state);
        globals.is_over.save(state);
        globals.texts.loaded().save(state);
        for parser in &self.midi_parsers {
            parser.save(state);
        }
        for slot in &self.objects {
            state.record(|state| save_slot(slot, state));
        }
    }

    /// Reads the texts of symbols, which a state begins with.
    pub(crate) fn load_symbols(
        &mut self,
        state: &mut StateReader<'_>,
    ) -> Result<Vec<Symbol>, Unfit> {
        let count = state.len()?.min(MAX_SYMBOLS + 1);
        if count > MAX_SYMBOLS {
            return Err(Unfit);
        }
        let mut symbols = Vec::with_capacity(count);
        for _ in 0..count {
            let len = state.len()?;
            let text = std::str::from_utf8(state.take(len)?).map_err(|_| Unfit)?;
            symbols.push(self.globals.symbols.intern(text));
        }
        Ok(symbols)
    }

    /// Reads what [`Machine::save_state`] writes behind the symbols. In the case of an error some of it is read.
    ///
    /// Real-time: setup.
    pub(crate) fn load_state(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let globals = &mut self.globals;
        globals.clocks.load(state)?;
        for _ in 0..state.len()? {
            let (mut name, mut value) = (super::symbol::words::EMPTY, 0.0_f32);
            name.load(state)?;
            value.load(state)?;
            // One that no box has made is nothing to go on with.
            if let Some(own) = globals.values.get_mut(&name) {
                *own = value;
            }
        }
        globals.receivers.load(state)?;
        load_names(&mut globals.arrays, state)?;
        globals.random.load(state)?;
        globals.array_state_mut().load(state)?;
        globals.seeds.load(state)?;
        globals.dsp.load(state)?;
        globals.is_over.load(state)?;
        globals.texts.loaded_mut().load(state)?;
        for parser in &mut self.midi_parsers {
            parser.load(state)?;
        }
        self.load_slots(state)
    }

    fn load_slots(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut records = Vec::with_capacity(self.objects.len());
        for _ in &self.objects {
            records.push(state.record()?);
        }
        // Canvases with blocks of their own first: what is inside gets its length of them. One may be within another.
        let is_canvas = |object: &dyn Object| object.is_on().is_some();
        let mut canvases = Vec::new();
        for (at, slot) in self.objects.iter_mut().enumerate() {
            slot.with(|object| {
                if is_canvas(object) {
                    canvases.push(at);
                }
            });
        }
        for _ in 0..canvases.len().min(8) {
            for at in &canvases {
                load_slot(&mut self.objects[*at], records[*at])?;
            }
        }
        let all = self.objects.iter_mut().zip(records);
        for (slot, record) in all {
            load_slot(slot, record)?;
        }
        self.unset_clocks_of_new()
    }

    /// Unsets the clocks of objects that begin anew.
    fn unset_clocks_of_new(&mut self) -> Result<(), Unfit> {
        let mut bytes = Vec::new();
        let mut begins_anew = |slot: &ObjectSlot| {
            bytes.clear();
            let mut state = StateWriter::new(&mut bytes, usize::MAX);
            save_slot(slot, &mut state);
            state.begins_anew
        };
        let new = Vec::from_iter(self.objects.iter().map(&mut begins_anew));
        for (slot, _) in self.objects.iter().zip(&new).filter(|(_, is_new)| **is_new) {
            if let ObjectSlot::Signal(place) = slot {
                place.write().clocks.clear();
            }
        }
        let clocks = &mut self.globals.clocks;
        let kept = Vec::from_iter(
            clocks
                .entries()
                .filter(|(_, _, due)| !new[due.object.0 as usize]),
        );
        let now = clocks.now();
        clocks.restart(now).ok_or(Unfit)?;
        for (time, number, due) in kept {
            clocks.restore(time, number, due).ok_or(Unfit)?;
        }
        Ok(())
    }

    /// Places that each object has for its clocks.
    ///
    /// Real-time: setup.
    pub(crate) fn clock_places(&self) -> Vec<usize> {
        self.globals.clocks.places()
    }

    /// Gives back the places of clocks that a refused state has added.
    ///
    /// Real-time: setup.
    pub(crate) fn keep_clock_places(&mut self, places: &[usize]) {
        self.globals.clocks.keep_places(places);
    }

    /// All arrays, in their order.
    pub(crate) fn all_arrays(&self) -> impl Iterator<Item = ArrayId> + use<> {
        self.globals.arrays.all()
    }

    /// The points of an array, if they are not with the signals.
    pub(crate) fn points_of_state(&self, array: ArrayId) -> &[f32] {
        self.globals.arrays.points(array)
    }

    /// Reads the points of arrays, which all lie here: those of each, then those that lay with the signals.
    ///
    /// Real-time: setup.
    pub(crate) fn load_points(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let arrays = &mut self.globals.arrays;
        for array in arrays.all() {
            load_points(arrays, array, state)?;
        }
        for _ in 0..state.len()? {
            let mut array = ArrayId::default();
            array.load(state)?;
            let is_there = arrays.all().any(|own| own == array);
            is_there.then_some(()).ok_or(Unfit)?;
            load_points(arrays, array, state)?;
        }
        Ok(())
    }
}

fn save_symbols(symbols: &Symbols, state: &mut StateWriter<'_>) {
    state.put_len(symbols.len());
    for text in symbols.texts() {
        state.put_len(text.len());
        state.put(text.as_bytes());
    }
}

fn save_slot(slot: &ObjectSlot, state: &mut StateWriter<'_>) {
    match slot {
        ObjectSlot::Control(object) => object.save(state),
        ObjectSlot::Signal(place) => place.write().save(state),
    }
}

/// Reads the state of an object; an empty one is that of an object that begins anew.
fn load_slot(slot: &mut ObjectSlot, mut record: StateReader<'_>) -> Result<(), Unfit> {
    match slot {
        ObjectSlot::Control(object) => {
            if record.is_empty() {
                return Ok(());
            }
            object.load(&mut record)?;
        }
        ObjectSlot::Signal(place) => place.write().load(&mut record)?,
    }
    record.is_empty().then_some(()).ok_or(Unfit)
}

impl Held for Clocks {
    fn save(&self, state: &mut StateWriter<'_>) {
        self.now().save(state);
        let entries = self.entries();
        state.put_len(entries.len());
        for (time, number, due) in entries {
            time.save(state);
            number.save(state);
            due.object.save(state);
            due.slot.save(state);
        }
        self.next_number().save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let mut now = 0.0;
        Held::load(&mut now, state)?;
        self.restart(now).ok_or(Unfit)?;
        let mut places = MAX_PLACES;
        for _ in 0..state.len()? {
            let (mut time, mut number, mut object, mut slot) = (0.0_f64, 0_u64, ObjectId(0), 0_u32);
            time.load(state)?;
            number.load(state)?;
            object.load(state)?;
            slot.load(state)?;
            let due = Due { object, slot };
            let missing = self.missing_places(due);
            places = places.checked_sub(missing).ok_or(Unfit)?;
            self.restore(time, number, due).ok_or(Unfit)?;
        }
        let mut next = 0;
        Held::load(&mut next, state)?;
        self.count_from(next).ok_or(Unfit)
    }
}

impl Held for Receivers {
    fn save(&self, state: &mut StateWriter<'_>) {
        let all = self.all();
        state.put_len(all.clone().count());
        for (name, object) in all {
            name.save(state);
            object.save(state);
        }
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let before = std::mem::take(self);
        for _ in 0..state.len()? {
            let (mut name, mut object) = (super::symbol::words::EMPTY, ObjectId(0));
            name.load(state)?;
            object.load(state)?;
            self.add_last(name, object);
        }
        // Each of them would get every message to the name.
        self.is_as_often_as(&before).then_some(()).ok_or(Unfit)
    }
}

/// Reads the names of arrays.
fn load_names(arrays: &mut Arrays, state: &mut StateReader<'_>) -> Result<(), Unfit> {
    let mut names = Vec::new();
    for _ in 0..state.len()? {
        let (mut name, mut array) = (super::symbol::words::EMPTY, ArrayId::default());
        name.load(state)?;
        array.load(state)?;
        names.push((name, array));
    }
    arrays.rename_all(&names).then_some(()).ok_or(Unfit)
}

/// Reads the points of an array; one that was not kept stays as it is.
fn load_points(
    arrays: &mut Arrays,
    array: ArrayId,
    state: &mut StateReader<'_>,
) -> Result<(), Unfit> {
    let mut is_kept = false;
    is_kept.load(state)?;
    if !is_kept {
        return Ok(());
    }
    let len = { *state }.len()?;
    if !arrays.resize(array, len) {
        return Err(Unfit);
    }
    arrays.points_mut(array).load(state)
}

impl Held for ArrayId {
    fn save(&self, state: &mut StateWriter<'_>) {
        state.put_len(self.index());
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        *self = Self::at(state.u32()?);
        Ok(())
    }
}
