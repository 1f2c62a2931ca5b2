//! [`RowFormat`]: block length and rate of a row of steps.

/// Block length and rate at which a canvas computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowFormat {
    /// Frames that objects compute.
    pub frames: usize,
    /// The next power of two: frames that inlets and outlets move on by.
    pub vector: usize,
    /// Sample rate in hertz; overlapping blocks count as more samples.
    pub rate: f32,
    /// Sample rate in hertz without the overlap.
    pub nominal_rate: f32,
}

impl RowFormat {
    /// That of a patch at `rate` hertz.
    pub(crate) fn outermost(rate: f32) -> Self {
        Self {
            frames: super::BLOCK,
            vector: super::BLOCK,
            rate,
            nominal_rate: rate,
        }
    }
}
