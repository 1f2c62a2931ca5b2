//! Saved state: a list of 64-bit words, least significant byte first.
//!
//! A saved state is loaded by a duplicate of a node, or by the node that replaces it after an edit; both on an audio
//! thread, so reading allocates nothing. Each unit's `save` and `load` agree on the order of the words.

use crate::StateError;

/// Appends `words` to a state.
///
/// Real-time: hot if `state` has capacity for them.
pub fn put(state: &mut Vec<u8>, words: impl IntoIterator<Item = u64>) {
    for word in words {
        state.extend_from_slice(&word.to_le_bytes());
    }
}

/// A saved state, read in place.
#[derive(Clone, Copy)]
pub struct StateWords<'a>(&'a [[u8; 8]]);

impl StateWords<'_> {
    /// Word `index`. Panics if there is none: [`words`] has checked the length.
    ///
    /// Real-time: hot.
    pub fn at(self, index: usize) -> u64 {
        u64::from_le_bytes(self.0[index])
    }

    /// Word `index` as an `f64`.
    ///
    /// # Errors
    ///
    /// It is not finite, which no unit saves.
    ///
    /// Real-time: hot, but for the error.
    pub fn number(self, index: usize) -> Result<f64, StateError> {
        number(self.at(index))
    }

    /// `N` numbers from word `first` on.
    ///
    /// # Errors
    ///
    /// One is not finite.
    ///
    /// Real-time: hot, but for the error.
    pub fn numbers<const N: usize>(self, first: usize) -> Result<[f64; N], StateError> {
        let mut numbers = [0.0; N];
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = self.number(first + i)?;
        }
        Ok(numbers)
    }

    /// The words from `first` on.
    ///
    /// Real-time: hot.
    pub fn from(self, first: usize) -> Self {
        Self(&self.0[first..])
    }
}

/// The words of `state`, of which there must be `count`.
///
/// # Errors
///
/// It has another length.
///
/// Real-time: hot, but for the error.
pub fn words(state: &[u8], count: usize) -> Result<StateWords<'_>, StateError> {
    if state.len() != count * 8 {
        let have = state.len();
        let need = count * 8;
        return Err(StateError(format!(
            "a saved state of {have} bytes where this node has {need}"
        )));
    }
    Ok(StateWords(state.as_chunks().0))
}

/// A word as an `f64`.
///
/// # Errors
///
/// It is not finite, which no unit saves.
fn number(word: u64) -> Result<f64, StateError> {
    let value = f64::from_bits(word);
    if value.is_finite() {
        Ok(value)
    } else {
        Err(StateError(format!("a saved number is {value}")))
    }
}
