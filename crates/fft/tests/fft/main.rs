//! What the crate promises, held against double precision.

mod larger;
mod multiply;
mod oracle;
mod transforms;
