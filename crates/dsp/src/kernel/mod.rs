//! [`UnitKernel`]: the arithmetic of a unit; [`KernelNode`]: the processor that does the rest for any of them.
//!
//! ```text
//!  parameters of each frame ──values()──▶ Values of 64 frames ┐
//!  (driven, or a smoothed number)                             ├─ process ──▶ outputs
//!  inputs, 64 frames, copied ─────────────────────────────────┘    │
//!                                                          Memory of each lane: numbers, counts, a line
//! ```
//!
//! A kernel has no state of its own after its setup: the node owns a [`Memory`] for each *lane*. A lane is one channel, or
//! all of them where the kernel is linked. So save, load, reset, cleaning and sleep are written once. The values of a
//! frame are a function of its parameters alone, and are computed anew only where a parameter has moved: they are the
//! same bits for a parameter that is set, glides or is driven.

mod bank;
mod channels;
mod frame_values;
#[cfg(test)]
mod linked;
mod memory;
mod node;
mod oversampler;
mod tap;
mod trapezoid;
mod turn;

pub(crate) use bank::{LaneSignals, LaneUnits};
pub(crate) use frame_values::FrameValues;
#[cfg(test)]
pub(crate) use linked::process_linked;
pub(crate) use memory::{Memory, MemorySize, line_sample};
pub(crate) use node::KernelNode;
pub(crate) use oversampler::{History, OVERSAMPLER_TAPS, Oversampler, dot, kaiser_sinc};
pub(crate) use tap::{DelayLoop, DelayRing, SplitDelay, add_cubics, cubic, row_of};
pub(crate) use trapezoid::{Resonator, integrator_gain, one_pole, pole_radius};
pub(crate) use turn::{LaneFrames, apart, side_by_side};

use crate::param::ParamSpec;
use processor::Tail;
use units::Frames;

/// Frames that are computed at once at most: those of a block step.
pub(crate) const FRAMES: usize = 64;

/// The samples of one channel for these frames.
pub(crate) type Samples = [f32; FRAMES];

/// A state of smaller magnitude counts as silence: -300 dB.
pub(crate) const SILENT_STATE: f64 = 1e-15;
/// Nepers from a state of 1e9 to silence.
const NEPERS_TO_SILENCE: f64 = 55.3;

/// The arithmetic of one unit.
pub(crate) trait UnitKernel: Sized + Send + 'static {
    /// What the parameters of a frame come to: coefficients.
    type Values: Copy + Send;

    /// The live parameters, in the order of their indices, which begin with 0.
    const PARAMS: &'static [ParamSpec];
    /// True if one memory serves all channels.
    const LINKED: bool = false;
    /// True if with silent inputs and a memory of zeros the outputs are silent and nothing changes.
    const SLEEPS: bool = true;
    /// True if a parameter decides how long it sounds on: while one is driven the tail has no bound.
    const IS_LOOP: bool = false;

    /// Prepares for a rate in Hz and a number of channels, and returns the size of a lane's memory.
    fn setup(&mut self, rate: f64, channels: usize) -> MemorySize;

    /// The values of a frame with these parameters.
    ///
    /// Real-time: hot.
    fn values(&self, params: &[f64]) -> Self::Values;

    /// The same, for a frame behind one with other parameters, which are given with their values: what follows from parameters that
    /// have not moved may be taken from there. The bits are those of [`values`](Self::values).
    ///
    /// Real-time: hot.
    fn next_values(&self, params: &[f64], _: (&[f64], &Self::Values)) -> Self::Values {
        self.values(params)
    }

    /// Processes the frames of `values` of one lane. If it and all that it calls are `#[inline(always)]`, it is compiled for the
    /// widest vectors of the machine too ([`rt::vectors::Wide`]).
    ///
    /// Real-time: hot.
    fn process(
        &self,
        values: FrameValues<'_, Self::Values>,
        io: &mut LaneIo<'_>,
        memory: &mut Memory,
    );

    /// Fewest units that are computed faster side by side than one after the other; none are by default.
    const MIN_LANES: usize = usize::MAX;

    /// Returns true if frames of these values may be processed in a lane, with the first input alone.
    ///
    /// Real-time: hot.
    fn fits_lane(&self, _values: &Self::Values, _memory: &Memory) -> bool {
        false
    }

    /// Processes frames of several units with one channel, whose values stand still. The bits are those of [`process`](Self::process). `#[inline(always)]`, as that is.
    ///
    /// Real-time: hot.
    fn process_lanes(_lanes: &mut LaneUnits<'_, Self>, _signals: LaneSignals<'_>) {}

    /// Duration of the outputs after the inputs have become silent, with these parameters.
    fn tail(&self, params: &[f64]) -> Tail;

    /// Delay of the outputs relative to the inputs.
    fn latency(&self) -> Frames {
        Frames(0)
    }

    /// Registers gauges, and tells the user what is to be told.
    fn announce(&mut self, _services: &mut dyn processor::SetupServices) {}

    /// Shows values of the first lane's memory on gauges, once a block.
    ///
    /// Real-time: hot.
    fn show(&self, _memory: &Memory) {}
}

/// The samples of one lane: for each port its channel in this lane, or all channels if the kernel is linked.
pub(crate) struct LaneIo<'a> {
    inputs: &'a [Samples],
    outputs: &'a mut [Samples],
    /// First channel and number of channels of each port.
    ports: [&'a [(usize, usize)]; 2],
    /// The lane of a kernel that is not linked.
    lane: Option<usize>,
}

impl LaneIo<'_> {
    fn range(&self, (first, width): (usize, usize)) -> std::ops::Range<usize> {
        match self.lane {
            Some(lane) => {
                let channel = first + lane.min(width.saturating_sub(1));
                channel..channel + 1
            }
            None => first..first + width,
        }
    }

    /// The channels of input `port`.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn input(&self, port: usize) -> &[Samples] {
        &self.inputs[self.range(self.ports[0][port])]
    }

    /// The channels of output `port`.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn output(&mut self, port: usize) -> &mut [Samples] {
        let range = self.range(self.ports[1][port]);
        &mut self.outputs[range]
    }

    /// A channel of an input and one of an output, each as port and channel.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn both(
        &mut self,
        (input, from): (usize, usize),
        (output, to): (usize, usize),
    ) -> (&Samples, &mut Samples) {
        let input = self.range(self.ports[0][input]).start + from;
        let output = self.range(self.ports[1][output]).start + to;
        (&self.inputs[input], &mut self.outputs[output])
    }

    /// The first channel of the first input and of the first output.
    ///
    /// Real-time: hot.
    #[inline(always)]
    pub(crate) fn through(&mut self) -> (&Samples, &mut Samples) {
        let [input, output] = self.ports.map(|ports| self.range(ports[0]).start);
        (&self.inputs[input], &mut self.outputs[output])
    }
}

/// Tail of a state that shrinks by the factor `radius` in each frame.
pub(crate) fn decay_tail(radius: f64) -> Tail {
    let frames = NEPERS_TO_SILENCE / -libm::log(radius.clamp(1e-9, 1.0 - 1e-12));
    Tail::Frames(frames as u64 + 1024)
}

/// Tail of a loop of `frames` frames that multiplies by `gain`, which is below 1 in magnitude.
pub(crate) fn loop_tail(frames: f64, gain: f64) -> Tail {
    let gain = gain.abs().clamp(1e-9, 1.0 - 1e-9);
    let rounds = NEPERS_TO_SILENCE / -libm::log(gain) + 2.0;
    Tail::Frames((frames * rounds) as u64 + 1024)
}

/// Factor of a one-pole smoother that covers 63 % of the way in `seconds`: exp(-1 / (seconds × rate)).
///
/// Real-time: hot.
pub(crate) fn decay_factor(seconds: f64, rate: f64) -> f64 {
    libm::exp(-1.0 / (seconds * rate).max(1e-3))
}

/// Checks that values behind those of other parameters have the bits of values by themselves.
#[cfg(test)]
pub(crate) fn check_next_values<K: UnitKernel>(kernel: &K)
where
    K::Values: PartialEq + std::fmt::Debug,
{
    let params = |moved: usize, share: f64| -> Vec<f64> {
        let specs = K::PARAMS.iter().enumerate();
        let is_moved = |index: usize| f64::from(u8::from(moved >> index & 1 == 1));
        specs
            .map(|(index, spec)| spec.min + (spec.max - spec.min) * (0.3 + share * is_moved(index)))
            .collect()
    };
    let before = params(0, 0.0);
    let last = kernel.values(&before);
    for moved in 0..1 << K::PARAMS.len() {
        let now = params(moved, 0.13);
        let next = kernel.next_values(&now, (&before, &last));
        assert_eq!(next, kernel.values(&now), "{moved:b}");
    }
}
