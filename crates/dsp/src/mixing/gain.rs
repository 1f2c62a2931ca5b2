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
//! | driven | `gain` and `gain_db` at audio rate (`gain` is the cheaper one); a `gain` that is 0 because its driver is silent lets what follows sleep |

use crate::param::{ParamSpec, channels};
use crate::sample::{SILENT_DB, channel_count, clamp_sample, db_to_gain};
use crate::smoothed::{Smoothed, SmoothedKernel, SteadyFactors};
use crate::smoother::Smoother;
use crate::split::split;
use graph::Kind;
use processor::{
    Block, BlockPart, Content, Event, MakeContext, MakeError, Processor, RowStatus, StepRow, exp2,
};
use rt::vectors::{WideWork, widest};

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
    let [db, gain] = GAINS;
    Kind {
        params: vec![
            db.audio_rate().param(),
            gain.audio_rate().param(),
            split(),
            channels(),
        ],
        typical_ns: 40,
        side_by_side: true,
        ..Kind::effect("gain", "Multiplies by a factor.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let gains = [GAINS[0].read(creation)?, GAINS[1].read(creation)?];
    let channels = channel_count(creation.node);
    if creation.is_driven(GAINS[0].index) || creation.is_driven(GAINS[1].index) {
        let [db, gain] = gains;
        let kernel = DrivenGain { channels };
        return Smoothed::make(creation, kernel, [db_to_gain(db) as f32, gain as f32]);
    }
    let kernel = Gain { channels };
    Smoothed::make(creation, kernel, [factor(gains)])
}

struct Gain {
    channels: usize,
}

impl SmoothedKernel for Gain {
    const OUTPUTS_IN_ROWS: usize = 1;
    const SAVED: &'static [ParamSpec] = &GAINS;

    fn frame_cost(&self, _: usize) -> (f64, usize) {
        (self.channels as f64 * SAMPLE_NS, 2 * self.channels)
    }

    fn handle_event(&self, event: &Event, gains: [f64; 2], factors: &mut [Smoother]) {
        factors[0].follow(event, factor(gains));
    }

    #[inline(always)]
    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize) {
        let factor = &factors[0];
        let input = part.input(0);
        let mut output = part.output(0);
        for c in 0..self.channels {
            factor.scale(passed, input.channel(c), output.channel(c));
        }
    }

    #[inline(always)]
    fn process_row(row: StepRow<'_, Smoothed<Self>>) -> RowStatus {
        row.process_samples(
            #[inline(always)]
            |unit, from, [to]| {
                let Some(steady) = unit.steady_factors(from.len()) else {
                    return false;
                };
                steady.scale(from, to).run();
                true
            },
            Smoothed::process_apart,
        )
    }

    #[inline(always)]
    fn process_steady(block: &mut Block<'_>, steady: SteadyFactors) -> bool {
        match block.mono() {
            Some((from, to)) => {
                steady.scale(from, to).run();
                true
            }
            None => scale_channels(block, steady),
        }
    }
}

#[inline(never)]
fn scale_channels(block: &mut Block<'_>, steady: SteadyFactors) -> bool {
    if block.input_content() != Content::Unknown {
        return false;
    }
    let input = block.input(0);
    let mut output = block.output(0);
    for c in 0..output.channels().count() {
        let (from, to) = (input.channel(c), output.channel(c));
        widest(steady.scale(from, to));
    }
    true
}

/// A gain of which at least one parameter is driven at audio rate. The factors are those of both parameters; that of a
/// driven one is not used.
struct DrivenGain {
    channels: usize,
}

impl SmoothedKernel for DrivenGain {
    const SAVED: &'static [ParamSpec] = &GAINS;

    fn frame_cost(&self, _: usize) -> (f64, usize) {
        (self.channels as f64 * SAMPLE_NS, 2 * self.channels)
    }

    fn is_muted(&self, block: &Block<'_>) -> bool {
        block.is_param_zero(GAINS[1].index)
    }

    fn handle_event(&self, event: &Event, [db, gain]: [f64; 2], factors: &mut [Smoother]) {
        if GAINS[0].value_of(event).is_some() {
            factors[0].follow(event, db_to_gain(db) as f32);
        }
        if GAINS[1].value_of(event).is_some() {
            factors[1].follow(event, gain as f32);
        }
    }

    fn process_part(&self, part: &mut BlockPart<'_>, factors: &[Smoother], passed: usize) {
        let [mut db, mut gain] = [0, 1].map(|at: usize| factors[at].advanced(passed));
        let driven = GAINS.map(|param| part.param_signal(param.index));
        let (input, frames) = (part.input(0), part.range().len());
        let mut output = part.output(0);
        for from in (0..frames).step_by(CHUNK) {
            let range = from..frames.min(from + CHUNK);
            let mut factors = [0.0; CHUNK];
            let factors = &mut factors[..range.len()];
            match driven[1] {
                Some(values) => factors.copy_from_slice(&values[range.clone()]),
                None => gain.fill(factors),
            }
            match driven[0] {
                Some(values) => scale_db(&values[range.clone()], factors),
                None if db.is_settled() && db.current() == 1.0 => {}
                None => db.apply(factors),
            }
            for c in 0..self.channels {
                let to = output.channel(c)[range.clone()].iter_mut();
                let from = &input.channel(c)[range.clone()];
                for (y, (x, factor)) in to.zip(from.iter().zip(&*factors)) {
                    *y = clamp_sample(x * factor);
                }
            }
        }
    }
}

/// Frames that are computed at once.
pub(crate) const CHUNK: usize = 64;

/// Multiplies `factors` by gains in dB, frame by frame.
///
/// Real-time: hot.
#[inline(always)]
pub(crate) fn scale_db(db: &[f32], factors: &mut [f32]) {
    for (y, db) in factors.iter_mut().zip(db) {
        let gain = exp2(db * OCTAVES_PER_DB);
        *y *= if *db <= SILENT_DB as f32 { 0.0 } else { gain };
    }
}

/// log2(10) / 20.
const OCTAVES_PER_DB: f32 = 0.166_096_4;
