//! State of a patch: that of its messages and objects, and of what its signals share.

use super::message_step::MessageStep;
use super::place::{Fill, SignalObject};
use super::shared::{SharedCell, SharedName, SharedSamples};
use crate::control::is_now;
use crate::load::LoadedPatch;
use crate::state::{Held, StateReader, StateWriter, Unfit};

/// First word of a state: changes with what follows.
const MAGIC: u32 = 0x5044_0001;
/// Bytes before the state proper: constant, patch, bytes.
const HEAD: usize = 16;
/// Most bytes of a state.
const MAX_BYTES: usize = 480 << 10;
/// Bytes for what lists, clocks and symbols become while the patch plays, beside a quarter of what they are.
const ROOM: usize = 16 << 10;

/// Largest number of a block that is believed: far enough from overflow.
const MAX_TICK: u64 = 1 << 62;

/// Marks in which a state must agree with its patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateFormat {
    /// A number that another patch does not have.
    patch: u64,
    /// Changes of boxes and connections until it was loaded, and the bytes of its states; 0 before.
    changes: u64,
    bytes: usize,
    /// Arrays and delay lines that found no room when it was loaded; 1 where the rest found none either.
    unsaved: usize,
}

impl StateFormat {
    /// That of patches at a rate, before they are loaded.
    pub(super) fn of<'p>(patches: impl Iterator<Item = &'p LoadedPatch>, rate: f32) -> Self {
        let texts = patches
            .flat_map(|patch| &patch.files)
            .map(|file| file.text.as_bytes());
        let rate = rate.to_bits().to_le_bytes();
        let bytes = texts.flat_map(|text| text.iter().chain(&[0])).chain(&rate);
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self {
            patch: bytes.fold(0xcbf2_9ce4_8422_2325, mix),
            changes: 0,
            bytes: 0,
            unsaved: 0,
        }
    }
}

impl MessageStep {
    /// Fixes the number of bytes of the patch's states, now that it is loaded.
    ///
    /// Real-time: setup.
    pub(crate) fn fix_state(&mut self) {
        self.machine.end_loading();
        let mut bytes = Vec::new();
        let (is_whole, left_out) = {
            let mut state = StateWriter::new(&mut bytes, MAX_BYTES - HEAD);
            self.write_state(&mut state);
            (!state.is_full(), state.left_out)
        };
        let size = bytes.len() + bytes.len() / 4 + HEAD + ROOM;
        self.state_format.changes = self.machine.changes();
        let size = size.next_multiple_of(4096).min(MAX_BYTES);
        (self.state_format.bytes, self.state_format.unsaved) = match is_whole {
            true => (size, left_out),
            false => (0, left_out.max(1)),
        };
    }

    /// Arrays and delay lines for which the patch's states have no room; with states of no bytes, more than 0 means all of it.
    pub(crate) fn unsaved(&self) -> usize {
        self.state_format.unsaved
    }

    /// Bytes of each state of the patch; 0 if it keeps none.
    pub(crate) fn state_bytes(&self) -> usize {
        self.state_format.bytes
    }

    /// Appends the state of the patch, between two blocks. One that has become too large, and that of a patch in which messages have made
    /// boxes, is empty. Gives the number of arrays and delay lines that found no room.
    ///
    /// Real-time: hot if `bytes` has the capacity.
    pub(crate) fn save_state(&self, bytes: &mut Vec<u8>) -> usize {
        let (begin, format) = (bytes.len(), &self.state_format);
        if format.bytes == 0 {
            return 0;
        }
        bytes.extend_from_slice(&MAGIC.to_le_bytes());
        bytes.extend_from_slice(&format.patch.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        let is_as_loaded = self.machine.changes() == format.changes;
        let mut state = StateWriter::new(bytes, format.bytes - HEAD);
        if is_as_loaded {
            self.write_state(&mut state);
        }
        let (is_kept, left_out) = (is_as_loaded && !state.is_full(), state.left_out);
        let len = if is_kept {
            bytes.len() - begin - HEAD
        } else {
            0
        };
        bytes.truncate(begin + HEAD + len);
        let len = u32::try_from(len).unwrap_or(0).to_le_bytes();
        bytes[begin + HEAD - 4..begin + HEAD].copy_from_slice(&len);
        bytes.resize(begin + format.bytes, 0);
        left_out
    }

    /// Goes on from a state of the same patch, between two blocks. One that does not fit changes nothing; the reason is given. Gives false for
    /// an empty one: the patch begins anew.
    ///
    /// Real-time: setup.
    pub(crate) fn load_state(&mut self, bytes: &[u8]) -> Result<bool, &'static str> {
        let format = self.state_format;
        if bytes.len() != format.bytes {
            return Err("a saved state of another size");
        }
        let Some((head, body)) = bytes.split_at_checked(HEAD) else {
            return Ok(false);
        };
        if *head == [0; HEAD] {
            return Ok(false);
        }
        if head[..4] != MAGIC.to_le_bytes() || head[4..12] != format.patch.to_le_bytes() {
            return Err("a saved state of another patch");
        }
        let len = u32::from_le_bytes([head[12], head[13], head[14], head[15]]) as usize;
        let body = body.get(..len).ok_or("a damaged state")?;
        if body.is_empty() {
            return Ok(false);
        }
        if self.machine.changes() != format.changes {
            return Err("messages have changed the patch");
        }
        let (mut before, places) = (Vec::new(), self.machine.clock_places());
        self.write_state(&mut StateWriter::new(&mut before, usize::MAX));
        if self.read_state(body).is_err() {
            // What it has written itself fits.
            let restored = self.read_state(&before);
            debug_assert!(
                restored.is_ok(),
                "a state fits the patch that has written it"
            );
            self.machine.keep_clock_places(&places);
            return Err("a damaged state");
        }
        Ok(true)
    }

    fn write_state(&self, state: &mut StateWriter<'_>) {
        self.machine.save_state(state);
        let (tick, now) = self.time.state();
        tick.save(state);
        now.save(state);
        state.put_len(self.touched.values.len());
        for (name, cell) in &self.touched.values {
            name.save(state);
            cell.read().samples[0].save(state);
        }
        for array in self.machine.all_arrays() {
            save_samples(self.machine.points_of_state(array), state);
        }
        state.put_len(self.touched.arrays.len());
        for (array, cell) in &self.touched.arrays {
            array.save(state);
            save_samples(&cell.read().samples, state);
        }
        let lines = self.things.iter().filter(|(name, _)| is_kept(*name));
        state.put_len(lines.clone().count());
        for (name, cell) in lines {
            name.save(state);
            let cell = cell.read();
            cell.phase.save(state);
            save_samples(&cell.samples, state);
        }
    }

    fn read_state(&mut self, bytes: &[u8]) -> Result<(), Unfit> {
        let mut state = StateReader::new(bytes, self.machine.objects_of_state());
        let symbols = self.machine.load_symbols(&mut state)?;
        state.symbols = &symbols;
        let state = &mut state;
        self.machine.load_state(state)?;
        let (mut tick, mut now) = (0_u64, 0.0_f64);
        tick.load(state)?;
        now.load(state)?;
        if tick > MAX_TICK || !is_now(now) {
            return Err(Unfit);
        }
        self.time.restore(tick, now);
        for _ in 0..state.len()? {
            let (mut name, mut value) = (crate::control::words::EMPTY, 0.0_f32);
            name.load(state)?;
            value.load(state)?;
            let mut all = self.touched.values.iter();
            let (_, cell) = all.find(|(own, _)| *own == name).ok_or(Unfit)?;
            cell.write().samples[0] = value;
        }
        self.read_arrays(state)?;
        for _ in 0..state.len()? {
            let mut name = SharedName::Delay(crate::control::words::EMPTY);
            name.load(state)?;
            let cell = self
                .things
                .get(name)
                .filter(|_| is_kept(name))
                .ok_or(Unfit)?;
            read_line(name, cell, state)?;
        }
        state.is_empty().then_some(()).ok_or(Unfit)
    }

    fn read_arrays(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        self.swap_arrays();
        let read = self.machine.load_points(state);
        self.swap_arrays();
        read
    }
}

/// Returns true for what passes from one block to the next.
fn is_kept(name: SharedName) -> bool {
    matches!(
        name,
        SharedName::Delay(_) | SharedName::Send(_) | SharedName::Throw(_)
    )
}

/// Writes samples if all of them find room.
fn save_samples(samples: &[f32], state: &mut StateWriter<'_>) {
    let is_kept = !samples.is_empty() && state.room() > samples.len() * 4 + 8;
    is_kept.save(state);
    state.left_out += usize::from(!is_kept && !samples.is_empty());
    if is_kept {
        state.put_len(samples.len());
        state.put_samples(samples);
    }
}

/// Reads a delay line or a block.
fn read_line(
    name: SharedName,
    cell: &SharedCell,
    state: &mut StateReader<'_>,
) -> Result<(), Unfit> {
    let (mut phase, mut is_kept) = (0, false);
    Held::load(&mut phase, state)?;
    is_kept.load(state)?;
    let SharedSamples {
        samples,
        phase: own,
    } = &mut *cell.write();
    let first = match name {
        SharedName::Delay(_) => super::objects::FIRST_OF_LINE,
        _ => 0,
    };
    if phase < first || phase >= samples.len() {
        return Err(Unfit);
    }
    if is_kept {
        // One that was not kept begins empty, where it would.
        *own = phase;
        samples.load(state)?;
    }
    Ok(())
}

impl SignalObject {
    /// Writes what it holds.
    ///
    /// Real-time: hot if the writer's vector has the capacity.
    pub(crate) fn save(&self, state: &mut StateWriter<'_>) {
        self.own_numbers().for_each(|number| number.save(state));
        state.put_len(self.clocks.len());
        for (slot, delay_ms) in &self.clocks {
            slot.save(state);
            delay_ms.save(state);
        }
        state.record(|state| self.object.save(state));
    }

    /// Reads what an object of the same box has written.
    ///
    /// Real-time: setup.
    pub(crate) fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        self.own_numbers_mut()
            .try_for_each(|number| number.load(state))?;
        self.fill = Fill::New;
        let count = state.len()?;
        self.clocks.clear();
        if count > self.clocks.capacity() {
            return Err(Unfit);
        }
        for _ in 0..count {
            let (mut slot, mut delay_ms) = (0_u32, 0.0_f64);
            slot.load(state)?;
            delay_ms.load(state)?;
            if slot >= 16 || delay_ms.is_nan() {
                return Err(Unfit);
            }
            self.clocks.push((slot, delay_ms));
        }
        let mut record = state.record()?;
        if record.is_empty() {
            return Ok(());
        }
        let mut read = Ok(());
        self.call(|object| read = object.load(&mut record));
        read?;
        record.is_empty().then_some(()).ok_or(Unfit)
    }
}

impl Held for SharedName {
    fn save(&self, state: &mut StateWriter<'_>) {
        let (sort, name) = match self {
            Self::Delay(name) => (0, name),
            Self::Send(name) => (1, name),
            Self::Throw(name) => (2, name),
            // Not kept.
            Self::Array(name) | Self::Value(name) => (3, name),
            Self::Output(_) | Self::Input(_) => (3, &crate::control::words::EMPTY),
        };
        state.put(&[sort]);
        name.save(state);
    }

    fn load(&mut self, state: &mut StateReader<'_>) -> Result<(), Unfit> {
        let [sort] = state.array()?;
        let mut name = crate::control::words::EMPTY;
        name.load(state)?;
        *self = match sort {
            0 => Self::Delay(name),
            1 => Self::Send(name),
            2 => Self::Throw(name),
            _ => return Err(Unfit),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::PatchSteps;
    use super::*;
    use crate::class::class_names;
    use crate::control::UNITS_PER_MS;
    use crate::load::load_text;

    /// Returns true if an object of the patch with this statement begins anew.
    fn begins_anew(statement: &str) -> bool {
        let patch = load_text("p", format!("#N canvas 0 0 9 9 12;\n{statement};\n"));
        let (steps, _) = PatchSteps::new(&patch, 44_100.0, (0, 0));
        let mut bytes = Vec::new();
        let mut state = StateWriter::new(&mut bytes, usize::MAX);
        steps.messages.machine.save_state(&mut state);
        state.begins_anew
    }

    #[test]
    fn a_state_with_a_time_that_never_passes_is_refused() {
        let patch = load_text(
            "p",
            "#N canvas 0 0 9 9 12;\n#X obj 0 0 metro 7 3 sec;\n".to_owned(),
        );
        let (mut steps, _) = PatchSteps::new(&patch, 44_100.0, (0, 0));
        let messages = &mut steps.messages;
        messages.load();
        let mut state = Vec::new();
        messages.save_state(&mut state);
        let unit = (3000.0_f64 * UNITS_PER_MS).to_le_bytes();
        let at = state
            .windows(8)
            .position(|it| it == unit)
            .expect("its unit");
        for (unit, fits) in [
            (20.0, true),
            (0.0, false),
            (-1.0, false),
            (f64::NAN, false),
            (f64::INFINITY, false),
        ] {
            state[at..at + 8].copy_from_slice(&f64::to_le_bytes(unit));
            assert_eq!(messages.load_state(&state).is_ok(), fits, "{unit}");
        }
    }

    #[test]
    fn every_class_keeps_what_it_holds_or_is_named_as_one_that_begins_anew() {
        let boxes = class_names()
            .into_iter()
            .map(|class| (class.to_owned(), format!("#X obj 0 0 {class}")));
        let found = boxes.filter(|(_, statement)| begins_anew(statement));
        let found = Vec::from_iter(found.map(|(class, _)| class));
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pd.md");
        let docs = std::fs::read_to_string(docs).expect("it is there");
        let line = docs.lines().find(|line| line.starts_with("Begin anew: "));
        let named = line
            .expect("a line of classes")
            .split('`')
            .skip(1)
            .step_by(2);
        assert_eq!(found, Vec::from_iter(named));
        for statement in ["#X msg 0 0 a", "#X floatatom 0 0", "#X symbolatom 0 0"] {
            assert!(!begins_anew(statement), "{statement}");
        }
    }
}
