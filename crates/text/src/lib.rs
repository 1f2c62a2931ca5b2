//! Sessions as text: reads and writes `.ag` and `.toml`, writes DOT, shows diagnostics on a terminal.
//!
//! Takes bytes and a [`Catalogue`], gives a [`Session`] *and* a diagnostic with its place for each mistake. Reading never
//! fails and never panics; a wrong line does not affect the other lines.
//! May: allocate, in proportion to the text. May not: open files, use `unsafe`, trust a number that it has read.
//!
//! Both formats are read in three steps. Only the second knows the format, only the third knows the catalogue:
//!
//! ```text
//!  bytes ──source──▶ text ──ag or toml──▶ Ast ──resolve──▶ Graph
//!                       │ lines, columns   │ errors of       │ unknown kinds, wrong parameters,
//!                       ▼                  ▼ syntax          ▼ edges between ports that do not exist
//!                     Diagnostics ◀────────┴─────────────────┘   ──terminal──▶ "a.ag:2:3: error: …"
//! ```
//!
//! `source` decodes UTF-8 and turns bytes into lines and columns. [`ag`] and [`toml`] give an `ast`: nodes and edges as
//! they are written, each part with its place. `resolve` builds the graph from it and checks it against the catalogue.
//! Each step reports to the same `diagnostics` and goes on with the valid parts.
//!
//! A graph that was read is in *canonical form*, so that writing and reading it gives an equal one: a node has the
//! parameters `in` and `out`, last, if its kind lets it choose their number, and `channels` after them if the
//! text states it; a parameter's value has the type that its kind asks for.
#![forbid(unsafe_code)]

pub mod ag;
mod ast;
mod comments;
mod context;
mod diagnostics;
pub mod dot;
mod fold;
mod kind_page;
mod parts;
mod resolve;
mod session;
mod source;
mod terminal;
mod time;
pub mod toml;
mod written;

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod sample;

pub use comments::comments;
pub use context::{IncludeLoader, ReadContext};
pub use kind_page::{KindTiming, kind_example, kind_index, kind_page};
pub use session::{IncludedFile, ParsedSession, Section, Session, Settings};
pub use source::Source;
pub use terminal::{MAX_SHOWN, render_diagnostics, render_diagnostics_of_files};
pub use written::WrittenParts;

use graph::{Catalogue, Diagnostic, SourceSpan};

/// Reads `bytes` in the format that the extension of `name` says, `.ag` or `.toml`. Another extension is an error in the
/// diagnostics.
pub fn read_by_extension(
    name: &str,
    bytes: impl AsRef<[u8]>,
    catalogue: &Catalogue,
) -> ParsedSession {
    read_by_extension_with(name, bytes, &ReadContext::new(catalogue))
}

/// As [`read_by_extension`], with answers about files.
pub fn read_by_extension_with(
    name: &str,
    bytes: impl AsRef<[u8]>,
    context: &ReadContext<'_>,
) -> ParsedSession {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "ag" => ag::read_with(bytes, context),
        "toml" => toml::read_with(bytes, context),
        _ => ParsedSession {
            session: Session::default(),
            diagnostics: vec![
                Diagnostic::error(SourceSpan::NONE, "unknown file format")
                    .help("a session is a file whose name ends in `.ag` or `.toml`"),
            ],
            files: Vec::new(),
        },
    }
}
