//! `pan`: one channel between two, with equal power; with a `layout`, in any direction.
//!
//! ```text
//! θ = (pan + 1) π / 4      left = x cos θ      right = x sin θ      in the middle both are -3.01 dB
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `left`, `right`, one channel each; with `layout`: `in` and `out`, which has the channels of the layout |
//! | parameters | `pan` -1 (left) to 1 (right); with a `layout` of other than two channels `azimuth` and `elevation`; a change is a ramp of 5 ms of all factors; `split` |
//! | latency, tail | none |
//! | driven | `pan` at audio rate |

use super::panner::{self, AZIMUTH, ELEVATION};
use crate::generators::sine::sine;
use crate::param::ParamSpec;
use crate::sample::clamp_sample;
use crate::smoothed::{Smoothed, SmoothedKernel, SteadyFactors};
use crate::smoother::Smoother;
use crate::split::split;
use crate::whole::of_narrow;
use graph::{Kind, Layout, PortSpec};
use processor::{Block, BlockPart, Event, MakeContext, MakeError, Processor, RowStatus, StepRow};
use rt::vectors::WideWork;

pub(super) const PAN: ParamSpec = ParamSpec::new(0, "pan", (-1.0, 1.0), 0.0)
    .doc("From -1, left, to 1, right.")
    .audio_rate();

/// Cost of a frame on one core, in ns.
const FRAME_NS: f64 = 0.22;

pub(crate) fn kind() -> Kind {
    Kind {
        inputs: vec![PortSpec::mono("in")],
        outputs: vec![PortSpec::mono("left"), PortSpec::mono("right")],
        layout_outputs: Some(vec![PortSpec::audio("out")]),
        params: vec![PAN.param(), split(), AZIMUTH.param(), ELEVATION.param()],
        typical_ns: 80,
        picture: graph::KindPicture::Sweep(&["pan", "azimuth"]),
        side_by_side: true,
        ..Kind::new(
            "pan",
            "One channel between two, or in a direction of a layout.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    if let Some(layout) = creation.node.text("layout").and_then(Layout::named) {
        return panner::make(creation, layout);
    }
    let sides = factors(PAN.read(creation)?);
    match creation.is_driven(PAN.index) {
        true => Smoothed::make(creation, DrivenPan { ports: 2 }, sides),
        false => Smoothed::make(creation, Pan, sides),
    }
}

/// Cosine and sine of (pan + 1) π/4; exactly 0 at the ends.
pub(super) fn factors(pan: f64) -> [f32; 2] {
    let eighth = (pan + 1.0) * 536_870_912.0;
    let right = eighth as u32;
    [sine(right + (1 << 30)), sine(right)]
}

struct Pan;

impl SmoothedKernel for Pan {
    const OUTPUTS_IN_ROWS: usize = 2;

    fn frame_cost(&self, _: usize) -> (f64, usize) {
        (FRAME_NS, 3)
    }

    fn handle_event(&self, event: &Event, _: [f64; 2], sides: &mut [Smoother]) {
        if let Some(pan) = PAN.value_of(event) {
            let pairs = sides.iter_mut().zip(factors(pan));
            pairs.for_each(|(side, factor)| side.follow(event, factor));
        }
    }

    #[inline(always)]
    fn process_part(&self, part: &mut BlockPart<'_>, sides: &[Smoother], passed: usize) {
        let input = part.input(0).channel(0);
        for (port, side) in sides.iter().enumerate() {
            let mut output = part.output(port);
            side.scale(passed, input, output.channel(0));
        }
    }

    #[inline(always)]
    fn process_row(row: StepRow<'_, Smoothed<Self>>) -> RowStatus {
        row.process_samples(
            #[inline(always)]
            |unit, from, to| {
                let Some(steady) = unit.steady_factors(from.len()) else {
                    return false;
                };
                steady.scale_twice(from, to).run();
                true
            },
            Smoothed::process_apart,
        )
    }

    #[inline(always)]
    fn process_steady(block: &mut Block<'_>, steady: SteadyFactors) -> bool {
        let Some((from, to)) = block.one_to_two() else {
            return false;
        };
        steady.scale_twice(from, to).run();
        true
    }
}

/// A pan whose `pan` is driven at audio rate, with two ports of one channel, or one of two.
pub(super) struct DrivenPan {
    pub(super) ports: usize,
}

impl SmoothedKernel for DrivenPan {
    fn frame_cost(&self, _: usize) -> (f64, usize) {
        (FRAME_NS, 3)
    }

    fn handle_event(&self, event: &Event, saved: [f64; 2], sides: &mut [Smoother]) {
        Pan.handle_event(event, saved, sides);
    }

    fn process_part(&self, part: &mut BlockPart<'_>, _: &[Smoother], _: usize) {
        let Some(pan) = part.param_signal(PAN.index) else {
            return;
        };
        let input = part.input(0).channel(0);
        for (side, quarter) in [1u32 << 30, 0].into_iter().enumerate() {
            let (port, channel) = if self.ports == 1 {
                (0, side)
            } else {
                (side, 0)
            };
            let mut output = part.output(port);
            let to = output.channel(channel).iter_mut();
            for (y, (x, pan)) in to.zip(input.iter().zip(pan)) {
                // Up to a quarter of a cycle.
                let right = of_narrow((pan + 1.0) * 536_870_912.0);
                *y = clamp_sample(x * sine(right.wrapping_add(quarter)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_is_the_same_wherever_it_stands() {
        for i in -10..=10 {
            let [left, right] = factors(f64::from(i) / 10.0);
            assert!((left * left + right * right - 1.0).abs() < 1e-6);
        }
        assert_eq!(factors(-1.0)[1], 0.0);
        assert_eq!(factors(1.0)[0], 0.0);
    }
}
