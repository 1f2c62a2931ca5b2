//! The last frames of one channel, always in one piece.
//!
//! Every frame is written twice into a ring of two equal halves, so that the newest frames lie side by side wherever
//! the ring is: nothing is ever moved.

use crate::state::Words;
use processor::StateError;

/// The last frames of one channel.
#[derive(Clone, Default)]
pub(crate) struct History {
    /// Two halves that hold the same.
    ring: Box<[f32]>,
    /// Where in a half the next frame goes.
    at: usize,
    /// How many frames before a block are kept.
    reach: usize,
}

impl History {
    /// Silence; keeps `reach` frames before blocks of at most `block`.
    pub(crate) fn new(reach: usize, block: usize) -> Self {
        Self {
            ring: vec![0.0; 2 * (reach + block.max(1))].into(),
            at: 0,
            reach,
        }
    }

    fn half(&self) -> usize {
        self.ring.len() / 2
    }

    /// Becomes silence.
    ///
    /// Real-time: hot.
    pub(crate) fn forget(&mut self) {
        self.ring.fill(0.0);
        self.at = 0;
    }

    /// Takes in a block, each sample held within ±`loudest`.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&mut self, frames: &[f32], loudest: f32) {
        let half = self.half();
        let fits = frames.len().min(half - self.at);
        let (here, front) = frames.split_at(fits);
        for (begin, from) in [(self.at, here), (0, front)] {
            for side in [begin, begin + half] {
                let to = &mut self.ring[side..side + from.len()];
                for (y, x) in to.iter_mut().zip(from) {
                    *y = x.clamp(-loudest, loudest);
                }
            }
        }
        self.at = (self.at + frames.len()) % half;
    }

    /// The newest `frames` frames and those that are kept before them, oldest first.
    ///
    /// Real-time: hot.
    pub(crate) fn last(&self, frames: usize) -> &[f32] {
        let end = self.half() + self.at;
        &self.ring[end - self.reach - frames..end]
    }

    /// How many of the kept frames are silent, from the newest back.
    ///
    /// Real-time: hot.
    pub(crate) fn silent(&self) -> usize {
        let kept = self.last(0).iter().rev();
        kept.take_while(|x| **x == 0.0).count()
    }

    /// How many words the kept frames are.
    pub(crate) fn words_of(reach: usize) -> usize {
        reach.div_ceil(2)
    }

    /// The kept frames, two a word, oldest first.
    ///
    /// Real-time: hot.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.last(0).chunks(2).map(|pair| {
            let bits = |i: usize| u64::from(pair.get(i).map_or(0, |x| x.to_bits()));
            bits(0) | bits(1) << 32
        })
    }

    /// Whether `words` can be taken.
    ///
    /// # Errors
    ///
    /// A sample is not finite.
    ///
    /// Real-time: hot, but for the error.
    pub(crate) fn check(words: Words<'_>, reach: usize) -> Result<(), StateError> {
        if (0..reach).all(|i| sample(words, i).is_finite()) {
            Ok(())
        } else {
            Err(StateError("a saved sample is not finite".into()))
        }
    }

    /// Goes on from `words`.
    ///
    /// Real-time: hot.
    pub(crate) fn take(&mut self, words: Words<'_>) {
        let half = self.half();
        for i in 0..self.reach {
            let x = sample(words, i);
            (self.ring[i], self.ring[half + i]) = (x, x);
        }
        self.at = self.reach;
    }
}

fn sample(words: Words<'_>, index: usize) -> f32 {
    f32::from_bits((words.at(index / 2) >> (index % 2 * 32)) as u32)
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn the_newest_frames_lie_side_by_side_wherever_the_ring_is() {
        for (reach, block) in [(0, 1), (1, 1), (5, 3), (3, 8), (100, 64)] {
            let mut history = History::new(reach, block);
            let mut all = vec![0.0; reach];
            for turn in 0..50 {
                let frames: Vec<f32> = (0..1 + turn % block)
                    .map(|i| (turn * 100 + i) as f32)
                    .collect();
                history.write(&frames, f32::MAX);
                all.extend(&frames);
                let want = &all[all.len() - reach - frames.len()..];
                assert_eq!(history.last(frames.len()), want, "{reach} {block}");
            }
        }
    }
}
