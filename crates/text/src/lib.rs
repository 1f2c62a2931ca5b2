//! Graphs as text: reads and writes `.ag` and the native `.toml` session, and writes DOT.
//!
//! Takes bytes and a [`Catalogue`], gives a [`Session`] *and* everything that is wrong with the text, each with its
//! place: reading never fails and never panics, and one bad line costs only itself.
//! May: allocate, in proportion to the text. May not: open files, use `unsafe`, trust a number that it has read.
//!
//! Both readers go the same way: bytes → text (`source`) → what is written, with places (`draft`) → a graph that is
//! checked against the catalogue (`assemble`, `params`, `edges`).
//!
//! A graph that was read is in *canonical form*, so that to write and read it again gives an equal one: a node has the
//! parameters `in` and `out`, last, where its kind lets it choose their number, and `channels` after them where that is
//! not 1; a number, a flag or a word is a [`graph::Value`] of the type that its kind asks for.
#![forbid(unsafe_code)]

pub mod ag;
mod assemble;
pub mod dot;
mod draft;
mod edges;
mod findings;
mod number;
mod params;
mod render;
mod session;
mod source;
pub mod toml;

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod sample;

pub use render::{MAX_SHOWN, render_diagnostics};
pub use session::Session;
pub use session::{ParsedSession, Section, Settings};

use graph::{Catalogue, Diagnostic, SourceSpan};

/// Reads `bytes` in the format that the extension of `name` says.
pub fn read_by_extension(
    name: &str,
    bytes: impl AsRef<[u8]>,
    catalogue: &Catalogue,
) -> ParsedSession {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "ag" => ag::read(bytes, catalogue),
        "toml" => toml::read(bytes, catalogue),
        _ => ParsedSession {
            session: Session::default(),
            diagnostics: vec![
                Diagnostic::error(SourceSpan::NONE, "this is no kind of session that is known")
                    .help("give a file whose name ends in `.ag` or `.toml`"),
            ],
        },
    }
}
