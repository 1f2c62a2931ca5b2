//! What a text holds: a graph, settings, and sections that others own.

use graph::{Diagnostic, Graph, SourceSpan};
use units::{Frames, Nanos, SampleRate};

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// The patch.
    pub graph: Graph,
    /// How to play it, where the text says so.
    pub settings: Settings,
    /// What other readers own, in order.
    pub sections: Vec<Section>,
}

/// How to play a session, where the text says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Frames a second.
    pub rate: Option<SampleRate>,
    /// Frames in a block.
    pub block: Option<Frames>,
    /// By when a block has to be done.
    pub deadline: Option<Nanos>,
}

impl Settings {
    /// The rates that a text may ask for, in Hz.
    pub const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;
    /// The blocks that a text may ask for, in frames.
    pub const BLOCKS: std::ops::RangeInclusive<u32> = 1..=65_536;
}

/// A top-level part of a `.toml` session that the reader does not own; it passes through to the writer.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its first key: `cells` for `[cells]`, for `[[cells]]`, for `[cells.left]` and for `cells = …`.
    pub name: String,
    /// Where it begins.
    pub place: SourceSpan,
    /// Every line of it as it was written, headers and comments included.
    pub text: String,
}

/// Two sections are equal if they say the same, wherever they stand.
impl PartialEq for Section {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

/// What a reader gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedSession {
    /// As much as could be read.
    pub session: Session,
    /// All that is wrong, by place. Empty where the text is clean.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedSession {
    /// Whether the session cannot be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
