//! What the crate promises, held against double precision.

mod multiply;
mod oracle;
mod transforms;
