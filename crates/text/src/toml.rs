//! The native session.
//!
//! ```toml
//! edges = ["tone -> quiet -> out.1", "tone -> both.in2 -> out", "quiet -> both"]
//!
//! [settings]
//! rate = 48000        # frames a second
//! block = 64          # frames
//! deadline_us = 1000
//!
//! [nodes.tone]
//! kind = "osc"
//! freq = 440
//!
//! [nodes.quiet]
//! kind = "gain"
//! gain_db = -6
//! ```
//!
//! * `edges` stands above the first `[header]`, as TOML wants it. Each text is a chain. A port is a name, a number that
//!   counts from 1, or nothing for the first; in the middle of a chain it is the input that is entered and the output
//!   that is left. A node's name that has spaces, dots or quotes stands in double quotes with JSON escapes.
//! * A node has its kind's parameters, and for itself `kind`, `in` and `out` (how many ports, where the kind lets it
//!   choose), `channels`, `cost_us` (what a block of it costs), `every` (it runs once in so many cycles), `enabled`
//!   and `stand_in` (the kind that plays, where `kind` is not known).
//! * Every other top-level part is a [`Section`](crate::Section): it passes through, as it was written, to the writer. A
//!   session may have such parts and no node; whether that makes sense is for who owns them.
//!
//! [`schema`] says the same to programs.

mod chain;
mod mend;
mod parser;
mod plain;
mod scalar;
mod scanner;
mod schema;
mod sections;
mod split;
mod write;

pub use schema::schema;
pub use write::write;

use crate::assemble::assemble;
use crate::draft::Dialect;
use crate::findings::Findings;
use crate::{ParsedSession, Session, source};
use ::toml::de::DeTable;
use graph::Catalogue;

/// The top-level parts that this reader owns.
const OWN: [&str; 3] = ["edges", "nodes", "settings"];

/// Reads one `.toml` text.
pub fn read(bytes: impl AsRef<[u8]>, catalogue: &Catalogue) -> ParsedSession {
    let reading = read_in(Way::Pieces, bytes.as_ref(), catalogue);
    #[cfg(fuzzing)]
    assert_eq!(reading, read_in(Way::Whole, bytes.as_ref(), catalogue));
    reading
}

/// How a text is gone through. Both ways give the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Plain nodes line by line, where that can be; this takes half the time.
    Pieces,
    /// All as TOML at large.
    #[cfg(any(test, fuzzing))]
    Whole,
}

fn read_in(way: Way, bytes: &[u8], catalogue: &Catalogue) -> ParsedSession {
    let (text, not_utf8) = source::decode(bytes);
    let mut findings = Findings::new(&text, &not_utf8);
    let parts = sections::parts(&text);
    let mut rest = String::new();
    let mended;
    let (draft, settings, sections);
    let in_pieces = (way == Way::Pieces)
        .then(|| split::read(&text, &parts, &mut rest, &mut findings))
        .flatten();
    if let Some(read) = in_pieces {
        (draft, settings) = read;
        sections = sections::sections(&text, parts, &mut findings);
    } else {
        let (table, errors) = DeTable::parse_recoverable(&text);
        if errors.is_empty() {
            (draft, settings) = parser::parse(&text, table.get_ref(), &[], &mut findings);
            sections = sections::sections(&text, parts, &mut findings);
        } else {
            mended = mend::mend(&text, &mut findings);
            let (table, left) = DeTable::parse_recoverable(&mended);
            (draft, settings) = parser::parse(&mended, table.get_ref(), &left, &mut findings);
            sections = sections::sections(&mended, sections::parts(&mended), &mut findings);
        }
    }
    let has_others = !sections.is_empty();
    let graph = assemble(&draft, Dialect::Toml, has_others, catalogue, &mut findings);
    ParsedSession {
        session: Session {
            graph,
            settings,
            sections,
        },
        diagnostics: findings.sorted(),
    }
}

#[cfg(test)]
mod tests;
