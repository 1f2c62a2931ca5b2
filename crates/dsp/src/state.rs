//! Saved state: a list of 64-bit words, least byte first.

use processor::StateError;

/// Appends `words`.
///
/// Real-time: setup.
pub(crate) fn put(state: &mut Vec<u8>, words: impl IntoIterator<Item = u64>) {
    for word in words {
        state.extend_from_slice(&word.to_le_bytes());
    }
}

/// The words of `state`: exactly `count` of them.
///
/// # Errors
///
/// It has another length.
///
/// Real-time: setup.
pub(crate) fn words(state: &[u8], count: usize) -> Result<Vec<u64>, StateError> {
    if state.len() != count * 8 {
        let have = state.len();
        let need = count * 8;
        return Err(StateError(format!(
            "a saved state of {have} bytes where this node has {need}"
        )));
    }
    let (words, _) = state.as_chunks::<8>();
    Ok(words
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect())
}

/// A word as the number it was saved from.
///
/// # Errors
///
/// It is not finite: no unit saves that.
pub(crate) fn number(word: u64) -> Result<f64, StateError> {
    let value = f64::from_bits(word);
    if value.is_finite() {
        Ok(value)
    } else {
        Err(StateError(format!("a saved number is {value}")))
    }
}
