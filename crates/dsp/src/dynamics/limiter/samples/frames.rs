//! The arithmetic of frames of one segment and one channel: what enters, its peak, what leaves.

use super::SegmentValues;
use crate::dynamics::limiter::common::{loudest, within};
use crate::kernel::{FRAMES, FrameValues, Samples, line_sample};
use crate::sample::copy_samples;

/// Passes frames of a segment, from a place in it on, as many as a step has. Returns the magnitude of the largest sample that enters, as bits.
#[inline(always)]
pub(super) fn pass_segment(
    values: &SegmentValues,
    ((first, slope), place): ((f32, f32), usize),
    (input, output): (&Samples, &mut Samples),
    ring: &mut Samples,
) -> u32 {
    let SegmentValues { gain, ceiling, .. } = *values;
    let place = place as i32 as f32;
    let mut bits = 0;
    for i in 0..FRAMES {
        let late = ring[i];
        let at = place + i as i32 as f32;
        ring[i] = line_sample(f64::from(input[i] * gain));
        bits = ring[i].abs().to_bits().max(bits);
        output[i] = within(late * (first + slope * at), ceiling) + 0.0;
    }
    bits
}

/// Frames behind their gain: as many as there can be, for vectors of a known number; those that are not there are zeros.
#[inline(always)]
pub(super) fn enter(values: FrameValues<'_, SegmentValues>, from: &[f32]) -> Samples {
    let mut entering = [0f32; FRAMES];
    copy_samples(from, &mut entering[..from.len()]);
    match values.constant() {
        Some(values) => (entering.iter_mut()).for_each(
            #[inline(always)]
            |x| *x = line_sample(f64::from(*x * values.gain)),
        ),
        None => (entering.iter_mut().zip(values.iter()))
            .for_each(|(x, values)| *x = line_sample(f64::from(*x * values.gain))),
    }
    entering
}

/// The largest of the samples, over the ceiling.
#[inline(always)]
pub(super) fn peak_of(values: FrameValues<'_, SegmentValues>, entering: &Samples) -> f64 {
    match values.constant() {
        Some(values) => loudest(entering) * values.inverse,
        None => {
            let pairs = entering.iter().zip(values.iter());
            pairs.fold(0.0, |peak: f64, (x, values)| {
                peak.max(f64::from(x.abs()) * values.inverse)
            })
        }
    }
}

/// Multiplies by the gains, within the ceiling.
#[inline(always)]
pub(super) fn leave(values: FrameValues<'_, SegmentValues>, gains: &Samples, late: &mut Samples) {
    let pairs = late.iter_mut().zip(gains);
    // Silence is +0.0.
    match values.constant() {
        Some(values) => pairs.for_each(
            #[inline(always)]
            |(y, gain)| *y = within(*y * gain, values.ceiling) + 0.0,
        ),
        None => pairs
            .zip(values.iter())
            .for_each(|((y, gain), values)| *y = within(*y * gain, values.ceiling) + 0.0),
    }
}
