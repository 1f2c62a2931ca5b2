//! [`ReadContext`]: a reader's questions about things outside the text.

use graph::{Catalogue, ChannelProbe};

/// Questions that a reader may ask. It opens no files itself; who opens them can answer here.
#[derive(Clone, Copy)]
pub struct ReadContext<'a> {
    /// The kinds of nodes.
    pub catalogue: &'a Catalogue,
    /// The width of the file that a node names, for nodes that state none.
    pub probe: ChannelProbe<'a>,
    /// Opens a file whose parts a session includes.
    pub include: IncludeLoader<'a>,
}

/// Opens a file that a session includes: from the name of the including file, as this function gave it, or empty for the
/// session itself, and the name as it is written. Gives the file's own name, the same for every file that includes it, and its bytes, or
/// why it cannot be opened.
pub type IncludeLoader<'a> = &'a dyn Fn(&str, &str) -> Result<(String, Vec<u8>), String>;

impl<'a> ReadContext<'a> {
    /// A context that knows kinds and no files.
    pub fn new(catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            probe: &|_| None,
            include: &|_, _| Err("no files are opened here".into()),
        }
    }
}
