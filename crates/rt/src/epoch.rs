//! Words that hold an epoch in their upper 32 bits and a value in their lower 32; see the head of the crate.

/// The word that holds `epoch` and `low`.
pub(crate) const fn pack(epoch: u32, low: u32) -> u64 {
    (epoch as u64) << 32 | low as u64
}

/// Epoch of a word.
pub(crate) const fn of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Value of a word if it is of `epoch`, else 0.
pub(crate) const fn low_in(word: u64, epoch: u32) -> u32 {
    if of(word) == epoch { word as u32 } else { 0 }
}
