//! Long levels without a thread: their work is spread over the callbacks of their periods.
//!
//! | file | holds |
//! |---|---|
//! | `spread.rs` | which piece in which callback |

mod spread;

pub use spread::{Job, Spread, Turn};
