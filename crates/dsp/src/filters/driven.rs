//! [`DrivenFilter`]: a recursive filter of which at least one parameter is driven at audio rate.
//!
//! ```text
//!  freq, q, gain_db of each frame ──▶ coefficients of 64 frames, in vectors ──▶ tick, frame by frame ──▶ y
//!  (driven, or a smoothed number)
//! ```
//!
//! Coefficients come from polynomials in single precision ([`half_angle`]), which puts the frequency off by less than a
//! millionth of itself. States are `f64`, as in `kernel.rs`.

use crate::filters::kernel::{
    CoefficientArray, FilterKernel, FilterParams, FilterState, NEPERS_TO_SILENCE, SILENT_STATE,
    check_form, form_mark,
};
use crate::param::ParamSpec;
use crate::sample::{channel_count, to_sample};
use crate::smoother::Smoother;
use crate::state;
use crate::steps::{BlockStep, block_steps};
use processor::{Block, Event, MakeContext, ProcessStatus, Processor, Setup, StateError, Tail};
use rt::vectors::{Wide, WideWork};
use std::ops::Range;
use units::SampleRate;

/// Frames that are computed at once: those of a block step.
pub(crate) const FRAMES: usize = 64;

/// Sine and cosine of half the angle of a frequency, ω / 2 = π f, for frames in a row.
pub(crate) struct HalfAngle {
    pub(crate) sin: [f32; FRAMES],
    pub(crate) cos: [f32; FRAMES],
}

/// Coefficients of 64 frames, one array for each.
pub(crate) type CoefficientFrames = [[f64; FRAMES]; 5];

/// The parameters of 64 frames.
pub(crate) struct ParamFrames {
    /// In cycles per frame, from just above 0 to 0.49.
    pub(crate) freq: [f32; FRAMES],
    pub(crate) q: [f32; FRAMES],
    pub(crate) gain_db: [f32; FRAMES],
}

/// The arithmetic of a filter whose coefficients change from frame to frame.
pub(crate) trait DrivenKernel<const OUTS: usize>: FilterKernel<OUTS> {
    /// Coefficients of the frames of `params`, in the order of the kernel's [`CoefficientArray`]. Implementations are
    /// `#[inline(always)]`, with all that they call, so that they run in the widest vectors of the machine.
    ///
    /// Real-time: hot.
    fn driven_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames);
}

/// Sine of `x` from 0 to π/2, with a relative error below 3e-7 (Taylor's polynomial of the 11th degree).
#[inline(always)]
fn sine_of(x: f32) -> f32 {
    let s = x * x;
    let high = 2.755_731_9e-6 + s * -2.505_210_8e-8;
    let tail = -0.166_666_67 + s * (0.008_333_334 + s * (-1.984_127e-4 + s * high));
    x + x * s * tail
}

/// Sine and cosine of π f. Each is accurate relative to itself, however small.
#[inline(always)]
pub(crate) fn half_angle(freq: &[f32; FRAMES]) -> HalfAngle {
    let mut angle = HalfAngle {
        sin: [0.0; FRAMES],
        cos: [0.0; FRAMES],
    };
    for ((sin, cos), freq) in angle.sin.iter_mut().zip(&mut angle.cos).zip(freq) {
        *sin = sine_of(freq * std::f32::consts::PI);
        *cos = sine_of((0.5 - freq) * std::f32::consts::PI);
    }
    angle
}

/// Coefficients of some frames.
struct CoefficientWork<'a, K, const OUTS: usize> {
    kernel: &'a K,
    params: &'a ParamFrames,
    to: &'a mut CoefficientFrames,
}

impl<K: DrivenKernel<OUTS>, const OUTS: usize> WideWork for CoefficientWork<'_, K, OUTS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.kernel.driven_coefficients(self.params, self.to);
    }
}

/// A filter in a graph whose parameters are driven.
#[derive(Clone)]
pub(crate) struct DrivenFilter<K, const OUTS: usize> {
    kernel: K,
    /// The parameters as the user sets them. The value of a driven one serves only to estimate the tail.
    params: [Smoother; 3],
    rate: Option<SampleRate>,
    states: Box<[FilterState]>,
    /// Coefficients of the constant parameters of the last block that had such, as bits of the parameters.
    constant: Option<([u32; 3], CoefficientArray)>,
    wide: Wide,
}

impl<K: DrivenKernel<OUTS>, const OUTS: usize> DrivenFilter<K, OUTS> {
    /// Creates the filter of a node whose parameters are `initial`.
    pub(super) fn new(creation: &MakeContext<'_>, kernel: K, initial: [f64; 3]) -> Self {
        Self {
            kernel,
            params: initial.map(|value| Smoother::new(value as f32)),
            rate: None,
            states: vec![[0.0; 2]; channel_count(creation.node)].into(),
            constant: None,
            wide: Wide::best(),
        }
    }

    /// The parameters of this block where none of them moves.
    fn constant_params(&self, block: &Block<'_>) -> Option<[f32; 3]> {
        let mut all = [0.0; 3];
        for (index, (to, smoother)) in all.iter_mut().zip(&self.params).enumerate() {
            let param = K::PARAMS.get(index).map(|param| param.index);
            *to = match param.filter(|param| block.param_signal(*param).is_some()) {
                Some(param) => block.param_constant(param)?,
                None => smoother.is_settled().then(|| smoother.current())?,
            };
        }
        Some(all)
    }

    /// The coefficients of constant parameters: those of a frame of a signal, so that the bits are the same.
    fn constant_coefficients(&mut self, params: [f32; 3]) -> CoefficientArray {
        let key = params.map(f32::to_bits);
        if let Some((_, known)) = self.constant.filter(|(of, _)| *of == key) {
            return known;
        }
        let [freq, q, gain_db] = params.map(|value| [value; FRAMES]);
        let mut frames = [[0.0; FRAMES]; 5];
        let params = ParamFrames {
            freq: freq.map(|freq| self.relative(freq)),
            q,
            gain_db,
        };
        self.fill_coefficients(&params, &mut frames);
        let coefficients = frames.map(|frames| frames[0]);
        self.constant = Some((key, coefficients));
        coefficients
    }

    fn fill_coefficients(&self, params: &ParamFrames, to: &mut CoefficientFrames) {
        let kernel = &self.kernel;
        self.wide.run(CoefficientWork { kernel, params, to });
    }

    /// `freq` in cycles per frame.
    #[inline(always)]
    fn relative(&self, freq: f32) -> f32 {
        let rate = self.rate.map_or(1.0, |rate| rate.hz() as f32);
        (freq / rate).clamp(1e-7, 0.49)
    }

    /// As `process_range`, with the coefficients of constant parameters.
    fn process_constant(
        &mut self,
        block: &mut Block<'_>,
        range: Range<usize>,
        coefficients: CoefficientArray,
    ) {
        let input = block.input(0);
        let coefficients = coefficients.into();
        for (c, state) in self.states.iter_mut().enumerate() {
            let mut out = [[0.0f32; FRAMES]; OUTS];
            for (i, x) in input.channel(c)[range.clone()].iter().enumerate() {
                let y = self.kernel.tick(&coefficients, state, f64::from(*x));
                for (out, y) in out.iter_mut().zip(y) {
                    out[i] = to_sample(y);
                }
            }
            for (port, out) in out.iter().enumerate() {
                let mut output = block.output(port);
                output.channel(c)[range.clone()].copy_from_slice(&out[..range.len()]);
            }
        }
    }

    fn handle_event(&mut self, event: &Event) {
        for (smoother, param) in self.params.iter_mut().zip(K::PARAMS) {
            if let Some(value) = param.value_of(event) {
                smoother.follow(event, value as f32);
            }
        }
    }

    /// The parameters of the frames of `range`.
    fn param_frames(&mut self, block: &Block<'_>, range: &Range<usize>) -> ParamFrames {
        let mut all = [[0.0; FRAMES]; 3];
        let count = range.len();
        for (index, (to, smoother)) in all.iter_mut().zip(&mut self.params).enumerate() {
            let param: Option<&ParamSpec> = K::PARAMS.get(index);
            match param.and_then(|param| block.param_signal(param.index)) {
                Some(values) => to[..count].copy_from_slice(&values[range.clone()]),
                None => smoother.fill(&mut to[..count]),
            }
        }
        let [mut freq, q, gain_db] = all;
        for freq in &mut freq {
            *freq = self.relative(*freq);
        }
        ParamFrames { freq, q, gain_db }
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let params = self.param_frames(block, &range);
        let mut frames = [[0.0; FRAMES]; 5];
        self.fill_coefficients(&params, &mut frames);
        let input = block.input(0);
        for (c, state) in self.states.iter_mut().enumerate() {
            let mut out = [[0.0f32; FRAMES]; OUTS];
            for (i, x) in input.channel(c)[range.clone()].iter().enumerate() {
                let coefficients: CoefficientArray = std::array::from_fn(|k| frames[k][i]);
                let y = self.kernel.tick(&coefficients.into(), state, f64::from(*x));
                for (out, y) in out.iter_mut().zip(y) {
                    out[i] = to_sample(y);
                }
            }
            for (port, out) in out.iter().enumerate() {
                let mut output = block.output(port);
                output.channel(c)[range.clone()].copy_from_slice(&out[..range.len()]);
            }
        }
    }

    /// Sets states to zero that have decayed to silence or are not finite.
    fn clean_up(&mut self) {
        for state in &mut self.states {
            let is_silent = state.iter().all(|s| s.abs() < SILENT_STATE);
            if is_silent || !state.iter().all(|s| s.is_finite()) {
                *state = [0.0; 2];
            }
        }
    }

    fn is_silent(&self) -> bool {
        let settled = self.params.iter().all(Smoother::is_settled);
        settled && self.states.iter().flatten().all(|s| *s == 0.0)
    }

    /// Largest magnitude of a pole with these parameters.
    fn pole_radius(&self, params: [f32; 3]) -> f64 {
        let rate = self.rate.map_or(f64::INFINITY, |rate| f64::from(rate.hz()));
        let [freq, q, gain_db] = params.map(f64::from);
        let freq = (freq / rate).min(0.49);
        let coefficients = self.kernel.coefficients(FilterParams { freq, q, gain_db });
        self.kernel.pole_radius(&coefficients)
    }
}

impl<K: DrivenKernel<OUTS>, const OUTS: usize> Processor for DrivenFilter<K, OUTS> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.constant = None;
        self.params
            .iter_mut()
            .for_each(|param| param.setup(setup.rate));
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        if block.is_silent() && self.is_silent() && block.events().is_empty() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        let is_still = block.events().is_empty();
        let constant = is_still.then(|| self.constant_params(block)).flatten();
        let constant = constant.map(|params| self.constant_coefficients(params));
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => match constant {
                    Some(coefficients) => self.process_constant(block, range, coefficients),
                    None => self.process_range(block, range),
                },
                BlockStep::Cleanup => self.clean_up(),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.params.iter_mut().for_each(Smoother::reset);
        self.states.fill([0.0; 2]);
    }

    fn tail(&self) -> Tail {
        let now = self.params.map(|param| param.current());
        let then = self.params.map(|param| param.target());
        let slowest = self.pole_radius(now).max(self.pole_radius(then));
        let frames = NEPERS_TO_SILENCE / -libm::log(slowest.clamp(1e-9, 1.0 - 1e-12));
        let ramp = self.rate.map_or(0, |rate| rate.hz() / 100);
        Tail::Frames(frames as u64 + u64::from(ramp) + 128)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        state::put(bytes, self.params.iter().flat_map(Smoother::state_words));
        let states = self.states.iter().flatten();
        state::put(bytes, states.map(|state| state.to_bits()));
        state::put(bytes, [form_mark(K::FORM)]);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let first = 3 * Smoother::STATE_WORDS;
        let end = first + 2 * self.states.len();
        let words = state::words(bytes, end + 1)?;
        check_form(words.at(end), K::FORM)?;
        let mut params = self.params;
        for (i, param) in params.iter_mut().enumerate() {
            param.load(words.from(i * Smoother::STATE_WORDS))?;
        }
        let state = |c| words.numbers::<2>(first + 2 * c);
        for c in 0..self.states.len() {
            // All are checked before one is loaded: a state that is refused changes nothing.
            state(c)?;
        }
        for (c, here) in self.states.iter_mut().enumerate() {
            *here = state(c)?;
        }
        self.params = params;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) use tests::agrees;

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn half_angles_are_accurate_relative_to_themselves() {
        for i in 0..1000 {
            let freq = 0.49f32 * (i as f32 / 999.0).powi(4).max(1e-6);
            let angle = half_angle(&[freq; FRAMES]);
            let truth = libm::sincos(PI * f64::from(freq));
            let near = |a: f32, b: f64| (f64::from(a) / b - 1.0).abs() < 1e-6;
            assert!(
                near(angle.sin[0], truth.0) && near(angle.cos[0], truth.1),
                "{freq}"
            );
        }
    }

    /// Checks that driven coefficients equal those of a filter that stands still.
    pub(crate) fn agrees<K: DrivenKernel<OUTS>, const OUTS: usize>(kernel: &K) {
        for (freq, q, gain_db) in [
            (0.0005, 0.7, 6.0),
            (0.02, 5.0, -12.0),
            (0.3, 0.3, 20.0),
            (0.49, 1.0, 0.0),
        ] {
            let params = ParamFrames {
                freq: [freq; FRAMES],
                q: [q; FRAMES],
                gain_db: [gain_db; FRAMES],
            };
            let mut frames = [[0.0; FRAMES]; 5];
            kernel.driven_coefficients(&params, &mut frames);
            let truth = kernel.coefficients(FilterParams {
                freq: f64::from(freq),
                q: f64::from(q),
                gain_db: f64::from(gain_db),
            });
            let truth: CoefficientArray = truth.into();
            for (have, want) in frames.iter().zip(truth) {
                let error = (have[63] - want).abs();
                // A level below -40 dB may be 0.001 dB off.
                let relative = if want.abs() < 0.01 { 1e-4 } else { 2e-6 };
                assert!(
                    error <= relative * want.abs() + 1e-12,
                    "{freq} {q}: {} {want}",
                    have[63]
                );
            }
        }
    }
}
