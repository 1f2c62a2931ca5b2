//! The crate's results beside the same computations in double precision.

mod composed;
mod multiply;
mod oracle;
mod transforms;
