//! `hilbert`: two outputs of the same level whose phases are 90° apart.
//!
//! ```text
//! real = x through four sections of one set, and a frame later        imag = x through four sections of the other
//! section: y[n] = a² (x[n] + y[n-2]) - x[n-2]
//! ```
//!
//! Two all-pass chains with the coefficients of Olli Niemitalo ("Hilbert transform", 2001). At 48 kHz the phases differ by 90°
//! within 0.8° from 25 Hz to 23.9 kHz, and levels are equal exactly. What comes out is not in phase with the input: add or
//! multiply the two outputs, not an output and the input.
//!
//! | | |
//! |---|---|
//! | ports | `in`; `real`, `imag`; as wide as `channels` says |
//! | parameters | none |
//! | latency | none: it turns phases as any all-pass |
//! | tail | until the slowest pole has decayed |

use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel, decay_tail};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, KindPicture, PortSpec};
use processor::{MakeContext, MakeError, Processor, Tail};

/// Coefficients `a` of both chains.
const COEFFICIENTS: [[f64; 4]; 2] = [
    [
        0.692_387_8,
        0.936_065_432_295_9,
        0.988_229_522_686_0,
        0.998_748_845_273_7,
    ],
    [
        0.402_192_116_242_6,
        0.856_171_088_242_0,
        0.972_290_954_565_1,
        0.995_288_479_127_8,
    ],
];
/// Numbers of a section: its last two inputs and its last two outputs.
const SECTION: usize = 4;
/// Numbers of a chain.
const CHAIN: usize = 4 * SECTION;

pub(crate) fn kind() -> Kind {
    Kind {
        outputs: ["real", "imag"].map(PortSpec::audio).into(),
        params: vec![channels()],
        typical_ns: 900,
        picture: KindPicture::Phase,
        ..Kind::effect("hilbert", "Two phases of the input, 90 degrees apart.")
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    KernelNode::make(creation, Hilbert)
}

/// One step of both chains. `numbers` has [`HILBERT_NUMBERS`] of them.
///
/// Real-time: hot.
#[inline(always)]
fn quadrature(numbers: &mut [f64], x: f64) -> [f64; 2] {
    let [a, b] = [0, 1].map(|chain| {
        let states = numbers[chain * CHAIN..(chain + 1) * CHAIN].chunks_exact_mut(SECTION);
        COEFFICIENTS[chain].iter().zip(states).fold(x, |x, (a, s)| {
            let y = a * a * (x + s[3]) - s[1];
            (s[1], s[0], s[3], s[2]) = (s[0], x, s[2], y);
            y
        })
    });
    let late = &mut numbers[2 * CHAIN];
    [std::mem::replace(late, a), b]
}

/// Numbers that [`quadrature`] keeps.
const HILBERT_NUMBERS: usize = 2 * CHAIN + 1;

struct Hilbert;

impl UnitKernel for Hilbert {
    type Values = ();
    const PARAMS: &'static [ParamSpec] = &[];

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        MemorySize {
            numbers: HILBERT_NUMBERS,
            ..MemorySize::default()
        }
    }

    fn values(&self, _: &[f64]) {}

    fn process(&self, values: FrameValues<'_, ()>, io: &mut LaneIo<'_>, memory: &mut Memory) {
        for i in 0..values.len() {
            let x = f64::from(io.input(0)[0][i]);
            let [real, imag] = quadrature(&mut memory.numbers, x);
            io.output(0)[0][i] = to_sample(real);
            io.output(1)[0][i] = to_sample(imag);
        }
    }

    fn tail(&self, _: &[f64]) -> Tail {
        decay_tail(COEFFICIENTS[0][3])
    }
}
