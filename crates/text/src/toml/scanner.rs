//! Finds the statements of a TOML text: headers, and `key = value` over all of its lines.
//!
//! It knows comments, brackets and the four kinds of strings, which is enough to find the ends, and accepts any text. The
//! `toml` crate does not help: it drops comments, and for an invalid text it does not return where the next statement begins.

/// Walks over a text, statement by statement. `at` is the next byte.
pub(super) struct Scanner<'t> {
    text: &'t str,
    pub(super) at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Skips blank lines and comments, and a byte order mark. Returns the start of the comments right above the statement.
    pub(super) fn skip_blank(&mut self) -> usize {
        let mut start = self.at;
        let mut after_comment = false;
        loop {
            match self.byte(0) {
                Some(b'#') => {
                    if !after_comment {
                        start = self.at;
                    }
                    after_comment = true;
                    self.skip_line();
                    self.at += usize::from(self.byte(0).is_some());
                }
                Some(b'\n') => {
                    after_comment = false;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(_) if after_comment => return start,
                _ => {
                    let is_mark = self.text[self.at..].starts_with('\u{feff}');
                    if self.at > 0 || !is_mark {
                        return self.at;
                    }
                    self.at += '\u{feff}'.len_utf8();
                }
            }
        }
    }

    /// Skips to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    /// Skips the statement that begins here, and the rest of its last line. It ends with the first line end outside of
    /// brackets and strings.
    pub(super) fn statement(&mut self, is_header: bool) {
        let mut depth = 0usize;
        if is_header {
            self.skip_line();
        }
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' if depth == 0 => break,
                b'#' => {
                    self.skip_line();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                b'"' | b'\'' => {
                    self.quoted(byte);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at += usize::from(self.byte(0).is_some());
    }

    /// Skips a string; one that is not closed ends with its line.
    fn quoted(&mut self, quote: u8) {
        let is_long = self.byte(1) == Some(quote) && self.byte(2) == Some(quote);
        self.at += if is_long { 3 } else { 1 };
        while let Some(byte) = self.byte(0) {
            if byte == b'\\' && quote == b'"' {
                self.at += 1 + usize::from(self.byte(1).is_some());
                continue;
            }
            if byte == b'\n' && !is_long {
                return;
            }
            if byte == quote {
                let mut run = 1;
                while self.byte(run) == Some(quote) {
                    run += 1;
                }
                if !is_long {
                    self.at += 1;
                    return;
                }
                // Up to two quotes may be right before the three that close.
                if run >= 3 {
                    self.at += run.min(5);
                    return;
                }
                self.at += run;
                continue;
            }
            self.at += 1;
        }
    }
}
