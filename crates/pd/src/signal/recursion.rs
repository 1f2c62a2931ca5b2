//! [`Recursion`]: what a filter computes from the samples before, as numbers, for lanes that compute several side by side (`lanes`).

/// Recursions that are computed together, at most.
pub(crate) const LANES: usize = 8;
/// Recursions that are worth it.
pub(super) const LEAST: usize = 2;

/// A recursion, as far as its lanes differ in numbers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecursionKind {
    /// `x = in + c·x`, of what is in times a gain.
    LowPass,
    /// As the one before, and the difference of two such samples.
    HighPass,
    BandPass,
    Biquad,
    /// A complex pole that is the same for a block, with a gain for what is in.
    FixedPole,
    /// A complex pole that follows a frequency, with a gain that does too.
    FollowedPole,
    /// A real pole that is a signal.
    RealPole,
    /// A complex pole that is a signal.
    ComplexPole,
    /// Zeros that are signals: they wait for nothing, but come between filters that do.
    RealZero,
    ReversedRealZero,
    ComplexZero,
    ReversedComplexZero,
}

impl RecursionKind {
    /// Returns true if each sample waits for the one before.
    pub(super) fn waits(self) -> bool {
        !matches!(
            self,
            Self::RealZero | Self::ReversedRealZero | Self::ComplexZero | Self::ReversedComplexZero
        )
    }

    /// Returns true if what is too small or too large becomes silence at the end of a block.
    pub(super) fn drops_odd_states(self) -> bool {
        self.waits() && self != Self::Biquad
    }

    /// Returns true if it may be computed in slices.
    pub(super) fn is_sliced(self) -> bool {
        self != Self::FollowedPole
    }

    /// Recursions of the kind that are worth it: more where more signals go to lanes.
    pub(super) fn least(self) -> usize {
        if self.has_one_inlet() {
            LEAST
        } else {
            LEAST + 1
        }
    }

    /// Returns true if it reads one signal.
    pub(super) fn has_one_inlet(self) -> bool {
        matches!(
            self,
            Self::LowPass | Self::HighPass | Self::BandPass | Self::Biquad | Self::FixedPole
        )
    }
}

/// A recursion with its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recursion {
    pub kind: RecursionKind,
    pub coefficients: [f32; 5],
    pub state: [f32; 2],
    /// True if it leaves signals as they are in this block, and forgets its state.
    pub passes: bool,
}
