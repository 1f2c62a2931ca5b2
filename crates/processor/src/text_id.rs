//! [`TextId`]: a text as a number, so that events can carry it and audio threads can compare it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A text of at most [`TextId::MAX_LEN`] bytes. Equal texts have equal ids for as long as the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextId(u32);

/// All texts that have an id. None is ever removed: an id may still be in an event.
static TEXTS: Mutex<Option<TextTable>> = Mutex::new(None);

#[derive(Default)]
struct TextTable {
    ids: HashMap<&'static str, u32>,
    texts: Vec<&'static str>,
}

impl TextId {
    /// Maximum length of a text, in bytes.
    pub const MAX_LEN: usize = 1000;
    /// Maximum number of different texts.
    const MAX_TEXTS: usize = 1 << 20;

    /// The id of `text`. `None` if it is too long, or if there are a million others.
    ///
    /// Real-time: setup.
    pub fn new(text: &str) -> Option<Self> {
        let mut table = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let table = table.get_or_insert_default();
        if let Some(id) = table.ids.get(text) {
            return Some(Self(*id));
        }
        if text.len() > Self::MAX_LEN || table.texts.len() == Self::MAX_TEXTS {
            return None;
        }
        let kept: &'static str = Box::leak(text.into());
        let id = table.texts.len() as u32;
        table.texts.push(kept);
        table.ids.insert(kept, id);
        Some(Self(id))
    }

    /// The text.
    ///
    /// Real-time: setup.
    pub fn text(self) -> &'static str {
        let table = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = table.as_ref().map(|table| &table.texts);
        texts.map_or("", |texts| texts[self.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_ids_and_a_long_one_has_none() {
        let [a, b] = ["verse", "chorus"].map(|text| TextId::new(text).unwrap());
        assert_eq!(TextId::new("verse"), Some(a));
        assert_ne!(a, b);
        assert_eq!(b.text(), "chorus");
        assert_eq!(TextId::new(&"x".repeat(TextId::MAX_LEN + 1)), None);
    }
}
