//! `math`: an operation on a signal and a number, which another signal may drive.
//!
//! ```text
//! add  a + b        min  the smaller     power  |a|^b with the sign of a     abs    |a|         floor  largest whole ≤ a
//! sub  a - b        max  the larger      exp2   2^a × b                      sqrt   √|a| × sign round  nearest whole
//! mul  a × b        mod  a - b ⌊a / b⌋   log2   log2 |a| (0 for 0)           sign   -1, 0, 1    wrap   a into ±b
//! div  a / b        gt   1 if a > b      lt     1 if a < b                   clip   a within ±b fold   a reflected at ±b
//! ```
//!
//! What has no value is 0: a division by 0, the logarithm of 0. So finite numbers give finite numbers.
//!
//! | | |
//! |---|---|
//! | ports | `in` (a), `out`, as wide as `channels` says |
//! | parameters | `b`, -1e9 to 1e9, which must be stated or driven where 0 would say nothing of the signal (`mul`, `div`, `mod`, `power`, `exp2`, `wrap`, `clip`, `fold`); `op` |
//! | latency | none |
//! | tail | none where silence gives silence (all but `add`, `sub`, `min`, `max`, `gt`, `lt` and `exp2`); else endless |
//! | driven | `b` at audio rate: so it takes two signals |

use crate::kernel::{FrameValues, KernelNode, LaneIo, Memory, MemorySize, UnitKernel};
use crate::param::{ParamSpec, channels};
use crate::sample::to_sample;
use graph::{Kind, Param};
use processor::{MakeContext, MakeError, Processor, Tail};

const B: ParamSpec = ParamSpec::new(0, "b", (-1e9, 1e9), 0.0)
    .doc("The second number; drive it to compute with two signals.")
    .audio_rate();

/// The operations, in the order of [`OPERATIONS`].
const NAMES: &[&str] = &[
    "add", "sub", "mul", "div", "min", "max", "mod", "gt", "lt", "power", "exp2", "log2", "abs",
    "sqrt", "sign", "floor", "round", "wrap", "clip", "fold",
];

/// Those whose result says nothing of the signal where `b` is 0: it must be stated or driven.
const NEEDS_NUMBER: [&str; 8] = ["mul", "div", "mod", "power", "exp2", "wrap", "clip", "fold"];

type Operation = fn(f64, f64) -> f64;

const OPERATIONS: [Operation; 20] = [
    |a, b| a + b,
    |a, b| a - b,
    |a, b| a * b,
    |a, b| if b == 0.0 { 0.0 } else { a / b },
    |a, b| a.min(b),
    |a, b| a.max(b),
    modulo,
    |a, b| f64::from(u8::from(a > b)),
    |a, b| f64::from(u8::from(a < b)),
    |a, b| {
        if a == 0.0 {
            0.0
        } else {
            libm::pow(a.abs(), b).copysign(a)
        }
    },
    |a, b| libm::exp2(a.min(1000.0)) * b,
    |a, _| if a == 0.0 { 0.0 } else { libm::log2(a.abs()) },
    |a, _| a.abs(),
    |a, _| a.abs().sqrt().copysign(a),
    |a, _| if a == 0.0 { 0.0 } else { 1f64.copysign(a) },
    |a, _| libm::floor(a),
    |a, _| libm::floor(a + 0.5),
    |a, b| modulo(a + b.abs(), 2.0 * b.abs()) - b.abs(),
    |a, b| a.max(-b.abs()).min(b.abs()),
    fold,
];

fn modulo(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        0.0
    } else {
        a - b * libm::floor(a / b)
    }
}

/// `a` reflected at -|b| and |b|.
fn fold(a: f64, b: f64) -> f64 {
    let b = b.abs();
    let way = modulo(a + b, 4.0 * b);
    (if way > 2.0 * b { 4.0 * b - way } else { way }) - b
}

pub(crate) fn kind() -> Kind {
    Kind {
        params: vec![
            B.param(),
            Param::choice("op", NAMES).doc("The operation."),
            channels(),
        ],
        typical_ns: 300,
        picture: graph::KindPicture::Transfer(-2, 2),
        ..Kind::effect(
            "math",
            "An operation on a signal and a number, or on two signals.",
        )
    }
}

pub(crate) fn make(creation: &MakeContext<'_>) -> Result<Box<dyn Processor>, MakeError> {
    let op = creation.choice("op")?;
    let mut params = creation.node.params.iter();
    let is_given = params.any(|(name, _)| name == B.name) || creation.is_driven(B.index);
    if !is_given && NEEDS_NUMBER.contains(&NAMES[op]) {
        let message = format!("`{}` needs a number: set `b`, or drive it", NAMES[op]);
        return Err(MakeError::param("op", message));
    }
    let operation = OPERATIONS[op];
    KernelNode::make(creation, Math { operation })
}

struct Math {
    operation: Operation,
}

impl Math {
    fn apply(&self, a: f64, b: f64) -> f64 {
        let y = (self.operation)(a, b);
        if y.is_nan() { 0.0 } else { y }
    }
}

impl UnitKernel for Math {
    type Values = f64;
    const PARAMS: &'static [ParamSpec] = &[B];
    const SLEEPS: bool = false;

    fn setup(&mut self, _: f64, _: usize) -> MemorySize {
        MemorySize::default()
    }

    fn values(&self, params: &[f64]) -> f64 {
        params[0]
    }

    fn process(&self, values: FrameValues<'_, f64>, io: &mut LaneIo<'_>, _: &mut Memory) {
        for (i, b) in values.iter().enumerate() {
            let a = f64::from(io.input(0)[0][i]);
            io.output(0)[0][i] = to_sample(self.apply(a, *b));
        }
    }

    fn tail(&self, params: &[f64]) -> Tail {
        // Silence gives silence with any number, or the number may give sound.
        let is_silent = |b: &f64| to_sample(self.apply(0.0, *b)) == 0.0;
        match [params[0], 1.0, -1.0, 0.3].iter().all(is_silent) {
            true => Tail::Frames(0),
            false => Tail::Infinite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_the_one_of_its_name() {
        for (name, a, b, y) in [
            ("add", 2.0, 3.0, 5.0),
            ("sub", 2.0, 3.0, -1.0),
            ("mul", 2.0, 3.0, 6.0),
            ("div", 3.0, 2.0, 1.5),
            ("div", 3.0, 0.0, 0.0),
            ("min", 2.0, 3.0, 2.0),
            ("max", 2.0, 3.0, 3.0),
            ("mod", -1.0, 3.0, 2.0),
            ("mod", 1.0, 0.0, 0.0),
            ("gt", 2.0, 1.0, 1.0),
            ("lt", 2.0, 1.0, 0.0),
            ("power", -3.0, 2.0, -9.0),
            ("exp2", 3.0, 0.5, 4.0),
            ("log2", 8.0, 0.0, 3.0),
            ("log2", 0.0, 0.0, 0.0),
            ("abs", -2.0, 0.0, 2.0),
            ("sqrt", -4.0, 0.0, -2.0),
            ("sign", -0.1, 0.0, -1.0),
            ("floor", -0.5, 0.0, -1.0),
            ("round", 1.5, 0.0, 2.0),
            ("wrap", 1.25, 1.0, -0.75),
            ("clip", -5.0, 2.0, -2.0),
            ("fold", 1.25, 1.0, 0.75),
            ("fold", -3.5, 1.0, 0.5),
            ("fold", 7.0, 0.0, 0.0),
        ] {
            let index = NAMES.iter().position(|n| *n == name).unwrap();
            let math = Math {
                operation: OPERATIONS[index],
            };
            assert_eq!(math.apply(a, b), y, "{name} {a} {b}");
        }
    }
}
