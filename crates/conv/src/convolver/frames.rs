//! Between channels, each its own run of memory, and frames of sixteen channels; adding up what lines give.

use crate::group::Group;
use crate::line::Line;
use fft::{Kernels, LANES};

/// Sixteen frames of sixteen channels.
const SQUARE: usize = LANES * LANES;

/// Adds what a line of single channels gives to a group's outputs.
///
/// Real-time: hot.
pub(super) fn play(line: &Line, group: &Group, block: usize, played: &mut [f32]) {
    if let Some(first) = group.first_of_row {
        if let Some(heard) = line.all_heard() {
            add(&mut played[first * block..], heard);
        }
        return;
    }
    for (place, output) in group.outputs.iter().enumerate() {
        if let Some(heard) = line.heard(place) {
            add(&mut played[output * block..][..block], heard);
        }
    }
}

/// `to += from`
///
/// Real-time: hot.
#[inline]
pub(super) fn add(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}

/// The block of a group's inputs as frames of sixteen.
///
/// Real-time: hot.
pub(super) fn gather(
    kernels: Kernels,
    group: &Group,
    staged: &[f32],
    block: usize,
    frames: &mut [f32],
) {
    if let (Some(first), true) = (group.first_input, block.is_multiple_of(LANES)) {
        let staged = &staged[first * block..][..LANES * block];
        for (at, frames) in (0..block)
            .step_by(LANES)
            .zip(frames.as_chunks_mut::<SQUARE>().0)
        {
            kernels.transpose(&staged[at..], block, frames, LANES);
        }
        return;
    }
    for (lane, input) in group.inputs.iter().enumerate() {
        let heard = &staged[input * block..][..block];
        for (frame, x) in frames.as_chunks_mut::<LANES>().0.iter_mut().zip(heard) {
            frame[lane] = *x;
        }
    }
}

/// Adds frames of sixteen to a group's outputs.
///
/// Real-time: hot.
pub(super) fn scatter(
    kernels: Kernels,
    group: &Group,
    frames: &[f32],
    block: usize,
    played: &mut [f32],
) {
    if let (Some(first), true) = (
        group.first_of_row,
        group.outputs.len() == LANES && block.is_multiple_of(LANES),
    ) {
        let played = &mut played[first * block..][..LANES * block];
        let mut turned = [0.0; SQUARE];
        for (at, frames) in (0..block)
            .step_by(LANES)
            .zip(frames.as_chunks::<SQUARE>().0)
        {
            kernels.transpose(frames, LANES, &mut turned, LANES);
            for (played, turned) in played
                .chunks_exact_mut(block)
                .zip(turned.as_chunks::<LANES>().0)
            {
                add(&mut played[at..], turned);
            }
        }
        return;
    }
    for (lane, output) in group.outputs.iter().enumerate() {
        let played = &mut played[output * block..][..block];
        for (y, frame) in played.iter_mut().zip(frames.as_chunks::<LANES>().0) {
            *y += frame[lane];
        }
    }
}
