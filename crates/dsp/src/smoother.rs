//! [`Smoother`]: a value that moves to its target in a ramp, so that a changed parameter does not click.
//!
//! ```text
//! target ┤        ┌──────     straight line of 5 ms: current += step,
//!        │      ╱             step = (target - current) / frames,
//! before ┤─────╯              and exactly the target at its end
//!        └────┬────┬────▶ frames
//!       set_target  settled
//! ```
//!
//! A ramp is a function of the frames since it began: it has the same bits however time is cut into blocks.

use crate::param::ramp_frames;
use crate::sample::clamp_sample;
use crate::scale::{Scale, is_small};
use crate::state::StateWords;
use processor::{Event, MODULATION_INTERVAL, StateError};
use rt::vectors::{WideWork, widest};
use units::{Frames, SampleRate};

/// Length of a ramp, in seconds.
const RAMP_S: f64 = 0.005;

/// A value that moves to its target along a straight line of 5 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoother {
    /// Value that the node was created with; `reset` returns to it.
    initial: f32,
    current: f32,
    target: f32,
    step: f32,
    frames_left: u32,
    ramp_frames: u32,
}

impl Smoother {
    /// A value that stays at `initial` until a target is set.
    pub(crate) fn new(initial: f32) -> Self {
        Self {
            initial,
            current: initial,
            target: initial,
            step: 0.0,
            frames_left: 0,
            ramp_frames: 1,
        }
    }

    /// Becomes as new, at `rate`.
    pub(crate) fn setup(&mut self, rate: SampleRate) {
        *self = Self::new(self.initial);
        self.ramp_frames = Frames::from_seconds_ceil(RAMP_S, rate).0.max(1);
    }

    /// Becomes as new.
    ///
    /// Real-time: hot.
    pub(crate) fn reset(&mut self) {
        *self = Self {
            ramp_frames: self.ramp_frames,
            ..Self::new(self.initial)
        };
    }

    /// Begins a ramp to `target`.
    ///
    /// Real-time: hot.
    pub(crate) fn set_target(&mut self, target: f32) {
        self.ramp_to(target, self.ramp_frames);
    }

    /// Begins a ramp to `target`, which follows from `event`: as long as that says.
    ///
    /// Real-time: hot.
    pub(crate) fn follow(&mut self, event: &Event, target: f32) {
        self.ramp_to(target, ramp_frames(event, self.ramp_frames));
    }

    fn ramp_to(&mut self, target: f32, frames: u32) {
        self.target = target;
        self.frames_left = frames;
        self.step = (target - self.current) / frames as f32;
    }

    /// The value of the last frame.
    #[inline(always)]
    pub(crate) fn current(&self) -> f32 {
        self.current
    }

    /// The value at the end of the ramp.
    pub(crate) fn target(&self) -> f32 {
        self.target
    }

    /// The values of the next frames, and moves on with them.
    ///
    /// Real-time: hot.
    pub(crate) fn fill(&mut self, to: &mut [f32]) {
        let ramp = to.len().min(self.frames_left as usize);
        let (ramping, settled) = to.split_at_mut(ramp);
        ramping.iter_mut().for_each(|y| *y = self.next_value());
        settled.fill(self.current);
    }

    /// Returns true if no ramp is under way.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.frames_left == 0
    }

    /// Returns true if the value is 0 and stays so: then nothing is added.
    ///
    /// Real-time: hot.
    pub(crate) fn is_zero(&self) -> bool {
        self.is_settled() && self.current == 0.0
    }

    /// Value for the next frame.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn next_value(&mut self) -> f32 {
        if self.frames_left > 0 {
            self.frames_left -= 1;
            self.current = if self.frames_left == 0 {
                self.target
            } else {
                self.current + self.step
            };
        }
        self.current
    }

    /// Moves on by `frames` frames.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn skip(&mut self, frames: usize) {
        if self.frames_left > 0 {
            self.move_on(frames);
        }
    }

    #[inline(never)]
    fn move_on(&mut self, frames: usize) {
        if frames >= self.frames_left as usize {
            (self.current, self.frames_left) = (self.target, 0);
            return;
        }
        for _ in 0..frames {
            self.next_value();
        }
    }

    /// The value as it will be in `frames` frames: where a part of a split block begins.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn advanced(mut self, frames: usize) -> Self {
        self.skip(frames);
        self
    }

    /// `to` = `from` times the value, frame by frame, from the one in `passed` frames on. The value itself does not move, since
    /// other channels need the same frames; [`skip`](Self::skip) moves it.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn scale(&self, passed: usize, from: &[f32], to: &mut [f32]) {
        match self.frames_left {
            0 => scale_by(self.current, from, to),
            _ => self.advanced(passed).scale_moving(from, to),
        }
    }

    #[inline(never)]
    fn scale_moving(mut self, from: &[f32], to: &mut [f32]) {
        let ramp = to.len().min(self.frames_left as usize);
        let (ramping, settled) = to.split_at_mut(ramp);
        for (y, x) in ramping.iter_mut().zip(from) {
            *y = clamp_sample(x * self.next_value());
        }
        scale_by(self.current, &from[ramp..], settled);
    }

    /// Adds `from` times the value to `to`, frame by frame; moves as little as [`scale`](Self::scale).
    ///
    /// Real-time: hot.
    pub(crate) fn add(mut self, from: &[f32], to: &mut [f32]) {
        let ramp = to.len().min(self.frames_left as usize);
        let (ramping, settled) = to.split_at_mut(ramp);
        for (y, x) in ramping.iter_mut().zip(from) {
            *y = clamp_sample(*y + clamp_sample(x * self.next_value()));
        }
        widest(Add {
            factor: self.current,
            from: &from[ramp..],
            to: settled,
        });
    }

    /// Multiplies `samples` by the value, frame by frame, and moves on with them.
    ///
    /// Real-time: hot.
    pub(crate) fn apply(&mut self, samples: &mut [f32]) {
        let ramp = samples.len().min(self.frames_left as usize);
        let (ramping, settled) = samples.split_at_mut(ramp);
        ramping
            .iter_mut()
            .for_each(|y| *y = clamp_sample(*y * self.next_value()));
        widest(Apply(self.current, settled));
    }

    /// As [`apply`](Self::apply), for samples that are within range and never -0.0: a value that stays 1 leaves them alone.
    ///
    /// Real-time: hot.
    #[inline]
    pub(crate) fn apply_to_clean(&mut self, samples: &mut [f32]) {
        if !(self.is_settled() && self.current == 1.0) {
            self.apply(samples);
        }
    }

    /// The state as [`load`](Self::load) takes it.
    pub(crate) fn state_words(&self) -> [u64; Self::STATE_WORDS] {
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) << 32 | u64::from(b.to_bits());
        let frames_left = u64::from(self.frames_left);
        [
            pair(self.initial, self.target),
            pair(self.current, self.step),
            frames_left,
        ]
    }

    /// Number of words of a saved state.
    pub(crate) const STATE_WORDS: usize = 3;

    /// Continues from a saved state. Returns true if the saved node was created with the same value; otherwise this node
    /// asks for another sound, and ramps to its own initial value.
    ///
    /// # Errors
    ///
    /// A saved value is not finite.
    pub(crate) fn load(&mut self, words: StateWords<'_>) -> Result<bool, StateError> {
        let high = |word: u64| f32::from_bits((word >> 32) as u32);
        let low = |word: u64| f32::from_bits(word as u32);
        let all = [words.at(0), words.at(1)].map(|word| [high(word), low(word)]);
        if !all.iter().flatten().all(|x| x.is_finite()) {
            return Err(StateError("a saved number is not finite".into()));
        }
        let [[initial, target], [current, step]] = all;
        self.current = current;
        let longest = u64::from(self.ramp_frames.max(MODULATION_INTERVAL));
        if initial == self.initial {
            self.target = target;
            self.step = step;
            self.frames_left = words.at(2).min(longest) as u32;
        } else {
            self.set_target(self.initial);
        }
        Ok(initial == self.initial)
    }
}

/// `to` = `from` times `factor`.
///
/// Real-time: hot.
#[inline(always)]
fn scale_by(factor: f32, from: &[f32], to: &mut [f32]) {
    widest(Scale {
        is_small: is_small(factor),
        factor,
        from,
        to,
    });
}

/// Adds `from` times `factor` to `to`.
struct Add<'a> {
    factor: f32,
    from: &'a [f32],
    to: &'a mut [f32],
}

impl WideWork for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (y, x) in self.to.iter_mut().zip(self.from) {
            *y = clamp_sample(*y + clamp_sample(x * self.factor));
        }
    }
}

/// Multiplies by a factor.
struct Apply<'a>(f32, &'a mut [f32]);

impl WideWork for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.1
            .iter_mut()
            .for_each(|y| *y = clamp_sample(*y * self.0));
    }
}
