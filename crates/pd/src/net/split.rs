//! [`Splitter`]: a stream of bytes as messages, which end with `;`.

use super::MAX_MESSAGE;

/// Cuts a stream into messages.
#[derive(Debug, Default)]
pub struct Splitter {
    message: Vec<u8>,
    /// True if the message has become longer than is allowed: the rest of it is left out.
    is_too_long: bool,
}

impl Splitter {
    /// Bytes of a message, at most.
    pub const MAX_MESSAGE: usize = MAX_MESSAGE;

    /// Takes bytes until a message ends. Returns how many it took, and the message: `Err` for one that was too long.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<Result<String, ()>>) {
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b';' && self.message.last() != Some(&b'\\') {
                return (at + 1, Some(self.end()));
            } else if self.message.len() < MAX_MESSAGE {
                self.message.push(*byte);
            } else {
                self.is_too_long = true;
            }
        }
        (bytes.len(), None)
    }

    /// The message that has ended; there may be nothing in it.
    fn end(&mut self) -> Result<String, ()> {
        let is_too_long = std::mem::take(&mut self.is_too_long);
        let text = String::from_utf8_lossy(&self.message).trim().to_owned();
        self.message.clear();
        match is_too_long || text.len() > MAX_MESSAGE {
            true => Err(()),
            false => Ok(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(pieces: &[&[u8]]) -> Vec<Result<String, ()>> {
        let mut splitter = Splitter::default();
        let mut found = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() {
                let (taken, message) = splitter.take(rest);
                found.extend(message);
                rest = &rest[taken..];
            }
        }
        found
    }

    #[test]
    fn messages_end_with_semicolons_and_may_come_in_pieces() {
        let found = messages(&[b"foo 1;\nba", b"r 2;;\n ;x\\;y;rest"]);
        let expected = ["foo 1", "bar 2", "", "", "x\\;y"].map(|text| Ok(text.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_message_that_is_too_long_costs_only_itself() {
        let long = [b"x".repeat(MAX_MESSAGE + 1), b";after;\xff;".to_vec()].concat();
        let found = messages(&[&long]);
        assert_eq!(found, [Err(()), Ok("after".into()), Ok("\u{fffd}".into())]);
        let wide = [b"\xff".repeat(MAX_MESSAGE), b";".to_vec()].concat();
        assert_eq!(messages(&[&wide]), [Err(())]);
    }
}
