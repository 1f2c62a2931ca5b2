//! Where in a text something stands.

/// A stretch of one line of one file. Lines and columns count from 1; columns count characters.
///
/// The default is "nowhere": what was made by a program and not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceSpan {
    /// Line, from 1; 0 for nowhere.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
    /// How many characters, at least 1 where there is a line.
    pub len: u32,
}

impl SourceSpan {
    /// Made by a program: no line.
    pub const NONE: Self = Self {
        line: 0,
        column: 0,
        len: 0,
    };

    /// `width` characters from `column` of `line`.
    pub const fn new(line: u32, column: u32, len: u32) -> Self {
        Self { line, column, len }
    }

    /// Whether it names a line at all.
    pub const fn is_known(self) -> bool {
        self.line > 0
    }
}
