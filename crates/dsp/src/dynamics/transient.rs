//! `transient`: makes the beginnings of sounds louder or softer, and what follows them too.
//!
//! ```text
//! p = max(|x| of the loudest channel, p × exp(-1 / (0.02 rate))), and three envelopes of p, up and down within their times:
//! fast 1 ms, 50 ms    slow 30 ms, 50 ms    long 1 ms, 500 ms
//! a = min(20 log10(fast / slow), 12) / 12, 0 or more        b = min(20 log10(long / fast), 12) / 12, 0 or more
//! y = x × 10^((a × attack_db + b × sustain_db) / 20)
//! ```
//!
//! The difference of two envelope followers, as in the Transient Designer (H. Bay, SPL, 1998). It depends on how a level
//! changes and not on the level: 1e-6 is added to each envelope, so that silence has none.
//!
//! | | |
//! |---|---|
//! | ports | `in`, `out`, as wide as `channels` says |
//! | parameters | `attack_db` and `sustain_db`, ±24 dB |
//! | latency, tail | none |
//! | driven | both at audio rate |

use crate::dynamics::detector::{decibels, follow, level_db, loudest, moving_gain};
use crate::kernel::{
    FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_factor,
};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture};
use processor::{MakeContext, MakeError, Processor, Tail};

const ATTACK: ParamSpec = decibels(0, "attack_db", (-24.0, 24.0), 0.0, "Gain of beginnings.");
const SUSTAIN: ParamSpec = decibels(1, "sustain_db", (-24.0, 24.0), 0.0, "Gain of what follows.");

/// Times up and down of the envelopes: fast, slow, long.
const TIMES_S: [[f64; 2]; 3] = [[0.001, 0.05], [0.03, 0.05], [0.001, 0.5]];
/// Time constant in which a peak falls.
const FALL_S: f64 = 0.02;
/// Added to each envelope.
const FLOOR: f64 = 1e-6;
/// Difference that has the whole effect, in dB.
const WHOLE_DB: f64 = 12.0;

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![ATTACK.param(), SUSTAIN.param(), channels()],
        typical_ns: 2000,
        picture: KindPicture::Step,
        ..Kind::effect("transient", "Shapes beginnings and what follows them.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(
        creation,
        TransientShaper {
            left: [[0.0; 2]; 3],
            fall: 0.0,
        },
    )
}

struct TransientShaper {
    /// What is left of a distance after a frame, up and down.
    left: [[f64; 2]; 3],
    /// Factor of a peak after a frame.
    fall: f64,
}

/// Share of the effect for an envelope above another one.
#[inline(always)]
fn share(above: f64, below: f64) -> f64 {
    match above > below {
        true => (level_db((above + FLOOR) / (below + FLOOR)) / WHOLE_DB).min(1.0),
        false => 0.0,
    }
}

impl UnitKernel for TransientShaper {
    type Values = [f64; 2];
    const PARAMS: &'static [ParamSpec] = &[ATTACK, SUSTAIN];
    const LINKED: bool = true;

    fn setup(&mut self, rate: f64, _: usize) -> MemorySize {
        self.left = TIMES_S.map(|times| times.map(|seconds| decay_factor(seconds, rate)));
        self.fall = decay_factor(FALL_S, rate);
        MemorySize {
            // The peak and its envelopes.
            numbers: 4,
            ..MemorySize::default()
        }
    }

    fn values(&self, params: &[f64]) -> [f64; 2] {
        [params[0], params[1]]
    }

    fn process(&self, values: FrameValues<'_, [f64; 2]>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for (i, [attack_db, sustain_db]) in values.iter().enumerate() {
            let peak = loudest(io.input(0), i).max(memory.numbers[0] * self.fall);
            memory.numbers[0] = peak;
            for (state, [up, down]) in memory.numbers[1..].iter_mut().zip(self.left) {
                *state = follow(*state, peak, up, down);
            }
            let [fast, slow, long] = [1, 2, 3].map(|k| memory.numbers[k]);
            let db = share(fast, slow) * attack_db + share(long, fast) * sustain_db;
            let gain = moving_gain(db);
            for c in 0..io.output(0).len() {
                let x = f64::from(io.input(0)[c][i]);
                io.output(0)[c][i] = to_sample(x * gain);
            }
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        Tail::Frames(0)
    }
}
