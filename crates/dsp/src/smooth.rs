//! A number that glides to where it is sent, so that a turned knob does not click.

use crate::sample::bounded;
use crate::state::Words;
use processor::StateError;
use units::{Frames, SampleRate};

/// How long a glide lasts.
const GLIDE_S: f64 = 0.005;

/// A number that glides in a straight line of 5 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smooth {
    /// What the node was made with: where `reset` goes back to.
    made: f32,
    now: f32,
    target: f32,
    step: f32,
    left: u32,
    glide: u32,
}

impl Smooth {
    /// A number that stands at `made`.
    pub(crate) fn new(made: f32) -> Self {
        Self {
            made,
            now: made,
            target: made,
            step: 0.0,
            left: 0,
            glide: 1,
        }
    }

    /// As new, at `rate`.
    pub(crate) fn set_up(&mut self, rate: SampleRate) {
        *self = Self::new(self.made);
        self.glide = Frames::from_seconds_ceil(GLIDE_S, rate).0.max(1);
    }

    /// As new.
    ///
    /// Real-time: hot.
    pub(crate) fn reset(&mut self) {
        *self = Self {
            glide: self.glide,
            ..Self::new(self.made)
        };
    }

    /// Sets off for `target`.
    ///
    /// Real-time: hot.
    pub(crate) fn go(&mut self, target: f32) {
        self.target = target;
        self.left = self.glide;
        self.step = (target - self.now) / self.glide as f32;
    }

    /// Whether it stands.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn is_still(&self) -> bool {
        self.left == 0
    }

    /// The number for the next frame.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> f32 {
        if self.left > 0 {
            self.left -= 1;
            self.now = if self.left == 0 {
                self.target
            } else {
                self.now + self.step
            };
        }
        self.now
    }

    /// So many frames on.
    ///
    /// Real-time: hot.
    pub(crate) fn skip(&mut self, frames: usize) {
        if frames >= self.left as usize {
            (self.now, self.left) = (if self.left > 0 { self.target } else { self.now }, 0);
            return;
        }
        for _ in 0..frames {
            self.next();
        }
    }

    /// The number as it is so many frames on.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn after(mut self, frames: usize) -> Self {
        self.skip(frames);
        self
    }

    /// `to` = `from` times the number, frame by frame; the number stays where it is (see [`skip`](Self::skip)), since
    /// there may be more channels.
    ///
    /// Real-time: hot.
    pub(crate) fn scale(mut self, from: &[f32], to: &mut [f32]) {
        let glide = to.len().min(self.left as usize);
        let (gliding, still) = to.split_at_mut(glide);
        for (y, x) in gliding.iter_mut().zip(from) {
            *y = bounded(x * self.next());
        }
        for (y, x) in still.iter_mut().zip(&from[glide..]) {
            *y = bounded(x * self.now);
        }
    }

    /// `from` times the number added to `to`, frame by frame.
    ///
    /// Real-time: hot.
    pub(crate) fn add(mut self, from: &[f32], to: &mut [f32]) {
        let glide = to.len().min(self.left as usize);
        let (gliding, still) = to.split_at_mut(glide);
        for (y, x) in gliding.iter_mut().zip(from) {
            *y = bounded(*y + bounded(x * self.next()));
        }
        for (y, x) in still.iter_mut().zip(&from[glide..]) {
            *y = bounded(*y + bounded(x * self.now));
        }
    }

    /// `samples` times the number, frame by frame, and on.
    ///
    /// Real-time: hot.
    pub(crate) fn apply(&mut self, samples: &mut [f32]) {
        let glide = samples.len().min(self.left as usize);
        let (gliding, still) = samples.split_at_mut(glide);
        gliding
            .iter_mut()
            .for_each(|y| *y = bounded(*y * self.next()));
        let now = self.now;
        still.iter_mut().for_each(|y| *y = bounded(*y * now));
    }

    /// What [`take`](Self::take) needs.
    pub(crate) fn words(&self) -> [u64; Self::WORDS] {
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) << 32 | u64::from(b.to_bits());
        let left = u64::from(self.left);
        [
            pair(self.made, self.target),
            pair(self.now, self.step),
            left,
        ]
    }

    /// How many words a saved one has.
    pub(crate) const WORDS: usize = 3;

    /// Goes on from saved words; whether they are of a node made with the same number. One that is now made with
    /// another glides there.
    ///
    /// # Errors
    ///
    /// A number that is not finite.
    pub(crate) fn take(&mut self, words: Words<'_>) -> Result<bool, StateError> {
        let high = |word: u64| f32::from_bits((word >> 32) as u32);
        let low = |word: u64| f32::from_bits(word as u32);
        let all = [words.at(0), words.at(1)].map(|word| [high(word), low(word)]);
        if !all.iter().flatten().all(|x| x.is_finite()) {
            return Err(StateError("a saved number is not finite".into()));
        }
        let [[made, target], [now, step]] = all;
        self.now = now;
        if made == self.made {
            self.target = target;
            self.step = step;
            self.left = words.at(2).min(u64::from(self.glide)) as u32;
        } else {
            self.go(self.made);
        }
        Ok(made == self.made)
    }
}
