//! Functions of expressions.

use crate::whole_number::whole_number;

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    /// One number. Of an integer it gives an integer if `keeps_int`.
    One {
        function: fn(f64) -> f64,
        keeps_int: bool,
    },
    /// Two numbers. Of two integers it gives an integer if `keeps_int`.
    Two {
        function: fn(f64, f64) -> f64,
        keeps_int: bool,
    },
    /// One of those that blocks are full of: loops of their own, which run in vectors.
    Absolute,
    SquareRoot,
    Smaller,
    Larger,
    /// Between scales of loudness or pitch, as the class of this name.
    Convert(fn(f32) -> f32),
    /// A random integer from the first number to below the second.
    Random,
    /// A number that all points of an array, or those between two indices, give.
    Array(ArrayFunction),
    /// One of two values.
    If,
}

/// A function of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrayFunction {
    Size,
    Sum,
    SumBetween,
    Mean,
    MeanBetween,
}

impl Function {
    /// Number of arguments.
    pub(super) fn argument_count(self) -> usize {
        match self {
            Self::One { .. }
            | Self::Absolute
            | Self::SquareRoot
            | Self::Convert(_)
            | Self::Array(ArrayFunction::Size | ArrayFunction::Sum | ArrayFunction::Mean) => 1,
            Self::Two { .. } | Self::Smaller | Self::Larger | Self::Random => 2,
            Self::If | Self::Array(_) => 3,
        }
    }

    /// The function of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let whole = |function| Self::One {
            function,
            keeps_int: true,
        };
        let one = |function| Self::One {
            function,
            keeps_int: false,
        };
        let two = |function| Self::Two {
            function,
            keeps_int: false,
        };
        Some(match name {
            "min" => Self::Smaller,
            "max" => Self::Larger,
            "int" => whole(|x| f64::from(whole_number(x))),
            "fact" => one(factorial),
            "abs" => Self::Absolute,
            "isnan" => whole(|x| f64::from(u8::from(x.is_nan()))),
            "finite" => whole(|x| f64::from(u8::from(x.is_finite()))),
            "isinf" => whole(|x| if x.is_infinite() { x.signum() } else { 0.0 }),
            "float" => one(|x| x),
            "rint" | "nearbyint" => one(f64::round_ties_even),
            "floor" => one(f64::floor),
            "ceil" => one(f64::ceil),
            "round" => one(f64::round),
            "trunc" | "imodf" => one(f64::trunc),
            "modf" => one(f64::fract),
            "sqrt" => Self::SquareRoot,
            "exp" => one(f64::exp),
            "log10" => one(f64::log10),
            "ln" | "log" => one(f64::ln),
            "sin" => one(f64::sin),
            "cos" => one(f64::cos),
            "tan" => one(f64::tan),
            "asin" => one(f64::asin),
            "acos" => one(f64::acos),
            "atan" => one(f64::atan),
            "sinh" => one(f64::sinh),
            "cosh" => one(f64::cosh),
            "tanh" => one(f64::tanh),
            "asinh" => one(libm::asinh),
            "acosh" => one(libm::acosh),
            "atanh" => one(libm::atanh),
            "cbrt" => one(f64::cbrt),
            "erf" => one(libm::erf),
            "erfc" => one(libm::erfc),
            "expm1" => one(f64::exp_m1),
            "log1p" => one(f64::ln_1p),
            "pow" => two(f64::powf),
            "fmod" => two(|a, b| a % b),
            "atan2" => two(f64::atan2),
            "copysign" => two(f64::copysign),
            "remainder" => two(libm::remainder),
            "ldexp" => two(|a, b| libm::ldexp(a, whole_number(b))),
            "mtof" | "ftom" | "powtodb" | "rmstodb" | "dbtopow" | "dbtorms" => {
                Self::Convert(crate::control::unary(name)?)
            }
            "random" => Self::Random,
            "size" => Self::Array(ArrayFunction::Size),
            "sum" => Self::Array(ArrayFunction::Sum),
            "Sum" => Self::Array(ArrayFunction::SumBetween),
            "avg" => Self::Array(ArrayFunction::Mean),
            "Avg" => Self::Array(ArrayFunction::MeanBetween),
            "if" => Self::If,
            _ => return None,
        })
    }
}

/// Product of the numbers up to `n`, in floats: from 35 on it is infinite.
fn factorial(n: f64) -> f64 {
    let n = u8::try_from(whole_number(n).clamp(0, 40)).expect("clamped");
    f64::from((1..=n).fold(1.0_f32, |product, n| product * f32::from(n)))
}

/// A random integer from `from` to below `to`, of the 15 low bits of a number.
pub(super) fn random_between(from: f32, to: f32, bits: i32) -> f32 {
    let (from, to) = (whole_number(from.into()), whole_number(to.into()));
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "as in Pd"
    )]
    {
        let span = to.wrapping_sub(from) as f32;
        let part = f64::from(span * (bits & 0x7fff) as f32) / 32768.0;
        from.wrapping_add(part as i32) as f32
    }
}

impl ArrayFunction {
    /// The number of an array; `bounds` are the first and the last index.
    pub(super) fn of(self, points: &[f32], bounds: (i64, i64)) -> f32 {
        let size = i64::try_from(points.len()).unwrap_or(i64::MAX);
        let (first, last) = (bounds.0.max(0), bounds.1.min(size));
        let index = |at: i64| usize::try_from(at.clamp(0, size)).unwrap_or(0);
        let between = || {
            let end = index(last.saturating_add(1));
            points.get(index(first)..end).unwrap_or_default()
        };
        // One after the other, as Pd adds them.
        let sum = |points: &[f32]| points.iter().fold(0.0_f32, |sum, point| sum + point);
        #[expect(clippy::cast_precision_loss, reason = "as in Pd")]
        match self {
            Self::Size => points.len() as f32,
            Self::Sum => sum(points),
            Self::Mean => sum(points) / points.len() as f32,
            Self::SumBetween => sum(between()),
            Self::MeanBetween => sum(between()) / (last - first).saturating_add(1) as f32,
        }
    }
}
