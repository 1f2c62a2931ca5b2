//! [`Console`]: what a patch prints, in a memory of fixed size.

use std::fmt::{Result, Write};

/// Lines that wait to be taken.
#[derive(Debug)]
pub(crate) struct Console {
    text: String,
    /// End of each line in the text, and its patch.
    ends: Vec<(usize, u16)>,
    /// The patch whose object is called.
    pub(super) patch: u16,
    /// Lines that did not fit.
    lost: u64,
}

/// Lines and bytes that may wait.
const ROOM: (usize, usize) = (10_000, 1 << 20);

impl Default for Console {
    fn default() -> Self {
        Self {
            text: String::with_capacity(ROOM.1),
            ends: Vec::with_capacity(ROOM.0),
            patch: 0,
            lost: 0,
        }
    }
}

/// A line that is being written: what does not fit is refused.
struct Line<'c>(&'c mut String);

impl Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> Result {
        match self.0.capacity() - self.0.len() >= text.len() {
            true => self.0.push_str(text),
            false => return Err(std::fmt::Error),
        }
        Ok(())
    }
}

impl Console {
    /// Writes a line. One that does not fit is counted and left out.
    ///
    /// Real-time: hot.
    pub(crate) fn line(&mut self, write: impl FnOnce(&mut dyn Write) -> Result) {
        let from = self.text.len();
        let has_room = self.ends.len() < self.ends.capacity();
        if has_room && write(&mut Line(&mut self.text)).is_ok() {
            self.ends.push((self.text.len(), self.patch));
        } else {
            self.text.truncate(from);
            self.lost += 1;
        }
    }

    /// Returns true if there is no line, and none was left out.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.lost == 0
    }

    /// Gives every line to `take`, and forgets them; the last one counts what did not fit.
    ///
    /// Real-time: as `take`.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(&str)) {
        self.drain_with(|_, line| take(line));
    }

    /// As [`Console::drain`], with the patch of each line.
    ///
    /// Real-time: as `take`.
    #[inline]
    pub(crate) fn drain_with(&mut self, mut take: impl FnMut(u16, &str)) {
        if self.is_empty() {
            return;
        }
        let mut from = 0;
        for (to, patch) in self.ends.drain(..) {
            take(patch, &self.text[from..to]);
            from = to;
        }
        self.text.clear();
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            // With no line before it there is room.
            self.line(|line| write!(line, "… and {lost} more lines"));
            self.drain_with(take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let mut console = Console::default();
        for _ in 0..ROOM.0 + 5 {
            console.line(|line| line.write_str("a"));
        }
        let long = "x".repeat(ROOM.1);
        console.line(|line| line.write_str(&long));
        let mut lines = Vec::new();
        console.drain(|line| lines.push(line.to_owned()));
        assert_eq!(lines.len(), ROOM.0 + 1);
        assert_eq!(lines[ROOM.0], "… and 6 more lines");
        console.drain(|_| panic!("nothing is left"));
    }
}
