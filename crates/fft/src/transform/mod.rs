//! The transforms: how a real transform of one channel or of sixteen is made from complex ones.

pub(crate) mod batch;
pub(crate) mod butterflies;
pub(crate) mod four_step;
pub(crate) mod lanes;
pub(crate) mod mirror;
pub(crate) mod small;
pub(crate) mod split;
pub(crate) mod twiddle;
