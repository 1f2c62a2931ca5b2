//! Ratio of the long level's size to the short level's, and the stages that make it.

use std::fmt;

/// Size of the long level relative to the short one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelRatio {
    /// 4 times, by one stage of radix 2.
    Four,
    /// 8 times, by one stage of radix 4.
    Eight,
    /// 8 times, by two nested stages of radix 2.
    EightNested,
    /// 16 times, by stages of radix 4 and 2.
    Sixteen,
    /// 32 times, by two stages of radix 4.
    ThirtyTwo,
}

impl LevelRatio {
    /// All ratios.
    pub const ALL: [Self; 5] = [
        Self::Four,
        Self::Eight,
        Self::EightNested,
        Self::Sixteen,
        Self::ThirtyTwo,
    ];

    /// Size of the long level divided by the size of the short level.
    pub fn factor(self) -> usize {
        let [a, b] = self.radix();
        2 * a * b
    }

    /// Radices of the two stages; 1 means that there is no second stage.
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
