//! Numbers as words, in requests and replies of work that may be done in another process.

/// Writes samples.
pub(super) fn put_samples(words: &mut [u32], samples: &[f32]) {
    for (word, sample) in words.iter_mut().zip(samples) {
        *word = sample.to_bits();
    }
}

/// Reads samples.
pub(super) fn read_samples(words: &[u32], samples: &mut [f32]) {
    for (sample, word) in samples.iter_mut().zip(words) {
        *sample = f32::from_bits(*word);
    }
}

/// Writes numbers, two words each.
pub(super) fn put_numbers(words: &mut [u32], numbers: &[f64]) {
    for (pair, number) in words.chunks_exact_mut(2).zip(numbers) {
        let bits = number.to_bits();
        pair.copy_from_slice(&[bits as u32, (bits >> 32) as u32]);
    }
}

/// Reads numbers. `None` if one is not finite, or there are too few.
pub(super) fn read_numbers<const N: usize>(words: &[u32]) -> Option<[f64; N]> {
    let mut numbers = [0.0; N];
    for (at, number) in numbers.iter_mut().enumerate() {
        let (low, high) = (*words.get(2 * at)?, *words.get(2 * at + 1)?);
        *number = f64::from_bits(u64::from(low) | u64::from(high) << 32);
    }
    numbers.iter().all(|it| it.is_finite()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_arrive_and_others_are_refused() {
        let mut words = [7; 5];
        put_numbers(&mut words, &[-1.5e-300, 440.0]);
        assert_eq!(
            (read_numbers(&words), words[4]),
            (Some([-1.5e-300, 440.0]), 7)
        );
        assert_eq!(read_numbers::<3>(&words), None);
        assert_eq!(read_numbers::<1>(&[u32::MAX; 2]), None);
        let mut samples = [1.0; 3];
        put_samples(&mut words, &[0.25, -0.0]);
        read_samples(&words[..2], &mut samples);
        assert_eq!(
            samples.map(f32::to_bits),
            [0.25, -0.0, 1.0].map(f32::to_bits)
        );
    }
}
