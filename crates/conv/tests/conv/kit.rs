//! Noise, impulse responses, and the output of a convolver.

use divisi_conv::{Convolver, ConvolverOptions, Inline, LevelScheduler, Partition, Path};
use units::SplitMix64;

/// Pseudo-random numbers, the same in every run.
pub(crate) struct Rng(SplitMix64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    /// From -1 to 1.
    pub(crate) fn sample(&mut self) -> f32 {
        (self.0.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    pub(crate) fn noise(&mut self, frames: usize) -> Vec<f32> {
        (0..frames).map(|_| self.sample()).collect()
    }

    /// Noise that decays by 60 dB.
    pub(crate) fn response(&mut self, frames: usize) -> Vec<f32> {
        let step = 0.001f64.powf(1.0 / frames as f64) as f32;
        let mut gain = 1.0;
        let mut next = || {
            gain *= step;
            gain * self.sample()
        };
        (0..frames).map(|_| next()).collect()
    }
}

/// The first `frames` frames of each output. The inputs are written block by block, then silence.
pub(crate) fn play(
    convolver: &mut Convolver,
    inputs: &[Vec<f32>],
    frames: usize,
    scheduler: &mut dyn LevelScheduler,
) -> Vec<Vec<f32>> {
    let block = convolver.block();
    let mut outputs = vec![Vec::with_capacity(frames + block); convolver.outputs()];
    let mut padded = vec![0.0; block];
    for at in (0..frames).step_by(block) {
        for channel in 0..convolver.inputs() {
            padded.fill(0.0);
            let input = inputs.get(channel).map_or(&[][..], |input| input);
            let from = &input[at.min(input.len())..(at + block).min(input.len())];
            padded[..from.len()].copy_from_slice(from);
            convolver.write_input(channel, &padded);
        }
        convolver.process_block(scheduler);
        for (channel, output) in outputs.iter_mut().enumerate() {
            output.extend_from_slice(convolver.output(channel));
        }
    }
    outputs
}

/// One channel through one response.
pub(crate) fn mono(
    partition: Partition,
    response: &[f32],
    input: &[f32],
    frames: usize,
) -> Vec<f32> {
    let path = Path::new(0, 0, response);
    let mut convolver = Convolver::new(1, 1, &[path], &ConvolverOptions::new(partition)).unwrap();
    play(&mut convolver, &[input.to_vec()], frames, &mut Inline).remove(0)
}

/// Frame `n` of the convolution of `input` and `response`.
pub(crate) fn truth(input: &[f32], response: &[f32], n: usize) -> f64 {
    let from = (n + 1).saturating_sub(response.len());
    let to = (n + 1).min(input.len());
    let product = |i: usize| f64::from(input[i]) * f64::from(response[n - i]);
    (from..to.max(from)).map(product).sum()
}

/// RMS of the difference at the frames `at`, in dB relative to the RMS of the truth, or to full scale where that is silent.
pub(crate) fn error_db(
    output: &[f32],
    late: usize,
    truth: impl Fn(usize) -> f64,
    at: &[usize],
) -> f64 {
    let (mut error, mut power) = (0.0, 0.0);
    for &n in at {
        let truth = if n < late { 0.0 } else { truth(n - late) };
        error += (f64::from(output[n]) - truth).powi(2);
        power += truth * truth;
    }
    let power = if power == 0.0 { at.len() as f64 } else { power };
    10.0 * (error / power + 1e-40).log10()
}

/// Asserts that `output` has the bits of `truth`.
pub(crate) fn same(output: &[Vec<f32>], truth: &[Vec<f32>], case: &str) {
    assert_eq!(output.len(), truth.len(), "{case}");
    for (channel, (a, b)) in output.iter().zip(truth).enumerate() {
        let differs = a
            .iter()
            .zip(b)
            .position(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(
            (differs, a.len()),
            (None, b.len()),
            "{case}: channel {channel}"
        );
    }
}
