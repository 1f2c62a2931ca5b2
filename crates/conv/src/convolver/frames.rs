//! Blocks of single channels to and from frames of sixteen channels, and the sum of the levels' outputs.

use super::group::Group;
use crate::level::stream::LevelStream;
use fft::{Kernels, LANES};

/// Samples of sixteen frames of sixteen channels.
const SQUARE: usize = LANES * LANES;

/// Adds the output of a level of single channels to the outputs of its group.
///
/// Real-time: hot.
pub(super) fn add_level(stream: &LevelStream, group: &Group, block: usize, outputs: &mut [f32]) {
    if let Some(first) = group.first_output {
        if let Some(level) = stream.all_outputs() {
            add(&mut outputs[first * block..], level);
        }
        return;
    }
    for (place, output) in group.outputs.iter().enumerate() {
        if let Some(level) = stream.output(place) {
            add(&mut outputs[output * block..][..block], level);
        }
    }
}

/// Adds `from` to `to`.
///
/// Real-time: hot.
#[inline]
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}

/// Copies the blocks of a group's inputs to frames of sixteen samples.
///
/// Real-time: hot.
pub(super) fn gather(
    kernels: Kernels,
    group: &Group,
    inputs: &[f32],
    block: usize,
    frames: &mut [f32],
) {
    if let (Some(first), true) = (group.first_input, block.is_multiple_of(LANES)) {
        let inputs = &inputs[first * block..][..LANES * block];
        for (at, frames) in (0..block)
            .step_by(LANES)
            .zip(frames.as_chunks_mut::<SQUARE>().0)
        {
            kernels.transpose(&inputs[at..], block, frames, LANES);
        }
        return;
    }
    for (lane, input) in group.inputs.iter().enumerate() {
        let input = &inputs[input * block..][..block];
        for (frame, x) in frames.as_chunks_mut::<LANES>().0.iter_mut().zip(input) {
            frame[lane] = *x;
        }
    }
}

/// Adds frames of sixteen samples to the blocks of a group's outputs.
///
/// Real-time: hot.
pub(super) fn scatter(
    kernels: Kernels,
    group: &Group,
    frames: &[f32],
    block: usize,
    outputs: &mut [f32],
) {
    if let (Some(first), true) = (
        group.first_output,
        group.outputs.len() == LANES && block.is_multiple_of(LANES),
    ) {
        let outputs = &mut outputs[first * block..][..LANES * block];
        let mut transposed = [0.0; SQUARE];
        for (at, frames) in (0..block)
            .step_by(LANES)
            .zip(frames.as_chunks::<SQUARE>().0)
        {
            kernels.transpose(frames, LANES, &mut transposed, LANES);
            for (output, samples) in outputs
                .chunks_exact_mut(block)
                .zip(transposed.as_chunks::<LANES>().0)
            {
                add(&mut output[at..], samples);
            }
        }
        return;
    }
    for (lane, output) in group.outputs.iter().enumerate() {
        let output = &mut outputs[output * block..][..block];
        for (y, frame) in output.iter_mut().zip(frames.as_chunks::<LANES>().0) {
            *y += frame[lane];
        }
    }
}
