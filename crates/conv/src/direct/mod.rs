//! Direct convolution, in the callback: what is too short, or too near the impulse, for a transform.

mod convolver;
mod fir;

pub(crate) use convolver::{DirectConvolver, HeadFilters};
