//! Comparison of an engine's output with a convolution in double precision, at selected frames.

use crate::BLOCK;
use crate::engine::{Engine, Workload};
use crate::signals::InputSignal;

/// Upper bound on the difference relative to the output, in dB, for an engine to be timed.
pub const BOUND_DB: f64 = -110.0;

/// Frames that are compared in each of the selected channels.
const FRAMES: usize = 48;

/// Runs until every tap has contributed and the longest partitions have completed a period. Returns the difference from
/// double precision in dB relative to the output, and the number of blocks.
pub fn difference_db(
    it: &mut dyn Engine,
    workload: &Workload<'_>,
    signal: &InputSignal,
) -> (f64, usize) {
    let blocks = workload.length.div_ceil(BLOCK) + 2 * 65_536 / BLOCK + 16;
    let selected = [0, workload.channels / 2, workload.channels - 1];
    let frames = frames(blocks * BLOCK);
    let mut output_samples = vec![[0.0_f32; FRAMES]; selected.len()];
    let mut output = vec![0.0; workload.channels * BLOCK];
    for block in 0..blocks {
        let inputs: Vec<_> = (0..workload.channels)
            .map(|c| signal.block(c, block))
            .collect();
        it.block(&inputs, &mut output, true);
        let now = frames
            .iter()
            .enumerate()
            .filter(|(_, f)| **f / BLOCK == block);
        for (at, frame) in now {
            for (output_samples, channel) in output_samples.iter_mut().zip(selected) {
                output_samples[at] = output[channel * BLOCK + frame % BLOCK];
            }
        }
    }
    let (mut error, mut energy) = (0.0, 0.0);
    for (output_samples, channel) in output_samples.iter().zip(selected) {
        let taps = (workload.response)(channel);
        for (output_samples, frame) in output_samples.iter().zip(frames) {
            let exact = exact_output(&taps, signal, channel, frame);
            error += (f64::from(*output_samples) - exact).powi(2);
            energy += exact * exact;
        }
    }
    (10.0 * (error / energy).log10(), blocks)
}

/// The frames that are compared: some at the beginning, the others over the end.
fn frames(all: usize) -> [usize; FRAMES] {
    let mut frames = [0; FRAMES];
    for (at, frame) in frames.iter_mut().enumerate() {
        *frame = match at {
            0..12 => at * 331,
            _ => all - 1 - (at - 12) * 2711 % 65_536,
        };
    }
    frames
}

/// The exact output.
fn exact_output(taps: &[f32], signal: &InputSignal, channel: usize, frame: usize) -> f64 {
    let output_samples = taps.iter().take(frame + 1).enumerate();
    output_samples
        .map(|(k, tap)| f64::from(*tap) * f64::from(signal.sample(channel, frame - k)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::all;
    use crate::signals::response;

    #[test]
    fn every_contestant_convolves() {
        for length in [1, 63, 1000, 16_384, 70_001] {
            let response = |channel| response(channel, length);
            let workload = Workload::new(3, length, &response);
            for entry in all() {
                let mut it = (entry.make)(&workload).unwrap();
                let (db, _) = difference_db(&mut *it, &workload, &InputSignal::default());
                assert!(db < BOUND_DB, "{} {length}: {db}", entry.name);
            }
        }
    }
}
