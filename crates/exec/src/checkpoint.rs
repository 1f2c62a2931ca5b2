//! [`Checkpoint`]: the states of a plan's processors between two blocks.

/// States of the processors of a plan, in the order of its steps.
#[derive(Debug, Default)]
pub struct Checkpoint {
    pub(crate) bytes: Vec<u8>,
    /// End of each state in `bytes`.
    pub(crate) ends: Vec<usize>,
}

impl Checkpoint {
    /// An empty one, with room for the states of `processors` processors, of `bytes` bytes together.
    ///
    /// Real-time: setup.
    pub fn with_room(processors: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(processors),
        }
    }
}
