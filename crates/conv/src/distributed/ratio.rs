//! How many times as long the second of two levels is, and by which stages.

use std::fmt;

/// How long the long level is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelRatio {
    /// 4 times as long as the short one.
    Four,
    /// 8 times, by one stage of radix 4.
    Eight,
    /// 8 times, by two nested stages of radix 2.
    EightNested,
    /// 16 times.
    Sixteen,
    /// 32 times.
    ThirtyTwo,
}

impl LevelRatio {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Four,
        Self::Eight,
        Self::EightNested,
        Self::Sixteen,
        Self::ThirtyTwo,
    ];

    /// How many times as long.
    pub fn factor(self) -> usize {
        let [a, b] = self.radix();
        2 * a * b
    }

    /// The radices of the stages, from the first; 1 for none.
    pub(super) fn radix(self) -> [usize; 2] {
        match self {
            Self::Four => [2, 1],
            Self::Eight => [4, 1],
            Self::EightNested => [2, 2],
            Self::Sixteen => [4, 2],
            Self::ThirtyTwo => [4, 4],
        }
    }
}

impl fmt::Display for LevelRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let radix = match self.radix() {
            [a, 1] => format!("radix {a}"),
            [a, b] => format!("radix {a} and {b}"),
        };
        write!(f, "{} times by {radix}", self.factor())
    }
}
