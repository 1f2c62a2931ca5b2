//! [`Filter`]: the processor that runs any [`FilterKernel`].
//!
//! ```text
//!  freq, q, gain_db ──coefficients()──▶ target ┐
//!                                              ├─ CoefficientRamp (5 ms, linear) ──▶ tick(coefficients, state, x) ──▶ y
//!                                    current ──┘                                      one state for each channel
//! ```
//!
//! A changed parameter moves every coefficient along a straight line of 5 ms. Every 64 frames a state below
//! 1e-15 (-300 dB) is set to zero, so that the filter can sleep and never computes with denormals; a state that is not
//! finite is set to zero too.
//!
//! Latency: none. Tail: until a state of 1e9 has decayed below 1e-15 at the slowest pole.

use super::kernel::{
    CoefficientArray, FilterKernel, FilterParams, NEPERS_TO_SILENCE, SILENT_STATE, check_form,
    form_mark,
};
use crate::filters::driven::{DrivenFilter, DrivenKernel, FRAMES};
use crate::filters::groups::{GROUP, GroupState, GroupTransition, GroupWork};
use crate::param::ramp_frames;
use crate::sample::{channel_count, to_sample};
use crate::state;
use crate::steps::{BlockStep, block_steps};
use processor::{
    Block, Event, MODULATION_INTERVAL, MakeContext, MakeError, OutputBuffer, ProcessStatus,
    Processor, Setup, StateError, Tail,
};
use rt::vectors::Wide;
use std::ops::Range;
use units::{Frames, SampleRate};

/// Length of a coefficient ramp, in seconds.
const RAMP_S: f64 = 0.005;

/// A filter in a graph: a kernel, its parameters, and a state for each channel.
#[derive(Clone)]
pub(crate) struct Filter<K, const OUTS: usize> {
    kernel: K,
    /// Parameters that the node was created with; `reset` returns to them.
    initial: FilterParams,
    params: FilterParams,
    rate: Option<SampleRate>,
    ramp: CoefficientRamp,
    states: Box<[GroupState]>,
    /// Numbers that follow from the coefficients of the last frames that stood still.
    still: (CoefficientArray, GroupTransition),
    wide: Wide,
}

/// Coefficients that move to new values along a straight line.
#[derive(Clone, Copy, Default)]
struct CoefficientRamp {
    current: CoefficientArray,
    target: CoefficientArray,
    /// Change per frame.
    step: CoefficientArray,
    frames_left: u32,
    /// Length of a whole ramp.
    frames: u32,
}

impl CoefficientRamp {
    fn jump_to(&mut self, target: CoefficientArray) {
        (self.current, self.target, self.frames_left) = (target, target, 0);
    }

    fn ramp_to(&mut self, target: CoefficientArray, frames: u32) {
        self.target = target;
        self.frames_left = frames;
        for (step, (to, from)) in self.step.iter_mut().zip(target.iter().zip(self.current)) {
            *step = (to - from) / f64::from(frames);
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.frames_left -= 1;
        if self.frames_left == 0 {
            self.current = self.target;
        } else {
            self.current
                .iter_mut()
                .zip(self.step)
                .for_each(|(current, step)| *current += step);
        }
    }
}

impl<K: FilterKernel<OUTS>, const OUTS: usize> Filter<K, OUTS> {
    /// Creates the filter of a node.
    ///
    /// # Errors
    ///
    /// A parameter is outside its range.
    pub(crate) fn make(
        creation: &MakeContext<'_>,
        kernel: K,
    ) -> Result<Box<dyn Processor>, MakeError>
    where
        K: DrivenKernel<OUTS>,
    {
        let mut initial = [1000.0, std::f64::consts::FRAC_1_SQRT_2, 0.0];
        for (value, param) in initial.iter_mut().zip(K::PARAMS) {
            *value = param.read(creation)?;
        }
        if K::PARAMS
            .iter()
            .any(|param| creation.is_driven(param.index))
        {
            return Ok(Box::new(DrivenFilter::new(creation, kernel, initial)));
        }
        let initial = FilterParams::from_array(initial);
        Ok(Box::new(Self {
            kernel,
            initial,
            params: initial,
            rate: None,
            ramp: CoefficientRamp::default(),
            states: vec![GroupState::default(); channel_count(creation.node)].into(),
            still: Default::default(),
            wide: Wide::best(),
        }))
    }

    fn coefficients(&self) -> CoefficientArray {
        let rate = self.rate.map_or(f64::INFINITY, |r| f64::from(r.hz()));
        let freq = (self.params.freq / rate).min(0.49);
        let params = FilterParams {
            freq,
            ..self.params
        };
        self.kernel.coefficients(params).into()
    }

    fn handle_event(&mut self, event: &Event) {
        let mut params = self.params.to_array();
        let mut has_changed = false;
        for (value, param) in params.iter_mut().zip(K::PARAMS) {
            if let Some(to) = param.value_of(event) {
                *value = to;
                has_changed = true;
            }
        }
        if has_changed {
            self.params = FilterParams::from_array(params);
            let frames = ramp_frames(event, self.ramp.frames);
            self.ramp.ramp_to(self.coefficients(), frames);
        }
    }

    fn process_range(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let moving = (self.ramp.frames_left as usize).min(range.len());
        let still = range.start + moving..range.end;
        if moving > 0 {
            self.process_moving(block, range.start..still.start);
        }
        if still.is_empty() {
            return;
        }
        if self.still.0 != self.ramp.current {
            let transition = self.kernel.transition(&self.ramp.current.into());
            self.still = (self.ramp.current, GroupTransition::new(transition));
        }
        self.process_still(block, &still);
    }

    /// Processes frames in each of which the coefficients move.
    fn process_moving(&mut self, block: &mut Block<'_>, range: Range<usize>) {
        let ramp = self.ramp;
        let input = block.input(0);
        for (c, memory) in self.states.iter_mut().enumerate() {
            memory.leave_group();
            // Each channel has a ramp of its own that begins where this one stands.
            self.ramp = ramp;
            let mut out = [[0.0f32; FRAMES]; OUTS];
            for (i, x) in input.channel(c)[range.clone()].iter().enumerate() {
                self.ramp.advance();
                let coefficients = self.ramp.current.into();
                let y = self
                    .kernel
                    .tick(&coefficients, &mut memory.state, f64::from(*x));
                for (out, y) in out.iter_mut().zip(y) {
                    out[i] = to_sample(y);
                }
            }
            write_outputs(block, c, &range, &out);
        }
    }

    /// Processes frames with coefficients that stand still.
    fn process_still(&mut self, block: &mut Block<'_>, range: &Range<usize>) {
        let (input, coefficients) = (block.input(0), self.still.0.into());
        // Groups begin at fixed frames since the start, so they do not depend on how time is cut into blocks.
        let position = block.position() + range.start as u64;
        let mut outputs = block.outputs();
        let mut outputs: [OutputBuffer<'_>; OUTS] =
            std::array::from_fn(|_| outputs.next().expect("as many as the kernel has"));
        let is_read = std::array::from_fn(|port| outputs[port].is_read());
        for (c, memory) in self.states.iter_mut().enumerate() {
            let outputs = outputs.each_mut();
            self.wide.run(GroupWork {
                kernel: &self.kernel,
                coefficients: &coefficients,
                transition: &self.still.1,
                first: (position % GROUP as u64) as usize,
                memory,
                input: &input.channel(c)[range.clone()],
                outputs: outputs.map(|output| &mut output.channel(c)[range.clone()]),
                is_read,
            });
        }
    }

    /// Sets states to zero that have decayed to silence or are not finite. No group is under way here.
    fn clean_up(&mut self) {
        for GroupState { state, .. } in &mut self.states {
            let is_silent = state.iter().all(|s| s.abs() < SILENT_STATE);
            if is_silent || !state.iter().all(|s| s.is_finite()) {
                *state = [0.0; 2];
            }
        }
    }

    fn is_silent(&self) -> bool {
        self.ramp.frames_left == 0 && self.states.iter().all(GroupState::is_zero)
    }
}

/// Copies the samples of `channel` to all outputs.
fn write_outputs(
    block: &mut Block<'_>,
    channel: usize,
    range: &Range<usize>,
    out: &[[f32; FRAMES]],
) {
    for (port, out) in out.iter().enumerate() {
        let mut output = block.output(port);
        output.channel(channel)[range.clone()].copy_from_slice(&out[..range.len()]);
    }
}

impl<K: FilterKernel<OUTS>, const OUTS: usize> Processor for Filter<K, OUTS> {
    fn setup(&mut self, setup: &mut Setup<'_>) {
        self.rate = Some(setup.rate);
        self.ramp.frames = Frames::from_seconds_ceil(RAMP_S, setup.rate).0.max(1);
        self.reset();
    }

    fn process(&mut self, block: &mut Block<'_>) -> ProcessStatus {
        let silent = block.is_silent();
        if silent && self.is_silent() && block.events().is_empty() {
            block.silence_outputs();
            return ProcessStatus::Sleep;
        }
        for step in block_steps(block) {
            match step {
                BlockStep::Event(event) => self.handle_event(&event),
                BlockStep::Process(range) => self.process_range(block, range),
                BlockStep::Cleanup => self.clean_up(),
            }
        }
        ProcessStatus::Continue
    }

    fn reset(&mut self) {
        self.params = self.initial;
        self.ramp.jump_to(self.coefficients());
        self.states.fill(GroupState::default());
    }

    fn tail(&self) -> Tail {
        let radius = |coefficients: CoefficientArray| self.kernel.pole_radius(&coefficients.into());
        let slowest = radius(self.ramp.current).max(radius(self.ramp.target));
        let frames = NEPERS_TO_SILENCE / -libm::log(slowest.clamp(1e-9, 1.0 - 1e-12));
        Tail::Frames(frames as u64 + u64::from(self.ramp.frames_left) + 128)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let params = [self.initial, self.params].map(FilterParams::to_array);
        let numbers = params.into_iter().flatten();
        let numbers = numbers.chain(self.ramp.current).chain(self.ramp.step);
        let states = self.states.iter().flat_map(GroupState::numbers);
        state::put(bytes, numbers.chain(states).map(f64::to_bits));
        state::put(
            bytes,
            [form_mark(K::FORM) | u64::from(self.ramp.frames_left)],
        );
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let end = 16 + GroupState::NUMBERS * self.states.len();
        let words = state::words(bytes, end + 1)?;
        check_form(words.at(end), K::FORM)?;
        let state = |c| words.numbers(16 + GroupState::NUMBERS * c);
        for c in 0..self.states.len() {
            // All are checked before one is loaded: a state that is refused changes nothing.
            state(c)?;
        }
        let [initial, mut params]: [[f64; 3]; 2] = [words.numbers(0)?, words.numbers(3)?];
        let [current, step]: [CoefficientArray; 2] = [words.numbers(6)?, words.numbers(11)?];
        for (c, here) in self.states.iter_mut().enumerate() {
            *here = GroupState::from_numbers(state(c)?);
        }
        self.ramp.current = current;
        if initial != self.initial.to_array() {
            // The node was created with other parameters, so the filter ramps to these.
            self.ramp.ramp_to(self.coefficients(), self.ramp.frames);
            return Ok(());
        }
        for (value, param) in params.iter_mut().zip(K::PARAMS) {
            *value = value.clamp(param.min, param.max);
        }
        for (value, here) in params
            .iter_mut()
            .zip(self.params.to_array())
            .skip(K::PARAMS.len())
        {
            *value = here;
        }
        self.params = FilterParams::from_array(params);
        self.ramp.target = self.coefficients();
        self.ramp.step = step;
        let frames_left = words.at(end) & u64::from(u32::MAX);
        let longest = self.ramp.frames.max(MODULATION_INTERVAL);
        self.ramp.frames_left = frames_left.min(u64::from(longest)) as u32;
        if self.ramp.frames_left == 0 {
            self.ramp.current = self.ramp.target;
        }
        Ok(())
    }
}
