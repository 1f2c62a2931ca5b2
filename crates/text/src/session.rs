//! The contents of a session file: a graph, settings, and sections of other readers.

use crate::written::WrittenParts;
use graph::{Diagnostic, Graph, SourceSpan};
use std::ops::Range;
use units::{Frames, Nanos, SampleRate};

/// The contents of a session file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// Nodes and edges.
    pub graph: Graph,
    /// Playback settings.
    pub settings: Settings,
    /// The sections that other readers own, in the order of the text.
    pub sections: Vec<Section>,
    /// Parts and their uses as they were written, where the session has any: the graph is flat.
    pub parts: Option<WrittenParts>,
}

/// Playback settings of a session; `None` where the text has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Sample rate.
    pub rate: Option<SampleRate>,
    /// Length of a block.
    pub block: Option<Frames>,
    /// Deadline of a block: the time from its start.
    pub deadline: Option<Nanos>,
}

impl Settings {
    /// Valid sample rates in Hz.
    pub const RATES: std::ops::RangeInclusive<u32> = 1_000..=768_000;
    /// Valid block lengths in frames.
    pub const BLOCKS: std::ops::RangeInclusive<u32> = 1..=65_536;
}

/// A top-level part of a `.toml` session that this reader does not own; the writer writes it unchanged.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its first key: `cells` for `[cells]`, for `[[cells]]`, for `[cells.left]` and for `cells = …`.
    pub name: String,
    /// Start of the section.
    pub span: SourceSpan,
    /// All of its lines as they were written, headers and comments included.
    pub text: String,
    /// Parts of it that stand elsewhere in the file: the first byte of each in the text, and its place.
    pub elsewhere: Vec<(usize, SourceSpan)>,
}

impl Section {
    /// The place in the file of these bytes of its text: where they begin, in one line.
    pub fn place(&self, bytes: Range<usize>) -> SourceSpan {
        let parts = std::iter::once((0, self.span)).chain(self.elsewhere.iter().copied());
        let part = parts.take_while(|(first, _)| *first <= bytes.start).last();
        let (first, span) = part.unwrap_or((0, self.span));
        let Some(before) = self.text.get(first..bytes.start).filter(|_| span.line > 0) else {
            return span;
        };
        let there = self.text.get(bytes).unwrap_or_default();
        let count = |text: &str| text.chars().count() as u32;
        let line = before.rsplit('\n').next().unwrap_or(before);
        SourceSpan {
            line: span.line + before.matches('\n').count() as u32,
            column: 1 + count(line),
            len: count(there.lines().next().unwrap_or_default()).max(1),
            file: self.span.file,
        }
    }
}

/// Sections are equal if their names and texts are, wherever they are.
impl PartialEq for Section {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

/// The result of a reader: a session, and the errors and warnings of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedSession {
    /// The parts that could be read.
    pub session: Session,
    /// Errors and warnings, sorted by place. Empty if there are none.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the session includes; the place of a diagnostic names one by its number, from 1.
    pub files: Vec<IncludedFile>,
}

/// A file whose parts a session includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncludedFile {
    /// Its name for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl ParsedSession {
    /// Returns true if there is an error, so that the session should not be used.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
