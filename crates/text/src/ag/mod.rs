//! The AudioGraph format.
//!
//! ```text
//! o = { kind: "osc", freq: 440, volume: 0.5, in: 0, out: 1, };
//! s = { kind: "sink", in: 1, out: 0, };
//! o.1 -> s.1;
//! deadline = 50.0;
//! ```
//!
//! # Grammar
//!
//! ```text
//! text      = { statement }
//! statement = node ";" | chain ";" | setting ";" | ";"
//! node      = NAME "=" "{" { NAME ":" value "," } "}"
//! chain     = port "->" port { "->" port }
//! setting   = NAME "=" NUMBER                       only `deadline`, in µs
//! port      = NAME "." DIGITS                       no space around the dot; ports count from 1
//! value     = NUMBER | STRING
//!
//! NAME      = letter { letter | digit | "-" | "_" } ASCII; "->" ends a name
//! NUMBER    = [ "+" | "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//! STRING    = JSON string on one line
//! DIGITS    = digit { digit }
//! comments  = "//" to the end of the line, "/*" to "*/"; white space separates tokens
//! ```
//!
//! The node's keys `kind`, `in`, `out` and `wcet` (its cost in µs) have a meaning of their own, the others are parameters of
//! its kind. Differences to other readers of the format:
//!
//! * A sign or an exponent on a number is accepted with a warning; other readers want such a number in quotes. A quoted
//!   number counts as a number where the kind asks for one, and so do `"true"` and `"false"` where it asks for a flag.
//! * An unknown kind is replaced by a stand-in, chosen by its number of inputs and outputs, with a warning. A known kind
//!   whose number of ports is fixed has its own, whatever the file says.
//! * A comma may be missing after the last entry, with a warning. Comments are read and never written.
//!
//! # Recovery
//!
//! A mistake inside a node costs its entry: reading goes on after the next comma, or at the end of the node. Any other
//! mistake costs its statement: reading goes on after the next `;`, or at the next line that looks like a statement
//! (`NAME =`, `NAME ->` or `NAME.1 ->`), so that a missing `;` or `}` costs nothing of what follows. `lexer` reports bad
//! characters, open strings and open comments; `parser` all other mistakes of syntax; `resolve` the rest.

mod lexer;
mod names;
mod parser;
mod write;

pub use names::with_plain_names;
pub use write::{Unsupported, write};

use crate::ReadContext;
use crate::ast::Dialect;
use crate::diagnostics::Diagnostics;
use crate::resolve::resolve;
use crate::session::{ParsedSession, Session, Settings};
use crate::source;
use graph::Catalogue;

/// Reads an `.ag` session. Kinds and parameters are checked against `catalogue`.
pub fn read(bytes: impl AsRef<[u8]>, catalogue: &Catalogue) -> ParsedSession {
    read_with(bytes, &ReadContext::new(catalogue))
}

/// As [`read`], with answers about files.
pub fn read_with(bytes: impl AsRef<[u8]>, context: &ReadContext<'_>) -> ParsedSession {
    let (text, not_utf8) = source::decode(bytes.as_ref());
    let mut diagnostics = Diagnostics::new(&text, &not_utf8);
    let (ast, deadline) = parser::parse(&text, &mut diagnostics);
    let graph = resolve(&ast, Dialect::Ag, true, context, &mut diagnostics);
    ParsedSession {
        session: Session {
            graph,
            settings: Settings {
                deadline,
                ..Settings::default()
            },
            parts: None,
            sections: Vec::new(),
        },
        diagnostics: diagnostics.sorted(),
        files: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
