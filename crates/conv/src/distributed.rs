//! Long levels without a thread: their work is spread over the callbacks of their periods.
//!
//! | file | holds |
//! |---|---|
//! | `evenly.rs` | any number of levels: some pieces of each in every callback |
//! | `spread.rs` | which piece in which callback |

mod evenly;
mod spread;

pub use evenly::Evenly;
pub use spread::{Job, Spread, Turn};
