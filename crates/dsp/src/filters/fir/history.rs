//! [`History`]: the last frames of one channel, always contiguous.
//!
//! ```text
//! ring   [ first half      | second half     ]   both halves hold the same frames
//! write         ▲ at              ▲ at + half    every frame is written twice
//! last            [─ memory ─|─ block ─)         the newest frames end before `at + half`
//! ```
//!
//! So the newest frames lie side by side wherever the writer is, and nothing is ever moved.

use crate::state::StateWords;
use processor::StateError;

/// Last frames of one channel.
#[derive(Clone, Default)]
pub(crate) struct History {
    /// Two halves with the same content.
    ring: Box<[f32]>,
    /// Index within a half at which the next frame is written.
    at: usize,
    /// Frames before a block that are kept.
    memory: usize,
}

impl History {
    /// A silent history that keeps `memory` frames before blocks of at most `block`.
    pub(crate) fn new(memory: usize, block: usize) -> Self {
        Self {
            ring: vec![0.0; 2 * (memory + block.max(1))].into(),
            at: 0,
            memory,
        }
    }

    fn half(&self) -> usize {
        self.ring.len() / 2
    }

    /// Becomes silence.
    ///
    /// Real-time: hot.
    pub(crate) fn clear(&mut self) {
        self.ring.fill(0.0);
        self.at = 0;
    }

    /// Appends a block, each sample held within ±`max_input`.
    ///
    /// Real-time: hot.
    pub(crate) fn write(&mut self, frames: &[f32], max_input: f32) {
        let half = self.half();
        let fits = frames.len().min(half - self.at);
        let (here, front) = frames.split_at(fits);
        for (begin, from) in [(self.at, here), (0, front)] {
            for side in [begin, begin + half] {
                let to = &mut self.ring[side..side + from.len()];
                for (y, x) in to.iter_mut().zip(from) {
                    *y = x.clamp(-max_input, max_input);
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
        &self.ring[end - self.memory - frames..end]
    }

    /// Number of kept frames that are silent, from the newest back.
    ///
    /// Real-time: hot.
    pub(crate) fn silent(&self) -> usize {
        let kept = self.last(0).iter().rev();
        kept.take_while(|x| **x == 0.0).count()
    }

    /// Number of words that `memory` frames are saved in.
    pub(crate) fn state_words(memory: usize) -> usize {
        memory.div_ceil(2)
    }

    /// The kept frames, two in a word, oldest first.
    ///
    /// Real-time: hot.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.last(0).chunks(2).map(|pair| {
            let bits = |i: usize| u64::from(pair.get(i).map_or(0, |x| x.to_bits()));
            bits(0) | bits(1) << 32
        })
    }

    /// Checks that `words` can be loaded.
    ///
    /// # Errors
    ///
    /// A sample is not finite.
    ///
    /// Real-time: hot, but for the error.
    pub(crate) fn check(words: StateWords<'_>, memory: usize) -> Result<(), StateError> {
        if (0..memory).all(|i| sample(words, i).is_finite()) {
            Ok(())
        } else {
            Err(StateError("a saved sample is not finite".into()))
        }
    }

    /// Continues from `words`.
    ///
    /// Real-time: hot.
    pub(crate) fn load(&mut self, words: StateWords<'_>) {
        let half = self.half();
        for i in 0..self.memory {
            let x = sample(words, i);
            (self.ring[i], self.ring[half + i]) = (x, x);
        }
        self.at = self.memory;
    }
}

fn sample(words: StateWords<'_>, index: usize) -> f32 {
    f32::from_bits((words.at(index / 2) >> (index % 2 * 32)) as u32)
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn the_newest_frames_lie_side_by_side_wherever_the_ring_is() {
        for (memory, block) in [(0, 1), (1, 1), (5, 3), (3, 8), (100, 64)] {
            let mut history = History::new(memory, block);
            let mut all = vec![0.0; memory];
            for turn in 0..50 {
                let frames: Vec<f32> = (0..1 + turn % block)
                    .map(|i| (turn * 100 + i) as f32)
                    .collect();
                history.write(&frames, f32::MAX);
                all.extend(&frames);
                let want = &all[all.len() - memory - frames.len()..];
                assert_eq!(history.last(frames.len()), want, "{memory} {block}");
            }
        }
    }
}
