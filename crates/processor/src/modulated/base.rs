//! [`Base`]: the value of a driven parameter as the user sets it, without what drives it.

use crate::StateError;
use crate::state::StateWords;
use units::{Frames, SampleRate};

/// Length of a ramp, in seconds.
const RAMP_S: f64 = 0.005;
/// More frames than a ramp and a block have together.
const MAX_LEFT: u32 = 1 << 21;

/// A value that moves to its target along a straight line of 5 ms, a function of the absolute frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    initial: f32,
    target: f32,
    /// Change per frame of the ramp that ends at `end`.
    step: f32,
    /// Absolute frame from which on the value is the target.
    end: u64,
    ramp_frames: u32,
}

impl Base {
    /// Number of words of a saved state.
    pub(super) const STATE_WORDS: usize = 3;

    /// A value that stays at `initial` until a target is set.
    pub(super) fn new(initial: f32) -> Self {
        Self {
            initial,
            target: initial,
            step: 0.0,
            end: 0,
            ramp_frames: 1,
        }
    }

    /// Becomes as new, at `rate`.
    pub(super) fn setup(&mut self, rate: SampleRate) {
        self.reset();
        self.ramp_frames = Frames::from_seconds_ceil(RAMP_S, rate).0.max(1);
    }

    /// Becomes as new.
    pub(super) fn reset(&mut self) {
        *self = Self {
            ramp_frames: self.ramp_frames,
            ..Self::new(self.initial)
        };
    }

    /// Frames until the end of the ramp, at frame `at`. A ramp that ends later than one that begins soon was begun before a
    /// jump in time, and is over.
    fn frames_left(&self, at: u64) -> u32 {
        let left = u32::try_from(self.end.saturating_sub(at));
        left.ok().filter(|left| *left < MAX_LEFT).unwrap_or(0)
    }

    /// The value `left` frames before the end of the ramp. Before its begin, where a block is processed again, it is the
    /// old one.
    fn before_end(&self, left: u32) -> f32 {
        self.target - self.step * left.min(self.ramp_frames) as f32
    }

    pub(super) fn target(&self) -> f32 {
        self.target
    }

    /// Returns true if it stays at its target from frame `at` on.
    pub(super) fn is_settled(&self, at: u64) -> bool {
        self.frames_left(at) == 0
    }

    /// Begins a ramp to `target` at frame `at`.
    pub(super) fn set_target(&mut self, target: f32, at: u64) {
        self.step = (target - self.value(at)) / self.ramp_frames as f32;
        self.target = target;
        self.end = at + u64::from(self.ramp_frames);
    }

    /// Goes to `target` at once.
    pub(super) fn jump(&mut self, target: f32) {
        (self.target, self.step, self.end) = (target, 0.0, 0);
    }

    /// Value at frame `at`.
    pub(super) fn value(&self, at: u64) -> f32 {
        match self.frames_left(at) {
            0 => self.target,
            left => self.before_end(left),
        }
    }

    /// The values from frame `at` on.
    pub(super) fn fill(&self, at: u64, to: &mut [f32]) {
        let left = self.frames_left(at) as usize;
        let (ramp, settled) = to.split_at_mut(left.min(to.len()));
        for (passed, to) in (0..).zip(ramp) {
            *to = self.before_end(left as u32 - passed);
        }
        settled.fill(self.target);
    }

    /// The state as [`load`](Self::load) takes it.
    pub(super) fn state_words(&self) -> [u64; Self::STATE_WORDS] {
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) << 32 | u64::from(b.to_bits());
        [
            pair(self.initial, self.target),
            pair(self.step, 0.0),
            self.end,
        ]
    }

    /// The base that continues from a saved state; of a node that was created with another value it is this one.
    ///
    /// # Errors
    ///
    /// A saved value is not finite.
    pub(super) fn loaded(&self, words: StateWords<'_>) -> Result<Self, StateError> {
        let high = |word: u64| f32::from_bits((word >> 32) as u32);
        let low = |word: u64| f32::from_bits(word as u32);
        let (initial, target, step) = (high(words.at(0)), low(words.at(0)), high(words.at(1)));
        if ![initial, target, step].iter().all(|x| x.is_finite()) {
            return Err(StateError("a saved number is not finite".into()));
        }
        if initial != self.initial {
            return Ok(*self);
        }
        Ok(Self {
            target,
            step,
            end: words.at(2),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ramps_to_its_target_wherever_time_is_cut() {
        let mut base = Base::new(1.0);
        base.setup(SampleRate::new(48_000).unwrap());
        base.set_target(3.0, 100);
        assert_eq!(
            [base.value(100), base.value(220), base.value(340)],
            [1.0, 2.0, 3.0]
        );
        let mut values = [0.0; 300];
        base.fill(90, &mut values[..200]);
        base.fill(290, &mut values[200..]);
        let single: Vec<f32> = (90..390).map(|at| base.value(at)).collect();
        assert!(values == *single && values[0] == 1.0);
        assert!(!base.is_settled(339) && base.is_settled(340));
    }
}
