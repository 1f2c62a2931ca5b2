//! Blocks in which a `limiter` has nothing to reduce: found by a bound of the points between samples, before any of them is computed, and
//! passed on in narrow numbers.

use super::common::{loudest, within};
use super::{AIM, Limiter, LimiterValues};
use crate::kernel::{FRAMES, FrameValues, LaneIo, Memory, line_sample};
use crate::sample::{clamp_sample, copy_samples};
use std::ops::Range;

impl Limiter {
    /// Returns true if no sample and no point of these frames reaches what is aimed at: no point is computed then.
    #[inline(always)]
    pub(super) fn is_far_below(
        &self,
        values: FrameValues<'_, LimiterValues>,
        io: &LaneIo<'_>,
        memory: &Memory,
        frames: Range<usize>,
    ) -> bool {
        let before = memory.counts[0].wrapping_sub(1);
        let (aim, gain) = match values.constant() {
            Some(values) => (values.ceiling * AIM, values.gain),
            None => (
                (values.iter()).fold(f64::MAX, |aim, it| aim.min(it.ceiling * AIM)),
                values.iter().fold(0.0, |gain: f64, it| gain.max(it.gain)),
            ),
        };
        // A loop and no `all`, which would be a function by itself, for plain instructions.
        let mut is_below = true;
        for (c, samples) in io.input(0).iter().enumerate() {
            let old = loudest(self.history(c).recent(memory, before));
            // Not a number is not far below: it is left to what follows.
            let new = loudest(&samples[frames.clone()]) * gain;
            is_below &= old.max(new) * self.overshoot <= aim && new.is_finite();
        }
        is_below
    }

    /// Processes frames of values that stand still, where nothing is reduced and the rings of the reductions are zeros: what is
    /// then left of [`process_run`](Self::process_run) is done with narrow numbers, whose bits are the same. The sound is delayed,
    /// and held within the ceiling, which may have come down since it entered.
    #[inline(always)]
    pub(super) fn pass(
        &self,
        values: &LimiterValues,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
        frames: Range<usize>,
    ) {
        let (at, count) = (memory.counts[0], frames.len());
        let ceiling = values.ceiling as f32;
        for c in 0..io.output(0).len() {
            let (input, output) = io.both((0, c), (0, c));
            // As many frames as there can be, for vectors of a known number; those that are not there stay behind.
            let (mut entering, mut late) = ([0f32; FRAMES], [0f32; FRAMES]);
            copy_samples(&input[frames.clone()], &mut entering[..count]);
            for x in &mut entering {
                *x = line_sample(f64::from(*x) * values.gain);
            }
            let entering = &entering[..count];
            self.history(c).push_run(memory, at, entering);
            self.sound
                .pass_run(memory, (at, c), entering, &mut late[..count]);
            for y in &mut late {
                *y = within(clamp_sample(*y), ceiling);
            }
            copy_samples(&late[..count], &mut output[frames.clone()]);
        }
        memory.counts[0] = at.wrapping_add(count as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{UnitKernel, process_linked};

    /// Noise of 16 bits from a block's number, loud in one of thirty blocks.
    fn block_of(number: u32) -> Vec<[f32; FRAMES]> {
        let gain = if number % 30 == 3 { 1.5 } else { 0.2 };
        let sample = |i: usize| {
            let mixed = (number * 4096 + i as u32 + 1).wrapping_mul(2_654_435_769);
            gain * f32::from((mixed >> 16) as i16) / 32_768.0
        };
        let channel = |c: usize| std::array::from_fn(|i| sample(c * FRAMES + i));
        vec![channel(0), channel(1)]
    }

    #[test]
    fn frames_at_rest_have_the_bits_of_all_others() {
        let mut limiter = Limiter::default();
        let size = limiter.setup(8000.0, 2);
        let (mut memory, mut other) = (Memory::new(0, size), Memory::new(0, size));
        let (mut resting, mut held) = (0, 0);
        let mut at = 0;
        for number in 0..600 {
            let count = 1 + number as usize * 29 % FRAMES;
            // Down below the noise that is under way, now and then.
            let is_low = number % 30 == 25;
            let ceiling = if is_low { 0.013_37 } else { 0.9 };
            let gain = if is_low { 1e-3 } else { 0.7 };
            let values = LimiterValues {
                ceiling,
                gain,
                release: 0.9,
            };
            let (one, many) = ([values], vec![values; count]);
            let input = block_of(number);
            let mut heard = [vec![[0f32; FRAMES]; 2], vec![[0f32; FRAMES]; 2]];
            resting += u32::from(limiter.reductions().is_at_rest(&memory));
            let [outputs, others] = &mut heard;
            let frames = FrameValues::new(&one, count);
            process_linked(&limiter, frames, (&input, outputs), &mut memory);
            // Values of each frame are computed in the long way.
            let frames = FrameValues::new(&many, count);
            process_linked(&limiter, frames, (&input, others), &mut other);
            let bits = |heard: &[[f32; FRAMES]]| {
                let samples = heard.iter().flat_map(|samples| &samples[..count]);
                samples.map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&heard[0]), bits(&heard[1]), "block {number} at {at}");
            let edge = (ceiling as f32).to_bits();
            held += bits(&heard[0]).iter().filter(|x| **x == edge).count();
            let states = [&memory, &other].map(|memory| {
                let mut bytes = Vec::new();
                memory.save(&mut bytes);
                bytes
            });
            assert_eq!(states[0], states[1], "block {number}");
            at += count;
        }
        assert!(resting > 200 && held > 10, "{resting}, {held}");
    }
}
