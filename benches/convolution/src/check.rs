//! Whether a contestant convolves at all: beside a convolution in double precision, at frames taken here and there.

use crate::BLOCK;
use crate::contestant::{Contestant, Hall};
use crate::feed::Feed;

/// How far the difference must be below the sound, in dB, for a contestant to be timed.
pub const BOUND_DB: f64 = -110.0;

/// How many frames of each channel that is looked at are compared.
const FRAMES: usize = 48;

/// Plays until every tap has been heard and the longest partitions have come round; gives the difference against double
/// precision in dB of the output, and how many blocks were played.
pub fn difference_db(it: &mut dyn Contestant, hall: &Hall<'_>, feed: &Feed) -> (f64, usize) {
    let blocks = hall.length.div_ceil(BLOCK) + 2 * 65_536 / BLOCK + 16;
    let looked_at = [0, hall.channels / 2, hall.channels - 1];
    let frames = frames(blocks * BLOCK);
    let mut heard = vec![[0.0_f32; FRAMES]; looked_at.len()];
    let mut output = vec![0.0; hall.channels * BLOCK];
    for block in 0..blocks {
        let inputs: Vec<_> = (0..hall.channels).map(|c| feed.block(c, block)).collect();
        it.block(&inputs, &mut output, true);
        let now = frames
            .iter()
            .enumerate()
            .filter(|(_, f)| **f / BLOCK == block);
        for (at, frame) in now {
            for (heard, channel) in heard.iter_mut().zip(looked_at) {
                heard[at] = output[channel * BLOCK + frame % BLOCK];
            }
        }
    }
    let (mut wrong, mut sound) = (0.0, 0.0);
    for (heard, channel) in heard.iter().zip(looked_at) {
        let taps = (hall.response)(channel);
        for (heard, frame) in heard.iter().zip(frames) {
            let truth = truth(&taps, feed, channel, frame);
            wrong += (f64::from(*heard) - truth).powi(2);
            sound += truth * truth;
        }
    }
    (10.0 * (wrong / sound).log10(), blocks)
}

/// Frames to look at: some at the beginning, the others spread over the end.
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

/// What is to be heard.
fn truth(taps: &[f32], feed: &Feed, channel: usize, frame: usize) -> f64 {
    let heard = taps.iter().take(frame + 1).enumerate();
    heard
        .map(|(k, tap)| f64::from(*tap) * f64::from(feed.sample(channel, frame - k)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestant::all;
    use crate::feed::response;

    #[test]
    fn every_contestant_convolves() {
        for length in [1, 63, 1000, 16_384, 70_001] {
            let response = |channel| response(channel, length);
            let hall = Hall::new(3, length, &response);
            for maker in all() {
                let mut it = (maker.make)(&hall).unwrap();
                let (db, _) = difference_db(&mut *it, &hall, &Feed::default());
                assert!(db < BOUND_DB, "{} {length}: {db}", maker.name);
            }
        }
    }
}
