//! [`Ramp`]: a number that reaches its target in a straight line.

use processor::StateError;
use processor::state::{self, StateWords};

/// A number that reaches its target in a straight line. It is a function of the frames since the line began, so it has
/// the same bits however time is cut into blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ramp {
    current: f32,
    target: f32,
    step: f32,
    frames_left: u32,
}

impl Ramp {
    /// Jumps to `value`.
    ///
    /// Real-time: hot.
    pub(crate) fn jump(&mut self, value: f32) {
        // Silence is +0.0.
        (self.current, self.target, self.frames_left) = (value + 0.0, value + 0.0, 0);
    }

    /// Begins a line of `frames` frames to `value`; jumps there if that is 0.
    ///
    /// Real-time: hot.
    pub(crate) fn reach(&mut self, value: f32, frames: u32) {
        if frames == 0 {
            return self.jump(value);
        }
        self.target = value + 0.0;
        self.step = (value - self.current) / frames as f32;
        self.frames_left = frames;
    }

    /// The value that it keeps; `None` while a line is under way.
    ///
    /// Real-time: hot.
    pub(crate) fn settled(&self) -> Option<f32> {
        (self.frames_left == 0).then_some(self.current)
    }

    /// The value of the next frame.
    ///
    /// Real-time: hot.
    pub(crate) fn next_value(&mut self) -> f32 {
        match self.frames_left {
            0 => {}
            1 => (self.current, self.frames_left) = (self.target, 0),
            _ => {
                self.current += self.step;
                self.frames_left -= 1;
            }
        }
        self.current
    }

    /// Number of words of a saved state.
    pub(crate) const STATE_WORDS: usize = 3;

    /// Appends the state.
    pub(crate) fn save(&self, bytes: &mut Vec<u8>) {
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) << 32 | u64::from(b.to_bits());
        let words = [
            pair(self.current, self.target),
            u64::from(self.step.to_bits()),
            u64::from(self.frames_left),
        ];
        state::put(bytes, words);
    }

    /// The saved ramp.
    ///
    /// # Errors
    ///
    /// A saved number is not finite.
    pub(crate) fn load(words: StateWords<'_>) -> Result<Self, StateError> {
        let low = |word: u64| f32::from_bits(word as u32);
        let ramp = Self {
            current: low(words.at(0) >> 32),
            target: low(words.at(0)),
            step: low(words.at(1)),
            frames_left: words.at(2).min(u64::from(u32::MAX)) as u32,
        };
        let is_finite = [ramp.current, ramp.target, ramp.step]
            .iter()
            .all(|x| x.is_finite());
        match is_finite {
            true => Ok(ramp),
            false => Err(StateError("a saved number is not finite".into())),
        }
    }
}
