//! `gain`: multiplies by a factor.
//!
//! ```text
//! y = x × gain × 10^(gain_db / 20)
//! ```
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `gain_db` -120 (silence) to 40 dB and `gain` -100 to 100; a change is a ramp of 5 ms; `split` |
//! | latency, tail | none |

use crate::param::{ParamSpec, channels};
use crate::sample::{SILENT_DB, channel_count, db_to_gain};
use crate::smoothed::{Smoothed, SmoothedKernel};
use crate::smoother::Smoother;
use crate::split::split;
use graph::Kind;
use processor::{BlockPart, Event, MakeContext, MakeError, Processor};

/// The two gains of a node, in dB and as a factor. Both together are its factor.
pub(crate) const GAINS: [ParamSpec; 2] = [
    ParamSpec::new(0, "gain_db", (SILENT_DB, 40.0), 0.0)
        .unit("dB")
        .doc("Gain; -120 is silence."),
    ParamSpec::new(1, "gain", (-100.0, 100.0), 1.0)
        .doc("Gain as a factor; a negative one inverts the polarity."),
];

/// The factor of both gains.
pub(crate) fn factor([db, gain]: [f64; 2]) -> f32 {
    (db_to_gain(db) * gain) as f32
}

/// Cost of a sample on one core, in ns.
const SAMPLE_NS: f64 = 0.11;

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![GAINS[0].param(), GAINS[1].param(), split(), channels()],
        typical_ns: 40,
        ..Kind::effect("gain", "Multiplies by a factor.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let gains = [GAINS[0].read(creation)?, GAINS[1].read(creation)?];
    let kernel = Gain {
        channels: channel_count(creation.node),
    };
    Smoothed::make(creation, kernel, [factor(gains)])
}

struct Gain {
    channels: usize,
}

impl SmoothedKernel for Gain {
    const SAVED: &'static [ParamSpec] = &GAINS;

    fn frame_cost(&self, _: usize) -> (f64, usize) {
        (self.channels as f64 * SAMPLE_NS, 2 * self.channels)
    }

    fn handle_event(&self, _: &Event, gains: [f64; 2], factors: &mut [Smoother]) {
        factors[0].set_target(factor(gains));
    }

    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize) {
        let factor = factors[0].advanced(passed);
        let input = part.input(0);
        let mut output = part.output(0);
        for c in 0..self.channels {
            factor.scale(input.channel(c), output.channel(c));
        }
    }
}
