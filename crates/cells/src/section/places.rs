//! [`SectionPlaces`]: the places of cells and of their keys in a session's file.

use super::SECTION;
use ::text::Section;
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use graph::SourceSpan;

/// Places within the section of cells.
pub(super) struct SectionPlaces<'s> {
    section: &'s Section,
    table: Option<Spanned<DeTable<'s>>>,
}

/// Places of one cell.
pub(super) struct CellPlaces<'s> {
    section: &'s Section,
    /// Its name, and what it has.
    found: Option<(usize, &'s Spanned<DeValue<'s>>)>,
}

impl<'s> SectionPlaces<'s> {
    pub(super) fn new(section: &'s Section) -> Self {
        let table = DeTable::parse(&section.text).ok();
        Self { section, table }
    }

    pub(super) fn of_cell(&'s self, name: &str) -> CellPlaces<'s> {
        let cells = || {
            self.table
                .as_ref()?
                .get_ref()
                .get(SECTION)?
                .get_ref()
                .as_table()
        };
        let found = cells().and_then(|cells| cells.get_key_value(name));
        CellPlaces {
            section: self.section,
            found: found.map(|(name, value)| (name.span().start, value)),
        }
    }
}

impl CellPlaces<'_> {
    /// The line that names the cell.
    pub(super) fn cell(&self) -> SourceSpan {
        let Some((at, _)) = self.found else {
            return self.section.span;
        };
        let text = &self.section.text;
        let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        let indent = line.len() - line.trim_start().len();
        self.section
            .place(begin + indent..begin + line.trim_end().len())
    }

    /// The key of this name; the cell, if it has none.
    pub(super) fn key(&self, name: &str) -> SourceSpan {
        let keys = self.found.and_then(|(_, value)| value.get_ref().as_table());
        let found = keys.and_then(|keys| keys.get_key_value(name));
        found.map_or_else(|| self.cell(), |(key, _)| self.section.place(key.span()))
    }
}
