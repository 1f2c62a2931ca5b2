//! The native session, a TOML document.
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
//! * `edges` is above the first `[header]`, as TOML requires. Each string is a chain of edges (`chain`). A port is a
//!   name, a number from 1, or nothing for the first port; in the middle of a chain it is the input that the edge enters
//!   and the output that the next edge leaves. A node's name with spaces, dots or quotes is put in double quotes with
//!   JSON escapes. The last end may be a parameter that may change while it plays, which the edge then drives; behind a
//!   colon and a space stand the amount and the law: `lfo -> tone.freq: 2 octaves` ([`graph::Modulation`]).
//! * A node has its kind's parameters, and for itself `kind`, `in` and `out` (number of ports, where the kind lets it
//!   choose), `channels` or a `layout` such as "5.1", `cost_us` (its cost for one block), `every` (it runs once in this many
//!   cycles), `enabled` and `stand_in` (the kind that runs where `kind` is not known). Without `channels` and `layout` it is as
//!   wide as the widest signal that enters it, or as the file that it names.
//! * Equal numbers of channels meet channel by channel, one is copied to many, and many are added into one. Any other pair is
//!   an error: `split`, `join` and `matrix` say what goes where.
//! * `[tempo]` has the tempo and the metre of what counts in beats (`tempo`).
//! * `[[event]]` and `[[curve]]` say what happens when (`score`, `curve`, `score_node`).
//! * `[part.NAME]` defines a part, `include = ["other.toml"]` brings those of other files, `count` makes copies of a node, and a
//!   text in place of a number is an expression (`parts`).
//! * `[snapshot.NAME]` keeps values of parameters to be recalled while it plays ([`snapshots`]).
//! * Every other top-level key is a [`Section`](crate::Section): the reader keeps its lines as they are and the writer puts
//!   them back. A session may have sections and no node; their readers decide if that is valid.
//!
//! [`schema`] describes the same for editors.
//!
//! # How a text is read
//!
//! The `toml` crate parses; a text that it accepts goes straight on. One that it refuses is repaired first: `recover`
//! walks over the statements, parses each one alone, reports the wrong ones and blanks them with
//! spaces, so that every byte after them keeps its place. The rest is parsed again, so a wrong statement does not
//! affect the others.
//!
//! ```text
//!  bytes ─▶ text ─▶ toml::DeTable ─▶ to_ast ─▶ Ast ─▶ crate::resolve ─▶ Graph
//!              │        ▲ errors?
//!              │        └── recover: blank the wrong statements, parse again
//!              └▶ sections: the lines of other top-level keys, by the scanner
//! ```
//!
//! The tree of the `toml` crate has a byte range for each key and value, which become lines and columns. It does not have
//! comments; the sections need them, which is why `scanner` finds the statements in the text once more.

mod chain;
mod curve;
mod include;
mod item;
mod live;
mod part_definition;
mod recover;
mod scanner;
mod schema;
mod schema_score;
mod score;
mod score_node;
mod section_graph;
mod sections;
pub mod snapshots;
mod tempo;
mod to_ast;
mod value;
mod write;

pub use live::{
    ControllerEntry, LiveSections, add_controller, controller_text, controllers_section, read_live,
    set_connections, set_controllers_section,
};
pub use schema::{kind_rule, schema};
pub use section_graph::read_section_graph;
pub use write::write;

use crate::ReadContext;
use crate::ast::Dialect;
use crate::diagnostics::Diagnostics;
use crate::parts;
use crate::resolve::resolve;
use crate::session::{ParsedSession, Session};
use crate::source;
use crate::written::WrittenParts;
use ::toml::de::DeTable;
use graph::Catalogue;
use sections::OwnKeys;

/// Reads a `.toml` session. Kinds and parameters are checked against `catalogue`.
pub fn read(bytes: impl AsRef<[u8]>, catalogue: &Catalogue) -> ParsedSession {
    read_with(bytes, &ReadContext::new(catalogue))
}

/// As [`read`], with answers about files.
pub fn read_with(bytes: impl AsRef<[u8]>, context: &ReadContext<'_>) -> ParsedSession {
    let (text, not_utf8) = source::decode(bytes.as_ref());
    let files;
    let mut diagnostics = Diagnostics::new(&text, &not_utf8);
    let (table, errors) = DeTable::parse_recoverable(&text);
    let repaired = match errors.is_empty() {
        true => None,
        false => Some(recover::repair(&text, &mut diagnostics)),
    };
    let (mut ast, settings);
    if let Some(repaired) = &repaired {
        let (table, left) = DeTable::parse_recoverable(repaired);
        (ast, settings) = to_ast::convert(repaired, table.get_ref(), &left, &mut diagnostics);
        files = include::load(table.get_ref(), context, &mut diagnostics);
    } else {
        (ast, settings) = to_ast::convert(&text, table.get_ref(), &[], &mut diagnostics);
        files = include::load(table.get_ref(), context, &mut diagnostics);
    }
    include::add_parts(&files, &mut ast, &mut diagnostics);
    let (ast, written) = parts::flatten(ast, context.catalogue, &mut diagnostics);
    let written = written.or(ast.has_scores.then(Vec::new));
    let mut own = OwnKeys::default();
    // The statements are looked for in the text only where one is kept: in a large session that takes a while.
    let is_kept = |name: &str| written.is_some() || !sections::OWN.contains(&name);
    let sections = match table.get_ref().keys().any(|key| is_kept(key.get_ref())) {
        false if repaired.is_none() => Vec::new(),
        _ => {
            let text = repaired.as_deref().unwrap_or(&text);
            sections::sections(text, &mut own, &mut diagnostics)
        }
    };
    let needs_nodes = sections.is_empty();
    let graph = resolve(&ast, Dialect::Toml, needs_nodes, context, &mut diagnostics);
    let written = written.filter(|_| !diagnostics.has_errors());
    let parts = written.map(|nodes| WrittenParts::new((own.lines, own.tables), nodes, &graph));
    ParsedSession {
        session: Session {
            graph,
            settings,
            sections,
            parts,
        },
        diagnostics: diagnostics.sorted(),
        files: include::texts(files),
    }
}

#[cfg(test)]
mod tests;
