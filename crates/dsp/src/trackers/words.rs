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
    use super::super::flux::FluxJob;
    use super::super::pitch_job::PitchJob;
    use super::super::tempo_job::TempoJob;
    use super::*;
    use processor::WordJob;
    use rt::deferred::PiecewiseJob;

    /// Replies that another process may have written: never a panic, and only what can be a result is taken.
    #[test]
    fn nonsense_in_replies_is_refused_or_within_bounds() {
        let mut state = 0x9E37_79B9u32;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let (mut flux, mut pitch, mut tempo) = (
            FluxJob::new(48_000.0),
            PitchJob::new(48_000.0),
            TempoJob::new(48_000.0),
        );
        let mut taken = 0;
        for case in 0..20_000u32 {
            let mut reply = [0; 9];
            reply.iter_mut().for_each(|word| *word = next());
            if case.is_multiple_of(2) {
                let number = f64::from(next() % 4000) - 100.0;
                put_numbers(&mut reply[..2], &[number / 40.0]);
                put_numbers(&mut reply[2..4], &[number / 1000.0]);
                put_numbers(&mut reply[3..], &[number, number, number / 1000.0]);
            }
            if flux.read_reply(&reply[..2]) {
                assert!((0.0..=100.0).contains(&flux.flux));
                taken += 1;
            }
            if pitch.read_reply(&reply[..4]) {
                assert!((0.0..=1e6).contains(&pitch.result.hz));
            }
            if tempo.read_reply(&reply)
                && let Some(tempo) = tempo.result
            {
                assert!((1.0..=1e4).contains(&tempo.period), "{}", tempo.period);
            }
        }
        assert!(taken > 1000, "{taken}");
    }

    #[test]
    fn a_request_and_its_reply_give_the_result_of_the_job_itself() {
        let mut here = PitchJob::new(48_000.0);
        let mut there = PitchJob::new(48_000.0);
        for (at, x) in here.window.iter_mut().enumerate() {
            *x = (at as f32 * 0.0576).sin();
        }
        let (request, reply) = WordJob::words(&here);
        let (mut request, mut reply) = (vec![0; request], vec![0; reply]);
        here.write_request(&mut request);
        processor::NodeWork::answer(&mut there, &request, &mut reply);
        here.begin();
        while !here.run_piece() {}
        let result = std::mem::take(&mut here.result);
        assert!(here.read_reply(&reply) && here.result == result);
        assert!((result.hz - 440.0).abs() < 2.0, "{result:?}");
    }

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
