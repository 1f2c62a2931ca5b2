//! Saved state: a list of 64-bit words, least byte first.

use processor::StateError;

/// Appends `words`.
///
/// Real-time: hot where there is room for them.
pub(crate) fn put(state: &mut Vec<u8>, words: impl IntoIterator<Item = u64>) {
    for word in words {
        state.extend_from_slice(&word.to_le_bytes());
    }
}

/// A saved state, read where it lies: loading allocates nothing, so that a copy may go on from it on an audio thread.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(&'a [[u8; 8]]);

impl Words<'_> {
    /// Word `index`, which there must be.
    ///
    /// Real-time: hot.
    pub(crate) fn at(self, index: usize) -> u64 {
        u64::from_le_bytes(self.0[index])
    }

    /// Word `index` as the number it was saved from.
    ///
    /// # Errors
    ///
    /// It is not finite: no unit saves that.
    ///
    /// Real-time: hot, but for the error.
    pub(crate) fn number(self, index: usize) -> Result<f64, StateError> {
        number(self.at(index))
    }

    /// So many numbers from word `first` on.
    ///
    /// # Errors
    ///
    /// One is not finite.
    ///
    /// Real-time: hot, but for the error.
    pub(crate) fn numbers<const N: usize>(self, first: usize) -> Result<[f64; N], StateError> {
        let mut numbers = [0.0; N];
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = self.number(first + i)?;
        }
        Ok(numbers)
    }

    /// The words from `first` on.
    ///
    /// Real-time: hot.
    pub(crate) fn from(self, first: usize) -> Self {
        Self(&self.0[first..])
    }
}

/// The words of `state`: exactly `count` of them.
///
/// # Errors
///
/// It has another length.
///
/// Real-time: hot, but for the error.
pub(crate) fn words(state: &[u8], count: usize) -> Result<Words<'_>, StateError> {
    if state.len() != count * 8 {
        let have = state.len();
        let need = count * 8;
        return Err(StateError(format!(
            "a saved state of {have} bytes where this node has {need}"
        )));
    }
    Ok(Words(state.as_chunks().0))
}

/// A word as the number it was saved from.
///
/// # Errors
///
/// It is not finite: no unit saves that.
fn number(word: u64) -> Result<f64, StateError> {
    let value = f64::from_bits(word);
    if value.is_finite() {
        Ok(value)
    } else {
        Err(StateError(format!("a saved number is {value}")))
    }
}
