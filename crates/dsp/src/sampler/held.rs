//! [`HeldNotes`]: notes that have not ended, for the samples that their ends play.

use processor::StateError;
use processor::state::StateWords;

/// Most notes; of more the oldest ends without a sample.
const PLACES: usize = 128;

/// A note that has not ended, or whose key is up while the pedal is down.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldNote {
    pub(super) note: u64,
    pub(super) pitch: f64,
    pub(super) velocity: f64,
    pub(super) bend: f64,
    /// Frame at which it began.
    pub(super) since: u64,
    /// True once its key is up.
    pub(super) is_released: bool,
}

/// Notes that have not ended. An instrument that plays nothing at their ends holds none.
#[derive(Debug, Default)]
pub(super) struct HeldNotes(Box<[Option<HeldNote>]>);

impl HeldNotes {
    /// Words of a saved note.
    const STATE_WORDS: usize = 6;

    /// Room for notes, if the instrument has samples for their ends.
    ///
    /// Real-time: setup.
    pub(super) fn new(has_releases: bool) -> Self {
        Self(vec![None; if has_releases { PLACES } else { 0 }].into())
    }

    /// Real-time: hot.
    pub(super) fn clear(&mut self) {
        self.0.fill(None);
    }

    /// Real-time: hot.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Real-time: hot.
    pub(super) fn push(&mut self, note: HeldNote) {
        let places = self.0.iter_mut();
        if let Some(place) = places.min_by_key(|place| place.map(|held| held.since)) {
            *place = Some(note);
        }
    }

    /// A note that `is_meant`.
    ///
    /// Real-time: hot.
    pub(super) fn find(&mut self, is_meant: impl Fn(&HeldNote) -> bool) -> Option<&mut HeldNote> {
        self.0.iter_mut().flatten().find(|held| is_meant(held))
    }

    /// Removes a note that `is_meant`, and returns it.
    ///
    /// Real-time: hot.
    pub(super) fn take(&mut self, is_meant: impl Fn(&HeldNote) -> bool) -> Option<HeldNote> {
        let mut places = self.0.iter_mut();
        places
            .find(|place| place.as_ref().is_some_and(&is_meant))?
            .take()
    }

    /// Notes that are held.
    ///
    /// Real-time: hot.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut HeldNote> {
        self.0.iter_mut().flatten()
    }

    /// Words of all places: an empty one has a velocity below 0.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().flat_map(|place| match place {
            Some(held) => [
                held.note,
                held.pitch.to_bits(),
                held.velocity.to_bits(),
                held.bend.to_bits(),
                held.since,
                u64::from(held.is_released),
            ],
            None => [0, 0, (-1f64).to_bits(), 0, 0, 0],
        })
    }

    /// Number of words.
    pub(super) fn word_count(&self) -> usize {
        Self::STATE_WORDS * self.0.len()
    }

    /// What `words` says.
    ///
    /// # Errors
    ///
    /// A number makes no sense.
    pub(super) fn check(&self, words: StateWords<'_>) -> Result<(), StateError> {
        (0..self.0.len()).try_for_each(|place| read(words, place).map(drop))
    }

    /// Takes what [`check`](Self::check) has found right.
    ///
    /// # Errors
    ///
    /// As there.
    pub(super) fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        for (at, place) in self.0.iter_mut().enumerate() {
            *place = read(words, at)?;
        }
        Ok(())
    }
}

fn read(words: StateWords<'_>, place: usize) -> Result<Option<HeldNote>, StateError> {
    let words = words.from(HeldNotes::STATE_WORDS * place);
    let [pitch, velocity, bend] = words.numbers(1)?;
    if velocity < 0.0 {
        return Ok(None);
    }
    if !(0.0..128.0).contains(&pitch) || velocity > 1.0 || bend.abs() > 1e4 {
        return Err(StateError("a saved note is outside its range".into()));
    }
    Ok(Some(HeldNote {
        note: words.at(0),
        pitch,
        velocity,
        bend,
        since: words.at(4),
        is_released: words.at(5) != 0,
    }))
}
