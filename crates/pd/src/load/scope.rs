//! [`Scope`]: what the boxes of a canvas see of the canvases around it.

use crate::file::Atom;
use std::path::PathBuf;
use std::sync::Arc;

/// Facts about the canvases around a canvas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Files that are being loaded, the outermost first.
    pub(super) chain: Vec<u16>,
    /// Folders of these files, the innermost first.
    pub(super) folders: Vec<PathBuf>,
    /// `$0`.
    pub(super) number: u32,
    pub(super) arguments: Arc<Vec<Atom>>,
    pub(crate) file: u16,
}
