//! Where in a text something stands.

/// A stretch of one line of one file. Lines and columns count from 1; columns count characters.
///
/// The default is "nowhere": what was made by a program and not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1; 0 for nowhere.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
    /// How many characters, at least 1 where there is a line.
    pub width: u32,
}

impl Place {
    /// Made by a program: no line.
    pub const NOWHERE: Self = Self {
        line: 0,
        column: 0,
        width: 0,
    };

    /// `width` characters from `column` of `line`.
    pub const fn new(line: u32, column: u32, width: u32) -> Self {
        Self {
            line,
            column,
            width,
        }
    }

    /// Whether it names a line at all.
    pub const fn is_somewhere(self) -> bool {
        self.line > 0
    }
}
