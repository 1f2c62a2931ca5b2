//! What all filters share: knobs, coefficients that glide, a state for each channel, rest.
//!
//! State and coefficients are 64 bits wide: a low filter at a high rate keeps its accuracy. A turned knob changes the
//! coefficients in a straight line of 5 ms. Every 64 frames a state below 1e-15 (-300 dB) comes to rest, and one that
//! is not finite starts afresh.

use crate::knob::Knob;
use crate::sample::{channels_of, narrowed};
use crate::state;
use crate::steps::{Step, steps};
use processor::{
    Block, Event, MakeContext, MakeError, ProcessStatus, Processor, Setup, StateError, Tail,
};
use std::ops::Range;
use units::{Frames, SampleRate};

const GLIDE_S: f64 = 0.005;
const REST: f64 = 1e-15;
/// A state that begins below 1e9 is at rest when it has shrunk by e^55.
const NEPERS_TO_REST: f64 = 55.0;

/// The numbers of one channel.
pub(crate) type State = [f64; 2];
/// The numbers that a recipe computes a sample with.
pub(crate) type Coefs = [f64; 5];
/// The knobs of a filter: `freq`, `q`, `gain_db`; where a filter lacks one it stands at its default.
pub(crate) type Knobs = [f64; 3];

/// One filter's mathematics, with `OUTS` outputs.
pub(crate) trait Recipe<const OUTS: usize>: Clone + Send + 'static {
    /// The knobs it has, in the order of [`Knobs`].
    const KNOBS: &'static [Knob];

    /// The coefficients for `knobs`; `knobs[0]` is in cycles a frame, below a half.
    ///
    /// Real-time: hot.
    fn coefs(&self, knobs: Knobs) -> Coefs;

    /// One sample.
    ///
    /// Real-time: hot.
    fn tick(&self, coefs: &Coefs, state: &mut State, x: f64) -> [f64; OUTS];

    /// The largest magnitude of a pole.
    fn radius(&self, coefs: &Coefs) -> f64;
}

/// The frequency knob that all filters have.
pub(crate) const FREQ: Knob = Knob {
    index: 0,
    name: "freq",
    unit: "Hz",
    least: 1.0,
    most: 384_000.0,
    default: 1000.0,
    doc: "Where it bends or peaks; held below 0.49 of the sample rate.",
};

/// A running filter.
#[derive(Clone)]
pub(crate) struct Filter<R, const OUTS: usize> {
    recipe: R,
    made: Knobs,
    knobs: Knobs,
    rate: Option<SampleRate>,
    glide: Glide,
    states: Box<[State]>,
}

/// Coefficients on their way.
#[derive(Clone, Copy, Default)]
struct Glide {
    now: Coefs,
    target: Coefs,
    step: Coefs,
    left: u32,
    frames: u32,
}

impl Glide {
    fn jump(&mut self, target: Coefs) {
        (self.now, self.target, self.left) = (target, target, 0);
    }

    fn go(&mut self, target: Coefs) {
        self.target = target;
        self.left = self.frames;
        for (step, (to, from)) in self.step.iter_mut().zip(target.iter().zip(self.now)) {
            *step = (to - from) / f64::from(self.frames);
        }
    }

    #[inline(always)]
    fn next(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.now = self.target;
        } else {
            self.now
                .iter_mut()
                .zip(self.step)
                .for_each(|(now, step)| *now += step);
        }
    }
}

impl<R: Recipe<OUTS>, const OUTS: usize> Filter<R, OUTS> {
    /// The filter of `creation`'s knobs.
    ///
    /// # Errors
    ///
    /// A knob stands outside its range.
    pub(crate) fn make(
        creation: &MakeContext<'_>,
        recipe: R,
    ) -> Result<Box<dyn Processor>, MakeError> {
        let mut made = [1000.0, std::f64::consts::FRAC_1_SQRT_2, 0.0];
        for (value, knob) in made.iter_mut().zip(R::KNOBS) {
            *value = knob.of(creation)?;
        }
        Ok(Box::new(Self {
            recipe,
            made,
            knobs: made,
            rate: None,
            glide: Glide::default(),
            states: vec![[0.0; 2]; channels_of(creation.node)].into(),
        }))
    }

    fn coefs(&self) -> Coefs {
        let rate = self.rate.map_or(f64::INFINITY, |r| f64::from(r.hz()));
        let [freq, q, gain_db] = self.knobs;
        self.recipe.coefs([(freq / rate).min(0.49), q, gain_db])
    }

    fn take_up(&mut self, event: &Event) {
        let mut turned = false;
        for (value, knob) in self.knobs.iter_mut().zip(R::KNOBS) {
            if let Some(to) = knob.turned(event) {
                *value = to;
                turned = true;
            }
        }
        if turned {
            self.glide.go(self.coefs());
        }
    }

    fn play(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let input = block.input(0);
        let mut glide = self.glide;
        for (c, state) in self.states.iter_mut().enumerate() {
            // A span has at most 64 frames.
            let mut out = [[0.0f32; 64]; OUTS];
            glide = self.glide;
            for (i, x) in input.channel(c)[range.clone()].iter().enumerate() {
                if glide.left > 0 {
                    glide.next();
                }
                let y = self.recipe.tick(&glide.now, state, f64::from(*x));
                for (out, y) in out.iter_mut().zip(y) {
                    out[i] = narrowed(y);
                }
            }
            for (port, out) in out.iter().enumerate() {
                let mut output = block.output(port);
                output.channel(c)[range.clone()].copy_from_slice(&out[..range.len()]);
            }
        }
        self.glide = glide;
    }

    fn tidy(&mut self) {
        for state in &mut self.states {
            let rests = state.iter().all(|s| s.abs() < REST);
            if rests || !state.iter().all(|s| s.is_finite()) {
                *state = [0.0; 2];
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.glide.left == 0 && self.states.iter().flatten().all(|s| *s == 0.0)
    }
}

impl<R: Recipe<OUTS>, const OUTS: usize> Processor for Filter<R, OUTS> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.glide.frames = Frames::from_seconds_ceil(GLIDE_S, setup.rate).0.max(1);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        if silent && self.is_at_rest() && block.events().is_empty() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        for step in steps(block) {
            match step {
                Step::Event(event) => self.take_up(&event),
                Step::Play(range) => self.play(block, range),
                Step::Tidy => self.tidy(),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.knobs = self.made;
        self.glide.jump(self.coefs());
        self.states.fill([0.0; 2]);
    }

    fn tail(&self) -> Tail {
        let slowest =
            (self.recipe.radius(&self.glide.now)).max(self.recipe.radius(&self.glide.target));
        let frames = NEPERS_TO_REST / -libm::log(slowest.clamp(1e-9, 1.0 - 1e-12));
        Tail::Frames(frames as u64 + u64::from(self.glide.left) + 128)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let numbers = self.made.into_iter().chain(self.knobs);
        let numbers = numbers.chain(self.glide.now).chain(self.glide.step);
        let numbers = numbers.chain(self.states.iter().flatten().copied());
        state::put(bytes, numbers.map(f64::to_bits));
        state::put(bytes, [u64::from(self.glide.left)]);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let words = state::words(bytes, 17 + 2 * self.states.len())?;
        let state = |c| words.numbers::<2>(16 + 2 * c);
        for c in 0..self.states.len() {
            // All are looked at before one is taken: a state that is refused changes nothing.
            state(c)?;
        }
        let [made, knobs]: [Knobs; 2] = [words.numbers(0)?, words.numbers(3)?];
        let [now, step]: [Coefs; 2] = [words.numbers(6)?, words.numbers(11)?];
        for (c, here) in self.states.iter_mut().enumerate() {
            *here = state(c)?;
        }
        self.glide.now = now;
        if made != self.made {
            // Another sound is asked for now: it glides there.
            self.glide.go(self.coefs());
            return Ok(());
        }
        for ((value, saved), knob) in self.knobs.iter_mut().zip(knobs).zip(R::KNOBS) {
            *value = saved.clamp(knob.least, knob.most);
        }
        self.glide.target = self.coefs();
        self.glide.step = step;
        let left = words.at(16 + 2 * self.states.len());
        self.glide.left = left.min(u64::from(self.glide.frames)) as u32;
        if self.glide.left == 0 {
            self.glide.now = self.glide.target;
        }
        Ok(())
    }
}
