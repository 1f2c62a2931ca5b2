//! `matrix`: each output channel is a sum of all input channels, each with a gain of its own.
//!
//! ```text
//! y_r = Σc g(r, c) × x_c        in the order of the inputs
//! ```
//!
//! `gains` has a row for each output channel: `"1 0 0.7; 0 1 0.7"` makes two channels of three. Without it each channel goes to the
//! one of its number.
//!
//! | | |
//! |---|---|
//! | ports | `in`, as wide as a row of `gains`, else as `channels` says; `out`, with a channel for each row |
//! | parameters | `gains`; `g1_1` to `g8_8` (output, input), live, in place of those in `gains`: a change is a ramp of 5 ms; `split` |
//! | latency, tail | none |

use crate::param::{ParamSpec, channels};
use crate::smoothed::{Smoothed, SmoothedKernel};
use crate::smoother::Smoother;
use crate::split::split;
use graph::{Gains, Kind, Param, PortSignal, PortSpec};
use processor::{BlockPart, Event, EventTarget, MakeContext, MakeError, Processor};

/// Outputs and inputs whose gains are parameters.
const LIVE: usize = 8;

macro_rules! names {
    ($($row:literal)*) => { [$(row_names!($row)),*] };
}

macro_rules! row_names {
    ($row:literal) => {
        [
            concat!("g", $row, "_1"),
            concat!("g", $row, "_2"),
            concat!("g", $row, "_3"),
            concat!("g", $row, "_4"),
            concat!("g", $row, "_5"),
            concat!("g", $row, "_6"),
            concat!("g", $row, "_7"),
            concat!("g", $row, "_8"),
        ]
    };
}

const NAMES: [[&str; LIVE]; LIVE] = names!(1 2 3 4 5 6 7 8);

/// The gain from an input to an output, both from 0. The parameter behind `gains` is the first.
const fn gain(output: usize, input: usize) -> ParamSpec {
    let default = if output == input { 1.0 } else { 0.0 };
    let index = 1 + output * LIVE + input;
    ParamSpec::new(index as u16, NAMES[output][input], (-1000.0, 1000.0), default)
        .doc("Gain from the input of the second number to the output of the first, in place of the one in `gains`.")
}

/// Cost of a gain for one sample, in ns.
const SAMPLE_NS: f64 = 0.23;

pub(crate) fn kind() -> Kind {
    let gains = (0..LIVE * LIVE).map(|at| gain(at / LIVE, at % LIVE).param());
    let matrix = Param::text("gains")
        .doc("Rows for outputs, separated by `;`, of gains for inputs; without it, each channel to the one of its number.");
    Kind {
        outputs: vec![PortSpec {
            signal: PortSignal::AsOutput,
            ..PortSpec::audio("out")
        }],
        params: std::iter::once(matrix)
            .chain(gains)
            .chain([split(), channels()])
            .collect(),
        matrix: Some("gains"),
        typical_ns: 100,
        ..Kind::effect(
            "matrix",
            "Output channels as sums of input channels, with gains.",
        )
    }
}

pub(crate) fn make(context: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let node = context.node;
    let inputs = node.channels.count();
    let gains = match node.text("gains") {
        Some(text) => Gains::parse(text)
            .map_err(|error| MakeError::param("gains", format!("`gains` is no matrix: {error}")))?,
        None => Gains::identity(inputs),
    };
    let outputs = node.output_channels.unwrap_or(node.channels).count();
    if (inputs, outputs) != (gains.inputs, gains.outputs) {
        let message = format!(
            "`gains` is for {} inputs and {} outputs",
            gains.inputs, gains.outputs
        );
        return Err(MakeError::param("gains", message));
    }
    let mut factors = Vec::with_capacity(inputs * outputs);
    for (output, input) in (0..outputs).flat_map(|o| (0..inputs).map(move |i| (o, i))) {
        let is_live = output < LIVE && input < LIVE;
        let stated = is_live && node.param(NAMES[output][input]).is_some();
        factors.push(match stated {
            true => gain(output, input).read(context)? as f32,
            false => gains.gain(output, input) as f32,
        });
    }
    Smoothed::make(context, Matrix { inputs, outputs }, factors)
}

struct Matrix {
    inputs: usize,
    outputs: usize,
}

impl SmoothedKernel for Matrix {
    fn frame_cost(&self, gains: usize) -> (f64, usize) {
        (gains as f64 * SAMPLE_NS, self.inputs + self.outputs)
    }

    fn handle_event(&self, event: &Event, _: [f64; 2], gains: &mut [Smoother]) {
        let EventTarget::Param(index) = event.target else {
            return;
        };
        let Some(at) = usize::from(index).checked_sub(1) else {
            return;
        };
        let (output, input) = (at / LIVE, at % LIVE);
        if output < LIVE.min(self.outputs)
            && input < self.inputs
            && let Some(value) = gain(output, input).value_of(event)
        {
            gains[output * self.inputs + input].follow(event, value as f32);
        }
    }

    fn process_part(&self, part: &mut BlockPart<'_>, gains: &[Smoother], passed: usize) {
        let input = part.input(0);
        for (output, row) in gains.chunks_exact(self.inputs).enumerate() {
            let mut out = part.output(0);
            let sum = out.channel(output);
            sum.fill(0.0);
            for (channel, gain) in row.iter().enumerate().filter(|(_, gain)| !gain.is_zero()) {
                gain.advanced(passed).add(input.channel(channel), sum);
            }
        }
    }
}
