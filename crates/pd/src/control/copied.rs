//! [`Clipboard`]: boxes that messages to canvases have copied.

use crate::file::PatchBox;
use crate::load::sets_blocks;

/// Boxes that were copied, and connections between them.
#[derive(Default)]
pub(super) struct Clipboard {
    pub(super) boxes: Vec<PatchBox>,
    pub(super) connections: Vec<[usize; 4]>,
}

impl Clipboard {
    /// Returns true if a copy would give the signals of its canvas other blocks.
    pub(super) fn sets_blocks(&self) -> bool {
        self.boxes.iter().any(sets_blocks)
    }
}
