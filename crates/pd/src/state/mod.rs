//! State of a patch that plays, as bytes: what its objects hold, for a process that goes on in its place.
//!
//! ```text
//!   head: constant, patch, bytes │ symbols │ time, clocks, values, names │ object │ object │ … │ arrays, delay lines │ zeros
//! ```
//!
//! Each object writes and reads its own fields ([`held!`]); one that does not begins anew. The number of bytes is fixed at the setup,
//! so a state that has become too large is not kept. The bytes may come from anywhere: whatever is read is checked, and a state that
//! does not fit leaves the patch as it was.
//!
//! | file | holds |
//! |---|---|
//! | `held` | values that can be written and read |
//! | `fields` | the fields of an object |
//! | `writer`, `reader` | bytes |

mod fields;
mod held;
mod reader;
mod writer;

pub(crate) use fields::held;
pub(crate) use held::{Held, held_arrays, held_lists};
pub(crate) use reader::{StateReader, Unfit};
pub(crate) use writer::StateWriter;
