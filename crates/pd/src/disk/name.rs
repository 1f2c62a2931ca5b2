//! [`FileName`]: the name of a file as a message gives it.

use std::fmt::{self, Display};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a name, at most; as in Pd.
const MAX_NAME: usize = 1000;

/// A short text that takes no memory from the system.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortText {
    bytes: [u8; MAX_NAME],
    len: usize,
}

impl ShortText {
    /// `parts` one behind the other; `None` if they are longer than 1000 bytes.
    ///
    /// Real-time: hot.
    pub(crate) fn new(parts: &[&str]) -> Option<Self> {
        let mut new = Self {
            bytes: [0; MAX_NAME],
            len: 0,
        };
        for part in parts {
            let to = new.bytes.get_mut(new.len..new.len + part.len())?;
            to.copy_from_slice(part.as_bytes());
            new.len += part.len();
        }
        Some(new)
    }
}

impl Deref for ShortText {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A name as a message gives it, and the folder of the file in which the box stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileName {
    pub folder: Arc<Path>,
    pub name: ShortText,
}
