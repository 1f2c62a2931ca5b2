//! `pan` with a `layout`: one channel in a direction, on all channels of the layout. Its gains are those of
//! [`panning`](super::panning).

use super::pan::{DrivenPan, PAN, factors};
use super::panning::{MAX_CHANNELS, Panning};
use crate::param::ParamSpec;
use crate::smoothed::{Smoothed, SmoothedKernel};
use crate::smoother::Smoother;
use graph::Layout;
use processor::{BlockPart, Event, MakeContext, MakeError, Processor};

pub(crate) const AZIMUTH: ParamSpec = ParamSpec::new(2, "azimuth", (-360.0, 360.0), 0.0)
    .unit("°")
    .doc("With a `layout` of other than two channels: direction from the front, positive to the left.");
pub(crate) const ELEVATION: ParamSpec = ParamSpec::new(3, "elevation", (-90.0, 90.0), 0.0)
    .unit("°")
    .doc("With a `layout` that has height: direction above the ear.");

/// Cost of a frame of one channel, in ns.
const SAMPLE_NS: f64 = 0.11;

/// Makes the processor of a node that states `layout`.
pub(crate) fn make(
    context: &MakeContext<'_>,
    layout: &'static Layout,
) -> Result<Box<dyn Processor>, MakeError> {
    let mut gains = vec![0.0; layout.channels().count()];
    let panner = match layout.name {
        "stereo" => Panner::Stereo,
        _ => Panner::Layout(Panning::new(layout)),
    };
    let direction = [AZIMUTH.read(context)?, ELEVATION.read(context)?];
    match &panner {
        Panner::Stereo => {
            let sides = factors(PAN.read(context)?);
            if context.is_driven(PAN.index) {
                return Smoothed::make(context, DrivenPan { ports: 1 }, sides);
            }
            gains.copy_from_slice(&sides);
        }
        Panner::Layout(panning) => panning.write(direction[0], direction[1], &mut gains),
    }
    Smoothed::make(context, panner, gains)
}

/// Source of the gains.
enum Panner {
    /// The parameter `pan`.
    Stereo,
    /// The direction.
    Layout(Panning),
}

impl SmoothedKernel for Panner {
    const SAVED: &'static [ParamSpec] = &[AZIMUTH, ELEVATION];

    fn frame_cost(&self, channels: usize) -> (f64, usize) {
        (channels as f64 * SAMPLE_NS, channels + 1)
    }

    fn handle_event(&self, event: &Event, direction: [f64; 2], gains: &mut [Smoother]) {
        let mut new = [0.0; MAX_CHANNELS];
        let new = &mut new[..gains.len()];
        match self {
            Self::Stereo => match PAN.value_of(event) {
                Some(pan) => new.copy_from_slice(&factors(pan)),
                None => return,
            },
            Self::Layout(panning) => {
                let params = [AZIMUTH, ELEVATION];
                if params.iter().all(|param| param.value_of(event).is_none()) {
                    return;
                }
                panning.write(direction[0], direction[1], new);
            }
        }
        let pairs = gains.iter_mut().zip(new);
        pairs.for_each(|(gain, new)| gain.follow(event, *new));
    }

    fn process_part(&self, part: &mut BlockPart<'_>, gains: &[Smoother], passed: usize) {
        let input = part.input(0).channel(0);
        let mut output = part.output(0);
        for (channel, gain) in gains.iter().enumerate() {
            gain.scale(passed, input, output.channel(channel));
        }
    }
}
