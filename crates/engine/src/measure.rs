//! What things cost here and now: nodes, and what passes between cores.
//!
//! Other guests of the machine take time away and never give any, so a least or a median of many repeats is what is
//! kept, never one reading.

mod crossing;
mod machine;
mod pair;
mod wake;

pub use machine::measure_machine;
