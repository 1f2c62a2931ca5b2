//! [`ReadContext`]: what a reader asks about things outside the text.

use graph::{Catalogue, ChannelProbe};

/// What a reader may ask. It opens no files itself; who opens them can answer here.
#[derive(Clone, Copy)]
pub struct ReadContext<'a> {
    /// The kinds of nodes.
    pub catalogue: &'a Catalogue,
    /// The width of the file that a node names, for nodes that state none.
    pub probe: ChannelProbe<'a>,
}

impl<'a> ReadContext<'a> {
    /// A context that knows kinds and no files.
    pub fn new(catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            probe: &|_| None,
        }
    }
}
