//! Direct convolution, in the callback: what is too short, or too near the impulse, for a transform.

mod fir;
mod head;

pub(crate) use head::{Head, HeadFilters};
