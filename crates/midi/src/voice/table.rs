//! [`VoiceTable`]: the note that each voice plays.

use processor::StateError;
use processor::state::{self, StateWords};

/// The voice that a note takes if none is free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StealPolicy {
    /// The one whose note began first.
    Oldest,
    /// The one with the lowest velocity.
    Quietest,
    /// None: the note is left out.
    Never,
}

/// Use of a voice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum VoiceUse {
    #[default]
    Free,
    /// Its note is held.
    Held,
    /// Its note has ended, and it sounds on up to this frame since the start of playback.
    Released(u64),
}

/// One voice.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VoiceEntry {
    pub(crate) state: VoiceUse,
    /// The note that it plays or has played.
    pub(crate) id: u32,
    velocity: f32,
    /// Number of the note that it plays, counted over all voices.
    order: u64,
}

/// All voices.
#[derive(Clone, Debug)]
pub(crate) struct VoiceTable {
    voices: Box<[VoiceEntry]>,
    notes: u64,
}

impl VoiceTable {
    /// `count` free voices.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            voices: vec![VoiceEntry::default(); count].into(),
            notes: 0,
        }
    }

    /// Frees all voices.
    ///
    /// Real-time: hot.
    pub(crate) fn reset(&mut self) {
        self.voices.fill(VoiceEntry::default());
        self.notes = 0;
    }

    /// All voices.
    pub(crate) fn voices(&self) -> &[VoiceEntry] {
        &self.voices
    }

    /// Gives a voice to the note `id`. Returns its index and its use before; `None` if no voice is free and none may be
    /// stolen. Free voices come first, then released ones, then held ones.
    ///
    /// Real-time: hot.
    pub(crate) fn take(
        &mut self,
        (id, velocity): (u32, f32),
        policy: StealPolicy,
    ) -> Option<(usize, VoiceEntry)> {
        let rank = |voice: &VoiceEntry| {
            let (class, end) = match voice.state {
                VoiceUse::Free => (0, 0),
                VoiceUse::Released(end) => (1, end),
                VoiceUse::Held => (2, 0),
            };
            // Released voices are the quieter the sooner they end. Bits of numbers from 0 up are in their order.
            let level = match policy {
                StealPolicy::Quietest if class == 2 => u64::from(voice.velocity.to_bits()),
                StealPolicy::Quietest => end,
                _ => 0,
            };
            (class, level, voice.order)
        };
        let voices = self.voices.iter().enumerate();
        let (index, _) = voices.min_by_key(|(_, voice)| rank(voice))?;
        let voice = &mut self.voices[index];
        if voice.state == VoiceUse::Held && policy == StealPolicy::Never {
            return None;
        }
        self.notes += 1;
        let before = std::mem::replace(
            voice,
            VoiceEntry {
                state: VoiceUse::Held,
                id,
                velocity,
                order: self.notes,
            },
        );
        Some((index, before))
    }

    /// Calls `act` with each voice that plays the held note `id`. A voice that it sets free or releases is so.
    ///
    /// Real-time: hot.
    pub(crate) fn for_each_held(&mut self, id: u32, mut act: impl FnMut(usize, &mut VoiceUse)) {
        for (index, voice) in self.voices.iter_mut().enumerate() {
            if voice.state == VoiceUse::Held && voice.id == id {
                act(index, &mut voice.state);
            }
        }
    }

    /// Frees each voice that ends before the frame `to`; `act` gets its index, its note and its end.
    ///
    /// Real-time: hot.
    pub(crate) fn free_ended(&mut self, to: u64, mut act: impl FnMut(usize, u32, u64)) {
        for (index, voice) in self.voices.iter_mut().enumerate() {
            if let VoiceUse::Released(end) = voice.state
                && end < to
            {
                voice.state = VoiceUse::Free;
                act(index, voice.id, end);
            }
        }
    }

    /// Returns true if a voice sounds on after its note.
    ///
    /// Real-time: hot.
    pub(crate) fn has_released(&self) -> bool {
        let is_released = |voice: &VoiceEntry| matches!(voice.state, VoiceUse::Released(_));
        self.voices.iter().any(is_released)
    }

    /// Number of words of a saved state.
    pub(crate) fn state_words(&self) -> usize {
        1 + 4 * self.voices.len()
    }

    /// Appends the state.
    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, [self.notes]);
        for voice in &self.voices {
            let (state, end) = match voice.state {
                VoiceUse::Free => (0, 0),
                VoiceUse::Held => (1, 0),
                VoiceUse::Released(end) => (2, end),
            };
            let velocity = u64::from(voice.velocity.to_bits());
            let note = u64::from(voice.id) << 32 | velocity;
            state::put(bytes, [state, end, note, voice.order]);
        }
    }

    /// Continues from a saved state.
    ///
    /// # Errors
    ///
    /// A velocity is not from 0 to 1. Then nothing has changed.
    pub(crate) fn load(&mut self, words: StateWords<'_>) -> Result<(), StateError> {
        let velocity = |v: usize| f32::from_bits(words.at(3 + 4 * v) as u32);
        if !(0..self.voices.len()).all(|v| (0.0..=1.0).contains(&velocity(v))) {
            return Err(StateError("a saved velocity is not from 0 to 1".into()));
        }
        // So many notes do not begin within a run, so the count never overflows.
        let order = |word: u64| word.min(u64::MAX / 2);
        self.notes = order(words.at(0));
        for (v, voice) in self.voices.iter_mut().enumerate() {
            let at = |word: usize| words.at(1 + 4 * v + word);
            *voice = VoiceEntry {
                state: match at(0) {
                    1 => VoiceUse::Held,
                    2 => VoiceUse::Released(at(1)),
                    _ => VoiceUse::Free,
                },
                id: (at(2) >> 32) as u32,
                velocity: velocity(v),
                order: order(at(3)),
            };
        }
        Ok(())
    }
}
