//! A place in a text.

/// A span of one line of one file. Lines and columns count from 1; columns count characters.
///
/// The default is no place: for what a program made and no text states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceSpan {
    /// Line, from 1; 0 for no place.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
    /// Number of characters, at least 1 where there is a line.
    pub len: u32,
    /// The file: 0 for the session, else the number of an included one, from 1.
    pub file: u16,
}

impl SourceSpan {
    /// No place.
    pub const NONE: Self = Self {
        line: 0,
        column: 0,
        len: 0,
        file: 0,
    };

    /// `len` characters from `column` of `line`.
    pub const fn new(line: u32, column: u32, len: u32) -> Self {
        Self {
            line,
            column,
            len,
            file: 0,
        }
    }

    /// Returns true if it names a line.
    pub const fn is_known(self) -> bool {
        self.line > 0
    }
}
