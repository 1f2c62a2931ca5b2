//! The AudioGraph format.
//!
//! ```text
//! o = { kind: "osc", freq: 440, volume: 0.5, in: 0, out: 1, };
//! s = { kind: "sink", in: 1, out: 0, };
//! o.1 -> s.1;
//! deadline = 50.0;
//! ```
//!
//! What the format's other readers would not take, this one takes with a warning: a sign or an exponent on a number.
//! Comments (`//` and `/* */`) are read and never written. `deadline` and `wcet` are microseconds. A kind that nobody
//! knows is played by a stand-in, chosen by how many inputs and outputs it has, with a warning. A known kind whose
//! number of ports is not free has its own, whatever the file says. A number in quotes counts as a number where the
//! kind asks for one, and so do "true" and "false" where it asks for a flag.

mod lexer;
mod parser;
mod write;

pub use write::{Unsupported, write};

use crate::assemble::assemble;
use crate::draft::Dialect;
use crate::findings::Findings;
use crate::{ParsedSession, Session, Settings, source};
use graph::Catalogue;

/// Reads one `.ag` text.
pub fn read(bytes: impl AsRef<[u8]>, catalogue: &Catalogue) -> ParsedSession {
    let (text, not_utf8) = source::decode(bytes.as_ref());
    let mut findings = Findings::new(&text, &not_utf8);
    let (draft, deadline) = parser::parse(&text, &mut findings);
    let graph = assemble(&draft, Dialect::Ag, false, catalogue, &mut findings);
    ParsedSession {
        session: Session {
            graph,
            settings: Settings {
                deadline,
                ..Settings::default()
            },
            sections: Vec::new(),
        },
        diagnostics: findings.sorted(),
    }
}

#[cfg(test)]
mod tests;
