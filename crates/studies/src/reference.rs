//! Signals and the convolution by its definition, for the tests of both convolvers.

/// White noise within -1 and 1.
pub(crate) fn noise(frames: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(977).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..frames).map(|_| next()).collect()
}

/// Power of the error of every `step`th frame of `output`, and of the convolution in double precision there.
pub(crate) fn error_and_power(
    output: &[f32],
    input: &[f32],
    response: &[f32],
    step: usize,
) -> (f64, f64) {
    let frames = (0..output.len()).step_by(step).map(|n| {
        let from = (n + 1).saturating_sub(response.len());
        let product = |i: usize| f64::from(input[i]) * f64::from(response[n - i]);
        let truth: f64 = (from..=n).map(product).sum();
        ((f64::from(output[n]) - truth).powi(2), truth * truth)
    });
    frames.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// An error in dB of the power.
pub(crate) fn db((error, power): (f64, f64)) -> f64 {
    10.0 * (error / power).log10()
}
