//! Lines of coloured text for a terminal.

use std::fmt::Write;

/// Colour of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Plain,
    Bold,
    Faint,
    Good,
    Warn,
    Bad,
}

/// One line of coloured pieces. It holds no control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StyledLine(Vec<(Color, String)>);

impl StyledLine {
    /// Makes a line of one colour.
    pub(crate) fn new(color: Color, text: &str) -> Self {
        let mut line = Self::default();
        line.push(color, text);
        line
    }

    /// Appends text. Control characters are replaced, since node names come from files.
    pub(crate) fn push(&mut self, color: Color, text: &str) {
        let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        self.0.push((color, text.chars().map(printable).collect()));
    }

    /// Width in characters.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// Cuts the line to `columns` and marks the cut.
    pub(crate) fn clip(&mut self, columns: usize) {
        if self.width() <= columns {
            return;
        }
        let mut room = columns.saturating_sub(1);
        for (_, text) in &mut self.0 {
            let cut: String = text.chars().take(room).collect();
            room -= cut.chars().count();
            *text = cut;
        }
        self.0.retain(|(_, text)| !text.is_empty());
        if columns > 0 {
            self.0.push((Color::Faint, "…".to_owned()));
        }
    }

    /// The text without colours.
    pub(crate) fn to_plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The text with ANSI colours.
    pub(crate) fn to_ansi(&self) -> String {
        let mut line = String::new();
        for (color, text) in &self.0 {
            let _ = match color.code() {
                0 => write!(line, "{text}"),
                code => write!(line, "\x1b[{code}m{text}\x1b[0m"),
            };
        }
        line
    }
}

impl Color {
    /// ANSI code of the colour.
    fn code(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Bold => 1,
            Self::Faint => 2,
            Self::Good => 32,
            Self::Warn => 33,
            Self::Bad => 31,
        }
    }
}
